//! Who may say yes to what, and that only what was shown runs (D-6, promise 3).

use cairn_engine::Authority;
use cairn_protocol::{ApprovalAnswer, ErrorCode, GrantScope, Mode, TurnStatus};

use crate::place::{Place, Turn, answer};

const WRITES: &str = r#"{"tool": {"name": "write_file", "arguments": {"file_path": "new.txt", "content": "one\n"}}, "end": true}
{"say": "Done.", "end": true}"#;
/// A file that programs run by themselves: writing it widens.
const WIDENS: &str = r#"{"tool": {"name": "write_file", "arguments": {"file_path": ".git/hooks/pre-commit", "content": "x\n"}}, "end": true}
{"say": "Done.", "end": true}"#;

#[tokio::test(flavor = "multi_thread")]
async fn d6_the_window_may_allow_a_confined_call_once() {
    let place = Place::new(WRITES);
    let (_engine, session) = place.session(Mode::Interactive).await;
    let mut turn = Turn::start(&session, "go").await;
    let request = turn.asked().await;
    assert!(!place.workspace.join("new.txt").exists(), "nothing runs before the answer");
    answer(&session, &request, ApprovalAnswer::AllowOnce, Authority::Window)
        .await
        .expect("it is allowed");
    assert_eq!(turn.end().await, TurnStatus::Completed);
    assert!(place.workspace.join("new.txt").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn d6_the_window_alone_can_allow_nothing_that_widens() {
    let place = Place::new(WIDENS);
    let (_engine, session) = place.session(Mode::Interactive).await;
    let mut turn = Turn::start(&session, "go").await;
    let request = turn.asked().await;
    let tried = answer(&session, &request, ApprovalAnswer::AllowOnce, Authority::Window).await;
    assert_eq!(tried.expect_err("the page can't").code, ErrorCode::Declined);
    answer(&session, &request, ApprovalAnswer::AllowOnce, Authority::NativeDialog)
        .await
        .expect("the dialog can");
    assert_eq!(turn.end().await, TurnStatus::Completed);
    assert!(place.workspace.join(".git/hooks/pre-commit").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn d6_always_and_mode_auto_need_the_dialog() {
    let place = Place::new(WRITES);
    let (_engine, session) = place.session(Mode::Interactive).await;
    let tried = session.set_mode(Mode::Auto, Authority::Window).await;
    assert_eq!(tried.expect_err("the page can't").code, ErrorCode::Declined);
    let mut turn = Turn::start(&session, "go").await;
    let request = turn.asked().await;
    let always = ApprovalAnswer::Always { scope: GrantScope::Session };
    let tried = answer(&session, &request, always.clone(), Authority::Window).await;
    assert_eq!(tried.expect_err("the page can't").code, ErrorCode::Declined);
    answer(&session, &request, always, Authority::NativeDialog).await.expect("the dialog can");
    assert_eq!(turn.end().await, TurnStatus::Completed);
}

/// Promise 3: the answer is bound to the record that was shown, and counts once.
#[tokio::test(flavor = "multi_thread")]
async fn an_answer_to_something_else_is_stale_and_an_answer_counts_once() {
    let place = Place::new(WRITES);
    let (_engine, session) = place.session(Mode::Interactive).await;
    let mut turn = Turn::start(&session, "go").await;
    let request = turn.asked().await;
    let id = request.approval_id.clone();
    let other = "0".repeat(64);
    let tried = session
        .answer(id, other.as_str(), ApprovalAnswer::AllowOnce, Authority::NativeDialog)
        .await;
    assert_eq!(tried.expect_err("another digest").code, ErrorCode::Stale);
    let deny = ApprovalAnswer::Deny { reason: "Not this file.".to_owned() };
    answer(&session, &request, deny, Authority::Window).await.expect("it is denied");
    let again =
        answer(&session, &request, ApprovalAnswer::AllowOnce, Authority::NativeDialog).await;
    assert_eq!(again.expect_err("it is answered").code, ErrorCode::NotPending);
    assert_eq!(turn.end().await, TurnStatus::Completed);
    assert!(!place.workspace.join("new.txt").exists());
    let outputs = turn.outputs();
    assert!(outputs[0].contains("Not this file."), "the model reads the reason: {outputs:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn p111_a_stop_answers_open_questions_with_no() {
    let place = Place::new(WRITES);
    let (_engine, session) = place.session(Mode::Interactive).await;
    let mut turn = Turn::start(&session, "go").await;
    let request = turn.asked().await;
    answer(&session, &request, ApprovalAnswer::Stop, Authority::Window).await.expect("it stops");
    assert_eq!(turn.end().await, TurnStatus::Interrupted);
    assert!(!place.workspace.join("new.txt").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn reading_modes_never_write() {
    for mode in [Mode::Discuss, Mode::Plan] {
        let place = Place::new(WRITES);
        let (_engine, session) = place.session(mode).await;
        let mut turn = Turn::start(&session, "go").await;
        assert_eq!(turn.end().await, TurnStatus::Completed);
        assert!(!place.workspace.join("new.txt").exists(), "{mode:?}");
    }
}
