//! How configuration can fail, by what the caller can do about it.
//!
//! No message ever holds a secret.

use std::io;
use std::path::{Path, PathBuf};

/// Why something could not be read or stored.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The values make no sense; the text says which and why.
    #[error("{0}")]
    Invalid(String),
    /// There is no provider of this name.
    #[error("there is no provider `{0}`")]
    UnknownProvider(String),
    /// The key of this provider is not there; it must be entered again.
    #[error("the key of `{provider}` is missing: {reason}")]
    KeyMissing {
        /// The provider.
        provider: String,
        /// Why, and what to do.
        reason: String,
    },
    /// The keychain of the OS did not do what was asked.
    #[error("the keychain failed: {reason}")]
    Keychain {
        /// What it said.
        reason: String,
    },
    /// The file can't be understood, and acting without it would not be safe.
    #[error("`{path}` is damaged: {reason}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong in it.
        reason: String,
    },
    /// The disk is full; nothing that was stored is lost.
    #[error("the disk is full: cannot {act} `{path}`")]
    Full {
        /// What was tried.
        act: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The place may not be written.
    #[error("cannot {act} `{path}`: the place may not be written")]
    ReadOnly {
        /// What was tried.
        act: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The system failed in another way.
    #[error("cannot {act} `{path}`")]
    Io {
        /// What was tried.
        act: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl Error {
    /// Returns a conversion of the system's error that knows what was tried with which file.
    pub(crate) fn io(act: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                Self::Full { act, path, source }
            }
            io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => {
                Self::ReadOnly { act, path, source }
            }
            _ => Self::Io { act, path, source },
        }
    }

    /// Returns the message with its cause, in one line.
    pub fn full_text(&self) -> String {
        match std::error::Error::source(self) {
            Some(source) => format!("{self} ({source})"),
            None => self.to_string(),
        }
    }
}
