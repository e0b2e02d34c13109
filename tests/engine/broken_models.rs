//! Models that answer badly, half or not at all: what the user is told, that the turn ends, that the history
//! is whole (P-33, P-42 … P-52, Z-12).
//!
//! The waits between attempts are cut short as a user does it, with *retry now*.

use std::fs;
use std::time::Duration;

use cairn_protocol::{Body, ErrorCode, EventMsg, Mode, ModelMsg, Role, TurnStatus};
use cairn_tests::model_server::{Call, ModelServer, Reply};
use cairn_tests::raw_server::{End, RawReply, RawServer};
use serde_json::json;

use crate::place::{Place, Turn, stored};

/// The first attempt and five more (P-42).
const ATTEMPTS: usize = 6;
/// How long a turn may take before it counts as hanging.
const PATIENCE: Duration = Duration::from_secs(120);

/// How a turn went.
#[derive(Debug)]
struct Told {
    status: TurnStatus,
    /// What the failed requests said, in order.
    failures: Vec<String>,
    /// What the turn said in the end.
    error: Option<(ErrorCode, String)>,
    /// What tools said.
    outputs: Vec<String>,
    /// What the model said.
    said: String,
}

/// Plays one turn against a server and checks what holds for every turn.
async fn play(place: &Place, base_url: &str) -> Told {
    tokio::time::timeout(PATIENCE, play_on(place, base_url)).await.expect("the turn ends")
}

async fn play_on(place: &Place, base_url: &str) -> Told {
    let (engine, session) = place.session(Mode::Auto).await;
    let mut turn = Turn::start(&session, "go").await;
    let address = base_url.trim_start_matches("http://").trim_end_matches("/v1");
    let clean = |text: &str| text.replace(address, "HOST");
    let mut failures = Vec::new();
    let (status, error) = loop {
        let message = turn.next().await.expect("the session is open");
        match message.as_event() {
            Some(EventMsg::RequestEnd { error_message: Some(text), retry_in_ms, .. }) => {
                failures.push(clean(text));
                if retry_in_ms.is_some() {
                    session.retry_now().await.expect("the turn waits");
                }
            }
            Some(EventMsg::TurnEnd { status, error, .. }) => break (*status, error.clone()),
            _ => {}
        }
    };
    let said = turn.messages.iter().filter_map(|message| match &message.body {
        Body::ModelMsg(ModelMsg::Text(text)) if text.role == Role::Assistant => {
            Some(text.text.clone())
        }
        _ => None,
    });
    let (said, outputs) = (said.collect(), turn.outputs());
    session.close().await.expect("it closes");
    let messages = stored(&engine, session.id()).await;
    let places: Vec<u64> = messages.iter().map(|it| it.seq).collect();
    assert_eq!(places, (1..=places.len() as u64).collect::<Vec<_>>(), "the trace has no gap");
    let is_end = |event: Option<&EventMsg>| matches!(event, Some(EventMsg::TurnEnd { .. }));
    let ends = messages.iter().filter(|it| is_end(it.message.as_event())).count();
    assert_eq!(ends, 1, "Z-12");
    assert!(is_end(messages.last().and_then(|it| it.message.as_event())), "Z-12: it is last");
    engine.close().await;
    let error = error.map(|error| (error.code, clean(&error.message)));
    Told { status, failures, error, outputs, said }
}

/// Plays against replies byte for byte; returns how it went and how many requests there were.
async fn raw(replies: Vec<RawReply>) -> (Told, usize) {
    let server = RawServer::start(replies);
    let place = Place::connected(server.base_url());
    let told = play(&place, &server.base_url()).await;
    (told, server.requests())
}

/// Plays against replies of a server that speaks HTTP.
async fn over_http(replies: Vec<Reply>, otherwise: Reply) -> (Told, usize) {
    let server = ModelServer::builder().replies(replies).otherwise(otherwise).start();
    let place = Place::connected(server.base_url());
    let told = play(&place, &server.base_url()).await;
    (told, server.requests().len())
}

fn chunk(delta: &serde_json::Value, finish: &serde_json::Value) -> String {
    let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
    format!("data: {}\n\n", json!({"object": "chat.completion.chunk", "choices": [choice]}))
}

fn says(text: &str) -> String {
    chunk(&json!({"content": text}), &json!(null))
}

fn calls(name: &str, arguments: &str, id: Option<&str>) -> String {
    let function = json!({"name": name, "arguments": arguments});
    let mut call = json!({"index": 0, "type": "function", "function": function});
    if let Some(id) = id {
        call["id"] = json!(id);
    }
    chunk(&json!({"tool_calls": [call]}), &json!(null))
}

fn ends(reason: &str) -> String {
    chunk(&json!({}), &json!(reason)) + "data: [DONE]\n\n"
}

fn done() -> RawReply {
    RawReply::events(says("Done.") + &ends("stop"), End::Close)
}

/// A first answer that can't be used is asked for again, and the second one counts.
#[track_caller]
fn recovered(told: &(Told, usize), failure: &str) {
    let (told, requests) = told;
    assert_eq!(*requests, 2, "{told:?}");
    assert_eq!(told.status, TurnStatus::Completed, "{told:?}");
    assert_eq!(told.failures, [failure], "{told:?}");
    assert!(told.said.ends_with("Done."), "{told:?}");
}

/// The model never answers properly: after all attempts the turn ends with an error that says so.
#[track_caller]
fn given_up(told: &(Told, usize), failure: &str) {
    let (told, requests) = told;
    assert_eq!(*requests, ATTEMPTS, "{told:?}");
    assert_eq!(told.status, TurnStatus::Error, "{told:?}");
    assert_eq!(told.failures, vec![failure; ATTEMPTS], "{told:?}");
    let text = format!(
        "The model did not answer: {failure} Gave up after 6 attempts. Your text is kept; send again to go on."
    );
    assert_eq!(told.error, Some((ErrorCode::Io, text)), "{told:?}");
}

/// Trying again would not help: one request, and the error at once.
#[track_caller]
fn refused(told: &(Told, usize), code: ErrorCode, text: &str) {
    let (told, requests) = told;
    assert_eq!(*requests, 1, "{told:?}");
    assert_eq!(told.status, TurnStatus::Error, "{told:?}");
    assert_eq!(told.error, Some((code, text.to_owned())), "{told:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_json_is_said_and_asked_for_again() {
    let broken = RawReply::events("data: hello\n\n", End::Close);
    let failure =
        "The provider sent something that is not JSON (expected value at line 1 column 1): hello";
    recovered(&raw(vec![broken, done()]).await, failure);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_answer_is_asked_for_again_and_then_given_up() {
    let failure = "The provider sent an empty answer.";
    for body in ["", "data: [DONE]\n\n", "data: {\"choices\":[]}\n\ndata: [DONE]\n\n"] {
        let empty = RawReply::events(body, End::Close);
        recovered(&raw(vec![empty.clone(), done()]).await, failure);
        given_up(&raw(vec![empty]).await, failure);
    }
}

/// P-37: whatever is wrong with a call is said to the model, which may mend it.
#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_makes_no_sense_is_answered_and_nothing_runs() {
    for (name, arguments, expected) in [
        ("read_file", "{\"file_path\": \"old", "JSON"),
        ("read_file", "[1, 2]", "object"),
        ("read_file", "{\"file_path\": 7}", "file_path"),
        ("read_file", "{}", "file_path"),
        ("no_such_tool", "{}", "no_such_tool"),
    ] {
        let call = RawReply::events(
            calls(name, arguments, Some("call_1")) + &ends("tool_calls"),
            End::Close,
        );
        let (told, requests) = raw(vec![call, done()]).await;
        assert_eq!(told.status, TurnStatus::Completed, "{name} {arguments}: {told:?}");
        assert_eq!(requests, 2, "{name} {arguments}: {told:?}");
        assert_eq!(told.outputs.len(), 1, "{name} {arguments}: {told:?}");
        assert!(told.outputs[0].contains(expected), "{name} {arguments}: {told:?}");
        assert!(!told.outputs[0].contains("kept"), "{name} {arguments}: {told:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_without_an_id_gets_one() {
    let call = calls("read_file", r#"{"file_path":"old.txt"}"#, None) + &ends("tool_calls");
    let (told, _) = raw(vec![RawReply::events(call, End::Close), done()]).await;
    assert_eq!(told.status, TurnStatus::Completed, "{told:?}");
    assert!(told.outputs.len() == 1 && told.outputs[0].contains("kept"), "{told:?}");
}

/// Half an argument list must never run, even when the half is valid JSON.
#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_cut_off_does_not_run() {
    for end in [End::Close, End::Reset] {
        let half = calls("write_file", r#"{"file_path":"new.txt","content":"ha"#, Some("call_1"));
        let server = RawServer::start(vec![RawReply::events(half, end), done()]);
        let place = Place::connected(server.base_url());
        let told = play(&place, &server.base_url()).await;
        assert_eq!(told.status, TurnStatus::Completed, "{end:?}: {told:?}");
        assert_eq!(told.failures.len(), 1, "{end:?}: {told:?}");
        assert!(!place.workspace.join("new.txt").exists(), "{end:?}: {told:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_breaks_is_asked_for_again() {
    let early = "The answer ended early: the connection was closed before the model had finished.";
    let reset = "The connection to HOST broke: Connection reset by peer (os error 104)";
    let whole_call = calls("read_file", r#"{"file_path":"old.txt"}"#, Some("call_1"));
    for (body, end, failure) in [
        (says("Half"), End::Close, early),
        (says("Half"), End::Reset, reset),
        (says("Half") + "data: {\"choi", End::Reset, reset),
        (whole_call.clone(), End::Reset, reset),
    ] {
        recovered(&raw(vec![RawReply::events(&body, end), done()]).await, failure);
        if end == End::Reset {
            let told = raw(vec![RawReply::events(&body, end)]).await;
            assert_eq!((told.0.status, told.1), (TurnStatus::Error, ATTEMPTS), "{told:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_ends_before_the_answer_is_tried_again() {
    let (told, requests) = raw(vec![RawReply::new("", End::Reset), done()]).await;
    assert_eq!((told.status, requests), (TurnStatus::Completed, 2), "{told:?}");
    assert!(told.failures[0].starts_with("The connection to HOST broke: "), "{told:?}");
    let (told, requests) = raw(vec![RawReply::new("HTTP/1.1 2", End::Close), done()]).await;
    assert_eq!((told.status, requests), (TurnStatus::Completed, 2), "{told:?}");
    assert!(told.failures[0].starts_with("The connection to HOST broke: "), "{told:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_not_there_is_named() {
    let gone = RawServer::start(vec![done()]).base_url();
    let place = Place::connected(gone.clone());
    let told = play(&place, &gone).await;
    let failure = "Can't connect to HOST: Connection refused (os error 111). Check that the server runs and the address is right.";
    assert_eq!(told.failures, vec![failure; ATTEMPTS]);
    assert_eq!(told.status, TurnStatus::Error);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_of_a_megabyte_is_read_and_one_without_end_is_not() {
    let long = "x".repeat(1024 * 1024);
    let body = says(&long) + &ends("stop");
    let (told, requests) = raw(vec![RawReply::events(body, End::Close)]).await;
    assert_eq!((told.status, requests), (TurnStatus::Completed, 1));
    assert_eq!(told.said.len(), long.len());

    let endless = format!("data: {}", "x".repeat(9 * 1024 * 1024));
    let (told, requests) = raw(vec![RawReply::events(endless, End::Close), done()]).await;
    assert_eq!((told.status, requests), (TurnStatus::Completed, 2), "{:?}", told.failures);
    assert!(told.failures[0].len() < 1_000, "it is not quoted whole");
}

#[tokio::test(flavor = "multi_thread")]
async fn bytes_that_are_no_text_are_marked() {
    let body = b"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\xff\xfeb\"}}]}\n\n";
    let body = [body.as_slice(), ends("stop").as_bytes()].concat();
    let (told, requests) = raw(vec![RawReply::events(body, End::Close)]).await;
    assert_eq!((told.status, requests), (TurnStatus::Completed, 1), "{told:?}");
    assert_eq!(told.said, "a\u{fffd}\u{fffd}b");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_is_final_and_says_what_to_do() {
    let page = Reply::Raw {
        content_type: "text/html".to_owned(),
        parts: vec!["<html><title>Sign in</title></html>".to_owned()],
    };
    let redirect = Reply::Status {
        code: 307,
        headers: vec![("location".to_owned(), "https://elsewhere.example/v1".to_owned())],
        body: String::new(),
    };
    let check_key = "Check the key of this provider in Settings, then send again.";
    let kept = "Your text is kept; send again when it is mended.";
    for (reply, code, text, then) in [
        (
            Reply::error(401, "Incorrect API key"),
            ErrorCode::Auth,
            "The provider refused the key (HTTP 401): Incorrect API key.",
            check_key,
        ),
        (
            Reply::error(403, "Your plan has no access"),
            ErrorCode::Io,
            "The provider does not allow this (HTTP 403): Your plan has no access.",
            kept,
        ),
        (
            Reply::error(404, "The model `x` does not exist"),
            ErrorCode::Io,
            "The provider does not have this model (HTTP 404): The model `x` does not exist.",
            kept,
        ),
        (
            redirect,
            ErrorCode::Io,
            "The server sends to another address (HTTP 307): https://elsewhere.example/v1. Cairn does not follow, because the key belongs to the address that you gave. If the new one is right, enter it as base URL.",
            kept,
        ),
        (
            page,
            ErrorCode::Io,
            "The address answers with a web page, not with a model (HTTP 200): a web page titled \u{201c}Sign in\u{201d}. Check the base URL; it often ends in /v1.",
            kept,
        ),
    ] {
        let text = format!("The model did not answer: {text} {then}");
        refused(&over_http(Vec::new(), reply).await, code, &text);
    }
}

/// A server that is busy is asked again after as long as it says.
#[tokio::test(flavor = "multi_thread")]
async fn a_busy_server_is_asked_again() {
    for (code, opening) in [
        (429, "The provider asks to slow down"),
        (500, "The provider can't answer now"),
        (503, "The provider can't answer now"),
    ] {
        let busy = Reply::error_with_header(code, ("retry-after", "0"), "Please slow down.");
        let failure = format!("{opening} (HTTP {code}): Please slow down.");
        recovered(&over_http(vec![busy.clone()], Reply::text(["Done."])).await, &failure);
        given_up(&over_http(Vec::new(), busy).await, &failure);
    }
}

/// P-50: the setting bounds every silence.
#[tokio::test(flavor = "multi_thread")]
async fn a_silent_server_is_given_up() {
    for silent in [
        RawReply::new("", End::Hang),
        RawReply::events("", End::Hang),
        RawReply::events(says("Half"), End::Hang),
    ] {
        let server = RawServer::start(vec![silent.clone(), done()]);
        let place = Place::connected(server.base_url());
        fs::create_dir_all(&place.root).expect("a folder is made");
        fs::write(place.root.join("settings.toml"), "modelIdleTimeoutMs = 200\n")
            .expect("the settings are written");
        let told = play(&place, &server.base_url()).await;
        recovered(&(told, server.requests()), "HOST was silent for 0.2 s.");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_hundred_calls_in_one_response_all_get_their_output() {
    let many = (0..200).map(|_| Call::json("read_file", json!({"file_path": "old.txt"})));
    let replies = vec![Reply::calls(many)];
    let (told, requests) = over_http(replies, Reply::text(["Done."])).await;
    assert_eq!((told.status, requests), (TurnStatus::Completed, 2), "{:?}", told.error);
    assert_eq!(told.outputs.len(), 200);
    assert!(told.outputs.iter().all(|output| output.contains("kept")));
}
