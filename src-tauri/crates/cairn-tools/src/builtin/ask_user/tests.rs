use cairn_protocol::StopReason;
use serde_json::json;

use crate::AskUser;
use crate::testing::Bench;

#[tokio::test]
async fn z_39_the_answer_is_the_result() {
    let bench = Bench::new();
    *bench.port.answer.lock().unwrap() = Some(vec!["red".to_owned(), "blue".to_owned()]);
    let arguments = json!({ "question": "Which?", "options": ["red", "blue"], "allowText": false, "multi": true });
    assert_eq!(bench.text("ask_user", arguments).await, "red\nblue");
    let question = AskUser {
        question: "Which?".to_owned(),
        options: vec!["red".to_owned(), "blue".to_owned()],
        allow_text: false,
        multi: true,
    };
    assert_eq!(*bench.port.questions.lock().unwrap(), [question]);
    *bench.port.answer.lock().unwrap() = None;
    let output = bench.call("ask_user", json!({ "question": "Why?" })).await;
    assert_eq!(output.output, "The user declined to answer.");
    assert_eq!(output.stop_reason, Some(StopReason::Completed));
}

#[test]
fn z_39_a_question_can_be_answered() {
    let bench = Bench::new();
    let refused = |arguments| bench.refused("ask_user", arguments);
    assert_eq!(refused(json!({ "question": " " })), "`question` is empty.");
    assert!(refused(json!({ "question": "a", "allow_text": false })).contains("could not answer"));
    assert_eq!(refused(json!({ "question": "a", "options": [""] })), "`options[0]` is empty.");
}
