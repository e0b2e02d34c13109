//! What a hostile model, page or workspace tries, and that it does not get it (D-6, promise 3, security plan
//! 3.7 and 3.10). Plain approvals are in `approvals.rs`.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use cairn_engine::{Authority, Session};
use cairn_protocol::{
    ApprovalAnswer, ApprovalId, ApprovalRequest, AskClass, Body, ErrorCode, EventMsg, GrantScope,
    Mode, ModelMsg, TurnStatus,
};
use serde_json::{Value, json};

use crate::place::{Place, Turn, answer};

/// One call a response, then an answer.
fn script(calls: &[(&str, Value)]) -> String {
    let mut text = String::new();
    for (name, arguments) in calls {
        let tool = json!({"name": name, "arguments": arguments});
        text.push_str(&format!("{}\n", json!({"tool": tool, "end": true})));
    }
    text + r#"{"say": "Done.", "end": true}"#
}

fn write(path: &str, content: &str) -> (&'static str, Value) {
    ("write_file", json!({"file_path": path, "content": content}))
}

/// Lets the window and the dialog try every yes; returns how the window's were refused.
async fn refused_to_the_window(session: &Session, request: &ApprovalRequest) {
    let answers = [
        ApprovalAnswer::AllowOnce,
        ApprovalAnswer::Always { scope: GrantScope::Session },
        ApprovalAnswer::Always { scope: GrantScope::Workspace },
    ];
    for given in answers {
        let tried = answer(session, request, given.clone(), Authority::Window).await;
        assert_eq!(tried.expect_err("it widens").code, ErrorCode::Declined, "{given:?}");
    }
}

fn deny() -> ApprovalAnswer {
    ApprovalAnswer::Deny { reason: String::new() }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_needs_the_right_id_and_the_right_digest_and_a_running_turn() {
    let place = Place::new(&script(&[write("one.txt", "1"), write("two.txt", "2")]));
    let (_engine, session) = place.session(Mode::Interactive).await;
    let mut turn = Turn::start(&session, "go").await;
    let first = turn.asked().await;
    let unknown = ApprovalId::new("approval-of-nothing");
    let tried = session
        .answer(unknown, first.digest.as_str(), ApprovalAnswer::AllowOnce, Authority::NativeDialog)
        .await;
    assert_eq!(tried.expect_err("unknown").code, ErrorCode::NotPending);
    answer(&session, &first, ApprovalAnswer::AllowOnce, Authority::Window).await.expect("it may");
    let second = turn.asked().await;
    assert_ne!(first.digest, second.digest);
    // The digest of the one call does not open the other.
    let tried = session
        .answer(
            second.approval_id.clone(),
            first.digest.as_str(),
            ApprovalAnswer::AllowOnce,
            Authority::NativeDialog,
        )
        .await;
    assert_eq!(tried.expect_err("another call").code, ErrorCode::Stale);
    let again = answer(&session, &first, ApprovalAnswer::AllowOnce, Authority::Window).await;
    assert_eq!(again.expect_err("answered").code, ErrorCode::NotPending);
    answer(&session, &second, deny(), Authority::Window).await.expect("it may");
    assert_eq!(turn.end().await, TurnStatus::Completed);
    for request in [&first, &second] {
        let late = answer(&session, request, ApprovalAnswer::AllowOnce, Authority::Headless).await;
        assert_eq!(late.expect_err("it is over").code, ErrorCode::NotPending);
    }
    assert!(place.workspace.join("one.txt").exists());
    assert!(!place.workspace.join("two.txt").exists());
}

/// A model can't answer for the user: its tools are only those of the list.
#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_named_like_an_approval_does_nothing() {
    let names = ["approval_decision", "approve", "session.answer", "answer", "set_mode", "../x"];
    let calls: Vec<(&str, Value)> = names
        .iter()
        .map(|name| (*name, json!({"decision": "allow", "mode": "auto", "approval_id": "a"})))
        .chain([write("new.txt", "x")])
        .collect();
    let place = Place::new(&script(&calls));
    let (_engine, session) = place.session(Mode::Interactive).await;
    let mut turn = Turn::start(&session, "go").await;
    let request = turn.asked().await;
    assert_eq!(request.tool, "write_file", "the others asked for nothing");
    assert_eq!(session.view().await.expect("it is open").summary.mode, Mode::Interactive);
    answer(&session, &request, deny(), Authority::Window).await.expect("it may");
    turn.end().await;
    let outputs = turn.outputs();
    assert_eq!(outputs.len(), names.len() + 1);
    for (name, output) in names.iter().zip(&outputs) {
        assert!(output.contains(name) && output.contains("no tool"), "{output}");
    }
    assert!(!place.workspace.join("new.txt").exists());
}

/// Paths that programs run by themselves, in every spelling, and paths that lead out of the workspace.
#[tokio::test(flavor = "multi_thread")]
async fn what_widens_is_seen_through_links_and_spellings() {
    let place = Place::new("");
    let outside = place.workspace.with_file_name("outside");
    fs::create_dir(&outside).expect("a folder is made");
    fs::create_dir_all(place.workspace.join(".git/hooks")).expect("folders are made");
    symlink(&outside, place.workspace.join("way")).expect("a link is made");
    symlink(place.workspace.join(".git/hooks"), place.workspace.join("docs")).expect("a link");
    symlink(outside.join("target"), place.workspace.join("notes.txt")).expect("a link");
    let absolute = outside.join("absolute.txt").display().to_string();
    let paths = [
        ".git/hooks/pre-commit",
        "./x/../.git/hooks/pre-commit",
        ".GIT/hooks/pre-commit",
        "docs/pre-commit",
        "way/file.txt",
        "notes.txt",
        "../outside/up.txt",
        &absolute,
        ".bashrc",
    ];
    for path in paths {
        fs::create_dir_all(place.workspace.join("x")).expect("a folder is made");
        let calls = script(&[write(path, "owned\n")]);
        let attempt = place.with_script(&calls);
        let (engine, session) = attempt.session(Mode::Auto).await;
        let mut turn = Turn::start(&session, "go").await;
        // Mode auto does not cover it: it asks or is refused.
        let event = turn
            .event(|event| matches!(event, EventMsg::ApprovalRequest(_) | EventMsg::TurnEnd { .. }))
            .await;
        if let EventMsg::ApprovalRequest(request) = event {
            assert_eq!(request.class, AskClass::Widening, "{path}");
            refused_to_the_window(&session, &request).await;
            answer(&session, &request, deny(), Authority::Window).await.expect("it may");
            turn.end().await;
        }
        engine.close().await;
        assert_eq!(fs::read_dir(&outside).expect("it is read").count(), 0, "{path}");
        assert!(!place.workspace.join(".git/hooks/pre-commit").exists(), "{path}");
        assert!(!place.workspace.join(".bashrc").exists(), "{path}");
    }
}

/// What was shown is what runs: a path that leads elsewhere by the time of the answer is not written.
#[tokio::test(flavor = "multi_thread")]
async fn a_path_that_is_swapped_between_the_question_and_the_run_is_not_written() {
    type Swap = fn(&Place, &PathBuf);
    let swaps: [(&str, Swap); 4] = [
        ("its folder becomes a link out", |place, outside| {
            fs::remove_dir_all(place.workspace.join("deep")).expect("it is removed");
            symlink(outside, place.workspace.join("deep")).expect("a link is made");
        }),
        ("it becomes a link out", |place, outside| {
            let path = place.workspace.join("deep/file.txt");
            fs::remove_file(&path).expect("it is removed");
            symlink(outside.join("victim"), path).expect("a link is made");
        }),
        ("its content changes", |place, _| {
            fs::write(place.workspace.join("deep/file.txt"), "mine\n").expect("it is written");
        }),
        ("it becomes a folder", |place, _| {
            let path = place.workspace.join("deep/file.txt");
            fs::remove_file(&path).expect("it is removed");
            fs::create_dir(path).expect("a folder is made");
        }),
    ];
    for (name, swap) in swaps {
        let read = ("read_file", json!({"file_path": "deep/file.txt"}));
        let place = Place::new(&script(&[read, write("deep/file.txt", "new\n")]));
        fs::create_dir(place.workspace.join("deep")).expect("a folder is made");
        fs::write(place.workspace.join("deep/file.txt"), "shown\n").expect("it is written");
        let outside = place.workspace.with_file_name("outside");
        fs::create_dir(&outside).expect("a folder is made");
        fs::write(outside.join("file.txt"), "shown\n").expect("it is written");
        fs::write(outside.join("victim"), "shown\n").expect("it is written");
        let (_engine, session) = place.session(Mode::Interactive).await;
        let mut turn = Turn::start(&session, "go").await;
        let request = turn.asked().await;
        swap(&place, &outside);
        answer(&session, &request, ApprovalAnswer::AllowOnce, Authority::NativeDialog)
            .await
            .expect("it is allowed");
        assert_eq!(turn.end().await, TurnStatus::Completed, "{name}");
        let outputs = turn.outputs();
        let refused = ["nothing was written", "Nothing was written", "could not be written"];
        assert!(refused.iter().any(|text| outputs[1].contains(text)), "{name}: {outputs:?}");
        for file in ["file.txt", "victim"] {
            let now = fs::read_to_string(outside.join(file)).expect("it is there");
            assert_eq!(now, "shown\n", "{name}: {file} outside");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn huge_and_deep_arguments_end_as_a_text_for_the_model() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let nested = format!(r#"{{"file_path": "a", "content": {deep}}}"#);
    let calls = [
        ("write_file", json!(nested)),
        ("write_file", json!("{".repeat(200_000))),
        ("run_shell", json!({"command": "x".repeat(2 * 1024 * 1024)})),
        ("no_such_tool", json!({"x": "y".repeat(2 * 1024 * 1024)})),
    ];
    let place = Place::new(&script(&calls));
    let (_engine, session) = place.session(Mode::Auto).await;
    let mut turn = Turn::start(&session, "go").await;
    assert_eq!(turn.end().await, TurnStatus::Completed);
    let outputs = turn.outputs();
    assert_eq!(outputs.len(), 4);
    let said = ["not valid JSON", "not valid JSON", "longer than 128 KiB", "no tool"];
    for (output, said) in outputs.iter().zip(said) {
        assert!(output.len() < 1_000, "an output is bounded: {}", output.len());
        assert!(output.contains(said), "{output}");
    }
}

/// A file of two megabytes is written whole, and the trace that holds the call stays whole.
#[tokio::test(flavor = "multi_thread")]
async fn two_megabytes_of_arguments_are_written_exactly() {
    let content = "0123456789abcde\n".repeat(128 * 1024);
    let place = Place::new(&script(&[write("big.txt", &content)]));
    let (engine, session) = place.session(Mode::Auto).await;
    let mut turn = Turn::start(&session, "go").await;
    assert_eq!(turn.end().await, TurnStatus::Completed);
    let written = fs::read_to_string(place.workspace.join("big.txt")).expect("it is there");
    assert!(written == content, "{:?}", turn.outputs());
    engine.close().await;
    let reopened = place.engine().await;
    let stored = reopened.history(session.id()).await.expect("the trace reads");
    let calls = stored.iter().filter_map(|it| match &it.message.body {
        Body::ModelMsg(ModelMsg::ToolCall(call)) => Some(call.arguments.clone()),
        _ => None,
    });
    let calls: Vec<Value> =
        calls.map(|text| serde_json::from_str(&text).expect("they are stored whole")).collect();
    assert_eq!(calls.len(), 1);
    assert!(calls[0]["content"] == content, "what is stored is what was written");
}

/// Names of the workspace reach the card and the model; none can pretend to be something else.
#[tokio::test(flavor = "multi_thread")]
async fn hostile_names_are_shown_as_they_are() {
    let names = ["a\nAllowed: yes", "b\u{1b}[2Jc", "r\u{202e}txt.exe", "-rf", "$(touch pwned)"];
    for name in names {
        let place = Place::new(&script(&[write(name, "x\n")]));
        let (_engine, session) = place.session(Mode::Interactive).await;
        let mut turn = Turn::start(&session, "go").await;
        let request = turn.asked().await;
        let title = &request.effects.title;
        let hidden = |c: char| c.is_control() || ('\u{202a}'..='\u{202e}').contains(&c);
        assert!(!title.chars().any(hidden), "{title:?}");
        answer(&session, &request, ApprovalAnswer::AllowOnce, Authority::Window)
            .await
            .expect("it is confined");
        turn.end().await;
        let written = fs::read_to_string(place.workspace.join(name)).expect("exactly this name");
        assert_eq!(written, "x\n");
        assert!(!place.workspace.join("pwned").exists());
    }
}
