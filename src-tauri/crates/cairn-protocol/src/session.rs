//! Workspaces, sessions and the feed of a session, as data.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{
    ApprovalRequest, Message, Mode, ModelRef, QuestionId, RestoreRecord, SandboxState, SessionId,
    Timestamp, TodoItem, TokenUsage, ToolCallId, TurnId, TurnRecord, WorkspaceId,
};

/// A folder that the user picked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct WorkspaceSummary {
    /// Names it.
    pub id: WorkspaceId,
    /// Its last path component, for display.
    pub name: String,
    /// Absolute, canonical.
    pub path: String,
    /// When it was last used.
    pub last_used_at: Timestamp,
    /// Whether the folder is there now.
    pub present: bool,
}

/// A session as a list shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SessionSummary {
    /// Names it.
    pub id: SessionId,
    /// Its workspace.
    pub workspace_id: WorkspaceId,
    /// Its title.
    pub title: String,
    /// The model; absent until one is chosen.
    pub model: Option<ModelRef>,
    /// The mode.
    pub mode: Mode,
    /// What it is doing.
    pub activity: SessionActivity,
    /// When it was made.
    pub created_at: Timestamp,
    /// When something last happened in it.
    pub last_active_at: Timestamp,
    /// Turns so far.
    pub turns: u32,
    /// Tokens so far.
    pub usage: TokenUsage,
}

/// What a session is doing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum SessionActivity {
    /// Nothing.
    Idle,
    /// A turn runs.
    Working {
        /// The turn.
        turn_id: TurnId,
        /// When it began.
        started_at: Timestamp,
    },
    /// A turn waits for the user.
    NeedsYou {
        /// The turn.
        turn_id: TurnId,
        /// Approvals and questions that wait.
        waiting: u32,
        /// When the turn began.
        started_at: Timestamp,
    },
    /// A rollback is being done.
    Restoring,
    /// The last turn ended with an error.
    Failed {
        /// What happened.
        message: String,
    },
}

/// One message with its place in the trace.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct StoredMessage {
    /// Place in the session, from 1, without gaps.
    pub seq: u64,
    /// The message.
    pub message: Message,
}

/// A page of a session's history, oldest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct HistoryPage {
    /// The messages.
    pub messages: Vec<StoredMessage>,
    /// Whether there are older ones.
    pub has_more: bool,
    /// Places of lines that could not be read, shown as gaps.
    pub gaps: Vec<u64>,
}

/// All that a window needs to show a session: its last page and what is open now.
#[derive(Debug, Clone, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SessionView {
    /// The session.
    pub summary: SessionSummary,
    /// The last page of its history.
    pub page: HistoryPage,
    /// All its turns that the snapshot store knows, oldest first.
    pub turns: Vec<TurnRecord>,
    /// All its restores, oldest first.
    pub restores: Vec<RestoreRecord>,
    /// What waits for the user.
    pub pending: Vec<ApprovalRequest>,
    /// Questions of the model that wait.
    pub questions: Vec<PendingQuestion>,
    /// The model's task list.
    pub todos: Vec<TodoItem>,
    /// What confines its commands.
    pub sandbox: SandboxState,
    /// Messages typed while a turn runs, to be sent next, in order.
    pub queue: Vec<QueuedInput>,
    /// Tool calls that were waiting when the app ended; to be resumed or discarded (Z-66).
    pub interrupted_calls: Vec<ToolCallId>,
}

/// A question of the model that waits (Z-39).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct PendingQuestion {
    /// Names it.
    pub question_id: QuestionId,
    /// The call that asked.
    pub tool_call_id: ToolCallId,
    /// The question.
    pub question: String,
    /// Answers to choose from.
    pub options: Vec<String>,
    /// Whether a free text may be given.
    pub allow_text: bool,
    /// Whether several options may be chosen.
    pub multi: bool,
}

/// A text that waits for the running turn to end (P-115).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct QueuedInput {
    /// Names it.
    pub id: String,
    /// The text.
    pub text: String,
}

/// What a session's subscribers get, in order, at most one batch a frame.
#[derive(Debug, Clone, Serialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum FeedItem {
    /// A message that is in the trace.
    Stored {
        /// Place in the session, from 1.
        seq: u64,
        /// The message.
        message: Box<Message>,
    },
    /// A part of a message; not in the trace. Neighbouring deltas of one segment come merged.
    Partial {
        /// The part.
        message: Box<Message>,
    },
    /// The session's summary changed.
    Summary {
        /// The whole of it.
        summary: Box<SessionSummary>,
    },
    /// What waits to be sent changed.
    Queue {
        /// The whole of it.
        queue: Vec<QueuedInput>,
    },
    /// The turn's record changed: a capture, a rollback.
    Turns {
        /// All turns, oldest first.
        turns: Vec<TurnRecord>,
        /// All restores, oldest first.
        restores: Vec<RestoreRecord>,
    },
    /// The subscriber was too slow or is new: open the session again (P-103).
    Resync {},
}
