//! A data root, a workspace and a scripted model, for one scenario.

use std::fs;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use cairn_engine::{Authority, Engine, EngineOptions, ExtraProvider, Sent, Session, Subscription};
use cairn_protocol::{
    ApprovalAnswer, ApprovalRequest, Body, EventMsg, FeedItem, KeySource, Message, Mode,
    ModelEntry, ModelMsg, ModelRef, ProviderEntry, SessionId, StoredMessage, Timestamp, TurnId,
    TurnStatus, WireApi,
};

const PROVIDER: &str = "played";
const MODEL: &str = "script";

/// Where one scenario happens.
pub(crate) struct Place {
    _folder: tempfile::TempDir,
    pub(crate) root: PathBuf,
    pub(crate) workspace: PathBuf,
    script: PathBuf,
    /// Providers beside the script.
    pub(crate) extra: Vec<ExtraProvider>,
    /// The base URL of the model; without one the script is played.
    endpoint: Option<String>,
}

impl Place {
    /// Makes the folders; the model is reached at this base URL.
    pub(crate) fn connected(base_url: String) -> Self {
        Self { endpoint: Some(base_url), ..Self::new("") }
    }

    /// Makes the folders; `script` is what the model says.
    pub(crate) fn new(script: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let base = fs::canonicalize(folder.path()).expect("it has a path");
        let (root, workspace, path) =
            (base.join("data"), base.join("work"), base.join("script.jsonl"));
        fs::create_dir(&workspace).expect("a folder is made");
        fs::write(workspace.join("old.txt"), "kept\n").expect("a file is written");
        fs::write(&path, script).expect("the script is written");
        Self { _folder: folder, root, workspace, script: path, extra: Vec::new(), endpoint: None }
    }

    /// Returns the same workspace with a data root of its own and another script.
    pub(crate) fn with_script(&self, script: &str) -> Self {
        let other = Self::new(script);
        Self { workspace: self.workspace.clone(), ..other }
    }

    pub(crate) async fn engine(&self) -> Engine {
        let model = ModelEntry {
            model_id: MODEL.to_owned(),
            display_name: None,
            context_window: None,
            max_tokens: None,
            vision: false,
        };
        let entry = ProviderEntry {
            name: PROVIDER.to_owned(),
            api: if self.endpoint.is_some() { WireApi::Chat } else { WireApi::Script },
            base_url: self.endpoint.clone().unwrap_or_default(),
            headers: std::collections::BTreeMap::new(),
            models: vec![model],
            key: KeySource::None,
        };
        let path = std::env::var_os("PATH").unwrap_or_default();
        let options = EngineOptions {
            root: self.root.clone(),
            home: Some(self.workspace.with_file_name("home")),
            env: vec![("PATH".into(), path)],
            now,
            extra: [ExtraProvider {
                entry,
                key: None,
                script: self.endpoint.is_none().then(|| self.script.clone()),
            }]
            .into_iter()
            .chain(self.extra.iter().cloned())
            .collect(),
            rules: Vec::new(),
            snapshots: None,
        };
        Engine::open(options).await.expect("the engine opens")
    }

    /// Opens the engine and a session in the workspace.
    pub(crate) async fn session(&self, mode: Mode) -> (Engine, Session) {
        let engine = self.engine().await;
        let workspace = engine.add_workspace(&self.workspace).await.expect("the folder is added");
        let model = ModelRef { provider: PROVIDER.to_owned(), model_id: MODEL.to_owned() };
        let session = engine
            .create_session(&workspace.id, Some(model), Some(mode), Authority::Headless)
            .await
            .expect("a session is made");
        (engine, session)
    }
}

fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// A turn that is followed to its end.
pub(crate) struct Turn {
    pub(crate) id: TurnId,
    feed: Subscription,
    waiting: std::collections::VecDeque<FeedItem>,
    /// Every complete message so far, in the order in which it was shown.
    pub(crate) messages: Vec<Message>,
}

impl Turn {
    /// Starts a turn.
    pub(crate) async fn start(session: &Session, text: &str) -> Self {
        let feed = session.subscribe(None).await.expect("the session is open");
        let Sent::Started(id) = session.start_turn(text).await.expect("the turn starts") else {
            panic!("a turn was running");
        };
        Self { id, feed, waiting: std::collections::VecDeque::new(), messages: Vec::new() }
    }

    /// Waits for the next complete message; `None` when the session is closed.
    pub(crate) async fn next(&mut self) -> Option<Message> {
        loop {
            while let Some(item) = self.waiting.pop_front() {
                if let FeedItem::Stored { message, .. } = item {
                    self.messages.push((*message).clone());
                    return Some(*message);
                }
            }
            self.waiting.extend(self.feed.next_batch().await?);
        }
    }

    /// Waits for an event.
    pub(crate) async fn event(&mut self, wanted: impl Fn(&EventMsg) -> bool) -> EventMsg {
        loop {
            let message = self.next().await.expect("the session is open");
            if let Some(event) = message.as_event()
                && wanted(event)
            {
                return event.clone();
            }
        }
    }

    /// Waits for the next question.
    pub(crate) async fn asked(&mut self) -> ApprovalRequest {
        let wanted = |event: &EventMsg| {
            matches!(event, EventMsg::ApprovalRequest(_) | EventMsg::TurnEnd { .. })
        };
        match self.event(wanted).await {
            EventMsg::ApprovalRequest(request) => *request,
            _ => panic!("the turn ended without a question: {:?}", self.outputs()),
        }
    }

    /// Waits for the end and returns how it came.
    pub(crate) async fn end(&mut self) -> TurnStatus {
        let id = self.id.clone();
        let ended =
            |event: &EventMsg| matches!(event, EventMsg::TurnEnd { turn_id, .. } if *turn_id == id);
        match self.event(ended).await {
            EventMsg::TurnEnd { status, .. } => status,
            other => panic!("{other:?}"),
        }
    }

    /// Returns the outputs of tool calls, in the order in which they came.
    pub(crate) fn outputs(&self) -> Vec<String> {
        outputs(self.messages.iter())
    }
}

/// Returns the outputs of tool calls among messages.
pub(crate) fn outputs<'a>(messages: impl Iterator<Item = &'a Message>) -> Vec<String> {
    messages
        .filter_map(|message| match &message.body {
            Body::ModelMsg(ModelMsg::ToolCallOutput(output)) => Some(output.output.clone()),
            _ => None,
        })
        .collect()
}

/// Answers a question with this authority.
pub(crate) async fn answer(
    session: &Session,
    request: &ApprovalRequest,
    answer: ApprovalAnswer,
    authority: Authority,
) -> Result<(), cairn_protocol::ErrorInfo> {
    let id = request.approval_id.clone();
    session.answer(id, request.digest.as_str(), answer, authority).await
}

/// Returns what is stored of a session, read from its files.
pub(crate) async fn stored(engine: &Engine, id: &SessionId) -> Vec<StoredMessage> {
    engine.history(id).await.expect("the trace reads")
}
