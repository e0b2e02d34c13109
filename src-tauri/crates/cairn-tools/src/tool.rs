//! The shape of a tool: from arguments to a plan that can be judged and shown, and from an approved plan to a result.
//!
//! What every call has in common, such as limits, time, spilled output and panics, is in `close_out.rs`.

use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;
use cairn_protocol::{CallEffects, CallGrant, ToolCallId, ToolClass, ToolDetails};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::{Output, SessionPort, ToolContext};

/// A tool: what it is, and how its arguments become a plan.
pub trait Tool: Send + Sync {
    /// Returns what the tool is.
    fn spec(&self) -> &Spec;

    /// Turns arguments into a plan without any side effect; blocking. An error is a text for the model (P-69).
    fn prepare(&self, arguments: &str, ctx: &ToolContext) -> Result<Plan, String>;
}

/// What a tool is, and its limits (P-68, P-75).
#[derive(Debug, Clone)]
pub struct Spec {
    /// The name that the model calls it by.
    pub name: &'static str,
    /// Further names that it answers to, though they are not offered.
    pub aliases: &'static [&'static str],
    /// What the model reads about it.
    pub description: &'static str,
    /// The most that a call may do.
    pub class: ToolClass,
    /// JSON Schema of the arguments.
    pub parameters: Value,
    /// After how long a call is ended, unless its plan says otherwise; `None` means never.
    pub timeout: Option<Duration>,
    /// How many characters of a result the model reads.
    pub max_output_chars: usize,
    /// Which part of a longer result it reads.
    pub cut: Cut,
}

/// Which part of a text that is too long is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// The beginning.
    Head,
    /// Three fifths from the beginning and two fifths from the end: a log says at its end what went wrong (G-26).
    HeadAndTail,
}

/// What a call will do, and the means to do it.
pub struct Plan {
    /// What it will do, for the policy and the card.
    pub effects: CallEffects,
    /// What may run beside it.
    pub ordering: Ordering,
    /// After how long it is ended; `None` means never.
    pub timeout: Option<Duration>,
    /// Does it.
    pub action: Box<dyn Action>,
}

/// What may run at the same time as a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ordering {
    /// Everything that is parallel too.
    Parallel,
    /// Everything that does not write these files.
    Paths(Vec<PathBuf>),
    /// Nothing.
    Serial,
}

/// An approved call that waits to be done, once.
#[async_trait]
pub trait Action: Send {
    /// Does it. It watches `run.stop` and then ends soon, saying what it has.
    async fn run(self: Box<Self>, run: &Run<'_>) -> Done;
}

/// What an action is given while it runs.
pub struct Run<'a> {
    /// The session's folders and state.
    pub ctx: &'a ToolContext,
    /// The session.
    pub port: &'a dyn SessionPort,
    /// The call.
    pub call: &'a ToolCallId,
    /// How it may run.
    pub grant: &'a CallGrant,
    /// Ends the call: the user's stop or the timeout.
    pub stop: &'a CancellationToken,
    /// Takes output as it comes.
    pub output: &'a Output,
}

/// What an action came to. Text that went to [`Run::output`] stands before `text`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Done {
    /// Whether it failed.
    pub failed: bool,
    /// The result for the model.
    pub text: String,
    /// Notes for the model, outside of the length limit; without brackets.
    pub notes: Vec<String>,
    /// Facts for the window.
    pub details: ToolDetails,
}

impl Done {
    /// Returns a success with a text and a short count for the card.
    pub fn completed(text: impl Into<String>, summary: impl Into<String>) -> Self {
        let details = ToolDetails { summary: Some(summary.into()), ..ToolDetails::default() };
        Self { text: text.into(), details, ..Self::default() }
    }

    /// Returns a failure that the model reads.
    pub fn failed(text: impl Into<String>) -> Self {
        Self { failed: true, text: text.into(), ..Self::default() }
    }
}
