//! Turns what a wire says into messages in the order of P-12 and P-13.
//!
//! One text stays open until the response ends, because some servers send text after tool calls;
//! thinking closes when something else begins and may open again. So complete messages always
//! settle as thinking, text, tool calls. Folding them again is `cairn-protocol`'s aggregator; its
//! streamer has one stop reason for all calls, and here each call has its own.

use std::collections::VecDeque;

use cairn_protocol::{
    EventMsg, Fidelity, Message, ModelMsg, PartialEvent, PartialText, PartialThinking,
    PartialToolCall, Role, StopReason, Text, Thinking, Timestamp, TokenUsage, ToolCall, ToolCallId,
};

use crate::tokens;

/// The open segments of one response, and the messages that are ready to be sent.
pub(crate) struct Emitter {
    clock: fn() -> Timestamp,
    /// Ready messages, in order; the owner drains them.
    pub out: VecDeque<Message>,
    /// About how many tokens the complete messages have.
    pub settled_tokens: u64,
    thinking: Option<String>,
    text: Option<String>,
    calls: Vec<OpenCall>,
}

struct OpenCall {
    id: ToolCallId,
    name: String,
    arguments: String,
}

impl Emitter {
    pub(crate) fn new(clock: fn() -> Timestamp) -> Self {
        Self {
            clock,
            out: VecDeque::new(),
            settled_tokens: 0,
            thinking: None,
            text: None,
            calls: Vec::new(),
        }
    }

    /// Returns whether a thinking is open.
    pub(crate) fn is_thinking(&self) -> bool {
        self.thinking.is_some()
    }

    /// Returns whether a text was begun.
    pub(crate) fn has_text(&self) -> bool {
        self.text.is_some()
    }

    /// Returns the text so far.
    pub(crate) fn text_so_far(&self) -> &str {
        self.text.as_deref().unwrap_or_default()
    }

    /// Adds to the thinking; opens one when none is open.
    pub(crate) fn thinking(&mut self, delta: &str) {
        if self.thinking.is_none() {
            self.thinking = Some(String::new());
            self.push(partial_thinking(PartialEvent::Start, String::new(), None));
        }
        if !delta.is_empty() {
            if let Some(whole) = &mut self.thinking {
                whole.push_str(delta);
            }
            self.push(partial_thinking(PartialEvent::Delta, delta.to_owned(), None));
        }
    }

    /// Closes the open thinking, if there is one.
    pub(crate) fn close_thinking(&mut self, reason: StopReason, fidelity: Option<Fidelity>) {
        let Some(thinking) = self.thinking.take() else { return };
        self.settled_tokens += tokens::of_text(&thinking);
        self.push(partial_thinking(PartialEvent::Stop, String::new(), Some(reason)));
        self.push(ModelMsg::Thinking(Thinking {
            role: Role::Assistant,
            thinking,
            fidelity,
            stop_reason: Some(reason),
        }));
    }

    /// Adds to the text; opens it when there is none yet.
    pub(crate) fn text(&mut self, delta: &str) {
        if self.text.is_none() {
            self.text = Some(String::new());
            self.push(partial_text(PartialEvent::Start, String::new(), None));
        }
        if let Some(whole) = &mut self.text {
            whole.push_str(delta);
        }
        self.push(partial_text(PartialEvent::Delta, delta.to_owned(), None));
    }

    /// Closes the text, if there is one.
    pub(crate) fn close_text(&mut self, reason: StopReason) {
        let Some(text) = self.text.take() else { return };
        self.settled_tokens += tokens::of_text(&text);
        self.push(partial_text(PartialEvent::Stop, String::new(), Some(reason)));
        self.push(ModelMsg::Text(Text {
            role: Role::Assistant,
            text,
            sender: None,
            markers: Vec::new(),
            fidelity: None,
            stop_reason: Some(reason),
        }));
    }

    /// Opens a tool call and returns its place.
    pub(crate) fn open_call(&mut self, id: ToolCallId, name: String) -> usize {
        self.push(partial_call(PartialEvent::Start, name.clone(), String::new(), id.clone(), None));
        self.calls.push(OpenCall { id, name, arguments: String::new() });
        self.calls.len() - 1
    }

    /// Adds to the arguments of an open call.
    pub(crate) fn call_arguments(&mut self, place: usize, delta: &str) {
        let Some(call) = self.calls.get_mut(place) else { return };
        call.arguments.push_str(delta);
        let id = call.id.clone();
        self.push(partial_call(PartialEvent::Delta, String::new(), delta.to_owned(), id, None));
    }

    /// Closes a call. Each place is closed once, in the order in which the calls were opened.
    pub(crate) fn close_call(
        &mut self,
        place: usize,
        reason: StopReason,
        fidelity: Option<Fidelity>,
    ) {
        let Some(call) = self.calls.get_mut(place) else { return };
        let (id, name) = (call.id.clone(), std::mem::take(&mut call.name));
        let arguments = std::mem::take(&mut call.arguments);
        self.settled_tokens += tokens::of_text(&name) + tokens::of_text(&arguments);
        self.push(partial_call(
            PartialEvent::Stop,
            String::new(),
            String::new(),
            id.clone(),
            Some(reason),
        ));
        self.push(ModelMsg::ToolCall(ToolCall {
            role: Role::Assistant,
            name,
            arguments,
            tool_call_id: id,
            fidelity,
            stop_reason: Some(reason),
        }));
    }

    /// Adds the usage, which is the last message of a stream (P-19).
    pub(crate) fn usage(&mut self, request: TokenUsage) {
        let event = EventMsg::TokenUsage { session: TokenUsage::default(), request };
        let message = Message::event((self.clock)(), event);
        self.out.push_back(message);
    }

    fn push(&mut self, message: ModelMsg) {
        let message = Message::model((self.clock)(), message);
        self.out.push_back(message);
    }
}

fn partial_text(event_type: PartialEvent, text: String, reason: Option<StopReason>) -> ModelMsg {
    ModelMsg::PartialText(PartialText {
        role: Role::Assistant,
        event_type,
        text,
        stop_reason: reason,
    })
}

fn partial_thinking(
    event_type: PartialEvent,
    thinking: String,
    reason: Option<StopReason>,
) -> ModelMsg {
    ModelMsg::PartialThinking(PartialThinking {
        role: Role::Assistant,
        event_type,
        thinking,
        stop_reason: reason,
    })
}

fn partial_call(
    event_type: PartialEvent,
    name: String,
    arguments: String,
    tool_call_id: ToolCallId,
    reason: Option<StopReason>,
) -> ModelMsg {
    ModelMsg::PartialToolCall(PartialToolCall {
        role: Role::Assistant,
        event_type,
        name,
        arguments,
        tool_call_id,
        stop_reason: reason,
    })
}
