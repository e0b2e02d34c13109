//! Sessions across restarts: what was stored is there, what can be derived is derived again.

use std::fs;

use cairn_engine::{Authority, Sent};
use cairn_protocol::{EventMsg, Mode, TurnStatus};

use crate::place::{Place, Turn, stored};

const TWO_ANSWERS: &str = r#"{"say": "First.", "end": true}
{"say": "Second.", "end": true}"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_session_goes_on_after_a_restart_with_the_same_history() {
    let place = Place::new(TWO_ANSWERS);
    let (engine, session) = place.session(Mode::Interactive).await;
    let id = session.id().clone();
    Turn::start(&session, "one").await.end().await;
    let before = stored(&engine, &id).await;
    engine.close().await;
    drop((engine, session));

    let engine = place.engine().await;
    assert_eq!(stored(&engine, &id).await, before);
    let session = engine.session(&id).await.expect("it opens");
    assert_eq!(Turn::start(&session, "two").await.end().await, TurnStatus::Completed);
    assert_eq!(session.view().await.expect("it is open").summary.turns, 2);
}

/// Promise 5: the index can be deleted at any time.
#[tokio::test(flavor = "multi_thread")]
async fn the_index_is_made_again() {
    let place = Place::new(TWO_ANSWERS);
    let (engine, session) = place.session(Mode::Interactive).await;
    let id = session.id().clone();
    Turn::start(&session, "one").await.end().await;
    engine.close().await;
    let before = engine.sessions().await.expect("they are listed");
    drop((engine, session));
    for name in ["index.sqlite", "index.sqlite-wal", "index.sqlite-shm"] {
        // Only the first is always there.
        let _absent = fs::remove_file(place.root.join(name));
    }
    let engine = place.engine().await;
    let after = engine.sessions().await.expect("they are listed");
    assert_eq!(after, before);
    assert_eq!(after[0].id, id);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_text_that_is_sent_in_a_turn_waits_and_then_runs() {
    let place = Place::new(
        r#"{"tool": {"name": "ask_user", "arguments": {"question": "Which?", "options": ["a", "b"]}}, "end": true}
{"say": "First.", "end": true}
{"say": "Second.", "end": true}"#,
    );
    let (_engine, session) = place.session(Mode::Interactive).await;
    let mut turn = Turn::start(&session, "one").await;
    let asked = turn.event(|event| matches!(event, EventMsg::Question { .. })).await;
    let EventMsg::Question { question_id, .. } = asked else { panic!("{asked:?}") };
    let sent = session.start_turn("two").await.expect("it waits");
    assert!(matches!(sent, Sent::Queued(_)), "{sent:?}");
    assert_eq!(session.view().await.expect("it is open").queue.len(), 1);
    session.answer_question(question_id, vec!["a".to_owned()]).await.expect("it is answered");
    assert_eq!(turn.end().await, TurnStatus::Completed);
    let second = |event: &EventMsg| matches!(event, EventMsg::TurnEnd { turn_id, .. } if turn_id.as_str() == "t2");
    turn.event(second).await;
    assert!(session.view().await.expect("it is open").queue.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn only_one_process_writes_a_session() {
    let place = Place::new(TWO_ANSWERS);
    let (first, session) = place.session(Mode::Interactive).await;
    let second = place.engine().await;
    let opened = second.session(session.id()).await;
    let error = opened.err().expect("it is open elsewhere");
    assert_eq!(error.code, cairn_protocol::ErrorCode::Locked);
    first.close().await;
    assert!(second.session(session.id()).await.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_session_is_gone_and_the_files_of_the_workspace_stay() {
    let place = Place::new(TWO_ANSWERS);
    let (engine, session) = place.session(Mode::Interactive).await;
    Turn::start(&session, "one").await.end().await;
    engine.delete_session(session.id(), Authority::NativeDialog).await.expect("it is deleted");
    assert!(engine.sessions().await.expect("they are listed").is_empty());
    assert!(engine.session(session.id()).await.is_err());
    assert!(place.workspace.join("old.txt").exists());
}
