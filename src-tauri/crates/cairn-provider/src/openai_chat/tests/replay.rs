//! Replays recorded streams whole, byte by byte and cut at random; the result must be the same.

use std::path::{Path, PathBuf};

use cairn_protocol::{Body, ModelMsg, StopReason};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

use super::{Decoded, decode, decode_with, plain};
use crate::Outcome;
use crate::openai_chat::decode::Ended;

fn fixtures() -> Option<(PathBuf, Value)> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = std::env::var_os("CAIRN_FIXTURES")
        .map_or_else(|| here.join("../../../../shared/fixtures"), PathBuf::from);
    let manifest = std::fs::read(folder.join("manifest.json")).ok();
    let Some(manifest) = manifest else {
        println!(
            "SKIPPED: the recorded streams are not on this machine (CAIRN_FIXTURES, ../shared/fixtures)"
        );
        return None;
    };
    Some((folder, serde_json::from_slice(&manifest).expect("the manifest is JSON")))
}

fn body(folder: &Path, fixture: &Value) -> Vec<u8> {
    let file = folder.join(fixture["file"].as_str().expect("a file name"));
    let bytes = std::fs::read(&file).expect("the fixture is there");
    if fixture["format"] == "sse" {
        return bytes;
    }
    let text = String::from_utf8(bytes).expect("UTF-8");
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    super::stream(&lines)
}

fn chat_streams() -> Vec<(String, Vec<u8>, Value)> {
    let Some((folder, manifest)) = fixtures() else { return Vec::new() };
    let list = manifest["fixtures"].as_array().expect("a list");
    list.iter()
        .filter(|fixture| fixture["api"] == "openai-chat")
        .map(|fixture| {
            let id = fixture["id"].as_str().expect("an id").to_owned();
            (id, body(&folder, fixture), fixture["expected"].clone())
        })
        .collect()
}

fn summary(decoded: &Decoded) -> Value {
    let (mut text, mut reasoning, mut calls) = (String::new(), String::new(), Vec::new());
    for message in &decoded.messages {
        match &message.body {
            Body::ModelMsg(ModelMsg::Text(m)) => text.push_str(&m.text),
            Body::ModelMsg(ModelMsg::Thinking(m)) => reasoning.push_str(&m.thinking),
            Body::ModelMsg(ModelMsg::ToolCall(m)) => calls.push(json!({
                "id": m.tool_call_id.as_str(),
                "name": m.name,
                "arguments": serde_json::from_str::<Value>(&m.arguments).unwrap_or(Value::Null),
                "complete": m.stop_reason == Some(StopReason::Completed),
            })),
            _ => {}
        }
    }
    let usage = decoded.usage.map(|usage| {
        json!({
            "input_total": usage.cache_read + usage.cache_write,
            "input_cached": usage.cache_read,
            "output_total": usage.output,
        })
    });
    json!({"text": text, "reasoning": reasoning, "calls": calls, "usage": usage})
}

fn expected_summary(expected: &Value) -> Value {
    let calls: Vec<Value> = expected["tool_calls"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|call| {
            json!({
                "id": call["id"], "name": call["name"], "arguments": call["arguments"],
                "complete": call["complete"],
            })
        })
        .collect();
    let usage = &expected["usage"];
    let usage = usage.is_object().then(|| {
        json!({
            "input_total": usage["input_total"],
            "input_cached": usage["input_cached"].as_u64().unwrap_or(0),
            "output_total": usage["output_total"],
        })
    });
    json!({
        "text": expected["text"], "reasoning": expected["reasoning"]["raw"], "calls": calls,
        "usage": usage,
    })
}

#[track_caller]
fn check(id: &str, how: &str, decoded: &Decoded, expected: &Value) {
    assert_eq!(summary(decoded), expected_summary(expected), "{id} {how}");
    let outcome = &decoded.outcome;
    match expected["finish"]["normalized"].as_str() {
        Some("error") => {
            assert_ne!(outcome.status, StopReason::Completed, "{id} {how}");
            let said = expected["error"]["message"].as_str().unwrap_or_default();
            let message = outcome.message.as_deref().unwrap_or_default();
            assert!(message.contains(said), "{id} {how}: {message}");
        }
        Some("length") => assert!(outcome.cut_by_length, "{id} {how}"),
        _ => assert_eq!(*outcome, Outcome::completed(), "{id} {how}"),
    }
}

#[test]
fn recorded_streams_give_the_recorded_result_however_they_are_cut() {
    for (id, bytes, expected) in chat_streams() {
        check(&id, "whole", &decode([bytes.as_slice()]), &expected);
        check(&id, "byte by byte", &decode(bytes.chunks(1)), &expected);
        check(&id, "in sevens", &decode(bytes.chunks(7)), &expected);
        let crlf = String::from_utf8(bytes.clone()).expect("UTF-8").replace('\n', "\r\n");
        check(&id, "with CRLF", &decode(crlf.as_bytes().chunks(5)), &expected);
        let cuts = prop::collection::vec(0..bytes.len(), 0..20);
        let mut runner = TestRunner::new(Config { cases: 32, ..Config::default() });
        runner
            .run(&cuts, |mut cuts| {
                cuts.extend([0, bytes.len()]);
                cuts.sort_unstable();
                let pieces = cuts.windows(2).map(|cut| &bytes[cut[0]..cut[1]]);
                check(&id, "cut at random", &decode(pieces), &expected);
                Ok(())
            })
            .expect("every cut gives the same");
    }
}

/// P27 and 9.2: wherever the connection ends, nothing panics and no call that was cut may run.
#[test]
fn a_stream_that_ends_anywhere_runs_no_cut_call() {
    for (id, bytes, expected) in chat_streams() {
        let whole = summary(&decode([bytes.as_slice()]));
        let near_an_end = |end: usize| bytes[end.saturating_sub(3)..end].contains(&b'\n');
        for end in (0..bytes.len()).filter(|end| near_an_end(*end) || end % 23 == 0) {
            let decoded = decode([&bytes[..end]]);
            let completed = decoded.outcome.status == StopReason::Completed;
            for call in summary(&decoded)["calls"].as_array().expect("a list") {
                if call["complete"] == true {
                    assert!(completed, "{id} at {end}: a call of an unfinished answer");
                    let known = whole["calls"].as_array().expect("a list");
                    assert!(known.contains(call), "{id} at {end}: {call}");
                }
            }
            let stopped = decode_with([&bytes[..end]], plain(), Ended::Cancelled);
            let status = stopped.outcome.status;
            let expected_error = expected["error"].is_object();
            assert!(
                matches!(status, StopReason::Aborted | StopReason::Completed) || expected_error,
                "{id} stopped at {end}: {status:?}"
            );
        }
    }
}

#[test]
fn recorded_http_errors_are_classified() {
    let Some((_, manifest)) = fixtures() else { return };
    for error in manifest["http_errors"].as_array().expect("a list") {
        let status = error["http_status"].as_u64().expect("a status") as u16;
        let body = error["body"].as_str().expect("a body");
        let headers = reqwest::header::HeaderMap::new();
        let outcome = crate::classify::http(status, &headers, body, crate::tests::clock());
        let fault = format!("{:?}", outcome.fault.expect("a fault"));
        let class = error["expected"]["class"].as_str().expect("a class");
        let expected: &[&str] = match class {
            "auth" => &["Auth"],
            "model_not_found" => &["ModelNotFound"],
            "bad_request" | "unsupported_input" => &["BadRequest"],
            "rate_limit" => &["RateLimit"],
            "quota" => &["Quota"],
            "context_overflow" => &["ContextOverflow"],
            "overloaded" => &["Overloaded"],
            "tool_generation_failed" => &["ToolGeneration"],
            other => panic!("a class that this test does not know: {other}"),
        };
        assert!(expected.contains(&fault.as_str()), "{status} {body}: {fault}");
        let retry = error["expected"]["retry_same_request"] == true;
        let stops = outcome.permanent || outcome.status == StopReason::Auth;
        assert_eq!(!stops, retry, "{status} {body}: {outcome:?}");
    }
}
