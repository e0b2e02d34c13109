//! Turns: their order, their one end, and what the model hears when something fails.

use cairn_protocol::{EventMsg, Message, Mode, TurnStatus};

use crate::place::{Place, Turn, stored};

fn is_end(message: &Message) -> bool {
    matches!(message.as_event(), Some(EventMsg::TurnEnd { .. }))
}

/// Z-12: whatever happens, exactly one `turn_end`, and nothing of the turn comes after it.
#[tokio::test(flavor = "multi_thread")]
async fn z12_every_turn_ends_with_one_turn_end_and_it_is_last() {
    let cases = [
        ("an answer", r#"{"say": "Done.", "end": true}"#, TurnStatus::Completed),
        ("no answer at all", r#"{"end": true}"#, TurnStatus::Completed),
        (
            "a refusal",
            r#"{"error": {"status": "failed", "message": "no", "permanent": true}}"#,
            TurnStatus::Error,
        ),
        ("a bad key", r#"{"error": {"status": "auth", "message": "no"}}"#, TurnStatus::Error),
        (
            "broken arguments",
            "{\"tool\": {\"name\": \"read_file\", \"arguments\": \"{oops\"}, \"end\": true}\n{\"say\": \"Sorry.\", \"end\": true}",
            TurnStatus::Completed,
        ),
        (
            "an unknown tool",
            "{\"tool\": {\"name\": \"no_such_tool\", \"arguments\": {}}, \"end\": true}\n{\"say\": \"Sorry.\", \"end\": true}",
            TurnStatus::Completed,
        ),
        ("an answer that is cut", r#"{"say": "Half", "cut": true}"#, TurnStatus::Completed),
    ];
    for (name, script, expected) in cases {
        let place = Place::new(script);
        let (engine, session) = place.session(Mode::Auto).await;
        let mut turn = Turn::start(&session, "go").await;
        assert_eq!(turn.end().await, expected, "{name}");
        session.close().await.expect("it closes");
        let messages = stored(&engine, session.id()).await;
        let ends = messages.iter().filter(|it| is_end(&it.message)).count();
        assert_eq!(ends, 1, "{name}");
        assert!(is_end(&messages.last().expect("it has messages").message), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn p25_messages_are_stored_without_a_gap_in_the_order_in_which_they_are_shown() {
    let place = Place::new(
        r#"{"tool": {"name": "read_file", "arguments": {"file_path": "old.txt"}}, "end": true}
{"say": "Read.", "end": true}"#,
    );
    let (engine, session) = place.session(Mode::Interactive).await;
    let mut turn = Turn::start(&session, "go").await;
    turn.end().await;
    let messages = stored(&engine, session.id()).await;
    let places: Vec<u64> = messages.iter().map(|it| it.seq).collect();
    assert_eq!(places, (1..=places.len() as u64).collect::<Vec<_>>());
    let all: Vec<&Message> = messages.iter().map(|it| &it.message).collect();
    let tail = &all[all.len() - turn.messages.len()..];
    assert_eq!(tail, turn.messages.iter().collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread")]
async fn p34_every_call_is_answered_and_outputs_go_back_in_call_order() {
    let place = Place::new(
        r#"{"tool": {"name": "run_shell", "arguments": {"command": "cat old.txt"}}}
{"tool": {"name": "read_file", "arguments": {"file_path": "missing.txt"}}}
{"tool": {"name": "read_file", "arguments": {"file_path": "old.txt"}}, "end": true}
{"say": "Read.", "end": true}"#,
    );
    let (_engine, session) = place.session(Mode::Discuss).await;
    let mut turn = Turn::start(&session, "go").await;
    assert_eq!(turn.end().await, TurnStatus::Completed);
    let mut outputs = turn.outputs();
    assert_eq!(outputs.len(), 3, "{outputs:?}");
    // They are stored as they end; mode discuss denies the command at once.
    assert!(outputs.iter().any(|output| output.contains("denied by policy")), "{outputs:?}");
    outputs.retain(|output| output.contains("kept"));
    assert_eq!(outputs.len(), 1, "the file that is there was read");
}

/// P-111: a stop ends the model's stream and answers what is open.
#[tokio::test(flavor = "multi_thread")]
async fn p111_a_stop_ends_a_silent_model() {
    let place = Place::new(r#"{"say": "Wait.", "hang": true}"#);
    let (engine, session) = place.session(Mode::Interactive).await;
    let mut turn = Turn::start(&session, "go").await;
    turn.event(|event| matches!(event, EventMsg::RequestBegin {})).await;
    session.interrupt().await.expect("it is open");
    assert_eq!(turn.end().await, TurnStatus::Interrupted);
    engine.close().await;
    assert!(!engine.is_working(), "nothing runs in a closed engine");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_changes_files_leaves_a_stone_and_can_be_taken_back() {
    let place = Place::new(
        r#"{"tool": {"name": "write_file", "arguments": {"file_path": "new.txt", "content": "one\n"}}, "end": true}
{"say": "Written.", "end": true}"#,
    );
    let (engine, session) = place.session(Mode::Auto).await;
    let mut turn = Turn::start(&session, "go").await;
    assert_eq!(turn.end().await, TurnStatus::Completed);
    let new = place.workspace.join("new.txt");
    assert!(new.exists());
    let request = cairn_protocol::RestoreRequest {
        session_id: session.id().clone(),
        turn_id: turn.id.clone(),
        target: cairn_protocol::RestoreTarget::Revert,
        paths: None,
        take_snapshot: Vec::new(),
    };
    let plan = session.plan(request.clone()).await.expect("there is a plan");
    let report = session.restore(request, plan.token).await.expect("it is done");
    assert_eq!(report.outcome, cairn_protocol::RestoreOutcome::Exact);
    assert!(!new.exists());
    let report = session.bring_back(None).await.expect("it is undone");
    assert_eq!(report.outcome, cairn_protocol::RestoreOutcome::Exact);
    assert!(new.exists());
    let (turns, restores) = engine.turns(session.id()).await.expect("they are listed");
    assert_eq!((turns.len(), restores.len()), (1, 2));
}
