//! For who makes a stream: emits start, deltas, stop and the whole message in the right order (P-12,
//! P-13), and closes what is open when the end comes early.
//!
//! It returns messages and sends none, so that the caller decides how to wait when the channel is full.

use super::*;
use crate::{Fidelity, Role, ToolCallOutput};

/// Makes the messages of one model response, or of one tool call's output.
///
/// Thinking settles when text or a call begins. Text and calls stay open until the end, because
/// some providers go on with a text after a call has begun, and whole messages must settle in the
/// order thinking, text, calls.
#[derive(Debug, Default)]
pub struct Streamer {
    open: Vec<Segment>,
}

impl Streamer {
    /// Returns a streamer with nothing open.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds reasoning. An empty delta opens the segment, for opaque data that comes without text.
    pub fn thinking(&mut self, at: Timestamp, delta: &str) -> Vec<Message> {
        self.add(at, SegmentKind::Thinking, None, delta)
    }

    /// Adds text of the answer. An empty delta opens the segment.
    pub fn text(&mut self, at: Timestamp, delta: &str) -> Vec<Message> {
        let mut messages = self.settle_thinking(at);
        messages.append(&mut self.add(at, SegmentKind::Text, None, delta));
        messages
    }

    /// Begins a tool call. A call that is open already goes on.
    pub fn call(&mut self, at: Timestamp, id: &ToolCallId, name: &str) -> Vec<Message> {
        let mut messages = self.settle_thinking(at);
        if self.find(SegmentKind::ToolCall, Some(id)).is_none() {
            let mut segment =
                Segment::new(SegmentKind::ToolCall, Some(id.clone()), Role::Assistant, at);
            segment.name = name.to_owned();
            messages.push(segment.start_part(at));
            self.open.push(segment);
        }
        messages
    }

    /// Adds JSON text to the arguments of a call that was begun.
    pub fn arguments(&mut self, at: Timestamp, id: &ToolCallId, delta: &str) -> Vec<Message> {
        self.add(at, SegmentKind::ToolCall, Some(id), delta)
    }

    /// Sets the opaque data that the reasoning carries; opens the segment when it is not open.
    pub fn thinking_fidelity(&mut self, at: Timestamp, fidelity: Fidelity) -> Vec<Message> {
        let messages = self.add(at, SegmentKind::Thinking, None, "");
        self.set_fidelity(SegmentKind::Thinking, None, fidelity);
        messages
    }

    /// Sets the opaque data that the text carries; opens the segment when it is not open.
    pub fn text_fidelity(&mut self, at: Timestamp, fidelity: Fidelity) -> Vec<Message> {
        let messages = self.text(at, "");
        self.set_fidelity(SegmentKind::Text, None, fidelity);
        messages
    }

    /// Sets the opaque data that an open call carries.
    pub fn call_fidelity(&mut self, id: &ToolCallId, fidelity: Fidelity) {
        self.set_fidelity(SegmentKind::ToolCall, Some(id), fidelity);
    }

    /// Closes reasoning, text and then this call before the end of the response, so that it can run
    /// while the response goes on. Only for wires that send nothing but further calls from here.
    pub fn end_call(&mut self, at: Timestamp, id: &ToolCallId) -> Vec<Message> {
        let mut messages = Vec::new();
        for kind in [SegmentKind::Thinking, SegmentKind::Text] {
            self.close(at, kind, None, StopReason::Completed, &mut messages);
        }
        self.close(at, SegmentKind::ToolCall, Some(id), StopReason::Completed, &mut messages);
        messages
    }

    /// Adds live output of a tool call.
    pub fn output(&mut self, at: Timestamp, id: &ToolCallId, delta: &str) -> Vec<Message> {
        self.add(at, SegmentKind::ToolCallOutput, Some(id), delta)
    }

    /// Closes the output of a call with its whole message. What was not streamed yet comes as one more
    /// delta. When the whole differs from what was streamed, because the middle was cut, the segment
    /// is started again, so that the deltas since the last start always equal the whole.
    pub fn end_output(&mut self, at: Timestamp, whole: ToolCallOutput) -> Vec<Message> {
        let mut messages = Vec::new();
        let call = Some(&whole.tool_call_id);
        let open = self.find(SegmentKind::ToolCallOutput, call).map(|at| self.open.remove(at));
        let streamed = open.as_ref().map(|segment| segment.text.clone());
        let segment = open.unwrap_or_else(|| {
            Segment::new(SegmentKind::ToolCallOutput, call.cloned(), Role::User, at)
        });
        let rest = match streamed.as_deref().map(|streamed| whole.output.strip_prefix(streamed)) {
            Some(Some(rest)) => rest,
            Some(None) | None => {
                messages.push(segment.start_part(at));
                whole.output.as_str()
            }
        };
        if !rest.is_empty() || !whole.images.is_empty() {
            messages.push(segment.delta_part(at, rest.to_owned(), whole.images.clone()));
        }
        messages.push(segment.stop_part(at, whole.stop_reason));
        messages.push(Message::model(at, whole));
        messages
    }

    /// Ends the stream: closes all that is open with this stop reason, in the order in which whole
    /// messages settle. Also the way to end early, on an abort or an error.
    pub fn finish(&mut self, at: Timestamp, stop_reason: StopReason) -> Vec<Message> {
        let count = self.open.len();
        self.close_all(at, |_| stop_reason, count)
    }

    /// Ends a response that was cut by the length limit: the last message is failed, the others are
    /// completed (P-52).
    pub fn finish_cut(&mut self, at: Timestamp) -> Vec<Message> {
        let last = self.open.len().saturating_sub(1);
        let reason = move |index| {
            if index == last { StopReason::Failed } else { StopReason::Completed }
        };
        self.close_all(at, reason, last + 1)
    }

    /// Returns whether nothing is open.
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    fn close_all(
        &mut self,
        at: Timestamp,
        reason: impl Fn(usize) -> StopReason,
        count: usize,
    ) -> Vec<Message> {
        let mut open = std::mem::take(&mut self.open);
        open.sort_by_key(|segment| segment.kind);
        let mut messages = Vec::with_capacity(count * 2);
        for (index, segment) in open.into_iter().enumerate() {
            messages.push(segment.stop_part(at, Some(reason(index))));
            messages.push(segment.complete(at, Some(reason(index))));
        }
        messages
    }

    fn settle_thinking(&mut self, at: Timestamp) -> Vec<Message> {
        let mut messages = Vec::new();
        self.close(at, SegmentKind::Thinking, None, StopReason::Completed, &mut messages);
        messages
    }

    fn close(
        &mut self,
        at: Timestamp,
        kind: SegmentKind,
        call: Option<&ToolCallId>,
        stop_reason: StopReason,
        messages: &mut Vec<Message>,
    ) {
        if let Some(position) = self.find(kind, call) {
            let segment = self.open.remove(position);
            messages.push(segment.stop_part(at, Some(stop_reason)));
            messages.push(segment.complete(at, Some(stop_reason)));
        }
    }

    fn add(
        &mut self,
        at: Timestamp,
        kind: SegmentKind,
        call: Option<&ToolCallId>,
        delta: &str,
    ) -> Vec<Message> {
        let mut messages = Vec::with_capacity(2);
        let position = self.find(kind, call).unwrap_or_else(|| {
            let role = match kind {
                SegmentKind::ToolCallOutput => Role::User,
                _ => Role::Assistant,
            };
            let segment = Segment::new(kind, call.cloned(), role, at);
            messages.push(segment.start_part(at));
            self.open.push(segment);
            self.open.len() - 1
        });
        if !delta.is_empty() {
            let segment = &mut self.open[position];
            segment.text.push_str(delta);
            messages.push(segment.delta_part(at, delta.to_owned(), Vec::new()));
        }
        messages
    }

    fn set_fidelity(&mut self, kind: SegmentKind, call: Option<&ToolCallId>, fidelity: Fidelity) {
        if let Some(position) = self.find(kind, call) {
            self.open[position].fidelity = Some(fidelity);
        }
    }

    fn find(&self, kind: SegmentKind, call: Option<&ToolCallId>) -> Option<usize> {
        self.open.iter().position(|segment| segment.is(&[], kind, call))
    }
}
