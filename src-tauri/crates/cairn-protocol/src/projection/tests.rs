use proptest::prelude::*;

use super::*;
use crate::{
    CallEffects, DecisionSource, ErrorCode, Mode, ModelRef, SandboxPolicy, Streamer, ToolClass,
    ToolDetails,
};

const AT: Timestamp = Timestamp(1_000);

fn begin(input: &str) -> Message {
    event(EventMsg::TurnBegin {
        turn_id: "t1".into(),
        number: 1,
        mode: Mode::Interactive,
        model: ModelRef { provider: "p".into(), model_id: "m".into() },
        input: input.into(),
    })
}

fn end(status: TurnStatus, error: Option<ErrorInfo>) -> Message {
    event(EventMsg::TurnEnd {
        turn_id: "t1".into(),
        status,
        iterations: 1,
        produced_files: vec!["a.txt".into()],
        usage: TokenUsage::default(),
        duration_ms: 5,
        error,
    })
}

fn event(event: EventMsg) -> Message {
    Message::event(AT, event)
}

fn request_end(status: StopReason, retry_in_ms: Option<u64>) -> Message {
    let error_message = (status != StopReason::Completed).then(|| "no answer".to_owned());
    event(EventMsg::RequestEnd { status, error_message, attempt: Some(1), retry_in_ms })
}

fn decision(call: &str, decision: ApprovalOutcome) -> Message {
    event(EventMsg::ApprovalDecision {
        decision,
        tool_call_id: call.into(),
        source: Some(DecisionSource::Mode),
        rule: None,
        scope: None,
        reason: None,
        approval_id: None,
    })
}

fn calls(ids: &[&str]) -> Vec<Message> {
    let mut streamer = Streamer::new();
    let mut messages = streamer.thinking(AT, "hm");
    messages.extend(streamer.text(AT, "look"));
    for id in ids {
        messages.extend(streamer.call(AT, &(*id).into(), "grep"));
        messages.extend(streamer.arguments(AT, &(*id).into(), "{}"));
    }
    messages.extend(streamer.finish(AT, StopReason::Completed));
    messages
}

fn output(call: &str, stop_reason: StopReason) -> Message {
    let mut output = ToolCallOutput::text(&call.into(), "3 matches", stop_reason);
    output.details = Some(ToolDetails { duration_ms: 7, ..ToolDetails::default() });
    Message::model(AT, output)
}

fn project(messages: &[Message]) -> Vec<ProjectedEvent> {
    let mut projection = Projection::new("s".into());
    messages.iter().flat_map(|message| projection.push(message)).collect()
}

fn lines(messages: &[Message]) -> String {
    let line = |event: &ProjectedEvent| serde_json::to_string(event).unwrap();
    project(messages).iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Z-57, Z-58: a whole turn with one tool call.
#[test]
fn a_turn_with_a_call() {
    let mut messages = vec![
        begin("find …"),
        Message::model(AT, Text::user("find it\n[attached file: /a]")),
        event(EventMsg::RequestBegin {}),
    ];
    messages.extend(calls(&["c1"]));
    messages.push(event(EventMsg::ApprovalRequest(Box::new(crate::ApprovalRequest {
        approval_id: "a1".into(),
        session_id: "s".into(),
        turn_id: "t1".into(),
        tool_call_id: "c1".into(),
        tool: "grep".into(),
        arguments: "{}".into(),
        effects: CallEffects {
            class: ToolClass::Execute,
            title: "Search".into(),
            reads: Vec::new(),
            writes: Vec::new(),
            command: None,
        },
        reason: "it runs a command".into(),
        class: crate::AskClass::Confined,
        sandbox: SandboxPolicy::CONFINED,
        always: None,
        digest: "00".into(),
        created_at: AT,
    }))));
    messages.extend([
        decision("c1", ApprovalOutcome::Allow),
        event(EventMsg::ToolStarted { tool_call_id: "c1".into() }),
        event(EventMsg::TokenUsage {
            session: TokenUsage::default(),
            request: TokenUsage { cache_read: 1, cache_write: 2, output: 3, total: 6 },
        }),
        request_end(StopReason::Completed, None),
        output("c1", StopReason::Completed),
        event(EventMsg::RequestBegin {}),
        request_end(StopReason::Completed, None),
        end(TurnStatus::Completed, None),
    ]);
    insta::assert_snapshot!(lines(&messages), @r#"
    {"type":"turn_start","data":{"taskId":"t1","input":"find it","attachmentCount":1,"attachments":["/a"]}}
    {"type":"llm_request","data":{"reqId":"s:1","taskId":"t1","logTime":"1970-01-01T00:00:01.000Z","model":"m","msgCount":1,"toolCount":0}}
    {"type":"reasoning_delta","data":{"text":"hm","reqId":"s:1","taskId":"t1"}}
    {"type":"assistant_delta","data":{"text":"look","reqId":"s:1","taskId":"t1"}}
    {"type":"tool_proposed","data":{"reqId":"c1","name":"grep","arguments":"{}","taskId":"t1"}}
    {"type":"permission_required","data":{"taskId":"t1","reqId":"c1","name":"grep","arguments":"{}","reason":"it runs a command","category":"execute"}}
    {"type":"tool_started","data":{"taskId":"t1","reqId":"c1","name":"grep","startTime":"1970-01-01T00:00:01.000Z"}}
    {"type":"assistant_message","data":{"text":"look","reasoning":"hm","tool_calls":["grep"],"usage":{"cache_read":1,"cache_write":2,"output":3,"total":6},"reqId":"s:1","taskId":"t1","logTime":"1970-01-01T00:00:01.000Z"}}
    {"type":"tool_finished","data":{"taskId":"t1","reqId":"c1","name":"grep","status":"ok","duration":7,"result_preview":"3 matches"}}
    {"type":"iteration_end","data":{"iteration":1,"taskId":"t1"}}
    {"type":"llm_request","data":{"reqId":"s:2","taskId":"t1","logTime":"1970-01-01T00:00:01.000Z","model":"m","msgCount":5,"toolCount":0}}
    {"type":"assistant_message","data":{"text":"","reasoning":"","tool_calls":[],"reqId":"s:2","taskId":"t1","logTime":"1970-01-01T00:00:01.000Z"}}
    {"type":"iteration_end","data":{"iteration":2,"taskId":"t1"}}
    {"type":"turn_end","data":{"status":"completed","iterations":1,"produced_files":["a.txt"],"taskId":"t1"}}
    "#);
}

#[track_caller]
fn check_finish(
    outcome: Option<ApprovalOutcome>,
    stop_reason: StopReason,
    expected: (FinishStatus, Option<&str>),
) {
    let mut messages = vec![begin("x"), event(EventMsg::RequestBegin {})];
    messages.extend(calls(&["c1"]));
    messages.extend(outcome.map(|outcome| decision("c1", outcome)));
    messages.push(output("c1", stop_reason));
    let events = project(&messages);
    let Some(ProjectedEvent::ToolFinished { status, reason, .. }) = events.last() else {
        panic!("{events:?}")
    };
    assert_eq!((*status, reason.as_deref()), expected);
    let started = events.iter().any(|it| matches!(it, ProjectedEvent::ToolStarted { .. }));
    assert_eq!(started, outcome == Some(ApprovalOutcome::Allow));
}

/// Z-60 with annex A.
#[test]
fn a_call_ends_in_one_of_four_ways() {
    let allow = Some(ApprovalOutcome::Allow);
    check_finish(allow, StopReason::Completed, (FinishStatus::Ok, None));
    check_finish(allow, StopReason::Failed, (FinishStatus::Error, None));
    check_finish(allow, StopReason::Timeout, (FinishStatus::Error, Some("timeout")));
    check_finish(allow, StopReason::Aborted, (FinishStatus::Interrupted, None));
    check_finish(None, StopReason::Aborted, (FinishStatus::Interrupted, None));
    let deny = Some(ApprovalOutcome::Deny);
    check_finish(deny, StopReason::Aborted, (FinishStatus::Denied, None));
    let forbidden = Some(ApprovalOutcome::Forbidden);
    check_finish(forbidden, StopReason::Aborted, (FinishStatus::Denied, Some("policy")));
}

/// Z-59: an attempt that is made again is the same iteration; the last failure is an error.
#[test]
fn retries_and_failures() {
    let messages = [
        begin("x"),
        event(EventMsg::RequestBegin {}),
        request_end(StopReason::Timeout, Some(2000)),
        event(EventMsg::RequestBegin {}),
        request_end(StopReason::Auth, None),
        event(EventMsg::Abort { reason: Some("the key was refused".into()) }),
        end(TurnStatus::Error, Some(ErrorInfo::new(ErrorCode::Auth, "the key was refused"))),
    ];
    insta::assert_snapshot!(lines(&messages), @r#"
    {"type":"turn_start","data":{"taskId":"t1","input":"x"}}
    {"type":"llm_request","data":{"reqId":"s:1","taskId":"t1","logTime":"1970-01-01T00:00:01.000Z","model":"m","msgCount":0,"toolCount":0}}
    {"type":"llm_retry","data":{"attempt":1,"max":5,"reason":"no answer","waitMs":2000,"iteration":1,"reqId":"s:1"}}
    {"type":"llm_request","data":{"reqId":"s:2","taskId":"t1","logTime":"1970-01-01T00:00:01.000Z","model":"m","msgCount":0,"toolCount":0}}
    {"type":"error","data":{"error":"no answer","error_type":"auth","retriable":false,"iteration":1,"reqId":"s:2","logTime":"1970-01-01T00:00:01.000Z","taskId":"t1"}}
    {"type":"turn_end","data":{"status":"error","iterations":1,"produced_files":["a.txt"],"taskId":"t1"}}
    "#);
}

/// Z-69, and a failure that no request shows.
#[test]
fn a_stop_and_a_defect_are_said_once() {
    let stopped =
        [begin("x"), event(EventMsg::Abort { reason: None }), end(TurnStatus::Interrupted, None)];
    let kinds = |messages: &[Message]| -> Vec<String> {
        let kind = |event| serde_json::to_value(event).unwrap()["type"].as_str().unwrap().into();
        project(messages).iter().map(kind).collect()
    };
    assert_eq!(kinds(&stopped), ["turn_start", "interrupted", "turn_end"]);
    let broken =
        [begin("x"), end(TurnStatus::Error, Some(ErrorInfo::new(ErrorCode::Io, "disk full")))];
    assert_eq!(kinds(&broken), ["turn_start", "error", "turn_end"]);
}

#[test]
fn steering_and_child_sessions() {
    let steering = Text::marked(vec![Marker::UserSteering { text: "use tabs".into() }], "");
    // What a user typed or pasted is text, whatever it looks like (P-31).
    let pasted = Message::model(AT, Text::user(steering.text.clone()));
    let mut child = Message::model(AT, steering.clone());
    child.origin = vec!["child".into()];
    let events = project(&[pasted, child, Message::model(AT, steering)]);
    let expected = ProjectedEvent::QueueSteering { text: "use tabs".into(), task_id: "".into() };
    assert_eq!(events, [expected]);
}

fn any_message() -> impl Strategy<Value = Message> {
    let id = || prop::sample::select(vec!["c1", "c2"]);
    prop_oneof![
        Just(begin("x")),
        Just(event(EventMsg::RequestBegin {})),
        Just(request_end(StopReason::Completed, None)),
        Just(request_end(StopReason::Timeout, Some(1))),
        Just(request_end(StopReason::Failed, None)),
        id().prop_map(|id| output(id, StopReason::Completed)),
        id().prop_map(|id| decision(id, ApprovalOutcome::Allow)),
        id().prop_map(|id| event(EventMsg::ToolStarted { tool_call_id: id.into() })),
        id().prop_map(|id| calls(&[id]).pop().unwrap()),
        Just(event(EventMsg::Abort { reason: None })),
    ]
}

proptest! {
    /// Z-57: whatever happens in a turn, its end is there once and last, and no call starts or
    /// finishes twice.
    #[test]
    fn the_end_is_last(messages in prop::collection::vec(any_message(), 0..25)) {
        let mut messages = messages;
        messages.push(end(TurnStatus::Interrupted, None));
        let events = project(&messages);
        let ends = events.iter().filter(|it| matches!(it, ProjectedEvent::TurnEnd { .. })).count();
        prop_assert_eq!(ends, 1);
        let is_end = matches!(events.last(), Some(ProjectedEvent::TurnEnd { .. }));
        prop_assert!(is_end);
        let count = |wanted: fn(&ProjectedEvent) -> bool| events.iter().filter(|it| wanted(it)).count();
        let proposed = count(|it| matches!(it, ProjectedEvent::ToolProposed { .. }));
        let started = count(|it| matches!(it, ProjectedEvent::ToolStarted { .. }));
        let finished = count(|it| matches!(it, ProjectedEvent::ToolFinished { .. }));
        prop_assert!(started <= proposed && finished <= proposed);
    }
}
