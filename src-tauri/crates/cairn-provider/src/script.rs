//! The scripted provider: plays answers from a file, without a model and without a network.
//!
//! The guided tour, tests and benches use it; the window says that it is a script. It looks at
//! nothing that the user wrote.
//!
//! # Format
//! One JSON object a line. Blank lines and lines that begin with `#` are skipped. A script is a
//! list of responses: the k-th model request of a session gets the k-th response, and after the
//! last one a text says that the script is over. A session that is opened again goes on where its
//! history ends.
//!
//! | field | meaning |
//! |---|---|
//! | `"think": "…"` | reasoning |
//! | `"say": "…"` | answer text |
//! | `"tool": {"name": "…", "arguments": {…}, "id": "…"}` | a tool call; `arguments` may be a text, to send broken JSON; `id` may be left out |
//! | `"chunk": n` | characters a delta; without it each piece is one delta |
//! | `"repeat": n` | the `think` or `say` of this line n times |
//! | `"delay_ms": n` | wait before each delta of this line; with nothing else, one wait |
//! | `"usage": {"cache_read": n, "cache_write": n, "output": n}` | tokens; estimated without it |
//! | `"error": {"status": "…", "message": "…", "permanent": bool, "retry_after_ms": n}` | the response ends like this; `status` is `failed`, `timeout`, `malformed` or `auth` |
//! | `"cut": true` | the response ends at the output limit |
//! | `"hang": true` | silence until the idle timeout or a stop |
//! | `"end": true` | the response is over |
//!
//! A line with several fields is played in the order think, say, tool, hang, error, cut, end. The
//! last response needs no `end`.
//!
//! ```json
//! {"think": "I look around first.", "chunk": 4, "delay_ms": 20}
//! {"tool": {"name": "list_files", "arguments": {"path": "."}}, "end": true}
//! {"say": "There are three files.", "usage": {"cache_write": 900, "output": 12}, "end": true}
//! ```

mod play;

use cairn_protocol::StopReason;
use serde::Deserialize;
use serde_json::Value;

pub use play::ScriptProvider;

/// A line of a script makes no sense.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("line {line} of the script: {reason}")]
pub struct ScriptError {
    /// Counted from 1.
    pub line: usize,
    /// Why.
    pub reason: String,
}

/// A list of responses.
#[derive(Debug, Clone, PartialEq)]
pub struct Script {
    responses: Vec<Vec<Step>>,
}

/// One line.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Step {
    think: Option<String>,
    say: Option<String>,
    tool: Option<ScriptCall>,
    chunk: Option<usize>,
    repeat: Option<u32>,
    delay_ms: u64,
    usage: Option<ScriptUsage>,
    error: Option<ScriptFailure>,
    cut: bool,
    hang: bool,
    end: bool,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptCall {
    name: String,
    #[serde(default)]
    arguments: Value,
    #[serde(default)]
    id: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptUsage {
    #[serde(default)]
    cache_read: u64,
    #[serde(default)]
    cache_write: u64,
    #[serde(default)]
    output: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptFailure {
    status: StopReason,
    #[serde(default)]
    message: Option<String>,
    #[serde(default)]
    permanent: bool,
    #[serde(default)]
    retry_after_ms: Option<u64>,
}

impl Script {
    /// Reads a script.
    ///
    /// # Errors
    /// The first line that is not an object of the format.
    pub fn parse(text: &str) -> Result<Self, ScriptError> {
        let mut responses = vec![Vec::new()];
        for (at, line) in text.lines().enumerate() {
            let line_text = line.trim().trim_start_matches('\u{feff}');
            if line_text.is_empty() || line_text.starts_with('#') {
                continue;
            }
            let wrong = |reason: String| ScriptError { line: at + 1, reason };
            let step: Step =
                serde_json::from_str(line_text).map_err(|error| wrong(error.to_string()))?;
            step.check().map_err(wrong)?;
            let ends = step.end || step.error.is_some() || step.cut;
            if let Some(response) = responses.last_mut() {
                response.push(step);
            }
            if ends {
                responses.push(Vec::new());
            }
        }
        if responses.last().is_some_and(Vec::is_empty) {
            responses.pop();
        }
        Ok(Self { responses })
    }

    /// Returns how many responses the script has.
    pub fn len(&self) -> usize {
        self.responses.len()
    }

    /// Returns whether the script has no response at all.
    pub fn is_empty(&self) -> bool {
        self.responses.is_empty()
    }
}

impl Step {
    fn check(&self) -> Result<(), String> {
        if self.chunk == Some(0) {
            return Err("`chunk` must be at least 1".to_owned());
        }
        if self.tool.as_ref().is_some_and(|tool| tool.name.is_empty()) {
            return Err("`tool` needs a `name`".to_owned());
        }
        if let Some(error) = &self.error
            && matches!(error.status, StopReason::Completed | StopReason::Aborted)
        {
            return Err("an `error` can't have the status `completed` or `aborted`".to_owned());
        }
        Ok(())
    }
}

impl ScriptCall {
    fn arguments_json(&self) -> String {
        match &self.arguments {
            Value::String(text) => text.clone(),
            Value::Null => "{}".to_owned(),
            value => value.to_string(),
        }
    }
}

#[cfg(test)]
mod tests;
