//! What several test modules share: a target, a request, a run, and a short form of messages.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use cairn_protocol::{
    Body, EventMsg, Message, ModelMsg, ModelRef, PartialEvent, Secret, SessionId, StopReason, Text,
    ThinkingLevel, Timestamp, WireApi, check_response,
};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::{ModelRequest, ModelTarget, Outcome, Provider};

#[path = "../../../../tests/support/model_server.rs"]
#[expect(dead_code, unreachable_pub, reason = "the server is shared with the other test packages")]
pub(crate) mod model_server;

pub(crate) fn clock() -> Timestamp {
    Timestamp(1_800_000_000_000)
}

pub(crate) fn model() -> ModelRef {
    ModelRef { provider: "test".to_owned(), model_id: model_server::MODEL.to_owned() }
}

pub(crate) fn target(base_url: &str) -> ModelTarget {
    ModelTarget {
        model: model(),
        api: WireApi::Chat,
        base_url: base_url.to_owned(),
        headers: BTreeMap::new(),
        key: Some(Secret::new("sk-test-0123456789")),
        context_window: None,
        max_tokens: None,
        vision: true,
        script: None,
    }
}

pub(crate) fn user(text: &str) -> Arc<Message> {
    Arc::new(Message::model(clock(), Text::user(text)))
}

pub(crate) fn request(history: Vec<Arc<Message>>) -> ModelRequest {
    ModelRequest {
        system: Arc::from("You are a test."),
        history,
        tools: Arc::default(),
        thinking: ThinkingLevel::Medium,
        idle_timeout: Duration::from_secs(60),
        session: SessionId::from("s1"),
    }
}

/// Runs a request to its end and returns everything that came, checked for P-12, P-13 and P-19.
pub(crate) async fn run(
    provider: &Arc<dyn Provider>,
    request: ModelRequest,
) -> (Vec<Message>, Outcome) {
    let (sink, mut received) = mpsc::channel(16);
    let drain = async {
        let mut messages = Vec::new();
        while let Some(message) = received.recv().await {
            messages.push(message);
        }
        messages
    };
    let streaming = provider.stream(request, sink, CancellationToken::new());
    let (outcome, messages) = tokio::join!(streaming, drain);
    check(&messages);
    (messages, outcome)
}

#[track_caller]
pub(crate) fn check(messages: &[Message]) {
    check_response(messages).expect("P-12 and P-13");
    let usage = |m: &Message| matches!(&m.body, Body::EventMsg(EventMsg::TokenUsage { .. }));
    let at = messages.iter().position(usage);
    assert!(at.is_none_or(|at| at + 1 == messages.len()), "P-19: the usage comes last");
}

/// Returns the complete messages and the usage, one a line.
pub(crate) fn whole(messages: &[Message]) -> String {
    let mut out = String::new();
    for message in messages {
        let line = match &message.body {
            Body::ModelMsg(ModelMsg::Text(m)) => format!("text {:?} {:?}", m.stop_reason, m.text),
            Body::ModelMsg(ModelMsg::Thinking(m)) => {
                format!("thinking {:?} {:?}", m.stop_reason, m.thinking)
            }
            Body::ModelMsg(ModelMsg::ToolCall(m)) => {
                format!("call {:?} {} {} {}", m.stop_reason, m.tool_call_id, m.name, m.arguments)
            }
            Body::EventMsg(EventMsg::TokenUsage { request: r, .. }) => {
                format!("usage {} {} {} = {}", r.cache_read, r.cache_write, r.output, r.total)
            }
            _ => continue,
        };
        let line = line.replace("Some(", "").replacen(')', "", 1);
        writeln!(out, "{line}").expect("a string takes everything");
    }
    out
}

pub(crate) fn deltas(messages: &[Message]) -> usize {
    messages
        .iter()
        .filter(|message| match &message.body {
            Body::ModelMsg(ModelMsg::PartialText(m)) => m.event_type == PartialEvent::Delta,
            Body::ModelMsg(ModelMsg::PartialThinking(m)) => m.event_type == PartialEvent::Delta,
            Body::ModelMsg(ModelMsg::PartialToolCall(m)) => m.event_type == PartialEvent::Delta,
            _ => false,
        })
        .count()
}

#[test]
fn a_wire_that_is_not_built_is_named() {
    for (api, name) in [
        (WireApi::Responses, "OpenAI Responses"),
        (WireApi::Anthropic, "Anthropic Messages"),
        (WireApi::Gemini, "Google Gemini"),
    ] {
        let target = ModelTarget { api, ..target("https://a.example/v1") };
        let error = crate::connect(target, clock).err().expect("unsupported").to_string();
        assert!(error.contains(name), "{error}");
    }
}

#[test]
fn a_completed_outcome_is_nothing_but_completed() {
    let outcome = Outcome::completed();
    assert_eq!(
        (outcome.status, outcome.message, outcome.permanent),
        (StopReason::Completed, None, false)
    );
}
