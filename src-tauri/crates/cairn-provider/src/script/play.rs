//! Plays the responses of a script as a provider.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use cairn_protocol::{
    Body, Message, ModelMsg, Role, SessionId, StopReason, Timestamp, TokenUsage, ToolCallId,
};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{Script, ScriptCall, Step};
use crate::emit::Emitter;
use crate::ids::Ids;
use crate::{Fault, ModelRequest, ModelTarget, Outcome, Provider, tokens, usage};

const OVER: &str = "The script is over. Connect a model to go on.";

/// Plays a script. Made by [`crate::connect`] from a file, or here from a script that is built in.
pub struct ScriptProvider {
    target: ModelTarget,
    script: Script,
    clock: fn() -> Timestamp,
    sessions: Mutex<HashMap<SessionId, Progress>>,
}

#[derive(Default)]
struct Progress {
    next: usize,
    ids: Ids,
}

impl ScriptProvider {
    /// Makes a provider that plays `script`.
    pub fn new(target: ModelTarget, script: Script, clock: fn() -> Timestamp) -> Self {
        Self { target, script, clock, sessions: Mutex::default() }
    }

    fn sessions(&self) -> MutexGuard<'_, HashMap<SessionId, Progress>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts the request and returns the response that it gets.
    fn next_response(&self, request: &ModelRequest) -> Option<&[Step]> {
        let mut sessions = self.sessions();
        let progress = sessions.entry(request.session.clone()).or_insert_with(|| {
            let mut progress = Progress { next: answers(&request.history), ids: Ids::default() };
            for message in &request.history {
                if let Body::ModelMsg(ModelMsg::ToolCall(call)) = &message.body {
                    progress.ids.take(call.tool_call_id.as_str());
                }
            }
            progress
        });
        let response = self.script.responses.get(progress.next);
        progress.next += 1;
        response.map(Vec::as_slice)
    }

    fn call_id(&self, session: &SessionId, call: &ScriptCall) -> ToolCallId {
        let mut sessions = self.sessions();
        let ids = &mut sessions.entry(session.clone()).or_default().ids;
        ToolCallId(ids.claim(call.id.as_deref().unwrap_or("call_script")))
    }
}

/// Returns how many answers a history has: runs of messages of the model.
fn answers(history: &[std::sync::Arc<Message>]) -> usize {
    let mut count = 0;
    let mut in_answer = false;
    for message in history {
        let Body::ModelMsg(message) = &message.body else { continue };
        let of_model = match message {
            ModelMsg::Text(text) => text.role == Role::Assistant,
            ModelMsg::Thinking(_) | ModelMsg::ToolCall(_) => true,
            _ => false,
        };
        count += usize::from(of_model && !in_answer);
        in_answer = of_model;
    }
    count
}

#[async_trait]
impl Provider for ScriptProvider {
    fn target(&self) -> &ModelTarget {
        &self.target
    }

    async fn stream(
        &self,
        request: ModelRequest,
        sink: mpsc::Sender<Message>,
        cancel: CancellationToken,
    ) -> Outcome {
        let over = [Step { say: Some(OVER.to_owned()), ..Step::default() }];
        let steps = self.next_response(&request).unwrap_or(&over);
        let mut player = Player {
            emitter: Emitter::new(self.clock),
            calls: 0,
            sink: &sink,
            cancel: &cancel,
            idle_timeout: request.idle_timeout,
        };
        let mut used = None;
        let mut outcome = Outcome::completed();
        for step in steps {
            used = step.usage.map(|u| usage::sum(u.cache_read, u.cache_write, u.output)).or(used);
            if let Err(ended) = player.step(step, |call| self.call_id(&request.session, call)).await
            {
                outcome = ended;
                break;
            }
        }
        let estimate = || {
            let input: u64 = request.history.iter().map(|m| tokens::of_message(m)).sum();
            tokens::of_text(&request.system) + input
        };
        player.close(&outcome, used, estimate).await;
        outcome
    }
}

struct Player<'a> {
    emitter: Emitter,
    calls: usize,
    sink: &'a mpsc::Sender<Message>,
    cancel: &'a CancellationToken,
    idle_timeout: Duration,
}

#[derive(Clone, Copy)]
enum Channel {
    Thinking,
    Text,
    Call(usize),
}

impl Player<'_> {
    async fn step(
        &mut self,
        step: &Step,
        call_id: impl Fn(&ScriptCall) -> ToolCallId,
    ) -> Result<(), Outcome> {
        let repeat = step.repeat.unwrap_or(1);
        let plays = step.think.is_some() || step.say.is_some() || step.tool.is_some();
        if !plays && step.delay_ms > 0 {
            self.wait(step.delay_ms).await?;
        }
        if let Some(think) = &step.think {
            for _ in 0..repeat {
                self.pieces(think, step, Channel::Thinking).await?;
            }
        }
        if step.say.is_some() || step.tool.is_some() {
            self.emitter.close_thinking(StopReason::Completed, None);
        }
        if let Some(say) = &step.say {
            for _ in 0..repeat {
                self.pieces(say, step, Channel::Text).await?;
            }
        }
        if let Some(tool) = &step.tool {
            let place = self.emitter.open_call(call_id(tool), tool.name.clone());
            self.calls += 1;
            self.pieces(&tool.arguments_json(), step, Channel::Call(place)).await?;
        }
        if step.hang {
            return Err(self.hang().await);
        }
        if let Some(error) = &step.error {
            return Err(Outcome {
                message: error.message.clone(),
                permanent: error.permanent,
                retry_after: error.retry_after_ms.map(Duration::from_millis),
                ..Outcome::new(error.status, None)
            });
        }
        if step.cut {
            let message = Some("The answer was cut by the output limit.".to_owned());
            return Err(Outcome { cut_by_length: true, message, ..Outcome::completed() });
        }
        Ok(())
    }

    async fn pieces(&mut self, text: &str, step: &Step, channel: Channel) -> Result<(), Outcome> {
        let mut rest = text;
        while !rest.is_empty() {
            let end = step
                .chunk
                .and_then(|chunk| rest.char_indices().nth(chunk))
                .map_or(rest.len(), |(end, _)| end);
            let (piece, tail) = rest.split_at(end);
            rest = tail;
            if step.delay_ms > 0 {
                self.wait(step.delay_ms).await?;
            }
            match channel {
                Channel::Thinking => self.emitter.thinking(piece),
                Channel::Text => self.emitter.text(piece),
                Channel::Call(place) => self.emitter.call_arguments(place, piece),
            }
            self.flush().await?;
        }
        Ok(())
    }

    async fn flush(&mut self) -> Result<(), Outcome> {
        while !self.emitter.out.is_empty() {
            if self.cancel.is_cancelled() {
                return Err(aborted());
            }
            let permit = match self.sink.try_reserve() {
                Ok(permit) => permit,
                Err(mpsc::error::TrySendError::Closed(())) => return Err(aborted()),
                Err(mpsc::error::TrySendError::Full(())) => tokio::select! {
                    biased;
                    () = self.cancel.cancelled() => return Err(aborted()),
                    permit = self.sink.reserve() => permit.map_err(|_| aborted())?,
                },
            };
            if let Some(message) = self.emitter.out.pop_front() {
                permit.send(message);
            }
        }
        Ok(())
    }

    async fn wait(&self, delay_ms: u64) -> Result<(), Outcome> {
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Err(aborted()),
            () = tokio::time::sleep(Duration::from_millis(delay_ms)) => Ok(()),
        }
    }

    async fn hang(&self) -> Outcome {
        let silence = async {
            if self.idle_timeout.is_zero() {
                std::future::pending::<()>().await;
            }
            tokio::time::sleep(self.idle_timeout).await;
        };
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => aborted(),
            () = self.sink.closed() => aborted(),
            () = silence => {
                let message = "The script was silent for too long, as it is written.".to_owned();
                Outcome::new(StopReason::Timeout, Some(message)).with_fault(Fault::Silence)
            }
        }
    }

    /// Closes all segments; a response that was cut has its last one failed (P-52).
    async fn close(
        &mut self,
        outcome: &Outcome,
        used: Option<TokenUsage>,
        input_estimate: impl FnOnce() -> u64,
    ) {
        let whole = outcome.status;
        let last = if outcome.cut_by_length { StopReason::Failed } else { whole };
        let reason = |is_last: bool| if is_last { last } else { whole };
        let has_text = self.emitter.has_text();
        self.emitter.close_thinking(reason(!has_text && self.calls == 0), None);
        self.emitter.close_text(reason(self.calls == 0));
        for place in 0..self.calls {
            self.emitter.close_call(place, reason(place + 1 == self.calls), None);
        }
        let output = self.emitter.settled_tokens;
        let used = used.unwrap_or_else(|| usage::sum(0, input_estimate(), output));
        self.emitter.usage(used);
        while let Some(message) = self.emitter.out.pop_front() {
            if self.sink.send(message).await.is_err() {
                break;
            }
        }
    }
}

fn aborted() -> Outcome {
    Outcome::new(StopReason::Aborted, None)
}
