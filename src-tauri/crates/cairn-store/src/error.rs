//! How the store can fail, by what the caller can do about it.
//!
//! It holds no recovery; see `recover.rs`.

use std::io;
use std::path::{Path, PathBuf};

/// Why something could not be stored or read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The thing named does not exist (any more).
    #[error("there is no {what} `{id}`")]
    NotFound {
        /// What kind of thing.
        what: &'static str,
        /// Its id or path.
        id: String,
    },
    /// The request makes no sense; a defect of the caller or a bad name from outside.
    #[error("{0}")]
    Invalid(String),
    /// Another process, or another part of this one, writes this session. Read it instead.
    #[error("session `{session}` is open elsewhere")]
    Locked {
        /// The session.
        session: String,
    },
    /// The file system offers no working locks, so two writers could not be kept apart.
    #[error(
        "`{path}` is on a file system without working locks; move the data folder to a local disk"
    )]
    NoLocks {
        /// The lock file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A newer version of Cairn wrote this file; it can be read as far as it is understood, and is not changed.
    #[error("`{path}` was written by a newer version of Cairn")]
    Newer {
        /// The file.
        path: PathBuf,
    },
    /// There is no space left. Free some and try again; nothing that was stored is lost.
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
