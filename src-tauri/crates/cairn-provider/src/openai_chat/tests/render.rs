//! What goes to the server: the messages of a history, and the fields around them.

use std::sync::Arc;

use cairn_protocol::{
    Fidelity, ImageUrl, Message, ModelMsg, Role, StopReason, Text, Thinking, ThinkingLevel,
    ToolCall, ToolCallId, ToolCallOutput, ToolDefinition,
};
use proptest::prelude::*;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::openai_chat::ChatProvider;
use crate::openai_chat::render::{Prefix, Rules};
use crate::quirks::{self, Quirks};
use crate::tests::{clock, model, request, target, user};
use crate::{ModelRequest, ModelTarget};

fn message(message: impl Into<ModelMsg>) -> Arc<Message> {
    Arc::new(Message::model(clock(), message))
}

fn says(text: &str) -> Arc<Message> {
    message(Text {
        role: Role::Assistant,
        stop_reason: Some(StopReason::Completed),
        ..Text::user(text)
    })
}

fn thinks(text: &str, fidelity: &str) -> Arc<Message> {
    message(Thinking {
        role: Role::Assistant,
        thinking: text.to_owned(),
        fidelity: RawValue::from_string(fidelity.to_owned()).ok().map(Fidelity),
        stop_reason: None,
    })
}

fn calls(id: &str, arguments: &str) -> Arc<Message> {
    message(ToolCall {
        role: Role::Assistant,
        name: "f".to_owned(),
        arguments: arguments.to_owned(),
        tool_call_id: ToolCallId::from(id),
        fidelity: None,
        stop_reason: Some(StopReason::Completed),
    })
}

fn gives(id: &str, output: &str, images: &[&str]) -> Arc<Message> {
    message(ToolCallOutput {
        role: Role::User,
        output: output.to_owned(),
        images: images.iter().map(|image| (*image).to_owned()).collect(),
        tool_call_id: ToolCallId::from(id),
        stop_reason: None,
        details: None,
    })
}

fn at(url: &str) -> Quirks {
    quirks::of(&reqwest::Url::parse(url).expect(url))
}

fn rules(url: &str) -> Rules {
    Rules { model: model(), vision: true, quirks: at(url) }
}

fn list(bytes: &[u8]) -> Value {
    let text = String::from_utf8(bytes.to_vec()).expect("UTF-8");
    serde_json::from_str(&format!("[{text}]")).expect("a list of JSON messages")
}

#[track_caller]
fn check(history: &[Arc<Message>], expected: Value) {
    check_with(&rules("http://127.0.0.1/v1"), history, expected);
}

#[track_caller]
fn check_with(rules: &Rules, history: &[Arc<Message>], expected: Value) {
    assert_eq!(list(&Prefix::default().render(history, rules)), expected);
}

fn wire_call(id: &str, arguments: &str) -> Value {
    json!({"id": id, "type": "function", "function": {"name": "f", "arguments": arguments}})
}

#[test]
fn a_turn_with_calls_is_followed_by_its_results_in_call_order() {
    check(
        &[
            user("go"),
            says("I look."),
            calls("a", "{\"x\":1}"),
            calls("b", "{}"),
            gives("b", "B", &[]),
            gives("a", "A", &[]),
            says("Done."),
            user("and"),
            user("more"),
        ],
        json!([
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": "I look.", "tool_calls": [wire_call("a", "{\"x\":1}"), wire_call("b", "{}")]},
            {"role": "tool", "tool_call_id": "a", "content": "A"},
            {"role": "tool", "tool_call_id": "b", "content": "B"},
            {"role": "assistant", "content": "Done."},
            {"role": "user", "content": "and\n\nmore"},
        ]),
    );
}

#[test]
fn every_call_has_a_result_and_every_result_a_call() {
    check(
        &[user("go"), calls("a", "{\"half"), user("stop"), gives("zzz", "orphan", &[])],
        json!([
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": null, "tool_calls": [wire_call("a", "{}")]},
            {"role": "tool", "tool_call_id": "a", "content": "[the call did not run: the turn was stopped]"},
            {"role": "user", "content": "stop"},
        ]),
    );
}

#[test]
fn p54_the_number_is_cut_off_upstream() {
    check(
        &[calls("0#2", "{}"), gives("0#2", "A", &[])],
        json!([
            {"role": "assistant", "content": null, "tool_calls": [wire_call("0", "{}")]},
            {"role": "tool", "tool_call_id": "0", "content": "A"},
        ]),
    );
}

#[test]
fn images_go_into_the_next_user_message() {
    let image =
        message(ImageUrl { role: Role::User, image_url: "data:image/png;base64,QQ".to_owned() });
    let picture = |url: &str| json!({"type": "image_url", "image_url": {"url": url}});
    let history =
        [user("see"), image, calls("a", "{}"), gives("a", "A", &["data:x"]), user("and?")];
    check(
        &history,
        json!([
            {"role": "user", "content": [{"type": "text", "text": "see"}, picture("data:image/png;base64,QQ")]},
            {"role": "assistant", "content": null, "tool_calls": [wire_call("a", "{}")]},
            {"role": "tool", "tool_call_id": "a", "content": "A"},
            {"role": "user", "content": [
                {"type": "text", "text": "Images from the tool results above:"}, picture("data:x"),
                {"type": "text", "text": "and?"},
            ]},
        ]),
    );
    let blind = Rules { vision: false, ..rules("http://127.0.0.1/v1") };
    let text = String::from_utf8(Prefix::default().render(&history, &blind)).expect("UTF-8");
    assert!(!text.contains("image_url") && text.contains("does not read images"), "{text}");
}

#[test]
fn p24_reasoning_goes_back_to_who_made_it_and_nobody_else() {
    let ours = r#"{"provider":"test","model":"fake-model","field":"reasoning_content"}"#;
    let foreign = r#"{"provider":"other","model":"fake-model","field":"reasoning_content"}"#;
    for (fidelity, expected) in [(ours, Some("why")), (foreign, None)] {
        let history = [thinks("why", fidelity), calls("a", "{}"), gives("a", "A", &[])];
        let sent = list(&Prefix::default().render(&history, &rules("http://127.0.0.1/v1")));
        assert_eq!(sent[0].get("reasoning_content"), expected.map(Value::from).as_ref());
    }
    check(
        &[thinks("why", ours), says("An answer without calls.")],
        json!([{"role": "assistant", "content": "An answer without calls."}]),
    );
}

#[test]
fn p24_reasoning_details_go_back_byte_for_byte() {
    let details = r#"{"type":"reasoning.encrypted",  "data":"x/y==","format":null}"#;
    let made = format!(
        r#"{{"provider":"test","model":"fake-model","field":"reasoning_details","details":[{details}]}}"#
    );
    let history = [thinks("why", &made), says("a")];
    let text = String::from_utf8(Prefix::default().render(&history, &rules("http://127.0.0.1/v1")));
    let expected = format!(r#""reasoning_details":[{details}]"#);
    assert!(text.expect("UTF-8").contains(&expected));
    let other = made.replace("fake-model", "another-model");
    check(&[thinks("why", &other), says("a")], json!([{"role": "assistant", "content": "a"}]));
}

#[test]
fn hosts_get_what_they_want() {
    let history = [calls("call_0123456789", "{}"), gives("call_0123456789", "A", &[]), user("b")];
    let mistral = list(&Prefix::default().render(&history, &rules("https://api.mistral.ai/v1")));
    let id = mistral[0]["tool_calls"][0]["id"].as_str().expect("an id").to_owned();
    assert!(id.len() == 9 && id.bytes().all(|b| b.is_ascii_alphanumeric()), "{id}");
    assert_eq!(mistral[1]["tool_call_id"], id.as_str());
    assert_eq!(mistral[2]["role"], "assistant");
    let deepseek = list(&Prefix::default().render(&history, &rules("https://api.deepseek.com/v1")));
    assert_eq!(deepseek[0]["reasoning_content"], "");
    let thought = r#"{"provider":"test","model":"fake-model","field":"think_tag"}"#;
    let history = [thinks("why", thought), says("a")];
    let minimax = list(&Prefix::default().render(&history, &rules("https://api.minimax.io/v1")));
    assert_eq!(minimax[0]["content"], "<think>\nwhy\n</think>\n\na");
    check(&history, json!([{"role": "assistant", "content": "a"}]));
}

#[test]
fn nul_is_not_sent() {
    check(
        &[user("a\0b"), says("\0"), user("c")],
        json!([{"role": "user", "content": "ab"}, {"role": "user", "content": "c"}]),
    );
}

fn bodies(target: ModelTarget, requests: &[ModelRequest]) -> Vec<Value> {
    let provider = ChatProvider::new(target, clock).expect("a provider");
    let body = |request| provider.prepare(request).0.body;
    requests.iter().map(|r| serde_json::from_slice(&body(r)).expect("a JSON body")).collect()
}

#[test]
fn the_body_has_a_fixed_shape() {
    let tools = vec![ToolDefinition {
        name: "f".to_owned(),
        description: "Does f.".to_owned(),
        parameters: Some(json!({"$schema": "x", "type": "object", "properties": {}})),
    }];
    let request = ModelRequest { tools: Arc::new(tools), ..request(vec![user("hi")]) };
    let body = bodies(target("http://127.0.0.1:9/v1"), &[request]).remove(0);
    assert_eq!(
        body.to_string(),
        json!({
            "model": "fake-model",
            "stream": true,
            "stream_options": {"include_usage": true},
            "tools": [{"type": "function", "function": {
                "name": "f", "description": "Does f.",
                "parameters": {"type": "object", "properties": {}},
            }}],
            "messages": [
                {"role": "system", "content": "You are a test."},
                {"role": "user", "content": "hi"},
            ],
        })
        .to_string()
    );
}

#[test]
fn p55_the_output_limit_is_clamped_and_named_as_the_host_wants() {
    let long = request(vec![user(&"x".repeat(4 * 6000))]);
    let with = |url: &str| ModelTarget {
        max_tokens: Some(4000),
        context_window: Some(8192),
        ..target(url)
    };
    let local = bodies(with("http://127.0.0.1:9/v1"), std::slice::from_ref(&long));
    assert_eq!(local[0]["max_tokens"], 8192 - 6004 - 1024);
    let openai = bodies(with("https://api.openai.com/v1"), &[request(vec![user("x")])]);
    assert_eq!(
        (&openai[0]["max_completion_tokens"], openai[0].get("max_tokens")),
        (&json!(4000), None)
    );
}

#[test]
fn p60_the_default_depth_asks_for_nothing() {
    let deep = ModelRequest { thinking: ThinkingLevel::High, ..request(vec![user("x")]) };
    let sent =
        bodies(target("https://api.openai.com/v1"), &[request(vec![user("x")]), deep.clone()]);
    assert_eq!(sent[0].get("reasoning_effort"), None);
    assert_eq!(sent[1]["reasoning_effort"], "high");
    let local = bodies(target("http://127.0.0.1:9/v1"), &[deep]);
    assert_eq!(local[0].get("reasoning_effort"), None);
}

fn any_message() -> impl Strategy<Value = Arc<Message>> {
    let id = "[ab]";
    prop_oneof![
        "[a-z\0é]{0,3}".prop_map(|text| user(&text)),
        "[a-z]{0,3}".prop_map(|text| says(&text)),
        id.prop_map(|id| calls(&id, "{}")),
        id.prop_map(|id| gives(&id, "o", &[])),
        id.prop_map(|id| gives(&id, "o", &["data:i"])),
        Just(message(ImageUrl { role: Role::User, image_url: "data:u".to_owned() })),
    ]
}

proptest! {
    /// The kept prefix changes nothing, and the sent list only grows at its end.
    #[test]
    fn a_growing_history_renders_as_if_from_the_start(
        history in prop::collection::vec(any_message(), 0..30),
        steps in prop::collection::vec(0usize..30, 1..5),
    ) {
        let rules = rules("https://api.mistral.ai/v1");
        let mut kept = Prefix::default();
        for step in steps {
            let part = &history[..step.min(history.len())];
            let fresh = Prefix::default().render(part, &rules);
            prop_assert_eq!(kept.render(part, &rules), fresh.clone());
            list(&fresh);
        }
    }

    /// Whatever the history is, each call has exactly one result, right behind its turn.
    #[test]
    fn calls_and_results_are_paired(history in prop::collection::vec(any_message(), 0..30)) {
        let sent = list(&Prefix::default().render(&history, &rules("http://127.0.0.1/v1")));
        let sent = sent.as_array().expect("a list");
        let mut open = 0;
        for message in sent {
            if message["role"] == "tool" {
                prop_assert!(open > 0);
                open -= 1;
            } else {
                prop_assert_eq!(open, 0);
                open = message["tool_calls"].as_array().map_or(0, Vec::len);
            }
        }
        prop_assert_eq!(open, 0);
    }
}
