//! Folds the events of one Chat Completions response into messages and an outcome.
//!
//! It has every quirk that servers were seen to have (tool calls in `calls.rs`, reasoning in
//! `reasoning.rs`). It never waits and never reads the network; that is `openai_chat.rs`.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

use cairn_protocol::{ModelRef, StopReason, Timestamp, TokenUsage};

use super::calls::Calls;
use super::chunk::{Chunk, Content, Delta, Part};
use super::reasoning::Reasoning;
use super::think::{Piece, Splitter};
use crate::emit::Emitter;
use crate::ids::Ids;
use crate::quirks::Quirks;
use crate::sse::Event;
use crate::{Fault, Outcome, classify, usage};

/// A text shorter than this is not enough to tell a repeated beginning from a chance.
const CUMULATIVE_MIN_BYTES: usize = 8;

/// Why reading ended.
pub(super) enum Ended {
    /// The body is over, or `[DONE]` came.
    Eof,
    /// The user stopped it, or nobody listens any more.
    Cancelled,
    /// It broke or was silent for too long.
    Broken(Outcome),
}

/// How the model says it stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Finish {
    Stop,
    Length,
    Filter,
    Error(String),
    Unknown(String),
}

impl Finish {
    fn parse(reason: &str) -> Self {
        match reason.to_ascii_lowercase().as_str() {
            "stop" | "tool_calls" | "function_call" | "eos" | "end_turn" | "stop_sequence" => {
                Self::Stop
            }
            "length" | "max_tokens" | "model_context_window_exceeded" => Self::Length,
            "content_filter" | "sensitive" => Self::Filter,
            "error" | "network_error" | "insufficient_system_resource" => {
                Self::Error(reason.to_owned())
            }
            _ => Self::Unknown(reason.to_owned()),
        }
    }
}

/// The state of one response.
pub(super) struct Decoder {
    pub emitter: Emitter,
    ids: Arc<Mutex<Ids>>,
    quirks: Quirks,
    clock: fn() -> Timestamp,
    splitter: Splitter,
    reasoning: Reasoning,
    calls: Calls,
    finish: Option<Finish>,
    /// `[DONE]` came.
    done: bool,
    /// The stream itself reported an error, or can't be read.
    fault: Option<Outcome>,
    usage_json: String,
    /// Grows with everything that brings the answer forward.
    pub progress: u64,
}

impl Decoder {
    pub(super) fn new(
        model: &ModelRef,
        ids: Arc<Mutex<Ids>>,
        quirks: Quirks,
        clock: fn() -> Timestamp,
    ) -> Self {
        Self {
            emitter: Emitter::new(clock),
            ids,
            quirks,
            clock,
            splitter: Splitter::new(),
            reasoning: Reasoning::new(model.clone()),
            calls: Calls::new(model.clone()),
            finish: None,
            done: false,
            fault: None,
            usage_json: String::new(),
            progress: 0,
        }
    }

    /// Returns whether the model said that it stopped. What follows is usage at most.
    pub(super) fn is_finished(&self) -> bool {
        self.finish.is_some()
    }

    /// Takes one event of the stream. Breaks when nothing after it matters.
    pub(super) fn event(&mut self, event: &Event<'_>) -> ControlFlow<()> {
        let data = event.data.trim_ascii();
        if data.is_empty() {
            return ControlFlow::Continue(());
        }
        if data == b"[DONE]" {
            self.done = true;
            return ControlFlow::Break(());
        }
        let lossy;
        let parsed = match serde_json::from_slice::<Chunk<'_>>(data) {
            Ok(chunk) => Ok(chunk),
            Err(_) => {
                lossy = String::from_utf8_lossy(data);
                serde_json::from_str::<Chunk<'_>>(&lossy)
            }
        };
        let text = || String::from_utf8_lossy(data);
        match parsed {
            Ok(chunk) if is_error(&chunk, event.name) => {
                self.take_usage(&chunk);
                let error = chunk.error.filter(|error| says_something(error.get()));
                let whole = text();
                // The object itself knows best; the whole event is asked where there is none.
                let body = error.map_or(&*whole, |error| error.get());
                self.fault = Some(classify::in_stream(body, (self.clock)()));
                ControlFlow::Break(())
            }
            Ok(chunk) => {
                self.chunk(chunk);
                ControlFlow::Continue(())
            }
            // The connection was cut in the middle of an event: the end of the stream says more.
            Err(_) if event.at_end => ControlFlow::Continue(()),
            Err(_) if event.name == "error" => {
                self.fault = Some(classify::in_stream(&text(), (self.clock)()));
                ControlFlow::Break(())
            }
            Err(error) => {
                self.fault = Some(malformed(format!(
                    "The provider sent something that is not JSON ({error}): {}",
                    classify::quote(&text())
                )));
                ControlFlow::Break(())
            }
        }
    }

    /// Takes an answer that came whole instead of as a stream.
    pub(super) fn whole(&mut self, body: &[u8]) {
        let text = String::from_utf8_lossy(body);
        match serde_json::from_str::<Chunk<'_>>(text.trim()) {
            Ok(chunk) if is_error(&chunk, "") || !chunk.choices.listed => {
                self.fault = Some(classify::in_stream(text.trim(), (self.clock)()));
            }
            Ok(chunk) => {
                let message = chunk.choices.choice.as_ref().and_then(|choice| choice.message);
                let delta = message.map(|raw| serde_json::from_str::<Delta<'_>>(raw.get()));
                match delta {
                    Some(Ok(delta)) => self.delta(&delta),
                    Some(Err(error)) => {
                        self.fault = Some(malformed(format!("The answer can't be read: {error}")));
                    }
                    None => {}
                }
                self.chunk(chunk);
                self.done = true;
            }
            Err(error) => {
                self.fault = Some(malformed(format!(
                    "The provider sent something that is not JSON ({error}): {}",
                    classify::quote(&text)
                )));
            }
        }
    }

    fn chunk(&mut self, chunk: Chunk<'_>) {
        self.take_usage(&chunk);
        let Some(choice) = chunk.choices.choice else { return };
        self.calls.begin_chunk();
        if let Some(delta) = &choice.delta {
            self.delta(delta);
        }
        if !choice.finish_reason.is_empty() {
            self.progress += 1;
            let finish = Finish::parse(&choice.finish_reason.0);
            if finish != Finish::Stop || self.finish.is_none() {
                self.finish = Some(finish);
            }
            self.calls.end_with_chunk();
        }
    }

    fn take_usage(&mut self, chunk: &Chunk<'_>) {
        let of_choice = chunk.choices.choice.as_ref().and_then(|choice| choice.usage);
        if let Some(raw) = chunk.usage.or(of_choice) {
            self.usage_json.clear();
            self.usage_json.push_str(raw.get());
        } else if let Some(raw) = chunk.x_groq
            && let Ok(serde_json::Value::Object(mut object)) = serde_json::from_str(raw.get())
            && let Some(usage) = object.remove("usage").filter(|usage| !usage.is_null())
        {
            self.usage_json = usage.to_string();
        }
    }

    fn delta(&mut self, delta: &Delta<'_>) {
        if let Some(thought) = self.reasoning.take(delta) {
            self.progress += 1;
            self.splitter.give_up();
            self.emitter.thinking(thought);
        }
        match &delta.content {
            Content::Nothing => {}
            Content::Text(text) => self.content(text),
            Content::Parts(parts) => parts.iter().for_each(|part| self.part(part)),
        }
        if !delta.refusal.is_empty() {
            self.text(&delta.refusal.0);
        }
        let listed = delta.tool_calls.iter().flatten();
        for call in listed {
            self.call_delta(|calls, emitter, ids, now| calls.take(call, emitter, ids, now));
        }
        if let Some(function) = &delta.function_call {
            self.call_delta(|calls, emitter, ids, now| {
                calls.take_function(function, emitter, ids, now);
            });
        }
    }

    fn call_delta(&mut self, take: impl FnOnce(&mut Calls, &mut Emitter, &Mutex<Ids>, Timestamp)) {
        self.progress += 1;
        self.close_thinking(StopReason::Completed);
        take(&mut self.calls, &mut self.emitter, &self.ids, (self.clock)());
    }

    fn part(&mut self, part: &Part<'_>) {
        match &part.thinking {
            Content::Nothing => {}
            Content::Text(text) => self.thinking(text),
            Content::Parts(parts) => parts.iter().for_each(|part| self.thinking(&part.text.0)),
        }
        if part.kind.0 == "thinking" && !part.text.is_empty() {
            self.thinking(&part.text.0);
        } else if !part.text.is_empty() {
            self.content(&part.text.0);
        }
    }

    fn content(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        let mut splitter = std::mem::replace(&mut self.splitter, Splitter::new());
        splitter.push(text, |piece| self.piece(piece));
        self.splitter = splitter;
    }

    fn piece(&mut self, piece: Piece<'_>) {
        match piece {
            Piece::Thinking(text) => {
                self.reasoning.came_in_tags();
                self.thinking(text);
            }
            Piece::Text(text) => self.text(text),
        }
    }

    fn thinking(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.progress += 1;
        self.splitter.give_up();
        self.emitter.thinking(text);
    }

    fn text(&mut self, text: &str) {
        let so_far = self.emitter.text_so_far();
        let text = if self.quirks.cumulative && so_far.len() >= CUMULATIVE_MIN_BYTES {
            text.strip_prefix(so_far).unwrap_or(text)
        } else {
            text
        };
        if text.is_empty() {
            return;
        }
        self.progress += 1;
        self.close_thinking(StopReason::Completed);
        self.emitter.text(text);
    }

    fn close_thinking(&mut self, reason: StopReason) {
        if self.emitter.is_thinking() {
            let fidelity = self.reasoning.fidelity();
            self.emitter.close_thinking(reason, fidelity);
        }
    }

    /// Closes all that is open and says how the request ended. Called once, last.
    pub(super) fn end(&mut self, ended: Ended) -> Outcome {
        let mut splitter = std::mem::replace(&mut self.splitter, Splitter::new());
        splitter.finish(|piece| self.piece(piece));
        let outcome = self.outcome(ended);
        let cut = match &outcome.status {
            StopReason::Completed => self.finish.as_ref().is_some_and(|f| *f != Finish::Stop),
            _ => false,
        };
        let whole = outcome.status;
        let last = if cut { StopReason::Failed } else { whole };
        let (has_calls, has_text) = (!self.calls.is_empty(), self.emitter.has_text());
        let reason = |is_last: bool| if is_last { last } else { whole };
        if self.reasoning.has_unsent_details() {
            // Opaque reasoning that came after the text: P-8 lets an empty thinking carry it.
            self.emitter.thinking("");
        }
        self.close_thinking(reason(!has_text && !has_calls));
        self.emitter.close_text(reason(!has_calls));
        let length = self.finish == Some(Finish::Length);
        self.calls.close(&mut self.emitter, whole, last, length);
        outcome
    }

    fn outcome(&mut self, ended: Ended) -> Outcome {
        if let Some(fault) = self.fault.take() {
            return fault;
        }
        let marker = self.finish.is_some() || self.done;
        match ended {
            Ended::Broken(outcome) if !marker => return outcome,
            Ended::Cancelled if !marker => return Outcome::new(StopReason::Aborted, None),
            Ended::Eof if !marker => {
                return malformed(if self.progress == 0 {
                    "The provider sent an empty answer.".to_owned()
                } else {
                    "The answer ended early: the connection was closed before the model had \
                     finished."
                        .to_owned()
                });
            }
            _ => {}
        }
        let empty = self.calls.is_empty()
            && !self.emitter.has_text()
            && !self.emitter.is_thinking()
            && !self.reasoning.was_seen();
        match self.finish.clone() {
            Some(Finish::Length) => Outcome {
                cut_by_length: true,
                message: Some("The answer was cut by the output limit.".to_owned()),
                ..Outcome::completed()
            },
            Some(Finish::Filter) => {
                let message = Some("A filter of the provider stopped the answer.".to_owned());
                if empty {
                    Outcome::new(StopReason::Failed, message).with_fault(Fault::Filter).permanent()
                } else {
                    Outcome { message, ..Outcome::completed() }.with_fault(Fault::Filter)
                }
            }
            Some(Finish::Error(reason)) => {
                let message = format!("The provider stopped the answer with an error ({reason}).");
                Outcome::new(StopReason::Timeout, Some(message)).with_fault(Fault::Overloaded)
            }
            _ if empty => malformed("The provider sent an empty answer.".to_owned()),
            Some(Finish::Unknown(reason)) => {
                let reason = classify::quote(&reason);
                let message = format!(
                    "The provider stopped the answer for a reason that Cairn does not know ({reason})."
                );
                Outcome { message: Some(message), ..Outcome::completed() }
            }
            None if self.calls.any_cut() => malformed(
                "The answer ended in the middle of a tool call; the call does not run.".to_owned(),
            ),
            None | Some(Finish::Stop) => Outcome::completed(),
        }
    }

    /// Returns the usage that the provider reported, if it did.
    pub(super) fn usage(&self) -> Option<TokenUsage> {
        usage::from_json(&self.usage_json)
    }
}

fn is_error(chunk: &Chunk<'_>, event_name: &str) -> bool {
    if chunk.error.is_some_and(|error| says_something(error.get())) {
        return true;
    }
    if chunk.choices.listed {
        return false;
    }
    event_name == "error"
        || chunk.object.0 == "error"
        || chunk.base_resp.is_some_and(|raw| !raw.get().contains("\"status_code\":0"))
        || ((chunk.message.is_some() || chunk.detail.is_some()) && chunk.usage.is_none())
}

/// Returns whether an `error` field holds an error; some servers send an empty one with each chunk.
fn says_something(raw: &str) -> bool {
    !matches!(raw, "null" | "{}" | "\"\"" | "false" | "[]")
}

fn malformed(message: String) -> Outcome {
    Outcome::new(StopReason::Malformed, Some(message)).with_fault(Fault::Stream)
}
