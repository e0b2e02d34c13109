//! What the model has read, so that it can't overwrite what it never saw (Z-31).
//!
//! It holds no content, only what tells one content from another. It is not saved: after a restart the model reads again.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

#[cfg(test)]
mod tests;

/// What tells one content of a file from another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Size in bytes.
    pub bytes: u64,
    /// When it was last modified, where the file system says so.
    pub modified: Option<SystemTime>,
    /// SHA-256, hex; absent for a file that was too large to be read whole.
    pub sha256: Option<String>,
}

impl Identity {
    /// Returns whether two identities are of the same content. The hash decides where both have one: a file that was only
    /// touched has not changed.
    pub fn is_same_content(&self, other: &Self) -> bool {
        match (&self.sha256, &other.sha256) {
            (Some(own), Some(others)) => own == others,
            _ => self.bytes == other.bytes && self.modified == other.modified,
        }
    }
}

/// How the model stands to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It read or wrote it, and it is still that.
    Known,
    /// It never read it in this session.
    NeverRead,
    /// Somebody else changed it since.
    ChangedSince,
}

/// The identities of all files that the model read or wrote in one session.
#[derive(Debug, Default)]
pub struct ReadLedger {
    seen: Mutex<HashMap<PathBuf, Identity>>,
}

impl ReadLedger {
    /// Makes an empty ledger.
    pub fn new() -> Self {
        Self::default()
    }

    /// Records that the model read or wrote a file. `real` is canonical.
    pub fn record(&self, real: &Path, identity: Identity) {
        self.seen
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(real.to_path_buf(), identity);
    }

    /// Returns how the model stands to a file that is now `identity`.
    pub fn standing(&self, real: &Path, identity: &Identity) -> Standing {
        match self.seen.lock().unwrap_or_else(PoisonError::into_inner).get(real) {
            None => Standing::NeverRead,
            Some(seen) if seen.is_same_content(identity) => Standing::Known,
            Some(_) => Standing::ChangedSince,
        }
    }

    /// Forgets everything, so that the model must read again: after a rollback, or when the context was cut.
    pub fn clear(&self) {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}
