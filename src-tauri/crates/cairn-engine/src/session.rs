//! The handle of a session: what a window or the command line can do with it.
//!
//! A session is one task that owns its state (`session/actor.rs`); this handle sends it an `Op` and
//! waits for the answer. It decides nothing itself.

mod actor;
mod approvals;
mod live;
mod open;

use std::sync::Arc;

use cairn_protocol::{
    ApprovalAnswer, ApprovalId, ApprovalRequest, ErrorCode, ErrorInfo, FileDiff, HistoryPage, Mode,
    ModelRef, QuestionId, RestoreId, RestorePlan, RestoreReport, RestoreRequest, SessionId,
    SessionView, ToolCallId, TurnChanges, TurnId,
};
use tokio::sync::{mpsc, oneshot};

use crate::error::{Result, closed};
use crate::feed::Subscription;
use crate::recorder::Recorder;

pub(crate) use approvals::{ApprovalReply, Ask};
pub(crate) use live::Live;
pub(crate) use open::{OpenSession, open};

/// Who gives an answer. What widens needs more than the window's word (D-6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Authority {
    /// The page that also shows model text: may say no, and yes to a confined act.
    Window,
    /// A dialog of the OS that the shell raised from the same record.
    NativeDialog,
    /// A command-line option that the user typed before the run.
    Headless,
}

impl Authority {
    /// Fails with `declined` for the window; `what` begins the sentence that the user reads.
    pub(crate) fn must_be_more_than_the_window(self, what: &str) -> Result<()> {
        match self {
            Self::NativeDialog | Self::Headless => Ok(()),
            Self::Window => {
                let text = format!(
                    "{what} needs the system's own dialog: the window alone can't decide it."
                );
                Err(ErrorInfo::new(ErrorCode::Declined, text))
            }
        }
    }
}

/// What became of a text that was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sent {
    /// A turn began with it.
    Started(TurnId),
    /// It waits for the running turn to end.
    Queued(String),
}

type Reply<T> = oneshot::Sender<Result<T>>;

pub(crate) enum Op {
    View {
        reply: Reply<SessionView>,
    },
    StartTurn {
        text: String,
        reply: Reply<Sent>,
    },
    Unqueue {
        id: String,
        reply: Reply<String>,
    },
    Interrupt {
        reply: Reply<()>,
    },
    StopCommand {
        call: ToolCallId,
        reply: Reply<()>,
    },
    RetryNow {
        reply: Reply<()>,
    },
    SetMode {
        mode: Mode,
        authority: Authority,
        reply: Reply<Mode>,
    },
    SetModel {
        model: ModelRef,
        reply: Reply<()>,
    },
    Rename {
        title: String,
        reply: Reply<()>,
    },
    Pending {
        id: ApprovalId,
        reply: Reply<ApprovalRequest>,
    },
    Answer {
        id: ApprovalId,
        digest: String,
        answer: ApprovalAnswer,
        authority: Authority,
        reply: Reply<()>,
    },
    AnswerQuestion {
        id: QuestionId,
        answers: Vec<String>,
        reply: Reply<()>,
    },
    Restore {
        request: RestoreRequest,
        token: String,
        reply: Reply<RestoreReport>,
    },
    BringBack {
        restore: Option<RestoreId>,
        reply: Reply<RestoreReport>,
    },
    SettingsChanged,
    Close {
        reply: Reply<()>,
    },
}

/// A session that is open in this process. Cheap to clone; the session goes on without it.
#[derive(Clone)]
pub struct Session {
    id: SessionId,
    ops: mpsc::Sender<Op>,
    recorder: Recorder,
    snapshots: Option<Arc<cairn_snapshot::Snapshots>>,
}

impl Session {
    /// Returns the session's id.
    pub fn id(&self) -> &SessionId {
        &self.id
    }

    /// Returns all that a window needs to show the session.
    pub async fn view(&self) -> Result<SessionView> {
        self.ask(|reply| Op::View { reply }).await
    }

    /// Returns at most `limit` messages before a place, oldest first.
    pub async fn history(&self, before: u64, limit: u32) -> Result<HistoryPage> {
        self.recorder.page(Some(before), limit.clamp(1, 500)).await
    }

    /// Subscribes to the session. With `after`, what was stored since that place comes first; then
    /// what is open now; then what happens (P-104, P-105).
    pub async fn subscribe(&self, after: Option<u64>) -> Result<Subscription> {
        self.recorder.subscribe(after).await
    }

    /// Starts a turn, or queues the text while one runs. Fails without any effect when no model is
    /// set up or the text can't be stored.
    pub async fn start_turn(&self, text: impl Into<String>) -> Result<Sent> {
        let text = text.into();
        self.ask(|reply| Op::StartTurn { text, reply }).await
    }

    /// Takes a waiting text back and returns it.
    pub async fn unqueue(&self, id: impl Into<String>) -> Result<String> {
        let id = id.into();
        self.ask(|reply| Op::Unqueue { id, reply }).await
    }

    /// Stops the running turn: the model's stream, its tools and their process trees (P-111). Does
    /// nothing when none runs.
    pub async fn interrupt(&self) -> Result<()> {
        self.ask(|reply| Op::Interrupt { reply }).await
    }

    /// Stops one running call and lets the turn go on.
    pub async fn stop_command(&self, call: ToolCallId) -> Result<()> {
        self.ask(|reply| Op::StopCommand { call, reply }).await
    }

    /// Ends the wait before the next attempt of a model request (P-44).
    pub async fn retry_now(&self) -> Result<()> {
        self.ask(|reply| Op::RetryNow { reply }).await
    }

    /// Switches the mode and returns what now holds. To `auto` the window's word is not enough.
    pub async fn set_mode(&self, mode: Mode, authority: Authority) -> Result<Mode> {
        self.ask(|reply| Op::SetMode { mode, authority, reply }).await
    }

    /// Switches the model; only between turns (D-1).
    pub async fn set_model(&self, model: ModelRef) -> Result<()> {
        self.ask(|reply| Op::SetModel { model, reply }).await
    }

    /// Gives the session a title, which no automatic one replaces.
    pub async fn rename(&self, title: impl Into<String>) -> Result<()> {
        let title = title.into();
        self.ask(|reply| Op::Rename { title, reply }).await
    }

    /// Returns a question that waits, as it was shown.
    pub async fn pending(&self, id: ApprovalId) -> Result<ApprovalRequest> {
        self.ask(|reply| Op::Pending { id, reply }).await
    }

    /// Answers a question. Fails with `declined` when the authority is too weak for the answer, and
    /// with `stale` when the digest is not that of the record.
    pub async fn answer(
        &self,
        id: ApprovalId,
        digest: impl Into<String>,
        answer: ApprovalAnswer,
        authority: Authority,
    ) -> Result<()> {
        let digest = digest.into();
        self.ask(|reply| Op::Answer { id, digest, answer, authority, reply }).await
    }

    /// Answers a question of the model; an empty list declines.
    pub async fn answer_question(&self, id: QuestionId, answers: Vec<String>) -> Result<()> {
        self.ask(|reply| Op::AnswerQuestion { id, answers, reply }).await
    }

    /// Returns what changed in a turn.
    pub async fn changes(&self, turn: TurnId) -> Result<TurnChanges> {
        let session = self.id.clone();
        self.with_snapshots(move |snapshots| snapshots.changes(&session, &turn)).await
    }

    /// Returns the difference of one path in a turn.
    pub async fn diff(&self, turn: TurnId, path: String, from_hunk: u32) -> Result<FileDiff> {
        let session = self.id.clone();
        self.with_snapshots(move |snapshots| snapshots.diff(&session, &turn, &path, from_hunk))
            .await
    }

    /// Returns what a rollback would do; touches nothing.
    pub async fn plan(&self, request: RestoreRequest) -> Result<RestorePlan> {
        let request = RestoreRequest { session_id: self.id.clone(), ..request };
        self.with_snapshots(move |snapshots| snapshots.plan(&request)).await
    }

    /// Does what the plan with this token showed. Refused while a turn runs, and when anything of the
    /// plan has moved since.
    pub async fn restore(&self, request: RestoreRequest, token: String) -> Result<RestoreReport> {
        self.ask(|reply| Op::Restore { request, token, reply }).await
    }

    /// Takes a rollback back; the last one that stands when none is named.
    pub async fn bring_back(&self, restore: Option<RestoreId>) -> Result<RestoreReport> {
        self.ask(|reply| Op::BringBack { restore, reply }).await
    }

    /// Ends the running turn, syncs the trace and lets go of its lock.
    pub async fn close(&self) -> Result<()> {
        self.ask(|reply| Op::Close { reply }).await
    }

    pub(crate) fn settings_changed(&self) {
        // A full queue is one that will read the settings anyway before its next turn.
        let _full = self.ops.try_send(Op::SettingsChanged);
    }

    /// Lets go of the trace of a session whose task has ended.
    pub(crate) async fn release(&self) -> Result<()> {
        self.recorder.stop().await
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.ops.is_closed()
    }

    async fn ask<T>(&self, op: impl FnOnce(Reply<T>) -> Op) -> Result<T> {
        let (reply, answer) = oneshot::channel();
        self.ops.send(op(reply)).await.map_err(|_| closed())?;
        answer.await.map_err(|_| closed())?
    }

    async fn with_snapshots<T: Send + 'static>(
        &self,
        read: impl FnOnce(&cairn_snapshot::Snapshots) -> std::result::Result<T, cairn_snapshot::Error>
        + Send
        + 'static,
    ) -> Result<T> {
        let snapshots = self.snapshots.clone();
        crate::capture::blocking(snapshots, read).await
    }
}
