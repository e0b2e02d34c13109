//! One model request with its retries (P-33, P-42 … P-44). The stream is read to its end whatever the
//! tools do (P-34).

use std::sync::Arc;
use std::time::Duration;

use cairn_protocol::{
    Body, ErrorCode, ErrorInfo, EventMsg, Message, ModelMsg, NoticeLevel, StopReason,
    ThinkingLevel, ToolDefinition,
};
use cairn_provider::{ModelRequest, Outcome};
use tokio::sync::mpsc;

use super::gate::{Gate, GateResult};
use super::{End, Turn};
use crate::context::runnable;
use crate::task::Task;

/// Further attempts after the first (P-42).
const RETRIES: u32 = 5;
/// Longest wait that a server can ask for.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(60);
/// Messages of the model that may wait to be recorded.
const STREAM_QUEUE: usize = 512;

/// What a committed request gave.
pub(super) struct Answer {
    pub(super) calls: usize,
    pub(super) stop: bool,
    pub(super) cut_by_length: bool,
}

impl Turn {
    /// Sends the input until it is answered, the ladder is used up, or the user stops it.
    pub(super) async fn request(
        &mut self,
        tools: &Arc<Vec<ToolDefinition>>,
    ) -> std::result::Result<Answer, End> {
        let mut attempt = 1;
        loop {
            let (outcome, gate) = self.attempt(tools).await;
            let status = outcome.status;
            // The calls of a failed attempt are part of what the next attempt is told (P-43).
            let (early, gate) = if status == StopReason::Completed {
                (None, Some(gate))
            } else {
                let result = gate.await;
                self.settle(&result);
                (Some(result), None)
            };
            let retry_in = self.retry_wait(&outcome, attempt);
            let message = (status != StopReason::Completed).then(|| {
                outcome.message.clone().unwrap_or_else(|| "the request failed".to_owned())
            });
            // Who sees that there is a wait may cut it short at once, so it is listened for before it is shown.
            let retry = Arc::clone(&self.env.retry);
            let mut retry_now = std::pin::pin!(retry.notified());
            retry_now.as_mut().enable();
            self.record(EventMsg::RequestEnd {
                status,
                error_message: message.clone(),
                attempt: (attempt > 1 || status != StopReason::Completed).then_some(attempt),
                retry_in_ms: retry_in
                    .map(|wait| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX)),
            })
            .await;
            let result = match (gate, early) {
                (Some(gate), _) => {
                    let result = gate.await;
                    self.settle(&result);
                    result
                }
                (None, early) => early.unwrap_or_default(),
            };
            if let Some(defect) = result.defect {
                // Nobody reads what its calls do any more.
                self.env.tools.commands.kill_all().await;
                return Err(End::Error(defect));
            }
            let stop = result.stop || self.env.cancel.is_cancelled();
            if status == StopReason::Completed {
                self.notice_provider(&outcome).await;
                let (calls, cut_by_length) = (result.calls, outcome.cut_by_length);
                return Ok(Answer { calls, stop, cut_by_length });
            }
            if status == StopReason::Aborted || stop {
                return Err(End::Interrupted(None));
            }
            let message = message.unwrap_or_default();
            let Some(wait) = retry_in else {
                return Err(End::Error(given_up(status, attempt, message)));
            };
            tokio::select! {
                () = self.env.cancel.cancelled() => return Err(End::Interrupted(None)),
                () = retry_now => {}
                () = tokio::time::sleep(wait) => {}
            }
            attempt += 1;
        }
    }

    /// Says what the provider said beside a complete answer, such as that a filter cut it.
    async fn notice_provider(&self, outcome: &Outcome) {
        if let Some(message) = &outcome.message
            && !outcome.cut_by_length
        {
            let info = ErrorInfo::new(ErrorCode::Unsupported, message.clone());
            let event = EventMsg::Notice { level: NoticeLevel::Warning, info };
            self.env.recorder.event(event).await;
        }
    }

    /// Takes the outputs of a response into the context.
    fn settle(&mut self, result: &GateResult) {
        for output in &result.outputs {
            self.context.observe(output);
        }
    }

    /// Runs one attempt. The returned future ends when all its calls have ended.
    async fn attempt(
        &mut self,
        tools: &Arc<Vec<ToolDefinition>>,
    ) -> (Outcome, impl Future<Output = GateResult> + use<>) {
        self.record(EventMsg::RequestBegin {}).await;
        let request = ModelRequest {
            system: Arc::clone(&self.env.system),
            history: self.context.request(self.env.recorder.now()),
            tools: Arc::clone(tools),
            thinking: ThinkingLevel::default(),
            idle_timeout: Duration::from_millis(self.env.idle_timeout),
            session: self.env.session.clone(),
        };
        let (sink, mut stream) = mpsc::channel(STREAM_QUEUE);
        let (provider, cancel) = (Arc::clone(&self.env.provider), self.env.cancel.clone());
        let model = Task::spawn("the model's stream", async move {
            provider.stream(request, sink, cancel).await
        });
        let (calls, gate) = Gate::start(&self.env, Arc::clone(&self.capture));
        let mut batch = Vec::with_capacity(64);
        while stream.recv_many(&mut batch, 64).await > 0 {
            for message in batch.drain(..) {
                self.take(message, &calls).await;
            }
        }
        drop(calls);
        let outcome = model.await.unwrap_or_else(|error| Outcome {
            permanent: true,
            ..Outcome::new(StopReason::Failed, Some(error.message))
        });
        (outcome, gate)
    }

    async fn take(&mut self, mut message: Message, calls: &mpsc::UnboundedSender<Arc<Message>>) {
        if message.is_partial() {
            self.env.recorder.partial(message).await;
            return;
        }
        if let Body::EventMsg(EventMsg::TokenUsage { session, request }) = &mut message.body {
            self.usage += *request;
            *session = self.env.session_usage;
            *session += self.usage;
        }
        self.env.recorder.record(message.clone()).await;
        let message = Arc::new(message);
        self.context.observe(&message);
        if let Body::ModelMsg(ModelMsg::ToolCall(call)) = &message.body
            && runnable(call)
        {
            // The gate ends only after this sender is dropped.
            let _gate_ended = calls.send(message);
        }
    }

    /// The wait before the next attempt; `None` when there is none (P-42).
    fn retry_wait(&self, outcome: &Outcome, attempt: u32) -> Option<Duration> {
        let retryable = match outcome.status {
            StopReason::Timeout | StopReason::Malformed => true,
            StopReason::Failed => !outcome.permanent,
            StopReason::Completed | StopReason::Aborted | StopReason::Auth => false,
        };
        if !retryable || attempt > RETRIES || self.env.cancel.is_cancelled() {
            return None;
        }
        let ladder = Duration::from_secs(2u64.pow(attempt.min(5))).min(Duration::from_secs(30));
        Some(outcome.retry_after.map_or(ladder, |wait| wait.min(MAX_RETRY_AFTER)))
    }
}

fn given_up(status: StopReason, attempt: u32, message: String) -> ErrorInfo {
    let code = if status == StopReason::Auth { ErrorCode::Auth } else { ErrorCode::Io };
    let tail = match (status, attempt) {
        (StopReason::Auth, _) => {
            "Check the key of this provider in Settings, then send again.".to_owned()
        }
        (_, 1) => "Your text is kept; send again when it is mended.".to_owned(),
        _ => format!("Gave up after {attempt} attempts. Your text is kept; send again to go on."),
    };
    let stop = if message.ends_with(['.', '!', '?']) { "" } else { "." };
    ErrorInfo::new(code, format!("The model did not answer: {message}{stop} {tail}"))
}
