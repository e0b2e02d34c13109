//! What the model sees: a fold over the messages of a session (P-37 … P-43, P-254).
//!
//! The same fold runs while a turn is live and when a session is opened from its trace, so that
//! both give the same context. It does no I/O. The wire form is made in `cairn-provider`.

use std::collections::HashMap;
use std::sync::Arc;

use cairn_protocol::{
    Body, EventMsg, Message, ModelMsg, Role, StopReason, Text, Timestamp, ToolCall, ToolCallId,
    ToolCallOutput,
    marker::{Tag, Transcript},
};

/// The output of a call that was stopped before it gave one (P-39).
pub(crate) const INTERRUPTED: &str = "[interrupted: tool aborted by user]";

/// The model's view of a session.
#[derive(Debug, Clone, Default)]
pub(crate) struct Context {
    /// Sent, answered, and never changed again.
    committed: Vec<Arc<Message>>,
    /// Goes out with the next request.
    input: Vec<Arc<Message>>,
    /// What the present attempt has given so far.
    response: Vec<Arc<Message>>,
    /// What earlier attempts of this request gave, transcribed.
    failed: Vec<Arc<Message>>,
    /// Outputs that came, by call.
    outputs: HashMap<ToolCallId, Arc<Message>>,
    /// Calls of the last committed response, in order, that need an output in the next input.
    awaiting: Vec<ToolCallId>,
    /// How far the request with the present input has come.
    attempt: Attempt,
}

/// How far a request has come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Attempt {
    /// None was sent, or it was answered, or it failed and the next one has not begun.
    #[default]
    None,
    /// It is being answered. Only now does the model speak.
    Open,
    /// The user stopped it.
    Stopped,
}

impl Context {
    /// Takes in one stored message, in stored order.
    pub(crate) fn observe(&mut self, message: &Arc<Message>) {
        if !message.origin.is_empty() {
            return;
        }
        match &message.body {
            Body::ModelMsg(model) => self.observe_model(model, message),
            Body::EventMsg(EventMsg::RequestBegin {}) => {
                self.settle();
                self.attempt = Attempt::Open;
                self.response.clear();
            }
            Body::EventMsg(EventMsg::RequestEnd { status, .. }) => match status {
                StopReason::Completed => self.commit(),
                StopReason::Aborted => {
                    self.set_aside();
                    self.attempt = Attempt::Stopped;
                }
                _ => self.set_aside(),
            },
            Body::EventMsg(EventMsg::TurnEnd { .. }) => self.end_turn(message.timestamp),
            _ => {}
        }
    }

    fn observe_model(&mut self, model: &ModelMsg, message: &Arc<Message>) {
        match model {
            ModelMsg::Text(text) if text.role == Role::User => self.input.push(Arc::clone(message)),
            ModelMsg::ImageUrl(image) if image.role == Role::User => {
                self.input.push(Arc::clone(message))
            }
            ModelMsg::InlineData(data) if data.role == Role::User => {
                self.input.push(Arc::clone(message))
            }
            ModelMsg::Text(_)
            | ModelMsg::Thinking(_)
            | ModelMsg::InlineThinking(_)
            | ModelMsg::ToolCall(_)
                if self.attempt == Attempt::Open =>
            {
                self.response.push(Arc::clone(message));
            }
            ModelMsg::ToolCallOutput(output) => {
                self.outputs.insert(output.tool_call_id.clone(), Arc::clone(message));
            }
            // What the engine says in the model's place, such as at the end of a turn that was too long,
            // stands outside of a request and is for the user only.
            _ => {}
        }
    }

    /// Puts the outputs of the last response at the front of the next input, in call order; a call
    /// without one gets a placeholder, so that every call is answered exactly once (P-254).
    pub(crate) fn settle(&mut self) {
        if self.awaiting.is_empty() {
            return;
        }
        let timestamp = self.committed.last().map_or(Timestamp(0), |message| message.timestamp);
        let mut outputs = Vec::with_capacity(self.awaiting.len());
        for id in self.awaiting.drain(..) {
            let output = self.outputs.remove(&id).unwrap_or_else(|| {
                let output = ToolCallOutput::text(&id, INTERRUPTED, StopReason::Aborted);
                Arc::new(Message::model(timestamp, output))
            });
            outputs.push(output);
        }
        outputs.append(&mut self.input);
        self.input = outputs;
    }

    /// Returns the messages of the next request, and the note on failed attempts when there were any
    /// (P-43: seen by the model only).
    pub(crate) fn request(&self, now: Timestamp) -> Vec<Arc<Message>> {
        let mut messages = Vec::with_capacity(self.committed.len() + self.input.len() + 1);
        messages.extend(self.committed.iter().cloned());
        messages.extend(self.input.iter().cloned());
        if !self.failed.is_empty() {
            messages.push(note(now, transcript(Tag::TurnRetried, &self.failed)));
        }
        messages
    }

    fn commit(&mut self) {
        self.committed.append(&mut self.input);
        for message in self.response.drain(..) {
            match &message.body {
                Body::ModelMsg(ModelMsg::ToolCall(call)) if !runnable(call) => {}
                Body::ModelMsg(ModelMsg::ToolCall(call)) => {
                    self.awaiting.push(call.tool_call_id.clone());
                    self.committed.push(message);
                }
                Body::ModelMsg(model) if is_empty(model) => {}
                _ => self.committed.push(message),
            }
        }
        self.failed.clear();
        self.attempt = Attempt::None;
    }

    fn set_aside(&mut self) {
        for message in std::mem::take(&mut self.response) {
            let output = match &message.body {
                Body::ModelMsg(ModelMsg::ToolCall(call)) => self.outputs.remove(&call.tool_call_id),
                _ => None,
            };
            self.failed.push(message);
            self.failed.extend(output);
        }
        self.attempt = Attempt::None;
    }

    /// Carries over what the model must still hear of a turn that did not come to its end (P-39 … P-42).
    fn end_turn(&mut self, timestamp: Timestamp) {
        let stopped = self.attempt != Attempt::None;
        self.set_aside();
        self.settle();
        if stopped {
            self.flatten(timestamp);
        } else if !self.failed.is_empty() {
            // P-42: what the next attempt would have been told is held.
            let text = transcript(Tag::TurnRetried, &self.failed);
            self.input.push(note(timestamp, text));
            self.failed.clear();
        }
        self.outputs.clear();
    }

    /// Makes one block of a stopped request: its input and what had come of its answer (P-40).
    fn flatten(&mut self, timestamp: Timestamp) {
        let (mut outputs, mut images, mut items) = (Vec::new(), Vec::new(), Vec::new());
        for message in self.input.drain(..) {
            match &message.body {
                Body::ModelMsg(ModelMsg::Text(_)) => items.push(message),
                // They answer calls that were committed, so that they keep their place behind them.
                Body::ModelMsg(ModelMsg::ToolCallOutput(_)) => outputs.push(message),
                _ => images.push(message),
            }
        }
        items.append(&mut self.failed);
        if !items.is_empty() {
            outputs.push(note(timestamp, transcript(Tag::TurnAborted, &items)));
        }
        outputs.append(&mut images);
        self.input = outputs;
    }
}

/// Whether a message of the model says nothing: some endpoints refuse such a message (P-254).
fn is_empty(message: &ModelMsg) -> bool {
    match message {
        ModelMsg::Text(it) => it.text.is_empty() && it.fidelity.is_none(),
        ModelMsg::Thinking(it) => it.thinking.is_empty() && it.fidelity.is_none(),
        _ => false,
    }
}

/// Whether a call may run: only one that arrived whole.
pub(crate) fn runnable(call: &ToolCall) -> bool {
    call.stop_reason.is_none_or(|reason| reason == StopReason::Completed)
}

fn transcript(tag: Tag, messages: &[Arc<Message>]) -> String {
    let mut transcript = Transcript::new();
    for message in messages {
        if let Body::ModelMsg(model) = &message.body {
            transcript.push(model);
        }
    }
    transcript.finish(tag)
}

fn note(timestamp: Timestamp, text: String) -> Arc<Message> {
    Arc::new(Message::model(timestamp, Text::harness(text)))
}

#[cfg(test)]
mod tests;
