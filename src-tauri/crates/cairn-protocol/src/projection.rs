//! The second event list, for hooks and for `cairn run --events`: a pure projection of the message
//! stream (Z-57 … Z-61), never stored.
//!
//! It is one-way: opaque data, tool servers, child sessions and goals have no place in it. Types for
//! which Cairn has no message yet (`plan_proposed`, `directory_requested`) are not listed. The event
//! types are in `projection/event.rs`.

mod event;

use std::collections::HashMap;

pub use event::{FinishStatus, ProjectedEvent};

use crate::marker::{Marker, split_attachments};
use crate::{
    ApprovalOutcome, Body, CompactionMode, ErrorInfo, EventMsg, Message, ModelMsg, PartialEvent,
    Role, SessionId, StopReason, Text, Timestamp, TokenUsage, ToolCall, ToolCallId, ToolCallOutput,
    TurnId, TurnStatus,
};

/// Reconnects in one request (P-42).
const RETRY_LIMIT: u32 = 5;
/// Characters of a tool's output that a preview shows.
const PREVIEW_CHARACTERS: usize = 200;

/// Turns the stream of one session into events. `turn_end` is the last event of its turn.
#[derive(Debug)]
pub struct Projection {
    session: SessionId,
    model: String,
    context_window: Option<u64>,
    tools: usize,
    /// Whole messages of the conversation so far.
    messages: usize,
    requests: u64,
    turn: TurnState,
}

/// What is known of the running turn.
#[derive(Debug, Default)]
struct TurnState {
    id: Option<TurnId>,
    /// The beginning waits for the message with the whole input.
    unsent_input: Option<String>,
    iteration: u32,
    retrying: bool,
    request: RequestState,
    calls: HashMap<ToolCallId, CallState>,
    failed: bool,
    interrupted: bool,
}

#[derive(Debug, Default)]
struct RequestState {
    texts: Vec<String>,
    thinkings: Vec<String>,
    calls: Vec<String>,
    usage: Option<TokenUsage>,
    /// It was completed and waits for the outputs of its calls.
    settling: bool,
}

#[derive(Debug)]
struct CallState {
    name: String,
    outcome: Option<ApprovalOutcome>,
    started: bool,
    finished: bool,
}

impl Projection {
    /// Returns a projection of a session at its beginning.
    pub fn new(session: SessionId) -> Self {
        Self {
            session,
            model: String::new(),
            context_window: None,
            tools: 0,
            messages: 0,
            requests: 0,
            turn: TurnState::default(),
        }
    }

    /// Takes the next message of the stream and returns the events that it means, in order.
    /// Messages of child sessions mean none.
    pub fn push(&mut self, message: &Message) -> Vec<ProjectedEvent> {
        let mut events = Vec::new();
        if !message.origin.is_empty() {
            return events;
        }
        self.send_turn_start(message, &mut events);
        match &message.body {
            Body::SessionMeta(meta) => {
                self.model.clone_from(&meta.model_id);
                self.context_window = meta.model_context_window.tokens();
                self.messages = 0;
            }
            Body::ModelMsg(model) => self.model_message(model, &mut events),
            Body::EventMsg(event) => self.event(event, message.timestamp, &mut events),
            Body::Unknown(_) => {}
        }
        events
    }

    fn send_turn_start(&mut self, message: &Message, events: &mut Vec<ProjectedEvent>) {
        let Some(short) = self.turn.unsent_input.take() else { return };
        let whole = match message.as_model() {
            Some(ModelMsg::Text(text)) if text.role == Role::User && text.sender.is_none() => {
                Some(split_attachments(&text.text))
            }
            _ => None,
        };
        let (input, attachments) = match whole {
            Some((text, attachments)) => {
                (text.to_owned(), attachments.into_iter().map(|it| it.source).collect())
            }
            None => (short, Vec::new()),
        };
        let attachment_count = attachments.len();
        let task_id = self.task();
        events.push(ProjectedEvent::TurnStart { task_id, input, attachment_count, attachments });
    }

    fn model_message(&mut self, message: &ModelMsg, events: &mut Vec<ProjectedEvent>) {
        if !message.is_partial() {
            self.messages += 1;
        }
        let (task_id, req_id) = (self.task(), self.request());
        match message {
            ModelMsg::PartialText(part)
                if part.event_type == PartialEvent::Delta && part.role == Role::Assistant =>
            {
                let text = part.text.clone();
                events.push(ProjectedEvent::AssistantDelta { text, req_id, task_id });
            }
            ModelMsg::PartialThinking(part) if part.event_type == PartialEvent::Delta => {
                let text = part.thinking.clone();
                events.push(ProjectedEvent::ReasoningDelta { text, req_id, task_id });
            }
            ModelMsg::Text(text) if text.role == Role::Assistant => {
                self.turn.request.texts.push(text.text.clone());
            }
            ModelMsg::Text(text) => self.steering(text, events),
            ModelMsg::Thinking(thinking) => {
                self.turn.request.thinkings.push(thinking.thinking.clone());
            }
            ModelMsg::ToolCall(call) => self.call(call, events),
            ModelMsg::ToolCallOutput(output) => self.output(output, events),
            _ => {}
        }
    }

    fn steering(&self, text: &Text, events: &mut Vec<ProjectedEvent>) {
        for marker in &text.markers {
            if let Marker::UserSteering { text } = marker {
                let (text, task_id) = (text.clone(), self.task());
                events.push(ProjectedEvent::QueueSteering { text, task_id });
            }
        }
    }

    fn call(&mut self, call: &ToolCall, events: &mut Vec<ProjectedEvent>) {
        if call.stop_reason.is_some_and(|reason| reason != StopReason::Completed) {
            return;
        }
        self.turn.request.calls.push(call.name.clone());
        let name = call.name.clone();
        let state = CallState { name, outcome: None, started: false, finished: false };
        self.turn.calls.insert(call.tool_call_id.clone(), state);
        events.push(ProjectedEvent::ToolProposed {
            req_id: call.tool_call_id.clone(),
            name: call.name.clone(),
            arguments: call.arguments.clone(),
            task_id: self.task(),
        });
    }

    fn started(&mut self, id: &ToolCallId, at: Option<Timestamp>) -> Option<ProjectedEvent> {
        let task_id = self.task();
        let call = self.turn.calls.get_mut(id).filter(|call| !call.started)?;
        call.started = true;
        let (req_id, name) = (id.clone(), call.name.clone());
        Some(ProjectedEvent::ToolStarted { task_id, req_id, name, start_time: at })
    }

    fn output(&mut self, output: &ToolCallOutput, events: &mut Vec<ProjectedEvent>) {
        let id = &output.tool_call_id;
        let outcome = self.turn.calls.get(id).and_then(|call| call.outcome);
        if outcome == Some(ApprovalOutcome::Allow) {
            events.extend(self.started(id, None));
        }
        let task_id = self.task();
        let Some(call) = self.turn.calls.get_mut(id).filter(|call| !call.finished) else { return };
        call.finished = true;
        let (status, reason) = finish_status(output.stop_reason, outcome);
        events.push(ProjectedEvent::ToolFinished {
            task_id,
            req_id: id.clone(),
            name: call.name.clone(),
            status,
            reason: reason.map(str::to_owned),
            duration: output.details.as_ref().map(|details| details.duration_ms),
            result_preview: preview(&output.output),
        });
        self.end_iteration(events);
    }

    fn event(&mut self, event: &EventMsg, at: Timestamp, events: &mut Vec<ProjectedEvent>) {
        match event {
            EventMsg::ToolListReady { tools } => self.tools = tools.len(),
            EventMsg::TurnBegin { turn_id, input, model, .. } => {
                let turn = TurnState { id: Some(turn_id.clone()), ..TurnState::default() };
                self.turn = turn;
                self.turn.unsent_input = Some(input.clone());
                self.model.clone_from(&model.model_id);
            }
            EventMsg::RequestBegin {} => self.request_begin(at, events),
            EventMsg::TokenUsage { request, .. } => self.turn.request.usage = Some(*request),
            EventMsg::RequestEnd { .. } => self.request_end(event, at, events),
            EventMsg::ApprovalRequest(request) => {
                events.push(ProjectedEvent::PermissionRequired {
                    task_id: self.task(),
                    req_id: request.tool_call_id.clone(),
                    name: request.tool.clone(),
                    arguments: request.arguments.clone(),
                    reason: request.reason.clone(),
                    category: request.effects.class,
                });
            }
            EventMsg::ApprovalDecision { decision, tool_call_id, .. } => {
                if let Some(call) = self.turn.calls.get_mut(tool_call_id) {
                    call.outcome = Some(*decision);
                }
            }
            EventMsg::ToolStarted { tool_call_id } => {
                events.extend(self.started(tool_call_id, Some(at)));
            }
            EventMsg::CompactionBegin { .. } | EventMsg::CompactionEnd { .. } => {
                self.compaction(event, events);
            }
            EventMsg::Abort { reason: None } => self.interrupt(events),
            EventMsg::Question { question_id, question, options, allow_text, multi, .. } => {
                events.push(ProjectedEvent::AskUserQuestion {
                    task_id: self.task(),
                    question_id: question_id.clone(),
                    question: question.clone(),
                    options: options.clone(),
                    allow_text: *allow_text,
                    multi: *multi,
                });
            }
            EventMsg::Title { title, source } => {
                events.push(ProjectedEvent::SessionNamed { name: title.clone(), source: *source });
            }
            EventMsg::TurnEnd { .. } => self.turn_end(event, at, events),
            _ => {}
        }
    }

    fn request_begin(&mut self, at: Timestamp, events: &mut Vec<ProjectedEvent>) {
        self.requests += 1;
        if !std::mem::take(&mut self.turn.retrying) {
            self.turn.iteration += 1;
        }
        self.turn.request = RequestState::default();
        events.push(ProjectedEvent::LlmRequest {
            req_id: self.request(),
            task_id: self.task(),
            log_time: at,
            model: self.model.clone(),
            msg_count: self.messages,
            tool_count: self.tools,
        });
    }

    fn request_end(&mut self, event: &EventMsg, at: Timestamp, events: &mut Vec<ProjectedEvent>) {
        let EventMsg::RequestEnd { status, error_message, attempt, retry_in_ms } = event else {
            return;
        };
        let reason = || error_message.clone().unwrap_or_else(|| word(status));
        match (*status, *retry_in_ms) {
            (StopReason::Completed, _) => {
                let request = std::mem::take(&mut self.turn.request);
                events.push(ProjectedEvent::AssistantMessage {
                    text: request.texts.concat(),
                    reasoning: request.thinkings.concat(),
                    tool_calls: request.calls,
                    usage: request.usage,
                    req_id: self.request(),
                    task_id: self.task(),
                    log_time: at,
                });
                self.turn.request.settling = true;
                self.end_iteration(events);
            }
            (_, Some(wait_ms)) => {
                self.turn.retrying = true;
                self.turn.calls.retain(|_, call| call.finished);
                events.push(ProjectedEvent::LlmRetry {
                    attempt: attempt.unwrap_or(1),
                    max: RETRY_LIMIT,
                    reason: reason(),
                    wait_ms,
                    iteration: self.turn.iteration,
                    req_id: self.request(),
                });
            }
            (StopReason::Aborted, None) => {}
            (_, None) => {
                let retriable = *status != StopReason::Auth;
                self.error(reason(), word(status), retriable, at, events);
            }
        }
    }

    fn end_iteration(&mut self, events: &mut Vec<ProjectedEvent>) {
        let settled = self.turn.calls.values().all(|call| call.finished);
        if self.turn.request.settling && settled {
            self.turn.request.settling = false;
            self.turn.calls.clear();
            let (iteration, task_id) = (self.turn.iteration, self.task());
            events.push(ProjectedEvent::IterationEnd { iteration, task_id });
        }
    }

    fn compaction(&mut self, event: &EventMsg, events: &mut Vec<ProjectedEvent>) {
        match event {
            EventMsg::CompactionBegin { reason, context, .. } => {
                events.push(ProjectedEvent::Compacting {
                    task_id: self.task(),
                    trigger: *reason,
                    tokens: *context,
                    context_window: self.context_window,
                    outbound_messages: self.messages,
                });
            }
            EventMsg::CompactionEnd { mode, status: StopReason::Completed, .. } => {
                let method = match mode {
                    CompactionMode::Summarize => "summarized",
                    CompactionMode::Discard => "trimmed",
                };
                events.push(ProjectedEvent::Compacted {
                    req_id: self.request(),
                    task_id: self.task(),
                    method: method.to_owned(),
                    messages_before: self.messages,
                });
            }
            _ => {}
        }
    }

    fn interrupt(&mut self, events: &mut Vec<ProjectedEvent>) {
        if !std::mem::replace(&mut self.turn.interrupted, true) {
            events.push(ProjectedEvent::Interrupted {
                iterations: self.turn.iteration,
                req_id: self.request(),
                task_id: self.task(),
            });
        }
    }

    fn error(
        &mut self,
        error: String,
        error_type: String,
        retriable: bool,
        at: Timestamp,
        events: &mut Vec<ProjectedEvent>,
    ) {
        self.turn.failed = true;
        events.push(ProjectedEvent::Error {
            error,
            error_type,
            retriable,
            iteration: self.turn.iteration,
            req_id: self.request(),
            log_time: at,
            task_id: self.task(),
        });
    }

    fn turn_end(&mut self, event: &EventMsg, at: Timestamp, events: &mut Vec<ProjectedEvent>) {
        let EventMsg::TurnEnd { turn_id, status, iterations, produced_files, error, .. } = event
        else {
            return;
        };
        if *status == TurnStatus::Interrupted {
            self.interrupt(events);
        }
        if let (TurnStatus::Error, false, Some(ErrorInfo { code, message })) =
            (status, self.turn.failed, error)
        {
            self.error(message.clone(), word(code), false, at, events);
        }
        events.push(ProjectedEvent::TurnEnd {
            status: *status,
            iterations: *iterations,
            produced_files: produced_files.clone(),
            task_id: turn_id.clone(),
        });
        self.turn = TurnState::default();
    }

    fn task(&self) -> TurnId {
        self.turn.id.clone().unwrap_or_else(|| TurnId::new(""))
    }

    fn request(&self) -> String {
        format!("{}:{}", self.session, self.requests)
    }
}

fn finish_status(
    stop_reason: Option<StopReason>,
    outcome: Option<ApprovalOutcome>,
) -> (FinishStatus, Option<&'static str>) {
    match (stop_reason, outcome) {
        (Some(StopReason::Completed), _) => (FinishStatus::Ok, None),
        (Some(StopReason::Timeout), _) => (FinishStatus::Error, Some("timeout")),
        (Some(StopReason::Failed | StopReason::Malformed | StopReason::Auth), _) => {
            (FinishStatus::Error, None)
        }
        (_, Some(ApprovalOutcome::Deny)) => (FinishStatus::Denied, None),
        (_, Some(ApprovalOutcome::Forbidden)) => (FinishStatus::Denied, Some("policy")),
        _ => (FinishStatus::Interrupted, None),
    }
}

/// Returns the word by which an enum without fields stands on the wire.
fn word<T: serde::Serialize>(value: &T) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}

fn preview(output: &str) -> Option<String> {
    let text: String = output.chars().take(PREVIEW_CHARACTERS).collect();
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests;
