//! What the fake model server can reply, and how each reply looks on the wire.
//!
//! It opens no socket; that is `../model_server.rs`.

use std::collections::VecDeque;
use std::convert::Infallible;

use axum::body::{Body, Bytes};
use axum::http::{Response, StatusCode};
use futures::stream;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Gate, MODEL};

/// One reply to `POST …/chat/completions`. As JSON it is what the program reads: `{"text": ["a"]}`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// A streamed text, one delta a piece.
    Text(Vec<String>),
    /// The same piece many times: `{"repeat": {"piece": "word ", "times": 10000}}`.
    Repeat {
        /// The piece.
        piece: String,
        /// How often.
        times: usize,
    },
    /// Tool calls, each whole in one delta, then `finish_reason: tool_calls`.
    Calls(Vec<Call>),
    /// Reasoning, text and tool calls in one answer.
    Answer {
        /// Deltas of `reasoning_content`.
        #[serde(default)]
        thinking: Vec<String>,
        /// Deltas of `content`.
        #[serde(default)]
        text: Vec<String>,
        /// Tool calls.
        #[serde(default)]
        calls: Vec<Call>,
        /// The last `finish_reason`; by default it follows from the calls.
        #[serde(default)]
        finish: Option<String>,
    },
    /// An HTTP status with headers and a body.
    Status {
        /// The status.
        code: u16,
        /// Further headers.
        #[serde(default)]
        headers: Vec<(String, String)>,
        /// The body.
        #[serde(default)]
        body: String,
    },
    /// A text that breaks off: no finish, no `[DONE]`, the connection closes in the middle of an event.
    HalfStream(Vec<String>),
    /// The head of an answer, these pieces, and then silence while the connection lasts.
    Hang(Vec<String>),
    /// Exactly these parts, one write each.
    Raw {
        /// The content type.
        content_type: String,
        /// The parts.
        parts: Vec<String>,
    },
    /// Another reply of which each part waits at a gate. Not for the program.
    #[serde(skip)]
    Gated(Box<Reply>, Gate),
}

/// A tool call of a reply.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Call {
    /// The tool.
    pub name: String,
    /// The arguments: JSON, or a text that is sent as it is.
    #[serde(default)]
    pub arguments: Value,
    /// The id; made by the server when absent.
    #[serde(default)]
    pub id: Option<String>,
}

impl Call {
    /// Makes a call whose arguments are sent exactly like this, broken JSON included.
    pub fn new(name: &str, arguments: &str) -> Self {
        Self { name: name.to_owned(), arguments: Value::String(arguments.to_owned()), id: None }
    }

    /// Makes a call with these arguments.
    pub fn json(name: &str, arguments: Value) -> Self {
        Self { name: name.to_owned(), arguments, id: None }
    }

    /// Gives the call an id of its own.
    pub fn with_id(mut self, id: &str) -> Self {
        self.id = Some(id.to_owned());
        self
    }
}

impl Reply {
    /// A streamed text.
    pub fn text<S: Into<String>>(pieces: impl IntoIterator<Item = S>) -> Self {
        Self::Text(pieces.into_iter().map(Into::into).collect())
    }

    /// Tool calls.
    pub fn calls(calls: impl IntoIterator<Item = Call>) -> Self {
        Self::Calls(calls.into_iter().collect())
    }

    /// A text and then tool calls.
    pub fn text_and_calls(text: &str, calls: impl IntoIterator<Item = Call>) -> Self {
        Self::Answer {
            thinking: Vec::new(),
            text: vec![text.to_owned()],
            calls: calls.into_iter().collect(),
            finish: None,
        }
    }

    /// An HTTP status with an OpenAI-like error body.
    pub fn error(code: u16, message: &str) -> Self {
        let body = json!({"error": {"message": message, "type": "test_error", "code": null}});
        Self::Status {
            code,
            headers: vec![("content-type".to_owned(), "application/json".to_owned())],
            body: body.to_string(),
        }
    }

    /// An HTTP status with this header and an OpenAI-like error body.
    pub fn error_with_header(code: u16, header: (&str, &str), message: &str) -> Self {
        match Self::error(code, message) {
            Self::Status { code, mut headers, body } => {
                headers.push((header.0.to_owned(), header.1.to_owned()));
                Self::Status { code, headers, body }
            }
            other => other,
        }
    }

    /// An event stream, byte for byte.
    pub fn raw_events<S: Into<String>>(parts: impl IntoIterator<Item = S>) -> Self {
        Self::Raw {
            content_type: "text/event-stream".to_owned(),
            parts: parts.into_iter().map(Into::into).collect(),
        }
    }

    /// The same reply, of which each part waits until the gate lets it through.
    pub fn gated(self, gate: &Gate) -> Self {
        Self::Gated(Box::new(self), gate.clone())
    }
}

/// Makes the HTTP response of a reply to the request with this number, from 1.
pub(super) fn answer(reply: Reply, number: usize, gate: Option<Gate>) -> Response<Body> {
    let events = vec![("content-type".to_owned(), "text/event-stream".to_owned())];
    match reply {
        Reply::Gated(inner, gate) => answer(*inner, number, Some(gate)),
        Reply::Status { code, headers, body } => {
            let parts = Parts::new(VecDeque::from([body]), gate);
            respond(code, &headers, parts.body(End::Close))
        }
        Reply::Raw { content_type, parts } => {
            let headers = [("content-type".to_owned(), content_type)];
            respond(200, &headers, Parts::new(parts.into(), gate).body(End::Close))
        }
        Reply::HalfStream(pieces) => {
            let mut parts = text_events(&pieces, number);
            parts.push_back("data: {\"id\":\"chatcmpl-".to_owned());
            respond(200, &events, Parts::new(parts, gate).body(End::Break))
        }
        Reply::Hang(pieces) => {
            let parts = text_events(&pieces, number);
            respond(200, &events, Parts::new(parts, gate).body(End::Hang))
        }
        Reply::Text(pieces) => {
            let parts = whole_answer(&[], &pieces, &[], None, number);
            respond(200, &events, Parts::new(parts, gate).body(End::Close))
        }
        Reply::Repeat { piece, times } => {
            let mut parts = whole_answer(&[], &[], &[], None, number);
            let event = event(number, &json!({"content": piece}), Value::Null);
            let tail = parts.split_off(1);
            parts.extend(std::iter::repeat_n(event, times));
            parts.extend(tail);
            respond(200, &events, Parts::new(parts, gate).body(End::Close))
        }
        Reply::Calls(calls) => {
            let parts = whole_answer(&[], &[], &calls, None, number);
            respond(200, &events, Parts::new(parts, gate).body(End::Close))
        }
        Reply::Answer { thinking, text, calls, finish } => {
            let parts = whole_answer(&thinking, &text, &calls, finish, number);
            respond(200, &events, Parts::new(parts, gate).body(End::Close))
        }
    }
}

fn text_events(pieces: &[String], number: usize) -> VecDeque<String> {
    let mut parts = whole_answer(&[], pieces, &[], None, number);
    parts.truncate(pieces.len() + 1);
    parts
}

fn whole_answer(
    thinking: &[String],
    text: &[String],
    calls: &[Call],
    finish: Option<String>,
    number: usize,
) -> VecDeque<String> {
    let mut parts = VecDeque::new();
    let mut put = |delta: Value, finish: Value| parts.push_back(event(number, &delta, finish));
    put(json!({"role": "assistant", "content": ""}), Value::Null);
    for piece in thinking {
        put(json!({"reasoning_content": piece}), Value::Null);
    }
    for piece in text {
        put(json!({"content": piece}), Value::Null);
    }
    for (at, call) in calls.iter().enumerate() {
        let id = call.id.clone().unwrap_or_else(|| format!("call_{number}_{at}"));
        let arguments = match &call.arguments {
            Value::String(text) => text.clone(),
            Value::Null => "{}".to_owned(),
            other => other.to_string(),
        };
        let function = json!({"name": call.name, "arguments": arguments});
        let call = json!({"index": at, "id": id, "type": "function", "function": function});
        put(json!({"tool_calls": [call]}), Value::Null);
    }
    let by_calls = if calls.is_empty() { "stop" } else { "tool_calls" };
    put(json!({}), json!(finish.as_deref().unwrap_or(by_calls)));
    let output = thinking.len() + text.len() + 10 * calls.len();
    let usage = json!({
        "prompt_tokens": 100 * number,
        "completion_tokens": output,
        "total_tokens": 100 * number + output,
        "prompt_tokens_details": {"cached_tokens": 100 * (number - 1)},
    });
    let last = json!({
        "id": format!("chatcmpl-{number}"), "object": "chat.completion.chunk", "created": 0,
        "model": MODEL, "choices": [], "usage": usage,
    });
    parts.push_back(format!("data: {last}\n\n"));
    parts.push_back("data: [DONE]\n\n".to_owned());
    parts
}

fn event(number: usize, delta: &Value, finish: Value) -> String {
    let chunk = json!({
        "id": format!("chatcmpl-{number}"), "object": "chat.completion.chunk", "created": 0,
        "model": MODEL,
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    });
    format!("data: {chunk}\n\n")
}

/// Makes an HTTP response.
pub(super) fn respond(code: u16, headers: &[(String, String)], body: Body) -> Response<Body> {
    let mut response = Response::builder()
        .status(StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR));
    for (name, value) in headers {
        response = response.header(name, value);
    }
    response.body(body).expect("the headers of a reply can be sent")
}

/// What comes after the last part.
#[derive(Clone, Copy)]
enum End {
    Close,
    /// The connection breaks: the body is not terminated.
    Break,
    Hang,
}

struct Parts {
    parts: VecDeque<String>,
    gate: Option<Gate>,
}

impl Parts {
    fn new(parts: VecDeque<String>, gate: Option<Gate>) -> Self {
        Self { parts, gate }
    }

    fn body(self, end: End) -> Body {
        Body::from_stream(stream::unfold(self, move |mut state| async move {
            let Some(part) = state.parts.pop_front() else {
                return match end {
                    End::Close => None,
                    End::Break => {
                        // Unsent parts would be lost with the connection; a pause sends them.
                        for _ in 0..16 {
                            tokio::task::yield_now().await;
                        }
                        Some((Err(std::io::Error::other("broken off")), state))
                    }
                    End::Hang => std::future::pending::<Option<Infallible>>()
                        .await
                        .map(|never| match never {}),
                };
            };
            if let Some(gate) = &state.gate {
                gate.pass().await;
            }
            Some((Ok(Bytes::from(part)), state))
        }))
    }
}
