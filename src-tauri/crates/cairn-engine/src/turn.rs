//! One turn: model requests and their tool calls until the model has no more to say (P-33 … P-45).
//!
//! Whatever happens, the turn ends with exactly one `turn_end`, and it is last (Z-12). The request
//! with its retries is in `turn/request.rs`, approvals and tools in `turn/gate.rs`.

mod calls;
mod gate;
mod port;
mod request;

use std::sync::Arc;
use std::time::{Duration, Instant};

use cairn_protocol::{
    ErrorCode, ErrorInfo, EventMsg, Message, NoticeLevel, SessionId, StopReason, Text, TokenUsage,
    TurnId, TurnStatus, WorkspaceSummary,
};
use cairn_provider::Provider;
use cairn_tools::ToolContext;
use tokio::sync::{Notify, mpsc, watch};
use tokio_util::sync::CancellationToken;

use crate::capture::TurnCapture;
use crate::context::Context;
use crate::engine::Inner;
use crate::recorder::Recorder;
use crate::session::{Ask, Live};

pub(crate) use calls::Calls;

/// All that a turn needs; made by the session's task.
#[derive(Clone)]
pub(crate) struct TurnEnv {
    pub(crate) engine: Arc<Inner>,
    pub(crate) session: SessionId,
    pub(crate) workspace: WorkspaceSummary,
    pub(crate) turn_id: TurnId,
    pub(crate) number: u32,
    pub(crate) recorder: Recorder,
    pub(crate) live: watch::Receiver<Live>,
    pub(crate) asks: mpsc::Sender<Ask>,
    pub(crate) snapshots: Option<Arc<cairn_snapshot::Snapshots>>,
    pub(crate) unprotected: Option<String>,
    pub(crate) tools: Arc<ToolContext>,
    pub(crate) calls: Arc<Calls>,
    pub(crate) provider: Arc<dyn Provider>,
    pub(crate) system: Arc<str>,
    pub(crate) announce_tools: bool,
    pub(crate) max_iterations: u32,
    pub(crate) idle_timeout: u64,
    pub(crate) session_usage: TokenUsage,
    pub(crate) retry: Arc<Notify>,
    pub(crate) cancel: CancellationToken,
    /// Cancelled when nothing is left to do but to store the `turn_end`.
    pub(crate) ending: CancellationToken,
}

/// What a turn leaves for its session.
pub(crate) struct TurnResult {
    pub(crate) context: Context,
    pub(crate) usage: TokenUsage,
    pub(crate) error: Option<ErrorInfo>,
}

/// How a turn came to its end, before it is written down.
enum End {
    Completed,
    Interrupted(Option<String>),
    TooLong,
    Error(ErrorInfo),
}

struct Turn {
    env: TurnEnv,
    context: Context,
    usage: TokenUsage,
    iterations: u32,
    capture: Arc<TurnCapture>,
}

/// Runs a turn to its end.
pub(crate) async fn run(env: TurnEnv, context: Context) -> TurnResult {
    let began = Instant::now();
    let capture = TurnCapture::begin(
        env.snapshots.clone(),
        env.unprotected.clone(),
        env.session.clone(),
        env.turn_id.clone(),
        env.number,
        env.recorder.clone(),
    );
    if env.tools.commands.list().iter().any(|task| task.status.is_none()) {
        // A command of an earlier turn still runs; what it changes from now on is the agent's doing.
        capture.command_goes_on();
    }
    let mut turn = Turn { env, context, usage: TokenUsage::default(), iterations: 0, capture };
    let end = turn.iterate().await;
    turn.finish(end, began.elapsed()).await
}

impl Turn {
    async fn iterate(&mut self) -> End {
        let definitions = Arc::new(self.env.engine.tools().definitions());
        if self.env.announce_tools {
            let tools = definitions.as_ref().clone();
            self.env.recorder.event(EventMsg::ToolListReady { tools }).await;
        }
        loop {
            if self.env.cancel.is_cancelled() {
                return End::Interrupted(None);
            }
            if self.env.max_iterations > 0 && self.iterations >= self.env.max_iterations {
                return End::TooLong;
            }
            self.iterations += 1;
            let request = self.request(&definitions).await;
            match request {
                Ok(answer) if answer.stop => return End::Interrupted(None),
                Ok(answer) if answer.calls == 0 => {
                    if answer.cut_by_length {
                        self.notice_cut().await;
                    }
                    return End::Completed;
                }
                Ok(_) => {}
                Err(end) => return end,
            }
        }
    }

    async fn notice_cut(&self) {
        let text = "The answer was cut by the model's output limit. Send \"continue\" to go on.";
        let info = ErrorInfo::new(ErrorCode::Unsupported, text);
        self.env.recorder.event(EventMsg::Notice { level: NoticeLevel::Warning, info }).await;
    }

    async fn finish(mut self, end: End, duration: Duration) -> TurnResult {
        let recorder = self.env.recorder.clone();
        if matches!(end, End::Interrupted(_)) {
            self.env.tools.commands.kill_all().await;
        }
        if matches!(end, End::TooLong) {
            let text = format!(
                "Stopped after {} model requests, the limit of one turn. Send a message to go on.",
                self.iterations
            );
            let text = Text::assistant(text, StopReason::Failed);
            recorder.record(Message::model(recorder.now(), text)).await;
        }
        let produced_files = self.capture.end(&recorder, self.env.unprotected.clone()).await;
        let (status, error, reason) = match end {
            End::Completed => (TurnStatus::Completed, None, None),
            End::TooLong => (TurnStatus::MaxIterationsExceeded, None, None),
            End::Interrupted(reason) => (TurnStatus::Interrupted, None, Some(reason)),
            End::Error(error) => {
                let reason = Some(error.message.clone());
                (TurnStatus::Error, Some(error), Some(reason))
            }
        };
        if let Some(reason) = reason {
            self.record(EventMsg::Abort { reason }).await;
        }
        let end = EventMsg::TurnEnd {
            turn_id: self.env.turn_id.clone(),
            status,
            iterations: self.iterations,
            produced_files,
            usage: self.usage,
            duration_ms: u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
            error: error.clone(),
        };
        let end = Message::event(recorder.now(), end);
        self.context.observe(&Arc::new(end.clone()));
        self.env.ending.cancel();
        let stored = recorder.record_done(end).await;
        TurnResult { context: self.context, usage: self.usage, error: error.or(stored.err()) }
    }

    /// Stores an event and takes it into the context.
    async fn record(&mut self, event: EventMsg) {
        let message = Message::event(self.env.recorder.now(), event);
        self.env.recorder.record(message.clone()).await;
        self.context.observe(&Arc::new(message));
    }
}

/// Ends a turn whose task broke down, so that its `turn_begin` still has its `turn_end`.
pub(crate) async fn close_broken(recorder: &Recorder, turn_id: &TurnId, error: ErrorInfo) {
    recorder.event(EventMsg::Abort { reason: Some(error.message.clone()) }).await;
    let end = EventMsg::TurnEnd {
        turn_id: turn_id.clone(),
        status: TurnStatus::Error,
        iterations: 0,
        produced_files: Vec::new(),
        usage: TokenUsage::default(),
        duration_ms: 0,
        error: Some(error),
    };
    // When this can't be stored now, it is held; the window has been told.
    drop(recorder.record_done(Message::event(recorder.now(), end)).await);
}
