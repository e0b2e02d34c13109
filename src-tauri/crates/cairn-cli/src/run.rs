//! `cairn run`: one turn, printed as it happens.

use std::io::Read;

use cairn_engine::{Authority, Engine, ExtraProvider, Sent, Session, Subscription};
use cairn_protocol::{
    ApprovalAnswer, ApprovalOutcome, ApprovalRequest, Body, DecisionSource, EventMsg, FeedItem,
    GrantScope, KeySource, Message, Mode, ModelEntry, ModelMsg, ModelRef, PartialEvent, Projection,
    ProviderEntry, Role, Rule, RuleEffect, RuleId, SessionId, SnapshotMode, TurnId, TurnStatus,
    WireApi,
};

use crate::args::{OnAsk, RunArgs};
use crate::start::{Additions, engine, find_session, now};
use crate::{Failure, ask, print};

const EXIT_FAILED: u8 = 1;
const EXIT_DENIED: u8 = 3;
const EXIT_INTERRUPTED: u8 = 130;

/// The name of a provider that a command line brings with it.
const RUN_PROVIDER: &str = "command-line";

pub(crate) async fn run(args: RunArgs) -> Result<u8, Failure> {
    let prompt = prompt(&args.prompt)?;
    let engine = engine(additions(&args)?).await?;
    let code = match open(&engine, &args).await {
        Ok(session) => turn(&engine, &session, &args, prompt).await,
        Err(failure) => Err(failure),
    };
    engine.close().await;
    code
}

fn prompt(text: &str) -> Result<String, Failure> {
    if text != "-" {
        return Ok(text.to_owned());
    }
    let mut bytes = Vec::new();
    let read = std::io::stdin().read_to_end(&mut bytes);
    read.map_err(|error| Failure::Usage(format!("standard input can't be read: {error}")))?;
    String::from_utf8(bytes)
        .map_err(|_| Failure::Usage("standard input is not UTF-8 text".to_owned()))
}

fn additions(args: &RunArgs) -> Result<Additions, Failure> {
    let mut additions = Additions::default();
    if args.no_snapshots {
        additions.snapshots = Some(SnapshotMode::Off);
    }
    for (index, command) in args.allow.iter().enumerate() {
        let matcher = cairn_engine::command_rule(command)
            .map_err(|error| Failure::Usage(format!("--allow {command:?}: {error}")))?;
        additions.rules.push(Rule {
            id: RuleId::new(format!("allow-{index}")),
            effect: RuleEffect::Allow,
            matcher,
            scope: GrantScope::Session,
            created_at: now(),
        });
    }
    let api = match (&args.script, &args.base_url) {
        (Some(_), _) => WireApi::Script,
        (None, Some(_)) => args.api.into(),
        (None, None) => return Ok(additions),
    };
    let model_id = match (&args.model, api) {
        (Some(model), _) => model.clone(),
        (None, WireApi::Script) => "script".to_owned(),
        (None, _) => return Err(Failure::Usage("--base-url needs --model".to_owned())),
    };
    let key = match &args.api_key_env {
        Some(variable) => KeySource::Env { variable: variable.clone() },
        None => KeySource::None,
    };
    let models = vec![ModelEntry {
        model_id,
        display_name: None,
        context_window: None,
        max_tokens: None,
        vision: false,
    }];
    let entry = ProviderEntry {
        name: RUN_PROVIDER.to_owned(),
        api,
        base_url: args.base_url.clone().unwrap_or_default(),
        headers: std::collections::BTreeMap::new(),
        models,
        key,
    };
    additions.extra.push(ExtraProvider { entry, key: None, script: args.script.clone() });
    Ok(additions)
}

fn model(args: &RunArgs, engine: &Engine) -> Result<Option<ModelRef>, Failure> {
    if args.script.is_some() || args.base_url.is_some() {
        let model_id = args.model.clone().unwrap_or_else(|| "script".to_owned());
        return Ok(Some(ModelRef { provider: RUN_PROVIDER.to_owned(), model_id }));
    }
    match (&args.provider, &args.model) {
        (None, None) => Ok(None),
        (Some(provider), Some(model_id)) => {
            Ok(Some(ModelRef { provider: provider.clone(), model_id: model_id.clone() }))
        }
        (Some(name), None) => {
            let known = engine.providers().into_iter().find(|entry| entry.name == *name);
            let first = known.and_then(|entry| entry.models.into_iter().next());
            let first =
                first.ok_or_else(|| Failure::Usage(format!("there is no provider {name}")))?;
            Ok(Some(ModelRef { provider: name.clone(), model_id: first.model_id }))
        }
        (None, Some(_)) => Err(Failure::Usage("--model needs --provider or --base-url".to_owned())),
    }
}

async fn open(engine: &Engine, args: &RunArgs) -> Result<Session, Failure> {
    let model = model(args, engine)?;
    let mode = args.mode.map(Mode::from);
    let known: Option<SessionId> = match &args.session {
        Some(id) => Some(find_session(engine, id).await?),
        None => None,
    };
    let folder = match &args.workspace {
        Some(folder) => folder.clone(),
        None => std::env::current_dir().map_err(|error| {
            Failure::Usage(format!("the current folder can't be read: {error}"))
        })?,
    };
    let known = match known {
        Some(id) => Some(id),
        None if args.continue_last => {
            let workspace = engine.add_workspace(&folder).await?;
            let sessions = engine.sessions().await?;
            let last = sessions.into_iter().find(|session| session.workspace_id == workspace.id);
            let last =
                last.ok_or_else(|| Failure::Usage("this folder has no session yet".to_owned()))?;
            Some(last.id)
        }
        None => None,
    };
    let Some(id) = known else {
        let workspace = engine.add_workspace(&folder).await?;
        let session =
            engine.create_session(&workspace.id, model, mode, Authority::Headless).await?;
        return Ok(session);
    };
    let session = engine.session(&id).await?;
    if let Some(model) = model {
        session.set_model(model).await?;
    }
    if let Some(mode) = mode {
        session.set_mode(mode, Authority::Headless).await?;
    }
    Ok(session)
}

async fn turn(
    engine: &Engine,
    session: &Session,
    args: &RunArgs,
    prompt: String,
) -> Result<u8, Failure> {
    let after = session.view().await?.page.messages.last().map_or(0, |stored| stored.seq);
    let feed = session.subscribe(Some(after)).await?;
    let turn_id = match session.start_turn(prompt).await? {
        Sent::Started(turn_id) => turn_id,
        Sent::Queued(_) => return Err(Failure::Usage("this session is busy elsewhere".to_owned())),
    };
    let mut printer = Printer::new(args, session.id().clone());
    let follow = follow(session, &feed, &turn_id, &mut printer);
    let result = tokio::select! {
        result = follow => result,
        () = interrupted() => {
            session.interrupt().await?;
            drain(&feed, &turn_id, &mut printer).await.map(|()| EXIT_INTERRUPTED)
        }
    };
    if result.is_err() {
        // Standard output is gone, or the session is: nothing that still runs may outlive this command.
        session.interrupt().await?;
    }
    if !args.json && !args.events {
        print::note(&format!("session {}", session.id()));
    }
    let _ = engine;
    result
}

async fn interrupted() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// Prints until the turn has ended; answers what is asked.
async fn follow(
    session: &Session,
    feed: &Subscription,
    turn: &TurnId,
    printer: &mut Printer<'_>,
) -> Result<u8, Failure> {
    while let Some(batch) = feed.next_batch().await {
        for item in batch {
            let Some(message) = message_of(item) else { continue };
            printer.print(&message)?;
            match message.as_event() {
                Some(EventMsg::ApprovalRequest(request)) => {
                    printer.answer(session, request).await?
                }
                Some(EventMsg::Question { question_id, .. }) => {
                    session.answer_question(question_id.clone(), Vec::new()).await?;
                }
                Some(EventMsg::TurnEnd { turn_id, status, .. }) if turn_id == turn => {
                    return Ok(printer.exit_code(*status));
                }
                _ => {}
            }
        }
    }
    Ok(EXIT_FAILED)
}

async fn drain(
    feed: &Subscription,
    turn: &TurnId,
    printer: &mut Printer<'_>,
) -> Result<(), Failure> {
    while let Some(batch) = feed.next_batch().await {
        for item in batch {
            let Some(message) = message_of(item) else { continue };
            printer.print(&message)?;
            if matches!(message.as_event(), Some(EventMsg::TurnEnd { turn_id, .. }) if turn_id == turn)
            {
                return Ok(());
            }
        }
    }
    Ok(())
}

fn message_of(item: FeedItem) -> Option<Box<Message>> {
    match item {
        FeedItem::Stored { message, .. } | FeedItem::Partial { message } => Some(message),
        FeedItem::Summary { .. }
        | FeedItem::Queue { .. }
        | FeedItem::Turns { .. }
        | FeedItem::Resync {} => None,
    }
}

struct Printer<'a> {
    args: &'a RunArgs,
    projection: Projection,
    streamed: bool,
    denied_last: bool,
}

impl<'a> Printer<'a> {
    fn new(args: &'a RunArgs, session: SessionId) -> Self {
        Self { args, projection: Projection::new(session), streamed: false, denied_last: false }
    }

    fn print(&mut self, message: &Message) -> Result<(), Failure> {
        if let Some(EventMsg::ApprovalDecision { decision, source, .. }) = message.as_event() {
            self.denied_last =
                *decision == ApprovalOutcome::Deny && *source == Some(DecisionSource::Headless);
        }
        if self.args.json {
            return print::json(message);
        }
        if self.args.events {
            for event in self.projection.push(message) {
                print::json(&event)?;
            }
            return Ok(());
        }
        self.print_text(message)
    }

    fn print_text(&mut self, message: &Message) -> Result<(), Failure> {
        match &message.body {
            Body::ModelMsg(ModelMsg::PartialText(part)) => {
                self.streamed |= !part.text.is_empty();
                print::text(&print::safe(&part.text))?;
                if part.event_type == PartialEvent::Stop && self.streamed {
                    self.streamed = false;
                    print::line("")?;
                }
                Ok(())
            }
            Body::ModelMsg(ModelMsg::ToolCall(call)) if call.role == Role::Assistant => {
                print::note(&print::call(call));
                Ok(())
            }
            Body::EventMsg(EventMsg::ApprovalDecision { decision, reason, .. })
                if *decision != ApprovalOutcome::Allow =>
            {
                let reason = reason.as_deref().unwrap_or("nobody allowed it");
                print::note(&format!("  denied: {}", print::safe(reason)));
                Ok(())
            }
            Body::EventMsg(EventMsg::RequestEnd {
                error_message: Some(text), retry_in_ms, ..
            }) => {
                let wait =
                    retry_in_ms.map_or_else(String::new, |ms| format!("; next try in {ms} ms"));
                print::note(&format!("  {}{wait}", print::safe(text)));
                Ok(())
            }
            Body::EventMsg(EventMsg::Notice { info, .. }) => {
                print::note(&print::safe(&info.message));
                Ok(())
            }
            Body::EventMsg(EventMsg::TurnEnd { error, produced_files, .. }) => {
                if let Some(error) = error {
                    print::error(&print::safe(&error.message));
                }
                for path in produced_files {
                    print::note(&format!("changed {}", cairn_engine::visible(path)));
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    async fn answer(
        &mut self,
        session: &Session,
        request: &ApprovalRequest,
    ) -> Result<(), Failure> {
        let answer = match self.args.on_ask {
            Some(OnAsk::Once) => ApprovalAnswer::AllowOnce,
            Some(OnAsk::Deny) => {
                denied("The run was started with --on-ask deny: nobody can be asked.")
            }
            None if self.args.json || self.args.events || !ask::is_possible() => {
                denied("Nobody is there to be asked.")
            }
            None => ask::ask(request).await,
        };
        let (id, digest) = (request.approval_id.clone(), request.digest.clone());
        Ok(session.answer(id, digest, answer, Authority::Headless).await?)
    }

    fn exit_code(&self, status: TurnStatus) -> u8 {
        match status {
            TurnStatus::Completed if self.denied_last => EXIT_DENIED,
            TurnStatus::Completed => 0,
            TurnStatus::Interrupted => EXIT_INTERRUPTED,
            TurnStatus::MaxIterationsExceeded | TurnStatus::Error => EXIT_FAILED,
        }
    }
}

fn denied(reason: &str) -> ApprovalAnswer {
    ApprovalAnswer::Deny { reason: reason.to_owned() }
}
