//! The transcript of a broken-off turn as one block, so that the model knows what it had begun
//! (P-40, P-43). The engine decides what goes in; this writes it.

use std::fmt::Write as _;

use super::{Tag, leading_block, write_block};
use crate::{ModelMsg, Role, StopReason};

/// Collects what happened in a turn and writes it as a `turn_aborted` or `turn_retried` block.
///
/// Every line of the body is indented by two spaces, also the further lines of a text, so that
/// nothing that was said can close the block.
#[derive(Debug, Clone, Default)]
pub struct Transcript {
    body: String,
}

impl Transcript {
    /// Returns an empty transcript.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns whether nothing was added.
    pub fn is_empty(&self) -> bool {
        self.body.is_empty()
    }

    /// Adds a message. A user text that begins with such a block is unwrapped, so that the nesting
    /// never grows. Parts, images and empty texts add nothing: images are attached again after
    /// the block.
    pub fn push(&mut self, message: &ModelMsg) {
        match message {
            ModelMsg::Text(text) if text.role == Role::User => self.user_input(&text.text),
            ModelMsg::Text(text) => self.element("text", "", &text.text),
            ModelMsg::Thinking(thinking) => self.element("thinking", "", &thinking.thinking),
            ModelMsg::ToolCall(call) => {
                let name = attribute(&call.name);
                let id = attribute(call.tool_call_id.as_str());
                self.force("tool_call", &format!(" name=\"{name}\" id=\"{id}\""), &call.arguments);
            }
            ModelMsg::ToolCallOutput(output) => {
                let id = attribute(output.tool_call_id.as_str());
                let status = status(output.stop_reason);
                self.force(
                    "tool_call_output",
                    &format!(" id=\"{id}\" status=\"{status}\""),
                    &output.output,
                );
            }
            _ => {}
        }
    }

    /// Writes the block. The tag is `TurnAborted` or `TurnRetried`.
    pub fn finish(self, tag: Tag) -> String {
        write_block(tag, self.body.trim_end_matches('\n'))
    }

    fn user_input(&mut self, text: &str) {
        match leading_block(text) {
            Some(block) if matches!(block.tag, Tag::TurnAborted | Tag::TurnRetried) => {
                if !block.body.trim().is_empty() {
                    self.body.push_str(block.body);
                    self.body.push('\n');
                }
                self.user_input(block.after);
            }
            _ => self.element("user_input", "", text),
        }
    }

    fn element(&mut self, tag: &str, attributes: &str, text: &str) {
        if !text.trim().is_empty() {
            self.force(tag, attributes, text);
        }
    }

    fn force(&mut self, tag: &str, attributes: &str, text: &str) {
        let text = text.replace('\n', "\n  ");
        // Writing to a string can't fail.
        let _ = writeln!(self.body, "  [{tag}{attributes}]{text}[/{tag}]");
    }
}

impl<'a> Extend<&'a ModelMsg> for Transcript {
    fn extend<T: IntoIterator<Item = &'a ModelMsg>>(&mut self, messages: T) {
        for message in messages {
            self.push(message);
        }
    }
}

/// Takes out what would end an attribute or its line.
fn attribute(text: &str) -> String {
    let safe = |c: char| if c == '"' || c == ']' || c.is_control() { '_' } else { c };
    text.chars().map(safe).collect()
}

fn status(stop_reason: Option<StopReason>) -> &'static str {
    match stop_reason {
        Some(StopReason::Completed) => "completed",
        Some(StopReason::Failed) => "failed",
        Some(StopReason::Timeout) => "timeout",
        Some(StopReason::Malformed) => "malformed",
        Some(StopReason::Auth) => "auth",
        Some(StopReason::Aborted) | None => "aborted",
    }
}
