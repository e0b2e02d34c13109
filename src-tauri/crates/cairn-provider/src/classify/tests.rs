use cairn_protocol::StopReason;
use reqwest::header::HeaderMap;

use super::{ErrorBody, http, quote};
use crate::Fault;
use crate::tests::clock;

#[track_caller]
fn check(status: u16, body: &str, fault: Fault, says: &str) {
    let outcome = http(status, &HeaderMap::new(), body, clock());
    assert_eq!(outcome.fault, Some(fault), "{body}");
    let message = outcome.message.unwrap_or_default();
    assert!(message.contains(says), "{body}: {message}");
}

#[test]
fn every_body_shape_gives_the_providers_words() {
    for body in [
        r#"{"error":{"message":"words","type":"t","code":null,"param":null}}"#,
        r#"{"error":{"message":"words","code":400}}"#,
        r#"{"error":"words"}"#,
        r#"{"error":"words","code":"x"}"#,
        r#"{"type":"error","error":{"type":"t","message":"words"},"request_id":"r"}"#,
        r#"[{"error":{"code":400,"message":"words","status":"INVALID_ARGUMENT","details":[]}}]"#,
        r#"{"message":"words"}"#,
        r#"{"detail":"words"}"#,
        r#"{"detail":[{"loc":["body","x"],"msg":"words","type":"t"}]}"#,
        r#"{"object":"error","message":"words","type":"t","code":400}"#,
        r#"{"code":400,"message":"words","type":"t"}"#,
        r#"{"error":{"message":"Provider returned error","metadata":{"raw":"{\"error\":{\"message\":\"words\"}}","provider_name":"P"}}}"#,
        r#"{"error":{"message":"{\"error\":{\"message\":\"words\"}}"}}"#,
        r#"{"base_resp":{"status_code":1004,"status_msg":"words"}}"#,
        "words",
    ] {
        check(400, body, Fault::BadRequest, "words");
    }
    check(400, "", Fault::BadRequest, "no reason");
}

#[test]
fn the_text_decides_before_the_status() {
    let jinja = r#"{"error":{"code":500,"message":"tools param requires --jinja flag"}}"#;
    check(500, jinja, Fault::BadRequest, "--jinja");
    assert!(http(500, &HeaderMap::new(), jinja, clock()).permanent);
    check(400, r#"{"error":"Incorrect API key provided","code":"x"}"#, Fault::Auth, "Incorrect");
    check(
        400,
        r#"{"error":{"code":400,"message":"API key not valid","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}"#,
        Fault::Auth,
        "not valid",
    );
    check(429, r#"{"error":{"code":"insufficient_quota","message":"m"}}"#, Fault::Quota, "m");
    check(402, r#"{"error":{"message":"m"}}"#, Fault::Quota, "m");
    check(
        502,
        r#"{"error":{"message":"Provider returned error","metadata":{"raw":"This endpoint's maximum context length is 8192 tokens"}}}"#,
        Fault::ContextOverflow,
        "8192",
    );
    check(413, "", Fault::ContextOverflow, "no reason");
    check(
        429,
        r#"{"message":"Too many tokens: maximum context length per minute"}"#,
        Fault::RateLimit,
        "",
    );
    check(
        400,
        r#"{"error":{"message":"The model `x` does not exist"}}"#,
        Fault::ModelNotFound,
        "x",
    );
    check(404, r#"{"error":{"message":"File Not Found"}}"#, Fault::BadRequest, "File");
}

#[test]
fn waits_and_final_words_are_read() {
    let mut headers = HeaderMap::new();
    headers.insert("retry-after-ms", "1500".parse().expect("a value"));
    headers.insert("retry-after", "9".parse().expect("a value"));
    let outcome = http(503, &headers, "{}", clock());
    assert_eq!(outcome.retry_after.map(|wait| wait.as_millis()), Some(1500));
    headers.insert("x-should-retry", "false".parse().expect("a value"));
    let outcome = http(503, &headers, "{}", clock());
    assert_eq!((outcome.status, outcome.permanent), (StopReason::Timeout, true));
    let gemini =
        r#"{"error":{"code":429,"message":"m","details":[{"@type":"x","retryDelay":"34s"}]}}"#;
    let outcome = http(429, &HeaderMap::new(), gemini, clock());
    assert_eq!(outcome.retry_after.map(|wait| wait.as_secs()), Some(34));
}

#[test]
fn long_texts_are_cut_at_a_character() {
    let quoted = quote(&"積み ".repeat(1000));
    assert_eq!(quoted.chars().count(), 601);
}

proptest::proptest! {
    #[test]
    fn no_body_breaks_the_reader(text in "[\\PC]{0,60}", json in "[\\[\\]{}:,\"a-z0-9]{0,60}") {
        ErrorBody::parse(&text);
        ErrorBody::parse(&json);
    }
}
