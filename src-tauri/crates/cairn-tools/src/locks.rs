//! One edit at a time on a file (G-9): a lock for each real path, made when needed and gone when free.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::OwnedMutexGuard;

/// The locks of one session, or of all sessions that share a workspace.
#[derive(Debug, Default)]
pub struct PathLocks {
    locks: Mutex<HashMap<PathBuf, Arc<tokio::sync::Mutex<()>>>>,
}

/// A held lock; free when dropped.
#[derive(Debug)]
pub struct PathLock {
    _held: OwnedMutexGuard<()>,
}

impl PathLocks {
    /// Makes a set of no locks.
    pub fn new() -> Self {
        Self::default()
    }

    /// Waits until nobody else holds the lock of `real`, in order of asking.
    pub async fn lock(&self, real: &Path) -> PathLock {
        let lock = {
            let mut locks = self.locks.lock().unwrap_or_else(PoisonError::into_inner);
            locks.retain(|_, lock| Arc::strong_count(lock) > 1);
            locks.entry(real.to_path_buf()).or_default().clone()
        };
        PathLock { _held: lock.lock_owned().await }
    }
}
