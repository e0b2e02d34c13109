//! Knows the ways in which providers say that a conversation is too long.
//!
//! The caller has ruled out throttling before, whose texts look alike.

use super::ErrorBody;

const CODES: [&str; 4] = [
    "context_length_exceeded",
    "exceed_context_size_error",
    "request_too_large",
    "model_context_window_exceeded",
];

const SIGNS: [&str; 17] = [
    "exceeds the context window",
    "prompt is too long",
    "exceed context limit",
    "exceeds the maximum number of tokens allowed",
    "input is too long for requested model",
    "maximum prompt length is",
    "reduce the length of the messages",
    "maximum context length",
    "requested token count exceeds",
    "longer than the model's context length",
    "range of input length should be",
    "exceeded model token limit",
    "context window exceeds limit",
    "prompt token count of",
    "exceeds the available context size",
    "greater than the context length",
    "reached context length of",
];

/// Returns whether a failure says that the conversation is too long. `text` is in lower case.
pub(super) fn is_overflow(status: Option<u16>, text: &str, body: &ErrorBody) -> bool {
    body.has_code(&CODES)
        || SIGNS.iter().any(|sign| text.contains(sign))
        // Cerebras and Mistral answer with nothing but the status.
        || (status == Some(413) && body.message.is_empty())
}
