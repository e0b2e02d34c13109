use proptest::prelude::*;

use super::*;
use crate::{Fidelity, Role, Text, ToolCallOutput};

const AT: Timestamp = Timestamp(1_000);

/// One thing that a wire may send, in any order.
#[derive(Debug, Clone)]
enum Step {
    Thinking(String),
    Text(String),
    Call(u8),
    Arguments(u8, String),
    Output(u8, String),
}

fn call(number: u8) -> ToolCallId {
    ToolCallId::new(format!("call-{number}"))
}

fn step() -> impl Strategy<Value = Step> {
    let text = "[a-zé漢\n ]{0,6}";
    prop_oneof![
        text.prop_map(Step::Thinking),
        text.prop_map(Step::Text),
        (0u8..3).prop_map(Step::Call),
        ((0u8..3), text).prop_map(|(id, text)| Step::Arguments(id, text)),
    ]
}

fn feed(streamer: &mut Streamer, step: &Step) -> Vec<Message> {
    match step {
        Step::Thinking(text) => streamer.thinking(AT, text),
        Step::Text(text) => streamer.text(AT, text),
        Step::Call(id) => streamer.call(AT, &call(*id), "tool"),
        Step::Arguments(id, text) => {
            let mut messages = streamer.call(AT, &call(*id), "tool");
            messages.append(&mut streamer.arguments(AT, &call(*id), text));
            messages
        }
        Step::Output(id, text) => streamer.output(AT, &call(*id), text),
    }
}

fn partials(messages: &[Message]) -> Vec<Message> {
    messages.iter().filter(|message| message.is_partial()).cloned().collect()
}

fn wholes(messages: &[Message]) -> Vec<Message> {
    messages.iter().filter(|message| !message.is_partial()).cloned().collect()
}

fn aggregate(messages: &[Message]) -> Vec<Message> {
    let mut aggregator = Aggregator::new();
    let mut wholes: Vec<Message> =
        messages.iter().filter_map(|message| aggregator.push(message)).collect();
    wholes.append(&mut aggregator.flush(AT, StopReason::Aborted));
    wholes
}

proptest! {
    /// P-12, P-13: whatever a wire sends and however it ends, the stream keeps the discipline, and
    /// who folds its parts gets the same whole messages.
    #[test]
    fn a_response_keeps_the_discipline(
        steps in prop::collection::vec(step(), 0..30),
        aborted in any::<bool>(),
    ) {
        let mut streamer = Streamer::new();
        let mut messages: Vec<Message> =
            steps.iter().flat_map(|step| feed(&mut streamer, step)).collect();
        let reason = if aborted { StopReason::Aborted } else { StopReason::Completed };
        messages.append(&mut streamer.finish(AT, reason));
        prop_assert!(streamer.is_empty());
        prop_assert_eq!(check_response(&messages), Ok(()));
        prop_assert_eq!(aggregate(&partials(&messages)), wholes(&messages));
    }

    /// P-14: a flush closes in the order of opening, and no text is lost or doubled.
    #[test]
    fn a_stream_that_breaks_off_is_flushed(
        steps in prop::collection::vec(step(), 0..30),
        cut in 0usize..40,
    ) {
        let mut streamer = Streamer::new();
        let messages: Vec<Message> =
            steps.iter().flat_map(|step| feed(&mut streamer, step)).collect();
        let cut = cut.min(messages.len());
        let seen = partials(&messages[..cut]);
        let mut aggregator = Aggregator::new();
        let mut wholes: Vec<Message> =
            seen.iter().filter_map(|message| aggregator.push(message)).collect();
        // P-105: who joins here gets the same end.
        let mut joined = Aggregator::new();
        for fragment in aggregator.open_fragments() {
            prop_assert_eq!(joined.push(&fragment), None);
        }
        let flushed = aggregator.flush(AT, StopReason::Aborted);
        prop_assert_eq!(joined.flush(AT, StopReason::Aborted), flushed.clone());
        wholes.extend(flushed);
        let sent: usize = seen.iter().filter_map(Part::of).map(|part| part.text.len()).sum();
        let kept: usize = wholes.iter().map(|message| match message.as_model() {
            Some(ModelMsg::Text(it)) => it.text.len(),
            Some(ModelMsg::Thinking(it)) => it.thinking.len(),
            Some(ModelMsg::ToolCall(it)) => it.arguments.len(),
            other => panic!("{other:?}"),
        }).sum();
        prop_assert_eq!(sent, kept);
    }

    /// A merged batch says the same as its parts.
    #[test]
    fn merging_neighbours_changes_nothing(steps in prop::collection::vec(step(), 0..30)) {
        let mut streamer = Streamer::new();
        let mut messages: Vec<Message> =
            steps.iter().flat_map(|step| feed(&mut streamer, step)).collect();
        messages.append(&mut streamer.finish(AT, StopReason::Completed));
        let mut merged: Vec<Message> = Vec::new();
        for message in &messages {
            if merged.last_mut().is_none_or(|last| !merge_deltas(last, message)) {
                merged.push(message.clone());
            }
        }
        prop_assert_eq!(check_response(&merged), Ok(()));
        prop_assert_eq!(wholes(&merged), wholes(&messages));
    }

    /// P-12 for tools: also when the whole is not what was streamed.
    #[test]
    fn outputs_keep_the_discipline(
        deltas in prop::collection::vec((0u8..2, "[a-zé]{1,5}"), 0..20),
        cut in any::<bool>(),
    ) {
        let mut streamer = Streamer::new();
        let mut texts = [String::new(), String::new()];
        let mut messages = Vec::new();
        for (id, text) in &deltas {
            texts[usize::from(*id)].push_str(text);
            messages.extend(feed(&mut streamer, &Step::Output(*id, text.clone())));
        }
        for (id, text) in (0u8..).zip(texts) {
            let text = if cut { "head … tail".to_owned() } else { format!("{text}\n[exit code: 1]") };
            let whole = ToolCallOutput::text(&call(id), text, StopReason::Completed);
            messages.extend(streamer.end_output(AT, whole));
        }
        prop_assert_eq!(check_segments(&messages), Ok(()));
        prop_assert!(streamer.is_empty());
    }
}

fn part(event_type: PartialEvent, text: &str) -> Message {
    let text = text.to_owned();
    Message::model(
        AT,
        crate::PartialText { role: Role::Assistant, event_type, text, stop_reason: None },
    )
}

fn whole_text(text: &str, stop_reason: Option<StopReason>) -> Message {
    Message::model(AT, Text { role: Role::Assistant, stop_reason, ..Text::user(text) })
}

/// P-14.
#[test]
fn a_start_closes_the_open_segment_of_its_key() {
    let mut aggregator = Aggregator::new();
    assert_eq!(aggregator.push(&part(PartialEvent::Start, "")), None);
    assert_eq!(aggregator.push(&part(PartialEvent::Delta, "one")), None);
    let closed = aggregator.push(&part(PartialEvent::Start, ""));
    assert_eq!(closed, Some(whole_text("one", None)));
    assert_eq!(
        aggregator.flush(AT, StopReason::Aborted),
        [whole_text("", Some(StopReason::Aborted))]
    );
}

/// P-14.
#[test]
fn a_delta_without_a_start_opens() {
    let mut aggregator = Aggregator::new();
    assert_eq!(aggregator.push(&part(PartialEvent::Delta, "one")), None);
    assert_eq!(aggregator.push(&part(PartialEvent::Stop, "")), Some(whole_text("one", None)));
    assert!(aggregator.is_empty());
}

/// P-23: the same kind in a child session is another segment.
#[test]
fn segments_of_child_sessions_are_kept_apart() {
    let mut aggregator = Aggregator::new();
    let mut child = part(PartialEvent::Delta, "child");
    child.origin = vec!["c1".into()];
    aggregator.push(&part(PartialEvent::Delta, "main"));
    aggregator.push(&child);
    let flushed = aggregator.flush(AT, StopReason::Completed);
    let mut expected = whole_text("child", Some(StopReason::Completed));
    expected.origin = vec!["c1".into()];
    assert_eq!(flushed, [whole_text("main", Some(StopReason::Completed)), expected]);
}

#[test]
fn a_whole_message_settles_its_segment() {
    let mut aggregator = Aggregator::new();
    aggregator.push(&part(PartialEvent::Delta, "one"));
    assert_eq!(aggregator.push(&whole_text("one", None)), None);
    assert!(aggregator.is_empty());
}

/// P-105.
#[test]
fn a_fragment_keeps_the_end_of_a_long_segment() {
    let mut aggregator = Aggregator::new();
    aggregator.push(&part(PartialEvent::Delta, &"é".repeat(FRAGMENT_LIMIT_BYTES)));
    aggregator.push(&part(PartialEvent::Delta, "!"));
    let fragments = aggregator.open_fragments();
    let text = Part::of(&fragments[1]).unwrap().text;
    assert_eq!(text.len(), FRAGMENT_LIMIT_BYTES - 1);
    assert!(text.ends_with("é!"));
}

/// P-24: opaque data comes with the whole message, also when there is no text.
#[test]
fn opaque_data_reaches_the_whole_message() {
    let raw = |text: &str| Fidelity(serde_json::from_str(text).unwrap());
    let mut streamer = Streamer::new();
    let mut messages = streamer.thinking_fidelity(AT, raw(r#"{"sig" : 1}"#));
    messages.extend(streamer.call(AT, &call(1), "grep"));
    streamer.call_fidelity(&call(1), raw("[2]"));
    messages.extend(streamer.finish(AT, StopReason::Completed));
    assert_eq!(check_response(&messages), Ok(()));
    let kept: Vec<&str> = messages
        .iter()
        .filter_map(|message| match message.as_model()? {
            ModelMsg::Thinking(it) => it.fidelity.as_ref(),
            ModelMsg::ToolCall(it) => it.fidelity.as_ref(),
            _ => None,
        })
        .map(|fidelity| fidelity.0.get())
        .collect();
    assert_eq!(kept, [r#"{"sig" : 1}"#, "[2]"]);
}

/// P-52.
#[test]
fn a_cut_answer_fails_its_last_message_only() {
    let mut streamer = Streamer::new();
    let mut messages = streamer.text(AT, "so");
    messages.extend(streamer.call(AT, &call(1), "grep"));
    messages.extend(streamer.finish_cut(AT));
    assert_eq!(check_response(&messages), Ok(()));
    let reasons: Vec<Option<StopReason>> = wholes(&messages)
        .iter()
        .filter_map(|message| match message.as_model()? {
            ModelMsg::Text(it) => Some(it.stop_reason),
            ModelMsg::ToolCall(it) => Some(it.stop_reason),
            _ => None,
        })
        .collect();
    assert_eq!(reasons, [Some(StopReason::Completed), Some(StopReason::Failed)]);
}
