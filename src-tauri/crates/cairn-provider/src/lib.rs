//! Model providers: builds the request, reads the stream, says how it ended. One file a wire format.
//!
//! It keeps no history, never retries and never decides what runs; those are the engine's. It talks
//! to nothing but the configured origin. The Chat Completions wire is in `openai_chat.rs`, the
//! provider that plays a script in `script.rs`, the live test of a connection in `connection.rs`.

mod classify;
mod connection;
mod emit;
mod http;
mod ids;
mod openai_chat;
mod quirks;
pub mod script;
mod sse;
mod tokens;
mod usage;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use cairn_protocol::{
    Message, ModelRef, Secret, SessionId, StopReason, ThinkingLevel, Timestamp, ToolDefinition,
    WireApi,
};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

pub use connection::test_connection;

/// How a provider can't be set up. What goes wrong later is an [`Outcome`].
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// This version does not speak the wire; the user must choose another one.
    #[error("{0}")]
    Unsupported(String),
    /// The target makes no sense; the user must correct it.
    #[error("{0}")]
    Invalid(String),
    /// The script file can't be read.
    #[error("can't read the script {path}")]
    ScriptFile {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A line of the script makes no sense.
    #[error(transparent)]
    Script(#[from] script::ScriptError),
    /// The HTTP client could not be made.
    #[error("can't set up the HTTP client")]
    Client(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// A model and how it is reached.
#[derive(Clone)]
pub struct ModelTarget {
    /// The model's identity.
    pub model: ModelRef,
    /// How it is spoken to.
    pub api: WireApi,
    /// With or without the version, with or without a closing slash; empty for a script.
    pub base_url: String,
    /// Further request headers.
    pub headers: BTreeMap<String, String>,
    /// Sent in the `Authorization` header to the origin of `base_url`, and nowhere else.
    pub key: Option<Secret>,
    /// Tokens, where known.
    pub context_window: Option<u64>,
    /// The most tokens in one answer; absent leaves it to the provider.
    pub max_tokens: Option<u64>,
    /// Whether the model reads images; where not, a note stands in for them.
    pub vision: bool,
    /// The script file, for `WireApi::Script`.
    pub script: Option<PathBuf>,
}

/// One model request.
#[derive(Clone)]
pub struct ModelRequest {
    /// The system prompt; empty leaves it out.
    pub system: Arc<str>,
    /// Complete model messages in order. Anything else in it is left out.
    pub history: Vec<Arc<Message>>,
    /// The tools on offer, in a fixed order.
    pub tools: Arc<Vec<ToolDefinition>>,
    /// How deep the model should reason.
    pub thinking: ThinkingLevel,
    /// The longest silence, counted only while waiting for the provider; zero means no limit (P-50).
    pub idle_timeout: Duration,
    /// The session: tool-call ids are unique in it (P-54).
    pub session: SessionId,
}

/// A source of answers.
#[async_trait]
pub trait Provider: Send + Sync {
    /// Returns what this provider was made for.
    fn target(&self) -> &ModelTarget;

    /// Streams one answer into `sink`: partial and complete messages in the order of P-12 and P-13,
    /// the `TokenUsage` event last. The usage is left out when the request ended before the
    /// provider began to answer. The caller fills `session` in it.
    ///
    /// It never fails and never retries. The receiver must be drained until this returns; a dropped
    /// receiver ends the request like a cancellation.
    async fn stream(
        &self,
        request: ModelRequest,
        sink: mpsc::Sender<Message>,
        cancel: CancellationToken,
    ) -> Outcome;
}

/// How a model request ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The class that the engine acts on (P-22, P-51).
    pub status: StopReason,
    /// For a person: what happened, with the provider's own words.
    pub message: Option<String>,
    /// The same request can't succeed; do not retry.
    pub permanent: bool,
    /// How long the provider asked to wait.
    pub retry_after: Option<Duration>,
    /// The answer hit the output limit (P-52).
    pub cut_by_length: bool,
    /// What exactly went wrong, where it is known.
    pub fault: Option<Fault>,
}

impl Outcome {
    /// Returns the outcome of a request that completed.
    pub fn completed() -> Self {
        Self::new(StopReason::Completed, None)
    }

    /// Returns an outcome with a status and a message, not permanent.
    pub fn new(status: StopReason, message: Option<String>) -> Self {
        Self {
            status,
            message,
            permanent: false,
            retry_after: None,
            cut_by_length: false,
            fault: None,
        }
    }

    fn with_fault(mut self, fault: Fault) -> Self {
        self.fault = Some(fault);
        self
    }

    fn permanent(mut self) -> Self {
        self.permanent = true;
        self
    }
}

/// What went wrong, finer than the status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fault {
    /// The key was refused.
    Auth,
    /// The key is good, but this is not allowed.
    Forbidden,
    /// The provider does not have the model.
    ModelNotFound,
    /// The request is wrong in itself.
    BadRequest,
    /// Too many requests; wait.
    RateLimit,
    /// No credit is left.
    Quota,
    /// The conversation is longer than the model's window.
    ContextOverflow,
    /// The provider can't answer now.
    Overloaded,
    /// The provider refused the tool call that its model wrote; ask again.
    ToolGeneration,
    /// A parameter was refused; the next request leaves it out.
    Parameter,
    /// The provider could not be reached, or the connection broke.
    Network,
    /// The address sends elsewhere; the key does not follow.
    Redirect,
    /// The provider was silent for too long.
    Silence,
    /// The stream broke its format or ended early.
    Stream,
    /// A filter of the provider stopped the answer.
    Filter,
}

/// Makes the provider of a target. Reads the script file or the system's certificates, so it blocks
/// for some milliseconds.
///
/// # Errors
/// [`Error::Unsupported`] for a wire that this version does not speak, the others for a target that
/// is wrong.
pub fn connect(target: ModelTarget, clock: fn() -> Timestamp) -> Result<Arc<dyn Provider>, Error> {
    match target.api {
        WireApi::Chat => Ok(Arc::new(openai_chat::ChatProvider::new(target, clock)?)),
        WireApi::Script => {
            let Some(path) = target.script.clone() else {
                return Err(Error::Invalid("a scripted provider needs a script file".to_owned()));
            };
            let text = std::fs::read_to_string(&path)
                .map_err(|source| Error::ScriptFile { path, source })?;
            let script = script::Script::parse(&text)?;
            Ok(Arc::new(script::ScriptProvider::new(target, script, clock)))
        }
        WireApi::Responses => Err(unsupported("OpenAI Responses")),
        WireApi::Anthropic => Err(unsupported("Anthropic Messages")),
        WireApi::Gemini => Err(unsupported("Google Gemini")),
    }
}

fn unsupported(wire: &str) -> Error {
    Error::Unsupported(format!(
        "this version of Cairn does not speak {wire} yet; choose Chat Completions, which most \
         providers offer too"
    ))
}

#[cfg(test)]
mod tests;
