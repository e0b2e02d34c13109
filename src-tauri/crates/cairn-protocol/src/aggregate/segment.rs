//! One segment while it is open, and the parts that it is made of.

use super::*;
use crate::{
    Fidelity, PartialText, PartialThinking, PartialToolCall, PartialToolCallOutput, Role, Text,
    Thinking, ToolCall, ToolCallOutput,
};

/// What a segment becomes, in the order in which the messages of one response settle (P-13).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SegmentKind {
    Thinking,
    Text,
    ToolCall,
    ToolCallOutput,
}

/// A partial message, with the differences between its four kinds taken away.
pub(super) struct Part<'a> {
    pub(super) origin: &'a [SessionId],
    pub(super) kind: SegmentKind,
    pub(super) call: Option<&'a ToolCallId>,
    pub(super) event: PartialEvent,
    pub(super) role: Role,
    pub(super) name: &'a str,
    pub(super) text: &'a str,
    pub(super) images: &'a [String],
    pub(super) stop_reason: Option<StopReason>,
}

impl<'a> Part<'a> {
    pub(super) fn of(message: &'a Message) -> Option<Self> {
        let base = Part {
            origin: &message.origin,
            kind: SegmentKind::Text,
            call: None,
            event: PartialEvent::Delta,
            role: Role::Assistant,
            name: "",
            text: "",
            images: &[],
            stop_reason: None,
        };
        Some(match message.as_model()? {
            ModelMsg::PartialText(it) => Part {
                role: it.role,
                event: it.event_type,
                text: &it.text,
                stop_reason: it.stop_reason,
                ..base
            },
            ModelMsg::PartialThinking(it) => Part {
                kind: SegmentKind::Thinking,
                role: it.role,
                event: it.event_type,
                text: &it.thinking,
                stop_reason: it.stop_reason,
                ..base
            },
            ModelMsg::PartialToolCall(it) => Part {
                kind: SegmentKind::ToolCall,
                call: Some(&it.tool_call_id),
                role: it.role,
                event: it.event_type,
                name: &it.name,
                text: &it.arguments,
                stop_reason: it.stop_reason,
                ..base
            },
            ModelMsg::PartialToolCallOutput(it) => Part {
                kind: SegmentKind::ToolCallOutput,
                call: Some(&it.tool_call_id),
                role: it.role,
                event: it.event_type,
                text: &it.output,
                images: &it.images,
                stop_reason: it.stop_reason,
                ..base
            },
            _ => return None,
        })
    }

    pub(super) fn belongs_to(&self, segment: &Segment) -> bool {
        segment.is(self.origin, self.kind, self.call)
    }

    pub(super) fn same_segment(&self, other: &Part<'_>) -> bool {
        self.origin == other.origin && self.kind == other.kind && self.call == other.call
    }
}

/// A segment that was started and not yet stopped, with all that it holds so far.
#[derive(Debug, Clone)]
pub(super) struct Segment {
    pub(super) origin: Vec<SessionId>,
    pub(super) kind: SegmentKind,
    pub(super) call: Option<ToolCallId>,
    pub(super) role: Role,
    pub(super) name: String,
    pub(super) text: String,
    pub(super) images: Vec<String>,
    pub(super) fidelity: Option<Fidelity>,
    pub(super) started_at: Timestamp,
}

impl Segment {
    /// Opens a segment; a text that came with the start already counts.
    pub(super) fn start(part: &Part<'_>, started_at: Timestamp) -> Self {
        let mut segment = Self::new(part.kind, part.call.cloned(), part.role, started_at);
        segment.origin = part.origin.to_vec();
        if part.event != PartialEvent::Delta {
            segment.add(part);
        }
        segment
    }

    pub(super) fn new(
        kind: SegmentKind,
        call: Option<ToolCallId>,
        role: Role,
        started_at: Timestamp,
    ) -> Self {
        Self {
            origin: Vec::new(),
            kind,
            call,
            role,
            name: String::new(),
            text: String::new(),
            images: Vec::new(),
            fidelity: None,
            started_at,
        }
    }

    pub(super) fn is(
        &self,
        origin: &[SessionId],
        kind: SegmentKind,
        call: Option<&ToolCallId>,
    ) -> bool {
        self.kind == kind && self.call.as_ref() == call && self.origin == origin
    }

    pub(super) fn add(&mut self, part: &Part<'_>) {
        if self.name.is_empty() {
            self.name.push_str(part.name);
        }
        self.text.push_str(part.text);
        self.images.extend_from_slice(part.images);
    }

    pub(super) fn start_part(&self, at: Timestamp) -> Message {
        self.part(at, PartialEvent::Start, String::new(), Vec::new(), None)
    }

    pub(super) fn delta_part(&self, at: Timestamp, text: String, images: Vec<String>) -> Message {
        self.part(at, PartialEvent::Delta, text, images, None)
    }

    pub(super) fn stop_part(&self, at: Timestamp, stop_reason: Option<StopReason>) -> Message {
        self.part(at, PartialEvent::Stop, String::new(), Vec::new(), stop_reason)
    }

    fn part(
        &self,
        at: Timestamp,
        event_type: PartialEvent,
        text: String,
        images: Vec<String>,
        stop_reason: Option<StopReason>,
    ) -> Message {
        let role = self.role;
        let payload: ModelMsg = match self.kind {
            SegmentKind::Thinking => {
                PartialThinking { role, event_type, thinking: text, stop_reason }.into()
            }
            SegmentKind::Text => PartialText { role, event_type, text, stop_reason }.into(),
            SegmentKind::ToolCall => {
                let named = event_type == PartialEvent::Start;
                let name = if named { self.name.clone() } else { String::new() };
                let tool_call_id = self.call_id();
                let arguments = text;
                PartialToolCall { role, event_type, name, arguments, tool_call_id, stop_reason }
                    .into()
            }
            SegmentKind::ToolCallOutput => {
                let tool_call_id = self.call_id();
                let output = text;
                PartialToolCallOutput {
                    role,
                    event_type,
                    output,
                    images,
                    tool_call_id,
                    stop_reason,
                }
                .into()
            }
        };
        let mut message = Message::model(at, payload);
        message.origin.clone_from(&self.origin);
        message
    }

    pub(super) fn complete(self, at: Timestamp, stop_reason: Option<StopReason>) -> Message {
        let tool_call_id = self.call_id();
        let Self { origin, kind, role, name, text, images, fidelity, .. } = self;
        let payload: ModelMsg = match kind {
            SegmentKind::Thinking => {
                Thinking { role, thinking: text, fidelity, stop_reason }.into()
            }
            SegmentKind::Text => {
                Text { role, text, sender: None, fidelity, stop_reason, markers: Vec::new() }.into()
            }
            SegmentKind::ToolCall => {
                ToolCall { role, name, arguments: text, tool_call_id, fidelity, stop_reason }.into()
            }
            SegmentKind::ToolCallOutput => {
                let details = None;
                ToolCallOutput { role, output: text, images, tool_call_id, stop_reason, details }
                    .into()
            }
        };
        let mut message = Message::model(at, payload);
        message.origin = origin;
        message
    }

    fn call_id(&self) -> ToolCallId {
        self.call.clone().unwrap_or_else(|| ToolCallId::new(""))
    }
}

/// Appends one delta to another of the same kind.
pub(super) fn append(first: &mut ModelMsg, second: &ModelMsg) {
    match (first, second) {
        (ModelMsg::PartialText(a), ModelMsg::PartialText(b)) => a.text.push_str(&b.text),
        (ModelMsg::PartialThinking(a), ModelMsg::PartialThinking(b)) => {
            a.thinking.push_str(&b.thinking);
        }
        (ModelMsg::PartialToolCall(a), ModelMsg::PartialToolCall(b)) => {
            a.arguments.push_str(&b.arguments);
        }
        (ModelMsg::PartialToolCallOutput(a), ModelMsg::PartialToolCallOutput(b)) => {
            a.output.push_str(&b.output);
            a.images.extend_from_slice(&b.images);
        }
        _ => {}
    }
}
