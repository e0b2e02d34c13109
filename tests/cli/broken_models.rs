//! Answers that are wrong, broken off or refused. Each ends with a message that says what happened, a whole
//! trace, and nothing done that was not asked for.

use cairn_tests::model_server::{Call, MODEL, ModelServer, Reply};
use serde_json::{Value, json};

use crate::place::{Place, finish, text};

/// What a turn came to.
struct Outcome {
    code: Option<i32>,
    said: String,
    requests: usize,
    stored: Vec<Value>,
    place: Place,
}

/// Runs a turn against a server that gives these replies.
fn run(replies: Vec<Reply>) -> Outcome {
    let server = ModelServer::builder().replies(replies).start();
    let place = Place::new("");
    let target = ["--base-url", &server.base_url(), "--model", MODEL, "--mode", "auto"];
    let output = finish(place.command(&[&["run"], &target[..], &["go"]].concat()));
    let said = format!("{}{}", text(&output.stdout), text(&output.stderr));
    let stored = place.stored(&place.session());
    check_turn(&stored);
    let requests = server.requests().len();
    Outcome { code: output.status.code(), said, requests, stored, place }
}

/// Z-12: the turn has one end and it is last; every call has one result.
fn check_turn(stored: &[Value]) {
    let kinds: Vec<&str> = stored.iter().filter_map(|it| it["payload"]["type"].as_str()).collect();
    assert_eq!(kinds.iter().filter(|kind| **kind == "turn_end").count(), 1, "{kinds:?}");
    assert_eq!(kinds.last(), Some(&"turn_end"), "{kinds:?}");
    let ids = |kind: &str| {
        let of_kind = stored.iter().filter(|it| it["payload"]["type"] == kind);
        let mut ids: Vec<String> =
            of_kind.map(|it| it["payload"]["tool_call_id"].to_string()).collect();
        ids.sort();
        ids
    };
    assert_eq!(ids("tool_call"), ids("tool_call_output"));
}

fn raw(event: &str) -> Reply {
    Reply::raw_events([format!("data: {event}\n\n"), "data: [DONE]\n\n".to_owned()])
}

fn later(code: u16, message: &str) -> Reply {
    Reply::error_with_header(code, ("retry-after", "0"), message)
}

fn answer() -> Reply {
    Reply::text(["All is well."])
}

/// P-44: what can't get better by trying again ends the turn at once, and says what to do.
#[test]
fn refusals_end_the_turn_and_say_why() {
    let page = Reply::Raw {
        content_type: "text/html".to_owned(),
        parts: vec!["<html><title>Sign in</title></html>".to_owned()],
    };
    let moved = Reply::Status {
        code: 302,
        headers: vec![("location".to_owned(), "http://127.0.0.1:9/".to_owned())],
        body: String::new(),
    };
    let cases = [
        (Reply::error(401, "Incorrect API key"), "(HTTP 401): Incorrect API key. Check the key"),
        (Reply::error(403, "Not in your country"), "(HTTP 403): Not in your country"),
        (Reply::error(404, "No such model"), "does not have this model (HTTP 404)"),
        (Reply::error(400, "Unknown parameter"), "(HTTP 400): Unknown parameter"),
        (page, "a web page titled “Sign in”. Check the base URL"),
        (moved, "Cairn does not follow, because the key belongs to the address that you gave"),
    ];
    for (reply, wanted) in cases {
        let outcome = run(vec![reply]);
        assert_eq!((outcome.code, outcome.requests), (Some(1), 1), "{wanted}");
        assert!(outcome.said.contains(wanted), "{wanted:?} is not in:\n{}", outcome.said);
        assert!(outcome.said.contains("Your text is kept") || wanted.contains("key"), "{wanted}");
    }
}

/// P-44: what may pass is tried again, and the turn goes on; what was said of it is told.
#[test]
fn passing_troubles_are_tried_again() {
    let cases = [
        (later(429, "Slow down"), "slow down (HTTP 429): Slow down"),
        (later(500, "Oops"), "(HTTP 500): Oops"),
        (later(503, "Overloaded"), "(HTTP 503): Overloaded"),
        (Reply::HalfStream(vec!["The price ".to_owned(), "is".to_owned()]), "broke: "),
        (raw("this is not JSON"), "something that is not JSON"),
        (raw("[1, 2]"), "something that is not JSON"),
        (Reply::raw_events(["data: [DONE]\n\n"]), "an empty answer"),
        (Reply::calls([Call::json("", json!({}))]), "an empty answer"),
        (raw(r#"{"error": {"message": "Overloaded", "code": 503}}"#), "(HTTP 503): Overloaded"),
        (
            Reply::raw_events(["data: {\"choices\": [{\"delta\": {\"content\": \"half\"}}]}\n\n"]),
            "ended early",
        ),
    ];
    std::thread::scope(|scope| {
        for (reply, wanted) in cases {
            scope.spawn(move || {
                let outcome = run(vec![reply, answer()]);
                let Outcome { said, .. } = &outcome;
                assert_eq!((outcome.code, outcome.requests), (Some(0), 2), "{wanted}\n{said}");
                assert!(said.contains(wanted), "{wanted:?} is not in:\n{said}");
                assert!(said.contains("All is well."), "{said}");
            });
        }
    });
}

/// Z-26: a call that makes no sense is answered to the model and not run, and a person sees a line of it that
/// can't steer the terminal.
#[test]
fn calls_that_make_no_sense_are_answered_and_not_run() {
    let cases = [
        Call::new("write_file", "{\"file_path\": \"new.txt\", \"content\": "),
        Call::new("write_file", "[]"),
        Call::new("write_file", ""),
        Call::json("write_file", json!({"file_path": 7, "content": "x"})),
        Call::json("write_file", json!({"content": "x"})),
        Call::json("format_disk", json!({"really": true})),
        Call::json("write_file\u{202e}", json!({"file_path": "new.txt", "content": "x"})),
        Call::new("write_file", &format!("{}{}", "[".repeat(5000), "]".repeat(5000))),
        Call::json("list_files", json!({"path": "a".repeat(2_000_000)})),
    ];
    for call in cases {
        let outcome = run(vec![Reply::calls([call]), answer()]);
        let said = &outcome.said;
        assert_eq!((outcome.code, outcome.requests), (Some(0), 2), "{said}");
        let result = outcome.stored.iter().find(|it| it["payload"]["type"] == "tool_call_output");
        let result = result.expect("the call is answered");
        assert_eq!(result["payload"]["stop_reason"], "failed", "{said}");
        assert!(!outcome.place.workspace.join("new.txt").exists());
        assert!(!said.contains('\u{202e}') && said.len() < 4_000, "{} bytes", said.len());
    }
}
