//! Parts of messages and whole ones: the one implementation of the streaming discipline (P-11 … P-14).
//!
//! `Aggregator` is for who reads a stream, `Streamer` for who makes one, `check_segments` and
//! `check_response` for tests of either. Nothing here waits, sends or reads a clock.

mod check;
mod segment;
mod streamer;

use crate::{Message, ModelMsg, PartialEvent, SessionId, StopReason, Timestamp, ToolCallId};
use segment::{Part, Segment, SegmentKind};

pub use check::{check_response, check_segments};
pub use streamer::Streamer;

/// The most text that `Aggregator::open_fragments` gives for one segment; the end is kept, because
/// further deltas join there (P-105).
pub const FRAGMENT_LIMIT_BYTES: usize = 512 * 1024;

/// Folds parts into whole messages (P-14). A segment is known by its origin, its kind and its call.
#[derive(Debug, Clone, Default)]
pub struct Aggregator {
    /// In the order in which they were opened.
    open: Vec<Segment>,
}

impl Aggregator {
    /// Returns an aggregator with nothing open.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next message of a stream and returns the message that it completed, if any: on a
    /// stop the segment with its stop reason; on a start of a segment that is open already, the old
    /// one, which has no stop reason. A delta without a start opens its segment. A whole message
    /// settles its own segment and is not returned again.
    pub fn push(&mut self, message: &Message) -> Option<Message> {
        let Some(part) = Part::of(message) else {
            self.settle(message);
            return None;
        };
        let position = self.open.iter().position(|segment| part.belongs_to(segment));
        match part.event {
            PartialEvent::Start => {
                let old = position.map(|at| self.open.remove(at));
                self.open.push(Segment::start(&part, message.timestamp));
                old.map(|segment| segment.complete(message.timestamp, None))
            }
            PartialEvent::Delta => {
                let at = position.unwrap_or_else(|| {
                    self.open.push(Segment::start(&part, message.timestamp));
                    self.open.len() - 1
                });
                self.open[at].add(&part);
                None
            }
            PartialEvent::Stop => {
                let segment = match position {
                    Some(at) => self.open.remove(at),
                    None => Segment::start(&part, message.timestamp),
                };
                Some(segment.complete(message.timestamp, part.stop_reason))
            }
        }
    }

    /// Closes what is still open, in the order in which it was opened.
    pub fn flush(&mut self, at: Timestamp, stop_reason: StopReason) -> Vec<Message> {
        let open = std::mem::take(&mut self.open);
        open.into_iter().map(|segment| segment.complete(at, Some(stop_reason))).collect()
    }

    /// Returns whether no segment is open.
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Returns a start and a delta for every open segment, in the order in which they were opened:
    /// what a new subscriber needs to join in the middle (P-105). The delta holds all so far, at
    /// most the last `FRAGMENT_LIMIT_BYTES`; it is left out when there is nothing yet.
    pub fn open_fragments(&self) -> Vec<Message> {
        let mut fragments = Vec::with_capacity(self.open.len() * 2);
        for segment in &self.open {
            fragments.push(segment.start_part(segment.started_at));
            let text = tail(&segment.text, FRAGMENT_LIMIT_BYTES);
            if !text.is_empty() || !segment.images.is_empty() {
                let images = segment.images.clone();
                fragments.push(segment.delta_part(segment.started_at, text.to_owned(), images));
            }
        }
        fragments
    }

    fn settle(&mut self, message: &Message) {
        let Some((kind, call)) = message.as_model().and_then(whole) else { return };
        self.open.retain(|segment| !segment.is(&message.origin, kind, call));
    }
}

/// Appends a delta to the delta before it, when both belong to the same segment, and returns
/// whether it did. For feeds that send at most one batch a frame.
pub fn merge_deltas(earlier: &mut Message, later: &Message) -> bool {
    let joined = match (Part::of(earlier), Part::of(later)) {
        (Some(first), Some(second)) => {
            first.event == PartialEvent::Delta
                && second.event == PartialEvent::Delta
                && first.same_segment(&second)
        }
        _ => false,
    };
    if joined
        && let crate::Body::ModelMsg(first) = &mut earlier.body
        && let Some(second) = later.as_model()
    {
        segment::append(first, second);
    }
    joined
}

/// Returns which segment a whole message settles.
fn whole(message: &ModelMsg) -> Option<(SegmentKind, Option<&ToolCallId>)> {
    match message {
        ModelMsg::Text(_) => Some((SegmentKind::Text, None)),
        ModelMsg::Thinking(_) => Some((SegmentKind::Thinking, None)),
        ModelMsg::ToolCall(call) => Some((SegmentKind::ToolCall, Some(&call.tool_call_id))),
        ModelMsg::ToolCallOutput(output) => {
            Some((SegmentKind::ToolCallOutput, Some(&output.tool_call_id)))
        }
        _ => None,
    }
}

fn tail(text: &str, limit: usize) -> &str {
    let mut from = text.len().saturating_sub(limit);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    &text[from..]
}

#[cfg(test)]
mod tests;
