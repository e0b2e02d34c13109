//! The event types of the projection with their fields (Z-57 … Z-60). Field names are the
//! specification's, also where they differ in style from one another.

use serde::Serialize;

use crate::{
    CompactionReason, QuestionId, Timestamp, TitleSource, TokenUsage, ToolCallId, ToolClass,
    TurnId, TurnStatus,
};

/// One event: `{"type": …, "data": {…}}`. A consumer ignores types that it does not know.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", content = "data", rename_all = "snake_case", rename_all_fields = "camelCase")]
#[expect(missing_docs, reason = "the fields are the specification's; `taskId` names the turn")]
pub enum ProjectedEvent {
    /// A turn begins. Exactly one `TurnEnd` follows, and it is last.
    TurnStart {
        task_id: TurnId,
        input: String,
        #[serde(skip_serializing_if = "is_zero")]
        attachment_count: usize,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        attachments: Vec<String>,
    },
    /// A model request begins.
    LlmRequest {
        req_id: String,
        task_id: TurnId,
        log_time: Timestamp,
        model: String,
        msg_count: usize,
        tool_count: usize,
    },
    /// More text of the answer.
    AssistantDelta { text: String, req_id: String, task_id: TurnId },
    /// More reasoning.
    ReasoningDelta { text: String, req_id: String, task_id: TurnId },
    /// A model request was completed: all that it gave.
    AssistantMessage {
        text: String,
        reasoning: String,
        #[serde(rename = "tool_calls")]
        tool_calls: Vec<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        usage: Option<TokenUsage>,
        req_id: String,
        task_id: TurnId,
        log_time: Timestamp,
    },
    /// A model request failed and will be made again after `waitMs`.
    LlmRetry {
        attempt: u32,
        max: u32,
        reason: String,
        wait_ms: u64,
        iteration: u32,
        req_id: String,
    },
    /// The model asks for a tool. `reqId` is the call's id, here and in the events of the call.
    ToolProposed { req_id: ToolCallId, name: String, arguments: String, task_id: TurnId },
    /// The user is asked.
    PermissionRequired {
        task_id: TurnId,
        req_id: ToolCallId,
        name: String,
        arguments: String,
        reason: String,
        category: ToolClass,
    },
    /// An approved call runs; `ToolFinished` follows.
    ToolStarted {
        task_id: TurnId,
        req_id: ToolCallId,
        name: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        start_time: Option<Timestamp>,
    },
    /// A call is over, or was denied. `duration` is in milliseconds.
    ToolFinished {
        task_id: TurnId,
        req_id: ToolCallId,
        name: String,
        status: FinishStatus,
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        duration: Option<u64>,
        #[serde(rename = "result_preview", skip_serializing_if = "Option::is_none")]
        result_preview: Option<String>,
    },
    /// A model request and all its calls are over.
    IterationEnd { iteration: u32, task_id: TurnId },
    /// The context is being made smaller.
    Compacting {
        task_id: TurnId,
        trigger: CompactionReason,
        tokens: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        context_window: Option<u64>,
        outbound_messages: usize,
    },
    /// The context was made smaller.
    Compacted { req_id: String, task_id: TurnId, method: String, messages_before: usize },
    /// The user said something while the turn runs.
    QueueSteering { text: String, task_id: TurnId },
    /// The model asks the user.
    AskUserQuestion {
        task_id: TurnId,
        question_id: QuestionId,
        question: String,
        options: Vec<String>,
        allow_text: bool,
        multi: bool,
    },
    /// The session has a new title. May come after a turn's end.
    SessionNamed { name: String, source: TitleSource },
    /// The user stopped the turn; `TurnEnd` follows.
    Interrupted { iterations: u32, req_id: String, task_id: TurnId },
    /// The turn can't go on; `TurnEnd` follows.
    Error {
        error: String,
        #[serde(rename = "error_type")]
        error_type: String,
        retriable: bool,
        iteration: u32,
        req_id: String,
        log_time: Timestamp,
        task_id: TurnId,
    },
    /// A turn is over; the last event of its turn.
    TurnEnd {
        status: TurnStatus,
        iterations: u32,
        #[serde(rename = "produced_files")]
        produced_files: Vec<String>,
        task_id: TurnId,
    },
}

/// How a call ended (Z-60).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FinishStatus {
    /// It did what it should.
    Ok,
    /// It failed or took too long.
    Error,
    /// The user or the policy said no.
    Denied,
    /// The user stopped the turn.
    Interrupted,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}
