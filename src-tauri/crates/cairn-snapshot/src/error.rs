//! How this crate can fail, by what the caller can do about it.
//!
//! A capture never fails with an error: it says in its completeness what is missing (I8).

use std::io;

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The turn, restore or path is not known.
    #[error("{0} is not known to the snapshot store")]
    NotFound(String),
    /// The request makes no sense.
    #[error("{0}")]
    Invalid(String),
    /// The workspace moved on since the plan was shown: plan again.
    #[error("the files changed since the rollback was planned")]
    Stale,
    /// A turn is running in this session.
    #[error("a turn is still running")]
    TurnInProgress,
    /// Another process holds the store for longer than this one was willing to wait.
    #[error("another process is using the snapshot store")]
    Locked,
    /// The workspace folder is gone.
    #[error("the workspace folder {0} is missing or can't be read")]
    WorkspaceMissing(String),
    /// Another folder is now at the place of the workspace.
    #[error("another folder is now at {0}; nothing was touched")]
    WorkspaceReplaced(String),
    /// The disk is full.
    #[error("there is not enough disk space: {0}")]
    NoSpace(String),
    /// The store can't be read; it was or will be set aside.
    #[error("the snapshot store is damaged: {0}")]
    Damaged(String),
    /// A file could not be read or written.
    #[error("can't access {path}")]
    Io {
        /// What it concerns, as a person reads it.
        path: String,
        /// The cause.
        source: io::Error,
    },
    /// Something that only a defect of this crate explains.
    #[error("snapshot store: {0}")]
    Internal(String),
}

impl Error {
    /// Makes the error of a failed file operation; a full disk gets its own variant.
    pub(crate) fn io(path: impl Into<String>, source: io::Error) -> Self {
        let path = path.into();
        match source.raw_os_error() {
            Some(libc::ENOSPC | libc::EDQUOT) => Self::NoSpace(path),
            _ => Self::Io { path, source },
        }
    }
}

impl From<git2::Error> for Error {
    fn from(error: git2::Error) -> Self {
        Self::Damaged(error.message().to_owned())
    }
}

/// The result of this crate.
pub(crate) type Result<T> = std::result::Result<T, Error>;
