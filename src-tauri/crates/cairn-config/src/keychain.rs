//! The keychain of the OS, on a thread of its own and with a time limit.
//!
//! A locked keychain waits for the user and may wait for ever, and its Linux client must not run on a thread of an
//! async runtime. So nobody but the one thread here ever calls it, and nobody waits for that thread without a limit.
//! A process that ends does not wait for it either. What is stored is decided in `secrets.rs`.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use cairn_protocol::Secret;

/// The name under which the keychain lists our one item.
const SERVICE: &str = "Cairn";

/// A probe must not hold up the first window.
const PROBE_LIMIT: Duration = Duration::from_secs(2);

/// Reading and writing may raise the keychain's own password dialog; so long a user has to answer.
const ACCESS_LIMIT: Duration = Duration::from_secs(20);

/// One text in a keychain. An error is a reason for people; it never holds the text.
pub(crate) trait Keychain: Send + Sync {
    /// Says whether the keychain answers, without asking the user anything.
    fn probe(&self) -> Result<(), String>;
    /// Reads the text, if there is one.
    fn get(&self) -> Result<Option<Secret>, String>;
    /// Stores the text.
    fn set(&self, text: Secret) -> Result<(), String>;
    /// Removes the text, if there is one.
    fn clear(&self) -> Result<(), String>;
}

/// The keychain of this machine. One item a data root holds all keys, because some keychains ask the user once an item.
pub(crate) struct OsKeychain {
    account: String,
    worker: Worker,
}

impl OsKeychain {
    /// Names the item of a data root; does not touch the keychain.
    pub(crate) fn new(root: &Path) -> Self {
        let account = format!("provider keys of {}", root.display());
        Self { account, worker: Worker::default() }
    }

    fn access<T: Send + 'static>(
        &self,
        act: impl FnOnce(&keyring::v1::Entry) -> keyring::v1::Result<T> + Send + 'static,
    ) -> Result<T, String> {
        let account = self.account.clone();
        self.worker.run(ACCESS_LIMIT, move || {
            keyring::v1::Entry::store_status().as_ref().map_err(describe)?;
            let entry = keyring::v1::Entry::new(SERVICE, &account).map_err(|e| describe(&e))?;
            act(&entry).map_err(|error| describe(&error))
        })
    }
}

impl Keychain for OsKeychain {
    fn probe(&self) -> Result<(), String> {
        self.worker.run(PROBE_LIMIT, || {
            keyring::v1::Entry::store_status().as_ref().map(|_| ()).map_err(describe)
        })
    }

    fn get(&self) -> Result<Option<Secret>, String> {
        let found = self.access(|entry| match entry.get_secret() {
            Ok(bytes) => Ok(Some(bytes)),
            Err(keyring::v1::Error::NoEntry) => Ok(None),
            Err(error) => Err(error),
        })?;
        let text = |bytes| String::from_utf8(bytes).map(Secret::new);
        found.map(text).transpose().map_err(|_| "its item is not text".to_owned())
    }

    fn set(&self, text: Secret) -> Result<(), String> {
        self.access(move |entry| entry.set_secret(text.expose().as_bytes()))
    }

    fn clear(&self) -> Result<(), String> {
        self.access(|entry| match entry.delete_credential() {
            Err(keyring::v1::Error::NoEntry) => Ok(()),
            result => result,
        })
    }
}

/// Says what failed and, where nothing answers, what to do.
fn describe(error: &keyring::v1::Error) -> String {
    use keyring::v1::Error;
    let cause = std::error::Error::source(error).map(|cause| format!(" ({cause})"));
    let cause = cause.unwrap_or_default();
    match error {
        Error::NoStorageAccess(_) => {
            format!("it is locked, or access was refused{cause}; unlock it and try again")
        }
        Error::TooLong(..) => "the keys of all providers together are too long for it".to_owned(),
        Error::PlatformFailure(_) | Error::NoDefaultStore if cfg!(target_os = "linux") => format!(
            "no secret service answers on this session's bus{cause}; install and start GNOME Keyring, KWallet or \
             KeePassXC, then start Cairn again"
        ),
        // Other variants may carry the stored bytes; their `Display` does not show them.
        other => format!("{other}{cause}"),
    }
}

type Job = Box<dyn FnOnce() + Send>;

/// The thread, started when it is first needed.
#[derive(Default)]
struct Worker {
    running: Mutex<Option<Thread>>,
}

struct Thread {
    jobs: mpsc::Sender<Job>,
    handle: JoinHandle<()>,
    /// Acts that it has not ended yet.
    open: Arc<AtomicUsize>,
}

impl Drop for Worker {
    fn drop(&mut self) {
        let running = self.running.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        let Some(Thread { jobs, handle, open }) = running else { return };
        drop(jobs);
        // One that hangs in the system's client can't be ended; it must not keep the app from ending.
        if open.load(Ordering::Acquire) == 0 || handle.is_finished() {
            // A panic of an act was told to whoever waited for it.
            let _ended = handle.join();
        }
    }
}

impl Worker {
    /// Runs an act on the thread and waits at most so long. An act that has not begun by then never will.
    fn run<T: Send + 'static>(
        &self,
        limit: Duration,
        act: impl FnOnce() -> Result<T, String> + Send + 'static,
    ) -> Result<T, String> {
        let (answer, answered) = mpsc::sync_channel(1);
        let given_up = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&given_up);
        self.send(Box::new(move || {
            if !seen.load(Ordering::Acquire) {
                // Nobody listens any more when the limit is over.
                let _ = answer.send(act());
            }
        }))?;
        match answered.recv_timeout(limit) {
            Ok(result) => result,
            Err(mpsc::RecvTimeoutError::Timeout) => {
                given_up.store(true, Ordering::Release);
                Err(format!(
                    "it did not answer in {} seconds; it may be locked and waiting for its password",
                    limit.as_secs()
                ))
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => Err("its client failed".to_owned()),
        }
    }

    fn send(&self, mut job: Job) -> Result<(), String> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(thread) = running.as_ref() {
            thread.open.fetch_add(1, Ordering::AcqRel);
            match thread.jobs.send(job) {
                Ok(()) => return Ok(()),
                // A panic inside the client ended the thread; this act gets a new one.
                Err(mpsc::SendError(back)) => job = back,
            }
        }
        if let Some(ended) = running.take() {
            // Its panic was told to whoever waited for that act.
            let _panicked = ended.handle.join();
        }
        let (jobs, receiver) = mpsc::channel::<Job>();
        let open = Arc::new(AtomicUsize::new(1));
        let count = Arc::clone(&open);
        let handle = thread::Builder::new()
            .name("cairn-keychain".to_owned())
            .spawn(move || {
                for job in receiver {
                    job();
                    count.fetch_sub(1, Ordering::AcqRel);
                }
            })
            .map_err(|error| format!("no thread for it could be started ({error})"))?;
        let sent = jobs.send(job).map_err(|_| "its thread ended".to_owned());
        *running = Some(Thread { jobs, handle, open });
        sent
    }
}

#[cfg(test)]
mod tests;
