//! What happened around the conversation (P-15 … P-21, and Cairn's own events).
//!
//! Each event says when it is sent and what must follow.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{
    ApprovalId, ApprovalRequest, ChangeSummary, ErrorInfo, Mode, ModelRef, QuestionId,
    RestoreReport, SandboxState, SessionId, SnapshotId, StopReason, TodoItem, ToolCallId,
    ToolDefinition, TurnId,
};

/// An event of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum EventMsg {
    /// Once, in the first run after the tools are known; again at the head of each later trace file (P-15).
    ToolListReady {
        /// The tools that the model is offered.
        tools: Vec<ToolDefinition>,
    },
    /// A model request begins; `RequestEnd` follows (P-17).
    RequestBegin {},
    /// A model request is over (P-17).
    RequestEnd {
        /// How it ended.
        status: StopReason,
        /// Why, when it was not completed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        error_message: Option<String>,
        /// The number of this attempt from 1; absent on a clean first one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        attempt: Option<u32>,
        /// Milliseconds until the next attempt, when there will be one in this run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        retry_in_ms: Option<u64>,
    },
    /// Somebody must decide about a call. `ApprovalDecision` for the same call follows.
    ApprovalRequest(Box<ApprovalRequest>),
    /// A call was decided: after its `tool_call`, before any of its output (P-18).
    ApprovalDecision {
        /// What was decided.
        decision: ApprovalOutcome,
        /// The call.
        tool_call_id: ToolCallId,
        /// Who decided.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        source: Option<DecisionSource>,
        /// The rule that decided, literally.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        rule: Option<String>,
        /// For how long the decision holds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        scope: Option<GrantScope>,
        /// What the user said to the model, with a denial.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        reason: Option<String>,
        /// The request that was answered, where there was one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        approval_id: Option<ApprovalId>,
    },
    /// An approved call starts to run. Written before its first effect (P21 of the security plan).
    ToolStarted {
        /// The call.
        tool_call_id: ToolCallId,
    },
    /// Tokens used; always the last message of a model stream (P-19).
    TokenUsage {
        /// Of the whole session.
        session: TokenUsage,
        /// Of this request; `total` is also the present context size.
        request: TokenUsage,
    },
    /// The context is being made smaller; `CompactionEnd` follows (P-20).
    CompactionBegin {
        /// What caused it.
        reason: CompactionReason,
        /// How.
        mode: CompactionMode,
        /// Tokens in context.
        context: u64,
        /// Turns in context.
        turns: u32,
    },
    /// The context was made smaller, or not (P-20).
    CompactionEnd {
        /// What caused it.
        reason: CompactionReason,
        /// How.
        mode: CompactionMode,
        /// How it ended.
        status: StopReason,
        /// The number of this attempt.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        attempt: Option<u32>,
        /// Why it failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        error_message: Option<String>,
    },
    /// The connection of tool servers begins; `McpConnectEnd` follows (P-16).
    McpConnectBegin {
        /// Their names.
        servers: Vec<String>,
    },
    /// The tool servers are connected, or not (P-16).
    McpConnectEnd {
        /// `failed` when at least one failed.
        status: StopReason,
        /// One per server.
        results: Vec<McpConnectResult>,
    },
    /// The run stops before its end; last event before `TurnEnd` (P-21, P-45).
    Abort {
        /// Why, where there is more to say than that the user stopped it.
        #[serde(default)]
        reason: Option<String>,
    },
    /// A child session was started here; in the trace of the parent only (P-21).
    Subagent {
        /// The child.
        session_id: SessionId,
    },
    /// A goal run is over (P-21).
    GoalFinished {
        /// How it ended.
        outcome: GoalOutcome,
        /// Rounds run.
        rounds: u32,
        /// Tokens used.
        tokens_used: u64,
    },
    /// A turn begins; exactly one `TurnEnd` with the same id follows, and it is last (Z-12).
    TurnBegin {
        /// The turn.
        turn_id: TurnId,
        /// Its number in the session, from 1.
        number: u32,
        /// The mode at its start.
        mode: Mode,
        /// The model.
        model: ModelRef,
        /// What the user typed, shortened to 200 characters; the whole text is the message that follows.
        input: String,
    },
    /// A turn is over.
    TurnEnd {
        /// The turn.
        turn_id: TurnId,
        /// How it ended (Z-60).
        status: TurnStatus,
        /// Model requests with their tool calls.
        iterations: u32,
        /// Files that the turn created or changed, relative to the workspace (Z-61).
        produced_files: Vec<String>,
        /// Tokens of this turn.
        usage: TokenUsage,
        /// How long it took.
        duration_ms: u64,
        /// What to tell the user, when it did not complete.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        error: Option<ErrorInfo>,
    },
    /// The workspace was captured, or could not be. After the turn's work, before its `TurnEnd`; the one for
    /// `before` is sent when it is known, at the latest before the turn's first effect.
    Snapshot(SnapshotEvent),
    /// Files were rolled back or brought back. Never inside a turn.
    Restore(Box<RestoreReport>),
    /// The model asks the user; `QuestionAnswer` follows (Z-39).
    Question {
        /// Names the question.
        question_id: QuestionId,
        /// The call that asked.
        tool_call_id: ToolCallId,
        /// The question.
        question: String,
        /// Answers to choose from; may be empty.
        options: Vec<String>,
        /// Whether a free text may be given.
        allow_text: bool,
        /// Whether several options may be chosen.
        multi: bool,
    },
    /// The user answered, or declined with an empty list.
    QuestionAnswer {
        /// The question.
        question_id: QuestionId,
        /// What the user chose or typed; empty when declined.
        answers: Vec<String>,
    },
    /// The mode was switched; it holds from the next decision on (P-92).
    ModeChange {
        /// The new mode.
        mode: Mode,
    },
    /// The model was switched at a turn boundary (D-1).
    ModelChange {
        /// The new model.
        model: ModelRef,
    },
    /// What confines the shell commands of this session; once per run, and when it changes (Z-55).
    SandboxState(SandboxState),
    /// The list of the model's tasks was replaced (Z-42).
    Todo {
        /// The whole list.
        items: Vec<TodoItem>,
    },
    /// The session has a new title.
    Title {
        /// The title.
        title: String,
        /// Who gave it.
        source: TitleSource,
    },
    /// Something that the user should know, in the place where it happened.
    Notice {
        /// How much it matters.
        level: NoticeLevel,
        /// What happened, why, and what to do.
        info: ErrorInfo,
    },
    /// An event that this version does not know. Never written: a message with such a payload is
    /// read as `Body::Unknown`, which keeps its text.
    #[serde(other)]
    #[ts(skip)]
    Unknown,
}

/// What was decided about a call (P-18).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalOutcome {
    /// It may run.
    Allow,
    /// A person, a timeout or a mode said no.
    Deny,
    /// The policy said no without asking.
    Forbidden,
}

/// Who decided about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum DecisionSource {
    /// The session's mode.
    Mode,
    /// A stored rule.
    Rule,
    /// An "always" of this session.
    SessionGrant,
    /// The user, in the card.
    User,
    /// The user, in a native dialog.
    NativeDialog,
    /// The built-in policy.
    Policy,
    /// Nobody answered in time, or the app was closed.
    Timeout,
    /// A command-line option of a run without a window.
    Headless,
}

/// For how long an approval holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum GrantScope {
    /// This call only.
    Once,
    /// Until the session ends.
    Session,
    /// In this workspace, until revoked.
    Workspace,
}

/// Tokens (P-19, P-53). `total` is the sum of the other three.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct TokenUsage {
    /// Prompt tokens from the provider's cache.
    pub cache_read: u64,
    /// The remaining prompt tokens.
    pub cache_write: u64,
    /// Reasoning and response tokens.
    pub output: u64,
    /// Their sum.
    pub total: u64,
}

impl std::ops::AddAssign for TokenUsage {
    fn add_assign(&mut self, other: Self) {
        self.cache_read += other.cache_read;
        self.cache_write += other.cache_write;
        self.output += other.output;
        self.total += other.total;
    }
}

/// What made a context smaller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum CompactionReason {
    /// It was nearly full.
    Context,
    /// It had too many turns.
    Turns,
    /// The user asked.
    Manual,
}

/// How a context was made smaller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum CompactionMode {
    /// By a summary.
    Summarize,
    /// By dropping it.
    Discard,
}

/// How one tool server was connected (P-16).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct McpConnectResult {
    /// Its name.
    pub server: String,
    /// How it is reached.
    pub transport: McpTransport,
    /// How it ended.
    pub status: StopReason,
    /// How long it took.
    pub duration_ms: u64,
    /// How many tools it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub tools: Option<u32>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub error: Option<String>,
}

/// How a tool server is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum McpTransport {
    /// A child process.
    Stdio,
    /// Streamable HTTP.
    Http,
    /// The older HTTP with server-sent events.
    Sse,
}

/// How a goal run ended (P-21).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum GoalOutcome {
    /// The goal was reached.
    Complete,
    /// It can't be reached.
    Blocked,
    /// The budget was used up.
    BudgetLimited,
    /// The user stopped it.
    Aborted,
}

/// How a turn ended (Z-60).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum TurnStatus {
    /// The model had no more to say.
    Completed,
    /// The cap on iterations was reached.
    MaxIterationsExceeded,
    /// The user stopped it, or the app ended.
    Interrupted,
    /// It could not go on.
    Error,
}

/// One capture of the workspace. A failed capture is shown as such (promise 2).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SnapshotEvent {
    /// The turn.
    pub turn_id: TurnId,
    /// Before or after the turn's work.
    pub side: SnapshotSide,
    /// The state that was captured; absent when the capture failed or is off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub snapshot_id: Option<SnapshotId>,
    /// How much of the workspace it covers.
    pub completeness: Completeness,
    /// What changed in the turn; on the `after` side only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub changes: Option<ChangeSummary>,
    /// How long the capture took.
    pub duration_ms: u64,
}

/// Which side of a turn was captured (D-4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum SnapshotSide {
    /// Before its first effect.
    Before,
    /// After its last.
    After,
}

/// How much of the workspace a capture covers: the three-state badge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Completeness {
    /// All that the rules cover.
    Protected,
    /// Some paths are left out.
    Partly {
        /// How many.
        skipped: u32,
        /// In one sentence, what and why.
        reason: String,
    },
    /// Nothing was captured.
    NotProtected {
        /// Why, and what to do.
        reason: String,
    },
}

/// Who named a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum TitleSource {
    /// From the first prompt.
    Auto,
    /// The user; final.
    User,
}

/// How much a notice matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum NoticeLevel {
    /// Good to know.
    Info,
    /// Weaker than promised.
    Warning,
    /// Something failed.
    Error,
}
