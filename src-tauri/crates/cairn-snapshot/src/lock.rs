//! One writer per store: an OS lock on a file in it, released by the kernel when its process ends.
//!
//! A left-over lock file means nothing, so there is nothing to break.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};

use crate::error::{Error, Result};

/// How long a writer waits for another process before it gives up and says so.
const PATIENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(10);

/// The lock; it is held until this is dropped.
#[derive(Debug)]
pub(crate) struct StoreLock {
    _file: Flock<File>,
}

/// Takes the lock of a store folder.
pub(crate) fn take(store: &Path) -> Result<StoreLock> {
    let path = store.join("lock");
    let started = Instant::now();
    loop {
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .open(&path)
            .map_err(|error| Error::io("the snapshot store", error))?;
        match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(file) => return Ok(StoreLock { _file: file }),
            Err((_, Errno::EWOULDBLOCK | Errno::EINTR)) if started.elapsed() < PATIENCE => {
                std::thread::sleep(PAUSE);
            }
            Err((_, Errno::EWOULDBLOCK | Errno::EINTR)) => return Err(Error::Locked),
            Err((_, error)) => return Err(Error::io("the snapshot store", error.into())),
        }
    }
}
