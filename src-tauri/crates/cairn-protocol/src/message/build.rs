//! Short ways to make a message and to ask what it is.
//!
//! Nothing here reads a clock: the time comes in.

use super::*;

impl Message {
    /// Makes a message of the main session.
    pub fn new(timestamp: Timestamp, body: Body) -> Self {
        Self { timestamp, body, origin: Vec::new(), extra: Extra::default() }
    }

    /// Makes the head of a model context.
    pub fn meta(timestamp: Timestamp, meta: SessionMeta) -> Self {
        Self::new(timestamp, Body::SessionMeta(meta))
    }

    /// Makes a message of the conversation.
    pub fn model(timestamp: Timestamp, message: impl Into<ModelMsg>) -> Self {
        Self::new(timestamp, Body::ModelMsg(message.into()))
    }

    /// Makes an event.
    pub fn event(timestamp: Timestamp, event: EventMsg) -> Self {
        Self::new(timestamp, Body::EventMsg(event))
    }

    /// Returns whether this is a part of a message: streamed, never stored (P-25).
    pub fn is_partial(&self) -> bool {
        self.as_model().is_some_and(ModelMsg::is_partial)
    }

    /// Returns the head of a model context, if this is one.
    pub fn as_meta(&self) -> Option<&SessionMeta> {
        match &self.body {
            Body::SessionMeta(meta) => Some(meta),
            _ => None,
        }
    }

    /// Returns what the model, the user or a tool said, if this is such a message.
    pub fn as_model(&self) -> Option<&ModelMsg> {
        match &self.body {
            Body::ModelMsg(message) => Some(message),
            _ => None,
        }
    }

    /// Returns the event, if this is one.
    pub fn as_event(&self) -> Option<&EventMsg> {
        match &self.body {
            Body::EventMsg(event) => Some(event),
            _ => None,
        }
    }
}

impl ModelMsg {
    /// Returns whether this is a part of a message.
    pub fn is_partial(&self) -> bool {
        match self {
            Self::PartialText(_)
            | Self::PartialThinking(_)
            | Self::PartialToolCall(_)
            | Self::PartialToolCallOutput(_) => true,
            Self::Text(_)
            | Self::Thinking(_)
            | Self::InlineThinking(_)
            | Self::ToolCall(_)
            | Self::ToolCallOutput(_)
            | Self::ImageUrl(_)
            | Self::InlineData(_) => false,
        }
    }

    /// Returns whose side of the conversation the message is on.
    pub fn role(&self) -> Role {
        match self {
            Self::Text(it) => it.role,
            Self::Thinking(it) => it.role,
            Self::InlineThinking(it) => it.role,
            Self::ToolCall(it) => it.role,
            Self::ToolCallOutput(it) => it.role,
            Self::ImageUrl(it) => it.role,
            Self::InlineData(it) => it.role,
            Self::PartialText(it) => it.role,
            Self::PartialThinking(it) => it.role,
            Self::PartialToolCall(it) => it.role,
            Self::PartialToolCallOutput(it) => it.role,
        }
    }
}

impl Text {
    /// Returns what the human said.
    pub fn user(text: impl Into<String>) -> Self {
        Self {
            role: Role::User,
            text: text.into(),
            sender: None,
            fidelity: None,
            stop_reason: None,
            markers: Vec::new(),
        }
    }

    /// Returns what the engine says in the user's place as blocks, and the same blocks beside it (P-31).
    pub fn marked(markers: Vec<Marker>, rest: &str) -> Self {
        let blocks = markers.iter().map(Marker::write);
        let rest = (!rest.is_empty()).then(|| rest.to_owned());
        let text = blocks.chain(rest).collect::<Vec<_>>().join("\n");
        Self { markers, ..Self::harness(text) }
    }

    /// Returns what the engine says in the user's place.
    pub fn harness(text: impl Into<String>) -> Self {
        Self { sender: Some(Sender::Harness), ..Self::user(text) }
    }

    /// Returns what the model said, or what the engine says in its place.
    pub fn assistant(text: impl Into<String>, stop_reason: StopReason) -> Self {
        Self { role: Role::Assistant, stop_reason: Some(stop_reason), ..Self::user(text) }
    }
}

impl ToolCallOutput {
    /// Returns an output that is text only.
    pub fn text(call: &ToolCallId, output: impl Into<String>, stop_reason: StopReason) -> Self {
        Self {
            role: Role::User,
            output: output.into(),
            images: Vec::new(),
            tool_call_id: call.clone(),
            stop_reason: Some(stop_reason),
            details: None,
        }
    }
}

macro_rules! into_model {
    ($($name:ident),*) => {
        $(impl From<$name> for ModelMsg {
            fn from(payload: $name) -> Self {
                Self::$name(payload)
            }
        })*
    };
}

into_model!(
    Text,
    Thinking,
    InlineThinking,
    ToolCall,
    ToolCallOutput,
    ImageUrl,
    InlineData,
    PartialText,
    PartialThinking,
    PartialToolCall,
    PartialToolCallOutput
);
