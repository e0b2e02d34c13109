//! Opening a session: its trace is locked and repaired, a turn that a crash left open is closed, and
//! its context is read while the window already shows the last page.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cairn_protocol::{
    Body, ErrorCode, ErrorInfo, EventMsg, Message, ModelMsg, NoticeLevel, SessionId, SessionMeta,
    StopReason, TodoItem, TokenUsage, ToolCall, ToolCallId, ToolCallOutput, TurnId, TurnStatus,
    WorkspaceSummary,
};
use cairn_store::SessionRecord;
use tokio::sync::{mpsc, watch};

use super::actor::Actor;
use super::approvals::Approvals;
use super::{Op, Session};
use crate::context::Context;
use crate::engine::{Inner, storage};
use crate::error::{Result, internal};
use crate::recorder::Recorder;
use crate::task::Task;
use crate::turn::Calls;

/// Ops that may wait for a session; a full queue makes the callers wait.
const OPS: usize = 64;

/// What a session's trace holds for its next turn.
#[derive(Default)]
pub(super) struct Loaded {
    pub(super) context: Context,
    pub(super) meta: Option<SessionMeta>,
    pub(super) tools_announced: bool,
}

/// The context of a session: being read, or here.
pub(super) enum Loading {
    Reading(Task<Result<Loaded>>),
    Here(Box<Loaded>),
    Failed(ErrorInfo),
}

impl Loading {
    pub(super) fn start(engine: &Arc<Inner>, session: &SessionId) -> Self {
        let (store, session) = (engine.store(), session.clone());
        Self::Reading(Task::spawn_blocking("reading the history", move || {
            let trace = store.read_trace(&session).map_err(|error| storage(&error))?;
            // All of it: a switch of the model heads a new file, and the conversation goes on (D-1).
            let messages = trace.messages().map_err(|error| storage(&error))?;
            let mut loaded = Loaded::default();
            for stored in messages {
                loaded.observe(Arc::new(stored.message));
            }
            Ok(loaded)
        }))
    }

    pub(super) async fn get(&mut self) -> Result<&mut Loaded> {
        if let Self::Reading(task) = self {
            *self = match task.await {
                Ok(Ok(loaded)) => Self::Here(Box::new(loaded)),
                Ok(Err(error)) | Err(error) => Self::Failed(error),
            };
        }
        match self {
            Self::Here(loaded) => Ok(loaded),
            Self::Failed(error) => Err(error.clone()),
            Self::Reading(_) => Err(internal("the history is still being read")),
        }
    }

    /// Waits until nothing is being read any more.
    pub(super) async fn finish(&mut self) {
        // A history that can't be read is told when it is needed.
        drop(self.get().await);
    }

    pub(super) fn take(&mut self) -> Result<Context> {
        match self {
            Self::Here(loaded) => Ok(std::mem::take(&mut loaded.context)),
            Self::Failed(error) => Err(error.clone()),
            Self::Reading(_) => Err(internal("the history is still being read")),
        }
    }

    pub(super) fn put_back(&mut self, context: Context) {
        if let Self::Here(loaded) = self {
            loaded.context = context;
        }
    }
}

impl Loaded {
    fn observe(&mut self, message: Arc<Message>) {
        match &message.body {
            Body::SessionMeta(meta) => {
                self.meta = Some(meta.clone());
                self.tools_announced = false;
            }
            Body::EventMsg(EventMsg::ToolListReady { .. }) => self.tools_announced = true,
            _ => {}
        }
        self.context.observe(&message);
    }
}

/// A session that was opened in this process, and its task.
pub(crate) struct OpenSession {
    pub(crate) session: Session,
    task: Task<Result<()>>,
}

impl OpenSession {
    /// Closes the session and joins its task. An error is what could not be kept of it.
    pub(crate) async fn close(self) -> Result<()> {
        // A session whose task has ended already can't answer; what it came to is the task's result.
        let _ended = self.session.close().await;
        let ended = self.task.await.flatten();
        self.session.release().await.and(ended)
    }
}

/// Opens a session in this process and starts its task.
pub(crate) async fn open(
    engine: Arc<Inner>,
    record: SessionRecord,
    workspace: WorkspaceSummary,
) -> Result<OpenSession> {
    let (store, id) = (engine.store(), record.id.clone());
    let trace = tokio::task::spawn_blocking(move || store.open_trace(&id))
        .await
        .map_err(|error| internal(format!("opening the history failed: {error}")))?
        .map_err(|error| storage(&error))?;
    let (trace, _recovered) = trace;
    let recorder = Recorder::start(trace, engine.clock())?;
    let (snapshots, unprotected) = engine.snapshots(&workspace).await;
    let tail = match Tail::read(&recorder).await {
        Ok(tail) => tail,
        Err(error) => return Err(recorder.stop().await.err().unwrap_or(error)),
    };
    let mut record = record;
    record.turns = record.turns.max(tail.turns);
    if let Some(open) = &tail.open {
        open.close(&recorder, snapshots.as_ref(), &record.id, Path::new(&workspace.path)).await;
    }
    let (ops, inbox) = mpsc::channel::<Op>(OPS);
    let (asks, questions) = mpsc::channel(OPS);
    let (live, _) = watch::channel(engine.live(&record));
    let tools = engine.tool_context(&record.id, PathBuf::from(&workspace.path));
    let actor = Actor {
        loading: Loading::start(&engine, &record.id),
        engine,
        workspace,
        recorder: recorder.clone(),
        snapshots: snapshots.clone(),
        unprotected,
        tools,
        calls: Arc::new(Calls::default()),
        live,
        approvals: Approvals::default(),
        asks,
        todos: tail.todos,
        running: None,
        restoring: false,
        record: record.clone(),
    };
    let task = Task::spawn("the session", actor.run(inbox, questions));
    Ok(OpenSession { session: Session { id: record.id, ops, recorder, snapshots }, task })
}

/// What the end of a trace says about the state of its session.
#[derive(Default)]
struct Tail {
    todos: Vec<TodoItem>,
    turns: u32,
    open: Option<OpenTurn>,
}

/// A turn that has a beginning and no end.
struct OpenTurn {
    turn_id: TurnId,
    messages: Vec<Message>,
}

impl Tail {
    /// Reads backwards to the last beginning or end of a turn.
    async fn read(recorder: &Recorder) -> Result<Self> {
        let mut tail = Self::default();
        let mut seen: Vec<Message> = Vec::new();
        let mut before = None;
        let mut todos = None;
        'pages: loop {
            let page = recorder.page(before, 200).await?;
            before = page.messages.first().map(|stored| stored.seq);
            for stored in page.messages.into_iter().rev() {
                match &stored.message.body {
                    Body::EventMsg(EventMsg::TurnEnd { turn_id, .. }) => {
                        tail.turns = number_of(turn_id);
                        break 'pages;
                    }
                    Body::EventMsg(EventMsg::TurnBegin { turn_id, number, .. }) => {
                        tail.turns = *number;
                        seen.reverse();
                        tail.open = Some(OpenTurn { turn_id: turn_id.clone(), messages: seen });
                        break 'pages;
                    }
                    Body::EventMsg(EventMsg::Todo { items }) if todos.is_none() => {
                        todos = Some(items.clone());
                    }
                    _ => {}
                }
                seen.push(stored.message);
            }
            if !page.has_more || before.is_none() {
                break;
            }
        }
        tail.todos = todos.unwrap_or_default();
        Ok(tail)
    }
}

fn number_of(turn_id: &TurnId) -> u32 {
    turn_id.as_str().trim_start_matches('t').parse().unwrap_or(0)
}

/// Returns the folder in which a call writes a file.
fn written_in(call: &ToolCall, workspace: &Path) -> Option<PathBuf> {
    let arguments: serde_json::Value = serde_json::from_str(&call.arguments).ok()?;
    let path = workspace.join(arguments.get("file_path")?.as_str()?);
    path.parent().map(Path::to_path_buf)
}

/// Removes what a write that was cut short has left beside its file.
async fn tidy(folder: PathBuf, recorder: &Recorder) {
    let shown = folder.display().to_string();
    let done = tokio::task::spawn_blocking(move || cairn_tools::remove_leftovers(&folder)).await;
    if let Err(error) = done.map_err(std::io::Error::other).flatten() {
        let text = format!(
            "A half-written file named .cairn-….tmp may lie in {shown} and could not be removed: {error}."
        );
        let info = ErrorInfo::new(ErrorCode::Io, text);
        recorder.event(EventMsg::Notice { level: NoticeLevel::Warning, info }).await;
    }
}

impl OpenTurn {
    /// Ends the turn in the trace. A call that had started is never run again: what it did is not
    /// known, and the model is told so (Z-66, security plan 4.3).
    async fn close(
        &self,
        recorder: &Recorder,
        snapshots: Option<&Arc<cairn_snapshot::Snapshots>>,
        session: &SessionId,
        workspace: &Path,
    ) {
        let mut request_open = false;
        let mut calls: Vec<(ToolCallId, bool, Option<PathBuf>)> = Vec::new();
        for message in &self.messages {
            match &message.body {
                Body::EventMsg(EventMsg::RequestBegin {}) => request_open = true,
                Body::EventMsg(EventMsg::RequestEnd { .. }) => request_open = false,
                Body::EventMsg(EventMsg::ToolStarted { tool_call_id }) => {
                    for (id, started, _) in &mut calls {
                        *started |= id == tool_call_id;
                    }
                }
                Body::ModelMsg(ModelMsg::ToolCall(call)) => {
                    calls.push((call.tool_call_id.clone(), false, written_in(call, workspace)));
                }
                Body::ModelMsg(ModelMsg::ToolCallOutput(output)) => {
                    calls.retain(|(id, ..)| *id != output.tool_call_id);
                }
                _ => {}
            }
        }
        for (tool_call_id, started, folder) in calls {
            if let Some(folder) = folder.filter(|_| started) {
                tidy(folder, recorder).await;
            }
            let output = if started {
                "[outcome unknown: Cairn ended while this call was running]"
            } else {
                "[not run: Cairn ended before this call was allowed]"
            };
            let output = ToolCallOutput::text(&tool_call_id, output, StopReason::Aborted);
            recorder.record(Message::model(recorder.now(), output)).await;
        }
        if request_open {
            let error_message = Some("Cairn ended during this request".to_owned());
            let status = StopReason::Aborted;
            recorder
                .event(EventMsg::RequestEnd {
                    status,
                    error_message,
                    attempt: None,
                    retry_in_ms: None,
                })
                .await;
        }
        let reason = Some("Cairn ended while this turn was running.".to_owned());
        recorder.event(EventMsg::Abort { reason }).await;
        let produced_files = produced(snapshots, session, &self.turn_id).await;
        let end = EventMsg::TurnEnd {
            turn_id: self.turn_id.clone(),
            status: TurnStatus::Interrupted,
            iterations: 0,
            produced_files,
            usage: TokenUsage::default(),
            duration_ms: 0,
            error: None,
        };
        // A disk that is full now is said again at the first turn, which needs the same write.
        drop(recorder.record_done(Message::event(recorder.now(), end)).await);
    }
}

async fn produced(
    snapshots: Option<&Arc<cairn_snapshot::Snapshots>>,
    session: &SessionId,
    turn: &TurnId,
) -> Vec<String> {
    let (session, turn) = (session.clone(), turn.clone());
    let changes =
        crate::capture::blocking(snapshots.cloned(), move |it| it.changes(&session, &turn)).await;
    changes
        .map(|changes| changes.files.into_iter().map(|file| file.path).collect())
        .unwrap_or_default()
}
