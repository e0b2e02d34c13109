//! The envelope and the payloads of a conversation (P-5 … P-14).
//!
//! It says what a message is, not when it is sent: the order is kept by `aggregate.rs` and the
//! engine. Events are in `event.rs`, the JSON form in `message/json.rs`, short ways to make and ask
//! a message in `message/build.rs`.

mod build;
mod json;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use ts_rs::TS;

use crate::marker::Marker;
use crate::{EventMsg, SessionId, Timestamp, ToolCallId};

/// One message: what streams to the window, what the trace stores, what the model sees (P-5).
#[derive(Debug, Clone, PartialEq, TS)]
pub struct Message {
    /// When the message was made.
    pub timestamp: Timestamp,
    /// What it says.
    #[ts(flatten)]
    pub body: Body,
    /// The child sessions that it came through, outer to inner; empty for the main session (P-23).
    #[ts(optional, as = "Option<Vec<SessionId>>")]
    pub origin: Vec<SessionId>,
    /// Fields that this version does not know; kept on read, ignored by logic.
    #[ts(skip)]
    pub extra: Extra,
}

/// Fields of a message that this version does not know. They are written back where they were.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Extra {
    /// Beside `timestamp`, `type` and `payload`.
    pub envelope: Map<String, Value>,
    /// In the payload of a `session_meta` or a `model_msg`.
    pub payload: Map<String, Value>,
}

/// The kinds of message.
#[derive(Debug, Clone, PartialEq, TS)]
#[ts(tag = "type", content = "payload", rename_all = "snake_case")]
pub enum Body {
    /// Heads a model context; exactly one per trace file (P-6).
    SessionMeta(SessionMeta),
    /// What the model, the user or a tool said.
    ModelMsg(ModelMsg),
    /// What happened around it.
    EventMsg(EventMsg),
    /// A message of a newer version: its type, or its payload's, is not known here. It is kept and
    /// written back, never interpreted, and never made by this version.
    #[ts(skip)]
    Unknown(UnknownBody),
}

/// A message that this version does not understand, as it was read.
#[derive(Debug, Clone)]
pub struct UnknownBody {
    /// The `type` of the envelope; one of the known three when only the payload's is new.
    pub kind: String,
    /// The payload as raw JSON text.
    pub payload: Option<Box<RawValue>>,
}

impl PartialEq for UnknownBody {
    fn eq(&self, other: &Self) -> bool {
        let text = |body: &Self| body.payload.as_ref().map(|raw| raw.get().to_owned());
        self.kind == other.kind && text(self) == text(other)
    }
}

/// What a model context was started with (P-6).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct SessionMeta {
    /// The session.
    pub session_id: SessionId,
    /// The provider's name; with `model_id` the identity of the model (P-56).
    pub provider: String,
    /// The model's id at that provider.
    pub model_id: String,
    /// The context window in tokens.
    pub model_context_window: ContextWindow,
    /// The fully assembled system prompt.
    pub system_prompt: String,
    /// Absolute path of the agent's own folder.
    pub agent_state: String,
    /// Absolute path of the workspace.
    pub workspace: String,
    /// Who created the session; absent when the user did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub source: Option<SessionSource>,
}

/// A number of tokens, or the word `unknown`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(untagged)]
pub enum ContextWindow {
    /// Tokens.
    Known(u64),
    /// Not known.
    Unknown(UnknownWord),
}

/// The word `unknown`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
pub enum UnknownWord {
    /// Not known.
    #[serde(rename = "unknown")]
    Unknown,
}

impl ContextWindow {
    /// Returns the number of tokens, where it is known.
    pub fn tokens(self) -> Option<u64> {
        match self {
            Self::Known(tokens) => Some(tokens),
            Self::Unknown(_) => None,
        }
    }
}

impl From<Option<u64>> for ContextWindow {
    fn from(tokens: Option<u64>) -> Self {
        tokens.map_or(Self::Unknown(UnknownWord::Unknown), Self::Known)
    }
}

/// Who created a session, where it was not the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum SessionSource {
    /// Another session.
    Subagent,
    /// A schedule.
    Schedule,
}

/// What the model, the user or a tool said, whole or in parts.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ModelMsg {
    /// A text of the user or the model (P-7).
    Text(Text),
    /// Reasoning of the model (P-8).
    Thinking(Thinking),
    /// Reasoning in a form that is not text (P-8).
    InlineThinking(InlineThinking),
    /// A complete tool call (P-9).
    ToolCall(ToolCall),
    /// What a tool call gave (P-9).
    ToolCallOutput(ToolCallOutput),
    /// An image by address (P-10).
    ImageUrl(ImageUrl),
    /// An image or other data in place (P-10).
    InlineData(InlineData),
    /// A part of a `Text` (P-11).
    PartialText(PartialText),
    /// A part of a `Thinking` (P-11).
    PartialThinking(PartialThinking),
    /// A part of a `ToolCall` (P-11).
    PartialToolCall(PartialToolCall),
    /// A part of a `ToolCallOutput` (P-11).
    PartialToolCallOutput(PartialToolCallOutput),
}

/// Who a message speaks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The user, or the engine in the user's place.
    User,
    /// The model.
    Assistant,
}

/// Who wrote a user text; absent means the human.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Sender {
    /// The human.
    User,
    /// The session that started this one.
    ParentAgent,
    /// The engine.
    Harness,
    /// The host program.
    Server,
}

/// How a part or a whole ended (P-22).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// As it should.
    Completed,
    /// With an error.
    Failed,
    /// The user stopped it.
    Aborted,
    /// It took too long.
    Timeout,
    /// The stream broke its format.
    Malformed,
    /// The key was refused.
    Auth,
}

/// Opaque data of a provider, kept and sent back byte for byte (P-24): the raw JSON text.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[serde(transparent)]
pub struct Fidelity(#[ts(type = "unknown")] pub Box<RawValue>);

impl PartialEq for Fidelity {
    fn eq(&self, other: &Self) -> bool {
        self.0.get() == other.0.get()
    }
}

/// A text of the user or the model (P-7).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct Text {
    /// Who it speaks for.
    pub role: Role,
    /// The text.
    pub text: String,
    /// Who wrote it, on the user's side; absent means the human.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub sender: Option<Sender>,
    /// Opaque data of the provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub fidelity: Option<Fidelity>,
    /// How it ended; absent on user texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub stop_reason: Option<StopReason>,
    /// What the blocks are that the text begins with, in order, said by whoever made the message; empty when it
    /// begins with none. Only this is shown as a marker: a look-alike in the text is text (P-31).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<Marker>>")]
    pub markers: Vec<Marker>,
}

/// Reasoning of the model; may be empty when it only carries opaque data (P-8).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct Thinking {
    /// Always `assistant`.
    pub role: Role,
    /// The reasoning.
    pub thinking: String,
    /// Opaque data of the provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub fidelity: Option<Fidelity>,
    /// How it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub stop_reason: Option<StopReason>,
}

/// Reasoning in a form that is not text (P-8).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct InlineThinking {
    /// Always `assistant`.
    pub role: Role,
    /// Base64.
    pub data: String,
    /// What the data is.
    pub mime_type: String,
    /// Opaque data of the provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub fidelity: Option<Fidelity>,
    /// How it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub stop_reason: Option<StopReason>,
}

/// A complete tool call (P-9).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct ToolCall {
    /// Always `assistant`.
    pub role: Role,
    /// The tool's name.
    pub name: String,
    /// The arguments as JSON text, exactly as the model sent them.
    pub arguments: String,
    /// Names the call.
    pub tool_call_id: ToolCallId,
    /// Opaque data of the provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub fidelity: Option<Fidelity>,
    /// How it ended. Only a completed call may run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub stop_reason: Option<StopReason>,
}

/// What a tool call gave (P-9).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct ToolCallOutput {
    /// Always `user`.
    pub role: Role,
    /// What the model reads.
    pub output: String,
    /// Images as `data:` URLs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<String>>")]
    pub images: Vec<String>,
    /// The call that it belongs to.
    pub tool_call_id: ToolCallId,
    /// How it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub stop_reason: Option<StopReason>,
    /// Facts for the window that the model does not read: exit code, counts, duration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub details: Option<crate::ToolDetails>,
}

/// An image by http(s) address or `data:` URL (P-10).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct ImageUrl {
    /// Who it speaks for.
    pub role: Role,
    /// The address.
    pub image_url: String,
}

/// An image or other data in place (P-10).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct InlineData {
    /// Who it speaks for.
    pub role: Role,
    /// Base64.
    pub data: String,
    /// What the data is.
    pub mime_type: String,
    /// Opaque data of the provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub fidelity: Option<Fidelity>,
}

/// Which part of a segment this is: one start, any number of deltas, one stop, then the whole (P-12).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum PartialEvent {
    /// The segment begins.
    Start,
    /// More of it.
    Delta,
    /// It ends; the complete message follows at once.
    Stop,
}

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct PartialText {
    /// Who it speaks for.
    pub role: Role,
    /// Which part this is.
    pub event_type: PartialEvent,
    /// The added text; empty on start and stop.
    #[serde(default)]
    pub text: String,
    /// How it ended, on stop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub stop_reason: Option<StopReason>,
}

/// A part of a reasoning.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct PartialThinking {
    /// Always `assistant`.
    pub role: Role,
    /// Which part this is.
    pub event_type: PartialEvent,
    /// The added text; empty on start and stop.
    #[serde(default)]
    pub thinking: String,
    /// How it ended, on stop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub stop_reason: Option<StopReason>,
}

/// A part of a tool call. The name comes with the start; a delta is known by its id (P-11).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct PartialToolCall {
    /// Always `assistant`.
    pub role: Role,
    /// Which part this is.
    pub event_type: PartialEvent,
    /// The tool's name on start, else empty.
    #[serde(default)]
    pub name: String,
    /// The added JSON text.
    #[serde(default)]
    pub arguments: String,
    /// The call.
    pub tool_call_id: ToolCallId,
    /// How it ended, on stop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub stop_reason: Option<StopReason>,
}

/// A part of what a running tool gives.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct PartialToolCallOutput {
    /// Always `user`.
    pub role: Role,
    /// Which part this is.
    pub event_type: PartialEvent,
    /// The added text.
    #[serde(default)]
    pub output: String,
    /// Images, whole, in a single delta.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<String>>")]
    pub images: Vec<String>,
    /// The call.
    pub tool_call_id: ToolCallId,
    /// How it ended, on stop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub stop_reason: Option<StopReason>,
}
