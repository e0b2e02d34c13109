//! Says whether a stream keeps the discipline; for tests of whatever makes one.

use super::*;

/// Checks that every segment is start, deltas, stop and at once the equal whole message, and that
/// none stays open (P-12). Parts of several segments may interleave.
pub fn check_segments(messages: &[Message]) -> Result<(), String> {
    let mut open: Vec<Segment> = Vec::new();
    let mut due: Option<Message> = None;
    for (index, message) in messages.iter().enumerate() {
        let fail = |what: &str| Err(format!("message {index}: {what}: {message:?}"));
        if let Some(expected) = due.take() {
            if !equal_content(&expected, message) {
                return fail("not the whole message that the stop before it announced");
            }
            continue;
        }
        let Some(part) = Part::of(message) else {
            if whole_is_open(&open, message) {
                return fail("a whole message without its stop");
            }
            continue;
        };
        let position = open.iter().position(|segment| part.belongs_to(segment));
        match (part.event, position) {
            (PartialEvent::Start, position) => {
                if let Some(old) = position {
                    if part.kind != SegmentKind::ToolCallOutput {
                        return fail("a start of an open segment");
                    }
                    open.remove(old);
                }
                open.push(Segment::start(&part, message.timestamp));
            }
            (_, None) => return fail("a part of a segment that was not started"),
            (PartialEvent::Delta, Some(at)) => {
                if part.text.is_empty() && part.images.is_empty() {
                    return fail("an empty delta");
                }
                open[at].add(&part);
            }
            (PartialEvent::Stop, Some(at)) => {
                let segment = open.remove(at);
                due = Some(segment.complete(message.timestamp, part.stop_reason));
            }
        }
    }
    match (due, open.first()) {
        (Some(message), _) => Err(format!("the whole message is missing: {message:?}")),
        (None, Some(segment)) => Err(format!("left open: {segment:?}")),
        (None, None) => Ok(()),
    }
}

/// Checks the stream of one model response: its segments, and that whole messages settle in the
/// order thinking, text, tool calls (P-13).
pub fn check_response(messages: &[Message]) -> Result<(), String> {
    check_segments(messages)?;
    let mut highest = SegmentKind::Thinking;
    for (index, message) in messages.iter().enumerate() {
        let Some((kind, _)) = message.as_model().and_then(whole) else { continue };
        if kind < highest {
            return Err(format!("message {index} settles too late: {message:?}"));
        }
        highest = kind;
    }
    Ok(())
}

fn whole_is_open(open: &[Segment], message: &Message) -> bool {
    let settled = message.as_model().and_then(whole);
    settled.is_some_and(|(kind, call)| open.iter().any(|it| it.is(&message.origin, kind, call)))
}

/// Compares what a stream of parts can carry: opaque data and details come with the whole only.
fn equal_content(expected: &Message, actual: &Message) -> bool {
    let mut actual = actual.clone();
    actual.timestamp = expected.timestamp;
    actual.extra = expected.extra.clone();
    if let crate::Body::ModelMsg(message) = &mut actual.body {
        match message {
            ModelMsg::Text(it) => it.fidelity = None,
            ModelMsg::Thinking(it) => it.fidelity = None,
            ModelMsg::ToolCall(it) => it.fidelity = None,
            ModelMsg::ToolCallOutput(it) => it.details = None,
            _ => {}
        }
    }
    *expected == actual
}
