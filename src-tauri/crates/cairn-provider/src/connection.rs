//! Tests a connection live, step by step, and says what to do where a step fails.
//!
//! It sends two tiny requests. Nothing is stored; the key goes where every request's key goes.

use std::sync::Arc;
use std::time::{Duration, Instant};

use cairn_protocol::{
    Body, CheckOutcome, ConnectionCheck, ConnectionTest, Message, ModelMsg, PartialEvent,
    SessionId, StopReason, Text, ThinkingLevel, Timestamp, ToolDefinition, WireApi,
};
use serde_json::json;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::openai_chat::ChatProvider;
use crate::{Fault, ModelRequest, ModelTarget, Outcome, Provider, connect, http};

/// How long the list of models may take.
const LIST_LIMIT: Duration = Duration::from_secs(20);
/// The longest silence in an answer; local servers load the model first.
const ANSWER_LIMIT: Duration = Duration::from_secs(90);
const TOOL: &str = "report_ready";

const REACHES: &str = "Reaches the server";
const KEY: &str = "The key is accepted";
const MODEL: &str = "Knows the model";
const STREAM: &str = "Answers as a stream";
const TOOLS: &str = "A tool call works";

/// Tries a connection: the server, the key, the model, a streamed answer, a tool call. Takes as
/// long as the model does; drop it to stop.
pub async fn test_connection(target: ModelTarget) -> ConnectionTest {
    match target.api {
        WireApi::Chat => match ChatProvider::new(target, no_clock) {
            Ok(provider) => test_chat(provider).await,
            Err(error) => failed_at_once(REACHES, &error.to_string()),
        },
        WireApi::Script => test_script(target),
        _ => match connect(target, no_clock) {
            Ok(_) => failed_at_once(REACHES, "this wire can't be tested"),
            Err(error) => failed_at_once(REACHES, &error.to_string()),
        },
    }
}

/// Nothing here keeps a time.
fn no_clock() -> Timestamp {
    Timestamp(0)
}

fn test_script(target: ModelTarget) -> ConnectionTest {
    let detail = match connect(target, no_clock) {
        Ok(provider) => {
            let path = provider.target().script.as_ref().map(|path| path.display().to_string());
            format!(
                "The script {} can be read. It is a script, not a model.",
                path.unwrap_or_default()
            )
        }
        Err(error) => return failed_at_once("Reads the script", &error.to_string()),
    };
    let checks = vec![check("Reads the script", CheckOutcome::Ok, detail)];
    ConnectionTest { checks, models: Vec::new(), latency_ms: None }
}

async fn test_chat(provider: ChatProvider) -> ConnectionTest {
    let listed = provider.list_models(LIST_LIMIT).await;
    let models = listed.as_ref().cloned().unwrap_or_default();
    let mut checks = vec![reaches(&provider, &listed)];
    if checks[0].outcome == CheckOutcome::Failed {
        skip(&mut checks, &[KEY, MODEL, STREAM, TOOLS]);
        return ConnectionTest { checks, models, latency_ms: None };
    }
    let provider: Arc<ChatProvider> = Arc::new(provider);
    let answer = ask(&provider, "Reply with the single word: ready", Vec::new()).await;
    checks.push(key(&provider, &listed, &answer));
    if checks[1].outcome == CheckOutcome::Failed {
        skip(&mut checks, &[MODEL, STREAM, TOOLS]);
        return ConnectionTest { checks, models, latency_ms: None };
    }
    checks.push(model(&provider, &models, &answer));
    if checks[2].outcome == CheckOutcome::Failed {
        skip(&mut checks, &[STREAM, TOOLS]);
        return ConnectionTest { checks, models, latency_ms: None };
    }
    let latency_ms = answer.first.map(|first| first.as_millis().try_into().unwrap_or(u64::MAX));
    checks.push(stream(&answer));
    if checks[3].outcome == CheckOutcome::Failed {
        skip(&mut checks, &[TOOLS]);
        return ConnectionTest { checks, models, latency_ms };
    }
    let prompt = format!("Call the tool {TOOL} once, with ready set to true. Do nothing else.");
    let answer = ask(&provider, &prompt, vec![tool()]).await;
    checks.push(tools(&answer));
    ConnectionTest { checks, models, latency_ms }
}

fn reaches(provider: &ChatProvider, listed: &Result<Vec<String>, Outcome>) -> ConnectionCheck {
    let plain = provider.base().scheme() == "http" && !http::is_loopback(provider.base());
    let with_key = provider.target().key.as_ref().is_some_and(|key| !key.is_blank());
    match listed {
        Err(outcome)
            if matches!(outcome.fault, Some(Fault::Network | Fault::Silence | Fault::Redirect)) =>
        {
            check(REACHES, CheckOutcome::Failed, said(outcome))
        }
        _ if plain && with_key => check(
            REACHES,
            CheckOutcome::Warning,
            format!(
                "{} answers, but over http:// the key and the conversation can be read on the way. \
                 Use https:// if the server has it.",
                provider.place()
            ),
        ),
        _ => check(REACHES, CheckOutcome::Ok, format!("{} answers.", provider.place())),
    }
}

fn key(
    provider: &ChatProvider,
    listed: &Result<Vec<String>, Outcome>,
    answer: &Answer,
) -> ConnectionCheck {
    let with_key = provider.target().key.as_ref().is_some_and(|key| !key.is_blank());
    // The list may be public, so the answer decides where there is one.
    let refused = if answer.outcome.status == StopReason::Auth {
        Some(&answer.outcome)
    } else {
        listed.as_ref().err().filter(|o| o.status == StopReason::Auth && !answer.came())
    };
    match refused {
        Some(outcome) if with_key => check(
            KEY,
            CheckOutcome::Failed,
            format!(
                "{} Check that the whole key was pasted and belongs to this provider.",
                said(outcome)
            ),
        ),
        Some(outcome) => check(
            KEY,
            CheckOutcome::Failed,
            format!("{} This server needs a key; enter one.", said(outcome)),
        ),
        None if with_key => check(KEY, CheckOutcome::Ok, "The server took the key.".to_owned()),
        None => check(KEY, CheckOutcome::Ok, "The server asks for no key.".to_owned()),
    }
}

fn model(provider: &ChatProvider, models: &[String], answer: &Answer) -> ConnectionCheck {
    let id = &provider.target().model.model_id;
    if answer.outcome.fault == Some(Fault::ModelNotFound) {
        let near = nearest(id, models);
        let hint = if near.is_empty() {
            "Check its id in the provider's list.".to_owned()
        } else {
            format!("It lists, for example: {}.", near.join(", "))
        };
        return check(MODEL, CheckOutcome::Failed, format!("{} {hint}", said(&answer.outcome)));
    }
    if models.iter().any(|known| known == id) {
        return check(MODEL, CheckOutcome::Ok, format!("{id} is in the server's list."));
    }
    if models.is_empty() {
        return check(MODEL, CheckOutcome::Ok, "The server gives no list of models.".to_owned());
    }
    check(
        MODEL,
        CheckOutcome::Warning,
        format!(
            "{id} is not among the {} models that the server lists, but it was not refused.",
            models.len()
        ),
    )
}

fn stream(answer: &Answer) -> ConnectionCheck {
    match answer.outcome.status {
        StopReason::Completed if answer.deltas > 0 => {
            check(STREAM, CheckOutcome::Ok, format!("It answered: {}", short(&answer.text)))
        }
        StopReason::Completed => check(
            STREAM,
            CheckOutcome::Warning,
            "It answered with nothing. Try the test again, or another model.".to_owned(),
        ),
        _ => check(STREAM, CheckOutcome::Failed, said(&answer.outcome)),
    }
}

fn tools(answer: &Answer) -> ConnectionCheck {
    if answer.called {
        return check(TOOLS, CheckOutcome::Ok, "It called the test tool.".to_owned());
    }
    if answer.outcome.status == StopReason::Completed {
        return check(
            TOOLS,
            CheckOutcome::Warning,
            "It answered without calling the tool that it was asked to call. Cairn works through \
             tool calls; choose a model that has them, or switch them on in the server."
                .to_owned(),
        );
    }
    check(
        TOOLS,
        CheckOutcome::Failed,
        format!(
            "{} Without tool calls the model can talk, but not work on files.",
            said(&answer.outcome)
        ),
    )
}

/// What one tiny request gave.
struct Answer {
    outcome: Outcome,
    text: String,
    deltas: usize,
    called: bool,
    /// Time to the first piece.
    first: Option<Duration>,
}

impl Answer {
    fn came(&self) -> bool {
        self.deltas > 0 || self.called
    }
}

async fn ask(provider: &Arc<ChatProvider>, prompt: &str, tools: Vec<ToolDefinition>) -> Answer {
    // A refused parameter is left out the second time, so one more try is part of the test.
    let first = ask_once(provider, prompt, tools.clone()).await;
    if first.outcome.fault == Some(Fault::Parameter) {
        return ask_once(provider, prompt, tools).await;
    }
    first
}

async fn ask_once(
    provider: &Arc<ChatProvider>,
    prompt: &str,
    tools: Vec<ToolDefinition>,
) -> Answer {
    let request = ModelRequest {
        system: Arc::from("You are being tested. Be as short as you can."),
        history: vec![Arc::new(user(prompt))],
        tools: Arc::new(tools),
        thinking: ThinkingLevel::Medium,
        idle_timeout: ANSWER_LIMIT,
        session: SessionId::from("connection-test"),
    };
    let (sink, mut messages) = mpsc::channel(64);
    let began = Instant::now();
    let mut answer = Answer {
        outcome: Outcome::completed(),
        text: String::new(),
        deltas: 0,
        called: false,
        first: None,
    };
    let read = async {
        while let Some(message) = messages.recv().await {
            if answer.take(&message) && answer.first.is_none() {
                answer.first = Some(began.elapsed());
            }
        }
    };
    let (outcome, ()) =
        tokio::join!(provider.stream(request, sink, CancellationToken::new()), read);
    answer.outcome = outcome;
    answer
}

impl Answer {
    /// Returns whether the message is a piece of the answer.
    fn take(&mut self, message: &Message) -> bool {
        let Body::ModelMsg(message) = &message.body else { return false };
        match message {
            ModelMsg::PartialText(part) if part.event_type == PartialEvent::Delta => {
                self.text.push_str(&part.text);
            }
            ModelMsg::PartialThinking(part) if part.event_type == PartialEvent::Delta => {}
            ModelMsg::PartialToolCall(part) if part.event_type == PartialEvent::Delta => {}
            ModelMsg::ToolCall(call) if call.stop_reason == Some(StopReason::Completed) => {
                self.called |= call.name == TOOL;
                return false;
            }
            _ => return false,
        }
        self.deltas += 1;
        true
    }
}

fn user(text: &str) -> Message {
    Message::model(no_clock(), Text::user(text))
}

fn tool() -> ToolDefinition {
    ToolDefinition {
        name: TOOL.to_owned(),
        description: "Reports whether the connection works.".to_owned(),
        parameters: Some(json!({
            "type": "object",
            "properties": {"ready": {"type": "boolean", "description": "Whether it works."}},
            "required": ["ready"],
        })),
    }
}

/// Returns up to five listed ids, those most like the wanted one first.
fn nearest(wanted: &str, models: &[String]) -> Vec<String> {
    let common = |id: &String| id.chars().zip(wanted.chars()).take_while(|(a, b)| a == b).count();
    let mut models = models.to_vec();
    models.sort_by_key(|id| std::cmp::Reverse(common(id)));
    models.truncate(5);
    models
}

fn short(text: &str) -> String {
    let mut short: String = text.trim().chars().take(60).collect();
    if short.is_empty() {
        "(reasoning only)".clone_into(&mut short);
    }
    short
}

fn said(outcome: &Outcome) -> String {
    outcome.message.clone().unwrap_or_else(|| "It ended without a reason.".to_owned())
}

fn check(name: &str, outcome: CheckOutcome, detail: String) -> ConnectionCheck {
    ConnectionCheck { name: name.to_owned(), outcome, detail }
}

fn skip(checks: &mut Vec<ConnectionCheck>, names: &[&str]) {
    checks.extend(names.iter().map(|name| {
        check(
            name,
            CheckOutcome::Skipped,
            "Not tried, because the step before it failed.".to_owned(),
        )
    }));
}

fn failed_at_once(name: &str, detail: &str) -> ConnectionTest {
    let checks = vec![check(name, CheckOutcome::Failed, detail.to_owned())];
    ConnectionTest { checks, models: Vec::new(), latency_ms: None }
}
