//! The one shape in which an error crosses a boundary.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// What went wrong, for a person and for a program. The window decides by `code`, never by text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS, thiserror::Error)]
#[serde(rename_all = "camelCase")]
#[error("{message}")]
pub struct ErrorInfo {
    /// What a caller can act on.
    pub code: ErrorCode,
    /// What happened, why, and what to do, in one or two sentences.
    pub message: String,
}

/// The cases that a caller can act on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// The thing named does not exist (any more).
    NotFound,
    /// The parameters make no sense.
    Invalid,
    /// A turn is running in this session, and the act needs an idle one (P-46).
    TurnInProgress,
    /// Nothing is running, and the act needs a running turn.
    NotRunning,
    /// The approval or question was answered already, or has ended.
    NotPending,
    /// The state that was shown has changed since; look again.
    Stale,
    /// The user said no in a native dialog.
    Declined,
    /// No model is set up, or its key is missing.
    NoModel,
    /// The provider refused the key.
    Auth,
    /// A file, folder or store could not be read or written.
    Io,
    /// The workspace folder is gone or can't be read.
    WorkspaceMissing,
    /// Another process owns the data.
    Locked,
    /// The machine lacks something that the act needs.
    Unsupported,
    /// A defect of Cairn.
    Internal,
}

impl ErrorInfo {
    /// Makes an error of a code and a message.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}
