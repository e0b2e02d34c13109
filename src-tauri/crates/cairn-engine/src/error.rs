//! Turns the errors of the crates below into what a person reads and a caller acts on.

use cairn_protocol::{ErrorCode, ErrorInfo};

/// What every fallible call of this crate returns.
pub(crate) type Result<T> = std::result::Result<T, ErrorInfo>;

pub(crate) fn invalid(message: impl Into<String>) -> ErrorInfo {
    ErrorInfo::new(ErrorCode::Invalid, message)
}

pub(crate) fn not_found(what: &str, id: &str) -> ErrorInfo {
    ErrorInfo::new(
        ErrorCode::NotFound,
        format!("There is no {what} {id}. It may have been deleted."),
    )
}

pub(crate) fn internal(message: impl Into<String>) -> ErrorInfo {
    ErrorInfo::new(ErrorCode::Internal, message)
}

/// The session's own task has ended; every call to it fails the same way.
pub(crate) fn closed() -> ErrorInfo {
    ErrorInfo::new(ErrorCode::NotFound, "This session was closed. Open it again.")
}

/// Joins an error and its causes, each once.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let more = cause.to_string();
        if !text.contains(&more) {
            text.push_str(": ");
            text.push_str(&more);
        }
        source = cause.source();
    }
    text
}
