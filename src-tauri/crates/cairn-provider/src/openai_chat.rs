//! The Chat Completions wire: sends one request, reads its stream, keeps the timers.
//!
//! It never retries and never runs anything. The body is built in `openai_chat/request.rs`, the
//! stream is understood in `openai_chat/decode.rs`, failures are named in `classify.rs`.

mod calls;
mod chunk;
mod decode;
mod fidelity;
mod kind;
mod reasoning;
mod render;
mod request;
mod think;

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use cairn_protocol::{Body, Message, ModelMsg, SessionId, StopReason, Timestamp};
use reqwest::header::HeaderMap;
use reqwest::{Client, Response, Url};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use self::decode::{Decoder, Ended};
use self::kind::Kind;
use self::request::{Prepared, Refused, Session};
use crate::quirks::{self, Quirks};
use crate::{
    Error, Fault, ModelRequest, ModelTarget, Outcome, Provider, classify, http, sse, usage,
};

/// Without anything that brings the answer forward, comments and drips included, a stream ends
/// after this, unless the idle timeout is longer (`security.md`, P27).
const NO_PROGRESS: Duration = Duration::from_secs(300);
/// How long usage may come after the model said that it stopped.
const AFTER_FINISH: Duration = Duration::from_secs(10);
/// How long the closing messages may wait for a receiver that is slow after a cancellation.
const CLOSING: Duration = Duration::from_secs(2);
/// The longest answer that is not a stream.
const WHOLE_LIMIT_BYTES: usize = 32 * 1024 * 1024;
/// The longest error body that is read.
const ERROR_LIMIT_BYTES: usize = 64 * 1024;
/// Sessions whose rendered history is kept.
const SESSION_LIMIT: usize = 32;

/// How long the steps of a request may take.
#[derive(Clone, Copy)]
pub(crate) struct Timers {
    pub connect: Duration,
    pub no_progress: Duration,
    pub after_finish: Duration,
}

impl Default for Timers {
    fn default() -> Self {
        Self {
            connect: http::CONNECT_TIMEOUT,
            no_progress: NO_PROGRESS,
            after_finish: AFTER_FINISH,
        }
    }
}

/// A Chat Completions endpoint and its model.
pub(crate) struct ChatProvider {
    target: ModelTarget,
    clock: fn() -> Timestamp,
    client: Client,
    base: Url,
    headers: HeaderMap,
    quirks: Quirks,
    timers: Timers,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    sessions: HashMap<SessionId, Session>,
    refused: Refused,
    requests: u64,
}

impl ChatProvider {
    pub(crate) fn new(target: ModelTarget, clock: fn() -> Timestamp) -> Result<Self, Error> {
        Self::with_timers(target, clock, Timers::default())
    }

    pub(crate) fn with_timers(
        target: ModelTarget,
        clock: fn() -> Timestamp,
        timers: Timers,
    ) -> Result<Self, Error> {
        let base = http::base_url(&target.base_url)?;
        if target.model.model_id.trim().is_empty() {
            return Err(Error::Invalid("the model's id is missing".to_owned()));
        }
        Ok(Self {
            client: http::client(&base, timers.connect)?,
            headers: http::headers(&target)?,
            quirks: quirks::of(&base),
            state: Mutex::default(),
            target,
            clock,
            base,
            timers,
        })
    }

    /// Returns the answer to `GET models`, or what went wrong.
    pub(crate) async fn list_models(&self, limit: Duration) -> Result<Vec<String>, Outcome> {
        let url = http::endpoint(&self.base, "models");
        let get = async {
            let response = self
                .client
                .get(url)
                .headers(self.headers.clone())
                .send()
                .await
                .map_err(|error| classify::transport(&error, &self.place()))?;
            let (status, headers) = (response.status(), response.headers().clone());
            let body = read_limited(response, WHOLE_LIMIT_BYTES).await;
            let text = String::from_utf8_lossy(&body).into_owned();
            if !status.is_success() {
                return Err(classify::http(status.as_u16(), &headers, &text, (self.clock)()));
            }
            if text.trim_start().starts_with('<') {
                return Err(classify::web_page(status.as_u16(), &text));
            }
            Ok(model_ids(&text))
        };
        match tokio::time::timeout(limit, get).await {
            Ok(result) => result.map_err(|outcome| self.redacted(outcome)),
            Err(_) => Err(self.silent(limit)),
        }
    }

    pub(crate) fn base(&self) -> &Url {
        &self.base
    }

    /// Returns host and port, for messages.
    pub(crate) fn place(&self) -> String {
        let host = self.base.host_str().unwrap_or_default();
        match self.base.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn silent(&self, limit: Duration) -> Outcome {
        let message = format!("{} was silent for {} s.", self.place(), limit.as_secs_f32());
        Outcome::new(StopReason::Timeout, Some(message)).with_fault(Fault::Silence)
    }

    /// Takes the key out of a message: some providers quote it.
    fn redacted(&self, mut outcome: Outcome) -> Outcome {
        if let (Some(message), Some(key)) = (&mut outcome.message, &self.target.key)
            && !key.is_blank()
        {
            *message = message.replace(key.expose().trim(), "[key]");
        }
        outcome
    }

    fn prepare(&self, request: &ModelRequest) -> (Prepared, Decoder) {
        let mut state = self.state();
        state.requests += 1;
        let (now, refused) = (state.requests, state.refused);
        if state.sessions.len() >= SESSION_LIMIT && !state.sessions.contains_key(&request.session) {
            let oldest =
                state.sessions.iter().min_by_key(|(_, s)| s.used).map(|(id, _)| id.clone());
            oldest.map(|id| state.sessions.remove(&id));
        }
        let session = state.sessions.entry(request.session.clone()).or_default();
        session.used = now;
        let prepared = session.prepare(&self.target, self.quirks, refused, request);
        let ids = session.ids.clone();
        (prepared, Decoder::new(&self.target.model, ids, self.quirks, self.clock))
    }

    /// Sends the request and reads the answer into the decoder. Returns why reading ended.
    async fn exchange(&self, call: &mut Call<'_>, body: Vec<u8>) -> Ended {
        let url = http::endpoint(&self.base, "chat/completions");
        let sending = self.client.post(url).headers(self.headers.clone()).body(body).send();
        let response = match self.wait(call, sending).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Ended::Broken(classify::transport(&error, &self.place())),
            Err(ended) => return ended,
        };
        let status = response.status().as_u16();
        if response.status().is_success() {
            call.answered = true;
            return self.read(call, response).await;
        }
        let headers = response.headers().clone();
        let body = match self.wait(call, read_limited(response, ERROR_LIMIT_BYTES)).await {
            Ok(body) => body,
            Err(Ended::Cancelled) => return Ended::Cancelled,
            Err(_) => Vec::new(),
        };
        let text = String::from_utf8_lossy(&body);
        Ended::Broken(classify::http(status, &headers, &text, (self.clock)()))
    }

    async fn read(&self, call: &mut Call<'_>, mut response: Response) -> Ended {
        let status = response.status().as_u16();
        let mut kind = Kind::of(response.headers());
        let mut reader = sse::Reader::default();
        let mut whole = Vec::new();
        loop {
            let bytes = match self.wait(call, response.chunk()).await {
                Ok(Ok(Some(bytes))) => bytes,
                Ok(Ok(None)) => break,
                Ok(Err(error)) => return Ended::Broken(classify::transport(&error, &self.place())),
                Err(ended) => return ended,
            };
            kind = kind.sniff(&bytes);
            if kind == Kind::Stream {
                match push(&mut reader, &bytes, &mut call.decoder) {
                    Ok(ControlFlow::Continue(())) => {}
                    Ok(ControlFlow::Break(())) => return Ended::Eof,
                    Err(outcome) => return Ended::Broken(outcome),
                }
                if call.flush().await.is_break() {
                    return Ended::Cancelled;
                }
            } else {
                let limit = if kind == Kind::Page { ERROR_LIMIT_BYTES } else { WHOLE_LIMIT_BYTES };
                if whole.len() + bytes.len() > limit {
                    break;
                }
                whole.extend_from_slice(&bytes);
            }
        }
        match kind {
            Kind::Stream | Kind::Unknown => reader.finish(|event| {
                let _ = call.decoder.event(&event);
            }),
            Kind::Whole => call.decoder.whole(&whole),
            Kind::Page => {
                let page = String::from_utf8_lossy(&whole);
                return Ended::Broken(classify::web_page(status, &page));
            }
        }
        Ended::Eof
    }

    /// Waits for the provider: at most the idle timeout at a time, and at most the progress limit
    /// in all since the answer last came forward. Time in which the receiver is slow is not counted.
    async fn wait<F: Future>(&self, call: &mut Call<'_>, future: F) -> Result<F::Output, Ended> {
        if call.decoder.progress != call.seen_progress {
            call.seen_progress = call.decoder.progress;
            call.progress_at = Instant::now();
        }
        let waited = call.progress_at.elapsed();
        let idle = call.idle_timeout;
        let mut limit = None;
        if !idle.is_zero() {
            let left = self.timers.no_progress.max(idle).saturating_sub(waited);
            limit = Some(idle.min(left));
        }
        if call.decoder.is_finished() {
            limit = Some(self.timers.after_finish.saturating_sub(waited));
        }
        let too_long = || {
            let mut outcome = self.silent(limit.unwrap_or_default());
            if limit != Some(idle) {
                outcome.message = Some(format!(
                    "{} kept the connection open but sent nothing of the answer for {} s.",
                    self.place(),
                    (waited + limit.unwrap_or_default()).as_secs_f32()
                ));
            }
            Ended::Broken(outcome)
        };
        if limit.is_some_and(|limit| limit.is_zero()) {
            // Something is always there to be read, and none of it is the answer.
            return Err(too_long());
        }
        tokio::select! {
            biased;
            () = call.cancel.cancelled() => Err(Ended::Cancelled),
            () = call.sink.closed() => Err(Ended::Cancelled),
            output = future => Ok(output),
            () = sleep(limit) => Err(too_long()),
        }
    }

    /// Turns a refusal of a parameter into something that the next attempt can do without.
    fn note_refusal(
        &self,
        outcome: Outcome,
        prepared_head: &str,
        request: &ModelRequest,
    ) -> Outcome {
        if outcome.fault != Some(Fault::BadRequest) || !outcome.permanent {
            return outcome;
        }
        let text = outcome.message.clone().unwrap_or_default();
        match self.state().refused.note(&text, prepared_head, request.thinking) {
            Some(left_out) => Outcome {
                permanent: false,
                fault: Some(Fault::Parameter),
                message: Some(format!(
                    "{text} Cairn leaves out or changes the {left_out} from now on."
                )),
                ..outcome
            },
            None => outcome,
        }
    }
}

/// One request while it runs.
struct Call<'a> {
    decoder: Decoder,
    sink: &'a mpsc::Sender<Message>,
    cancel: &'a CancellationToken,
    idle_timeout: Duration,
    /// When the answer last came forward, moved on by the time in which the receiver was slow.
    progress_at: Instant,
    seen_progress: u64,
    /// The provider began to answer.
    answered: bool,
    /// Complete messages sent, to know later which part of the history is already counted.
    complete: usize,
}

impl Call<'_> {
    /// Sends what is ready. Breaks when the request is cancelled or nobody listens; what was not
    /// sent then is still there.
    async fn flush(&mut self) -> ControlFlow<()> {
        let out = &mut self.decoder.emitter.out;
        while !out.is_empty() {
            // Mostly there is room, and then nothing needs to be waited for.
            let permit = match self.sink.try_reserve() {
                Ok(permit) => permit,
                Err(mpsc::error::TrySendError::Closed(())) => return ControlFlow::Break(()),
                Err(mpsc::error::TrySendError::Full(())) => {
                    let full_at = Instant::now();
                    let permit = tokio::select! {
                        biased;
                        () = self.cancel.cancelled() => return ControlFlow::Break(()),
                        permit = self.sink.reserve() => permit,
                    };
                    self.progress_at += full_at.elapsed();
                    match permit {
                        Ok(permit) => permit,
                        Err(_) => return ControlFlow::Break(()),
                    }
                }
            };
            let Some(message) = out.pop_front() else { break };
            self.complete += usize::from(is_complete(&message));
            permit.send(message);
        }
        ControlFlow::Continue(())
    }

    /// Sends the closing messages, also after a cancellation. The receiver drains until the
    /// request is over; a limit keeps one that does not from holding it.
    async fn flush_closing(&mut self) {
        let (out, sink) = (&mut self.decoder.emitter.out, self.sink);
        let mut complete = 0;
        let send_all = async {
            while let Some(message) = out.pop_front() {
                complete += usize::from(is_complete(&message));
                if sink.send(message).await.is_err() {
                    break;
                }
            }
        };
        let _ = tokio::time::timeout(CLOSING, send_all).await;
        self.complete += complete;
    }
}

#[async_trait]
impl Provider for ChatProvider {
    fn target(&self) -> &ModelTarget {
        &self.target
    }

    async fn stream(
        &self,
        request: ModelRequest,
        sink: mpsc::Sender<Message>,
        cancel: CancellationToken,
    ) -> Outcome {
        let (prepared, decoder) = self.prepare(&request);
        let mut call = Call {
            decoder,
            sink: &sink,
            cancel: &cancel,
            idle_timeout: request.idle_timeout,
            progress_at: Instant::now(),
            seen_progress: 0,
            answered: false,
            complete: 0,
        };
        let ended = self.exchange(&mut call, prepared.body).await;
        let outcome = call.decoder.end(ended);
        let used = call.decoder.usage();
        let guess = usage::sum(0, prepared.input_estimate, call.decoder.emitter.settled_tokens);
        if let Some(used) = used.or(call.answered.then_some(guess)) {
            call.decoder.emitter.usage(used);
        }
        call.flush_closing().await;
        if let Some(used) = used
            && let Some(session) = self.state().sessions.get_mut(&request.session)
        {
            session.note_total(request.history.len(), call.complete, used.total);
        }
        let outcome = self.note_refusal(outcome, &prepared.head, &request);
        self.redacted(outcome)
    }
}

fn push(
    reader: &mut sse::Reader,
    bytes: &Bytes,
    decoder: &mut Decoder,
) -> Result<ControlFlow<()>, Outcome> {
    reader.push(bytes, |event| decoder.event(&event)).map_err(|sse::LineTooLong| {
        let limit = sse::LINE_LIMIT_BYTES / (1024 * 1024);
        let message = format!("The provider sent a line longer than {limit} MiB.");
        Outcome::new(StopReason::Malformed, Some(message)).with_fault(Fault::Stream)
    })
}

async fn read_limited(mut response: Response, limit: usize) -> Vec<u8> {
    let mut body = Vec::new();
    while let Ok(Some(bytes)) = response.chunk().await {
        body.extend_from_slice(&bytes);
        if body.len() >= limit {
            body.truncate(limit);
            break;
        }
    }
    body
}

async fn sleep(limit: Option<Duration>) {
    match limit {
        Some(limit) => tokio::time::sleep(limit).await,
        None => std::future::pending().await,
    }
}

fn is_complete(message: &Message) -> bool {
    matches!(
        &message.body,
        Body::ModelMsg(ModelMsg::Text(_) | ModelMsg::Thinking(_) | ModelMsg::ToolCall(_))
    )
}

/// Reads the ids out of a list of models: `data[].id`, `models[].id|name|model`, or a bare list.
fn model_ids(text: &str) -> Vec<String> {
    let Ok(value) = serde_json::from_str::<serde_json::Value>(text) else { return Vec::new() };
    let list = value.get("data").or_else(|| value.get("models")).unwrap_or(&value);
    let items = list.as_array().map(Vec::as_slice).unwrap_or_default();
    let id = |item: &serde_json::Value| {
        let named = ["id", "name", "model"].iter().find_map(|key| item.get(key)?.as_str());
        named.or(item.as_str()).map(str::to_owned)
    };
    items.iter().filter_map(id).collect()
}

#[cfg(test)]
mod tests;
