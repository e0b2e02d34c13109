//! What goes to the terminal. Text of the model and of files is made visible first when it goes to a
//! person's screen: no escape sequence passes.

use std::io::Write;

use cairn_protocol::ToolCall;
use serde::Serialize;

use crate::Failure;

/// The most that a line shows of the arguments of a call, in characters.
const MAX_ARGUMENTS: usize = 500;

/// Prints an error, one line, to standard error.
pub(crate) fn error(text: &str) {
    // A closed standard error leaves nowhere to say so.
    let _closed = writeln!(std::io::stderr(), "cairn: {text}");
}

/// Prints a note beside the output proper.
pub(crate) fn note(text: &str) {
    let _closed = writeln!(std::io::stderr(), "{text}");
}

/// Prints a line of output. A closed pipe ends the command quietly, as other programs do.
pub(crate) fn line(text: &str) -> Result<(), Failure> {
    write(text.as_bytes(), b"\n")
}

/// Prints text without a line end.
pub(crate) fn text(text: &str) -> Result<(), Failure> {
    write(text.as_bytes(), b"")
}

/// Prints a value as one line of JSON.
pub(crate) fn json<T: Serialize>(value: &T) -> Result<(), Failure> {
    let bytes = serde_json::to_vec(value).map_err(|error| {
        Failure::Engine(cairn_protocol::ErrorInfo::new(
            cairn_protocol::ErrorCode::Internal,
            format!("a value could not be printed: {error}"),
        ))
    })?;
    write(&bytes, b"\n")
}

fn write(bytes: &[u8], end: &[u8]) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    let written = out.write_all(bytes).and_then(|()| out.write_all(end)).and_then(|()| out.flush());
    written.map_err(|error| {
        let text = format!("standard output can't be written: {error}");
        Failure::Engine(cairn_protocol::ErrorInfo::new(cairn_protocol::ErrorCode::Io, text))
    })
}

/// Returns text that can't steer the terminal: line ends and tabs stay, other control characters show.
pub(crate) fn safe(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for (index, line) in text.split('\n').enumerate() {
        if index > 0 {
            safe.push('\n');
        }
        for (index, cell) in line.split('\t').enumerate() {
            if index > 0 {
                safe.push('\t');
            }
            safe.push_str(&cairn_engine::visible(cell));
        }
    }
    safe
}

/// Returns a call in one line: its tool and the beginning of its arguments.
pub(crate) fn call(call: &ToolCall) -> String {
    let arguments = &call.arguments;
    let end = arguments.char_indices().nth(MAX_ARGUMENTS).map_or(arguments.len(), |(end, _)| end);
    let more = if end < arguments.len() { "…" } else { "" };
    let shown = cairn_engine::visible(&arguments[..end]);
    format!("> {} {shown}{more}", cairn_engine::visible(&call.name))
}
