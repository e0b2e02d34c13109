//! Builds the body of a Chat Completions request and remembers what a server refuses.
//!
//! The messages themselves are rendered in `render.rs`. Fields come in a fixed order, so that the
//! same conversation always begins with the same bytes.

use std::sync::{Arc, Mutex, PoisonError};

use cairn_protocol::{Body, Message, ModelMsg, ThinkingLevel, ToolDefinition};
use serde_json::{Map, Value, json};

use super::render::{Prefix, Rules};
use crate::ids::Ids;
use crate::quirks::{self, Quirks};
use crate::{ModelRequest, ModelTarget, tokens};

/// What a server was seen to refuse. Each is refused once, then left out (wire facts, section 13).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Refused {
    pub effort: bool,
    /// The deepest levels are refused, high is not known to be.
    pub deep_effort: bool,
    pub stream_options: bool,
    pub output_limit: bool,
    /// The output limit goes by its other name.
    pub limit_name: bool,
    pub extra: bool,
}

impl Refused {
    /// Notes what an error text names. Returns what is left out from now on, if that is new.
    pub(super) fn note(
        &mut self,
        text: &str,
        sent: &str,
        thinking: ThinkingLevel,
    ) -> Option<&'static str> {
        let text = text.to_lowercase();
        let about = [
            "unsupported",
            "not supported",
            "unrecognized",
            "unknown",
            "extra inputs",
            "not permitted",
            "unexpected",
            "invalid value",
            "does not support",
            "not allowed",
            "additional properties",
            "cannot",
        ];
        if !about.iter().any(|sign| text.contains(sign)) {
            return None;
        }
        let named = |field: &str| text.contains(field) && sent.contains(&format!("\"{field}\":"));
        if !self.limit_name
            && text.contains("max_completion_tokens")
            && sent.contains("\"max_tokens\":")
        {
            self.limit_name = true;
            return Some("max_tokens");
        }
        if named("stream_options") && !self.stream_options {
            self.stream_options = true;
            return Some("stream_options");
        }
        let effort = named("reasoning_effort")
            || named("reasoning")
            || named("thinking")
            || named("enable_thinking")
            || (text.contains("effort") && sent.contains("effort\":"));
        if effort && !self.effort {
            if quirks::is_deep(thinking) && !self.deep_effort {
                self.deep_effort = true;
            } else {
                self.effort = true;
            }
            return Some("reasoning effort");
        }
        for field in ["max_completion_tokens", "max_tokens"] {
            if named(field) && !self.output_limit {
                if self.limit_name {
                    self.output_limit = true
                } else {
                    self.limit_name = true
                }
                return Some("output limit");
            }
        }
        if !self.extra && (named("tool_stream") || named("reasoning_split")) {
            self.extra = true;
            return Some("provider-specific field");
        }
        None
    }
}

/// What is kept of one session between its requests.
#[derive(Default)]
pub(super) struct Session {
    pub ids: Arc<Mutex<Ids>>,
    prefix: Prefix,
    /// The last real size of the context, and how many messages of the history it covers.
    last_total: Option<(usize, u64)>,
    /// How many messages of the history gave their ids already.
    seeded: usize,
    /// When the session was last used, counted in requests.
    pub used: u64,
}

/// A body that is ready to be sent.
pub(super) struct Prepared {
    pub body: Vec<u8>,
    /// The fields before the messages, to look a refused one up in.
    pub head: String,
    pub input_estimate: u64,
}

impl Session {
    /// Builds the body of a request.
    pub(super) fn prepare(
        &mut self,
        target: &ModelTarget,
        quirks: Quirks,
        refused: Refused,
        request: &ModelRequest,
    ) -> Prepared {
        self.seed_ids(&request.history);
        let input_estimate = self.estimate(request);
        let limit = tokens::output_limit(target.max_tokens, target.context_window, input_estimate);
        let head = head(target, quirks, refused, request, limit);
        let rules = Rules { model: target.model.clone(), vision: target.vision, quirks };
        let messages = self.prefix.render(&request.history, &rules);
        let mut body = Vec::with_capacity(head.len() + messages.len() + request.system.len() + 256);
        body.extend_from_slice(head.as_bytes());
        body.pop();
        body.extend_from_slice(b",\"messages\":[");
        if !request.system.is_empty() {
            let system = json!({"role": "system", "content": &*request.system}).to_string();
            body.extend_from_slice(system.as_bytes());
            if !messages.is_empty() {
                body.push(b',');
            }
        }
        body.extend_from_slice(&messages);
        body.extend_from_slice(b"]}");
        Prepared { body, head, input_estimate }
    }

    /// Notes the real size of the context after an answer of `answered` complete messages.
    pub(super) fn note_total(&mut self, history: usize, answered: usize, total: u64) {
        self.last_total = Some((history + answered, total));
    }

    fn seed_ids(&mut self, history: &[Arc<Message>]) {
        // After a compaction the history is another one; its calls have their ids all the same.
        let from = if self.seeded <= history.len() { self.seeded } else { 0 };
        let mut ids = self.ids.lock().unwrap_or_else(PoisonError::into_inner);
        for message in &history[from..] {
            if let Body::ModelMsg(ModelMsg::ToolCall(call)) = &message.body {
                ids.take(call.tool_call_id.as_str());
            }
        }
        self.seeded = history.len();
    }

    /// The last real total and what came since, or everything where there is none (P-55).
    fn estimate(&self, request: &ModelRequest) -> u64 {
        match self.last_total {
            Some((covered, total)) if covered <= request.history.len() => {
                total
                    + request.history[covered..].iter().map(|m| tokens::of_message(m)).sum::<u64>()
            }
            _ => {
                let tools: u64 = request
                    .tools
                    .iter()
                    .map(|tool| {
                        let schema =
                            tool.parameters.as_ref().map_or(0, |p| tokens::of_text(&p.to_string()));
                        tokens::of_text(&tool.description) + tokens::of_text(&tool.name) + schema
                    })
                    .sum();
                let history: u64 = request.history.iter().map(|m| tokens::of_message(m)).sum();
                tokens::of_text(&request.system) + tools + history
            }
        }
    }
}

fn head(
    target: &ModelTarget,
    quirks: Quirks,
    refused: Refused,
    request: &ModelRequest,
    limit: Option<u64>,
) -> String {
    let mut fields = Map::new();
    fields.insert("model".to_owned(), json!(target.model.model_id));
    fields.insert("stream".to_owned(), json!(true));
    if !quirks.usage_unasked && !refused.stream_options {
        fields.insert("stream_options".to_owned(), json!({"include_usage": true}));
    }
    if let Some(limit) = limit.filter(|_| !refused.output_limit) {
        let new_name = quirks.completion_limit != refused.limit_name;
        let name = if new_name { "max_completion_tokens" } else { "max_tokens" };
        fields.insert(name.to_owned(), json!(limit));
    }
    if !refused.effort {
        let capped = refused.deep_effort && quirks::is_deep(request.thinking);
        let level = if capped { ThinkingLevel::High } else { request.thinking };
        for (name, value) in quirks::effort_fields(quirks.effort, level) {
            fields.insert(name.to_owned(), value);
        }
    }
    if !refused.extra {
        for (name, value) in quirks.extra {
            fields.insert((*name).to_owned(), json!(value));
        }
    }
    if !request.tools.is_empty() {
        fields.insert("tools".to_owned(), request.tools.iter().map(tool).collect());
    }
    Value::Object(fields).to_string()
}

fn tool(definition: &ToolDefinition) -> Value {
    let mut parameters = definition
        .parameters
        .clone()
        .unwrap_or_else(|| json!({"type": "object", "properties": {}}));
    if let Value::Object(schema) = &mut parameters {
        // Kimi refuses schemas that name their dialect; no server needs it.
        schema.shift_remove("$schema");
    }
    json!({
        "type": "function",
        "function": {
            "name": definition.name,
            "description": definition.description,
            "parameters": parameters,
        },
    })
}
