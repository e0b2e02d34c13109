//! One command: its output, its end, and how to end it (P-81 … P-84).
//!
//! A task drives it (`drive`); whoever holds a [`Running`] only reads and asks.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use cairn_protocol::TaskId;
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::process::{Ask, ExitStatus, Process};
use crate::unread::{More, Unread};

/// Time for programs to clean up between the request to end and the end (P-83).
const GRACE: Duration = Duration::from_secs(1);
/// After the process has ended, output may pause this long before reading stops (P-81).
const DRAIN: Duration = Duration::from_millis(50);
/// After the process has ended, reading stops at the latest then, whoever holds the pipe.
const DRAIN_LIMIT: Duration = Duration::from_secs(2);

/// A command that was started. Cheap to share.
#[derive(Debug)]
pub struct Running {
    id: TaskId,
    command: String,
    confined: bool,
    started: Instant,
    process: Arc<Process>,
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Debug)]
struct State {
    unread: Unread,
    /// Set when the process has ended and its output is complete.
    over: Option<ExitStatus>,
    used: Instant,
    /// Callers that wait for it right now.
    waiting: usize,
    url: Option<String>,
}

impl Running {
    pub(crate) fn new(id: TaskId, command: String, confined: bool, process: Process) -> Arc<Self> {
        let now = Instant::now();
        let state =
            State { unread: Unread::default(), over: None, used: now, waiting: 0, url: None };
        Arc::new(Self {
            id,
            command,
            confined,
            started: now,
            process: Arc::new(process),
            state: Mutex::new(state),
            changed: Notify::new(),
        })
    }

    /// Returns its name.
    pub fn id(&self) -> &TaskId {
        &self.id
    }

    /// Returns the text that was run.
    pub fn command(&self) -> &str {
        &self.command
    }

    /// Returns whether the OS confines it.
    pub fn confined(&self) -> bool {
        self.confined
    }

    /// Returns how long ago it was started.
    pub fn age(&self) -> Duration {
        self.started.elapsed()
    }

    /// Waits for output and returns all that was not returned before, standard output and error
    /// merged, whole UTF-8 characters. `None` once it is over and all was returned. Cancel safe.
    ///
    /// At most 1 MiB is kept for the next call; when the front was dropped, a line in brackets that
    /// says how many bytes stands for it (P-84).
    pub async fn next_output(&self) -> Option<Vec<u8>> {
        let _waiting = self.waiting();
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            {
                let mut state = self.lock();
                let more = if state.over.is_some() { More::No } else { More::MayCome };
                let output = state.unread.take(more);
                if output.is_some() || more == More::No {
                    return output;
                }
            }
            changed.await;
        }
    }

    /// Returns the unread output without waiting; empty when there is none.
    pub fn take_output(&self) -> Vec<u8> {
        let mut state = self.lock();
        state.used = Instant::now();
        let more = if state.over.is_some() { More::No } else { More::MayCome };
        state.unread.take(more).unwrap_or_default()
    }

    /// Waits until it has ended and its output is complete. Cancel safe.
    pub async fn wait(&self) -> ExitStatus {
        let _waiting = self.waiting();
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if let Some(status) = self.status() {
                return status;
            }
            changed.await;
        }
    }

    /// Returns how it ended, once it has and its output is complete.
    pub fn status(&self) -> Option<ExitStatus> {
        self.lock().over
    }

    /// Returns the last address on this machine that it printed, such as that of a dev server (P-88).
    pub fn local_url(&self) -> Option<String> {
        self.lock().url.clone()
    }

    /// Sends it an interrupt, as Ctrl-C does (P-82). It may go on.
    pub async fn interrupt(&self) {
        self.blocking(|process| process.interrupt()).await;
    }

    /// Ends the whole tree: asks every program, waits a second at most, then kills (P-83). Returns
    /// when it is over, at the latest after five seconds.
    pub async fn kill(&self) {
        let asked = self.blocking(|process| process.ask(Ask::Terminate)).await;
        if asked && timeout(GRACE, self.wait()).await.is_ok() {
            return;
        }
        self.kill_now().await;
    }

    /// Ends the whole tree without asking its programs.
    pub async fn kill_now(&self) {
        self.blocking(Process::kill).await;
        if timeout(GRACE / 2, self.wait()).await.is_ok() {
            return;
        }
        self.blocking(Process::kill).await;
        // It can only fail for a process of another user or one stuck in the kernel.
        _ = timeout(DRAIN_LIMIT + GRACE, self.wait()).await;
    }

    /// The same for when nothing can be awaited.
    pub(crate) fn kill_without_waiting(&self) {
        self.process.kill();
    }

    /// When it was last read from or waited for; absent while someone waits.
    pub(crate) fn idle_since(&self) -> Option<Instant> {
        let state = self.lock();
        (state.waiting == 0).then_some(state.used)
    }

    async fn blocking<T: Send + 'static>(&self, job: fn(&Process) -> T) -> T {
        let process = Arc::clone(&self.process);
        match tokio::task::spawn_blocking(move || job(&process)).await {
            Ok(result) => result,
            // The runtime is going down and takes no more work: do it here.
            Err(_) => job(&self.process),
        }
    }

    fn waiting(&self) -> Waiting<'_> {
        let mut state = self.lock();
        state.waiting += 1;
        state.used = Instant::now();
        Waiting(self)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no panic while held")
    }

    fn push(&self, bytes: &[u8]) {
        let url = local_url(bytes);
        let mut state = self.lock();
        state.unread.push(bytes);
        if url.is_some() {
            state.url = url;
        }
        drop(state);
        self.changed.notify_waiters();
    }

    /// Reads output until it is over. Ends with the process, not with the pipe: a descendant that
    /// keeps the pipe open is not waited for.
    pub(crate) async fn drive(self: Arc<Self>, mut pipe: Output) {
        let _over = Over(&self);
        let process = Arc::clone(&self.process);
        let ended = process.ended();
        tokio::pin!(ended);
        let mut buffer = vec![0; 64 * 1024];
        let mut open = true;
        let status = loop {
            tokio::select! {
                read = pipe.read(&mut buffer), if open => match read {
                    0 => open = false,
                    length => self.push(&buffer[..length]),
                },
                status = &mut ended => break status,
            }
        };
        self.blocking(Process::sweep).await;
        let deadline = Instant::now() + DRAIN_LIMIT;
        while open {
            let pause = DRAIN.min(deadline.saturating_duration_since(Instant::now()));
            match timeout(pause, pipe.read(&mut buffer)).await {
                Ok(0) | Err(_) => open = false,
                Ok(length) => self.push(&buffer[..length]),
            }
        }
        self.lock().over = Some(status);
        self.changed.notify_waiters();
    }
}

/// Marks the command as over however its driver ends, so that nobody waits for ever.
struct Over<'a>(&'a Running);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        // A poisoned state would only make a second panic of the first one.
        let mut state = self.0.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        state.over.get_or_insert(ExitStatus { code: None, signal: None });
        drop(state);
        self.0.changed.notify_waiters();
    }
}

/// Counts a caller that waits, until it is dropped.
struct Waiting<'a>(&'a Running);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.waiting -= 1;
        state.used = Instant::now();
    }
}

/// The read end of a command's pipe.
#[derive(Debug)]
pub(crate) struct Output {
    #[cfg(unix)]
    pipe: tokio::net::unix::pipe::Receiver,
    #[cfg(not(unix))]
    chunks: tokio::sync::mpsc::Receiver<Vec<u8>>,
}

impl Output {
    /// Needs the runtime.
    #[cfg(unix)]
    pub(crate) fn new(pipe: std::io::PipeReader) -> std::io::Result<Self> {
        tokio::net::unix::pipe::Receiver::from_owned_fd(pipe.into()).map(|pipe| Self { pipe })
    }

    /// Reads on a thread of its own: pipes can't be awaited here.
    #[cfg(not(unix))]
    pub(crate) fn new(mut pipe: std::io::PipeReader) -> std::io::Result<Self> {
        let (sender, chunks) = tokio::sync::mpsc::channel(4);
        std::thread::Builder::new().name("command-output".to_owned()).spawn(move || {
            let mut buffer = vec![0; 64 * 1024];
            while let Ok(length) = std::io::Read::read(&mut pipe, &mut buffer)
                && length > 0
                && sender.blocking_send(buffer[..length].to_vec()).is_ok()
            {}
        })?;
        Ok(Self { chunks })
    }

    /// Returns 0 at the end. An error counts as the end. Cancel safe.
    async fn read(&mut self, buffer: &mut [u8]) -> usize {
        #[cfg(unix)]
        return tokio::io::AsyncReadExt::read(&mut self.pipe, buffer).await.unwrap_or(0);
        #[cfg(not(unix))]
        {
            let chunk = self.chunks.recv().await.unwrap_or_default();
            buffer[..chunk.len()].copy_from_slice(&chunk);
            chunk.len()
        }
    }
}

/// Returns the last address of this machine in a piece of output.
fn local_url(bytes: &[u8]) -> Option<String> {
    // Output that floods is not searched whole; an address is printed near the end of its piece.
    let text = String::from_utf8_lossy(&bytes[bytes.len().saturating_sub(4096)..]);
    let starts = ["http://", "https://"].map(|scheme| text.rmatch_indices(scheme));
    let mut starts: Vec<(usize, &str)> = starts.into_iter().flatten().collect();
    starts.sort_unstable_by_key(|(at, _)| std::cmp::Reverse(*at));
    starts.into_iter().find_map(|(at, scheme)| {
        let host = &text[at + scheme.len()..];
        let local = ["localhost", "127.0.0.1", "0.0.0.0", "[::1]", "[::]"]
            .iter()
            .find_map(|name| host.strip_prefix(name))?;
        let ends_host = local.chars().next().is_none_or(|c| !c.is_ascii_alphanumeric() && c != '.');
        let wanted = |c: char| c.is_ascii_graphic() && !"\"'<>`(){}|\\^".contains(c);
        let end = text[at..].find(|c| !wanted(c)).map_or(text.len(), |length| at + length);
        ends_host.then(|| text[at..end].trim_end_matches(['.', ',', ';', ':']).to_owned())
    })
}

#[cfg(test)]
mod tests;
