//! The record that is shown is the record that is executed (promise 3).
//!
//! Whether a call needs one is decided in `cairn-policy`; the waiting is in `cairn-engine`.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{
    ApprovalId, AskClass, CallEffects, GrantScope, RuleMatcher, SandboxPolicy, SessionId,
    Timestamp, ToolCallId, TurnId,
};

/// All that the user is shown about a call that waits (security plan 3.7).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct ApprovalRequest {
    /// Names the question.
    pub approval_id: ApprovalId,
    /// The session.
    pub session_id: SessionId,
    /// The turn.
    pub turn_id: TurnId,
    /// The call.
    pub tool_call_id: ToolCallId,
    /// The tool.
    pub tool: String,
    /// The arguments as the model sent them.
    pub arguments: String,
    /// What the call will do.
    pub effects: CallEffects,
    /// Why it asks, for a person.
    pub reason: String,
    /// How strong an answer it needs.
    pub class: AskClass,
    /// What will confine the call's commands.
    pub sandbox: SandboxPolicy,
    /// What "always" would store; absent when it is not offered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub always: Option<RuleMatcher>,
    /// SHA-256, hex, over the tool, the arguments, the effects and the sandbox. An answer must carry it, and the
    /// executor checks it again.
    pub digest: String,
    /// When the question was put.
    pub created_at: Timestamp,
}

/// What the user answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ApprovalAnswer {
    /// No; the reason reaches the model.
    Deny {
        /// What to tell the model; may be empty.
        reason: String,
    },
    /// This call only.
    AllowOnce,
    /// This call and those that the shown rule matches.
    Always {
        /// For how long. `once` is not valid here.
        scope: GrantScope,
    },
    /// No, and stop the turn.
    Stop,
}
