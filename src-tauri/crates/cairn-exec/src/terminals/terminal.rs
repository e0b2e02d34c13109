//! One terminal: a PTY, the shell on it, and the threads between them and the viewer.
//!
//! Four threads, all owned and joined: one reads the PTY, one sends to the viewer, one writes input,
//! one waits for the shell's end. There is no way to await a PTY that works on every system.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use cairn_protocol::{TerminalId, TerminalSize, TerminalSummary, WorkspaceId};
use portable_pty::{MasterPty, PtyPair, PtySize};

use super::view::{Next, View};
use super::{TerminalOutput, TerminalSink};
use crate::commands::random_hex;
use crate::process::{Ask, MARKER, Process};
use crate::spawner::Spawner;
use crate::{Error, shell};

/// Input that waits for the shell; a paste of a large file fits.
const INPUT_BYTES: usize = 4 * 1024 * 1024;
/// Time for programs to clean up after the terminal was closed.
const GRACE: Duration = Duration::from_millis(300);
/// After the shell has ended, the PTY is read for so long at most, whoever holds it.
const DRAIN: Duration = Duration::from_secs(2);

/// Where a terminal belongs.
pub(super) struct Place {
    pub(super) id: TerminalId,
    pub(super) workspace: WorkspaceId,
    pub(super) order: u64,
}

/// A terminal.
pub(super) struct Terminal {
    place: Place,
    title: String,
    process: Process,
    master: Mutex<Option<Box<dyn MasterPty + Send>>>,
    state: Mutex<State>,
    changed: Condvar,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

#[derive(Default)]
struct State {
    view: View,
    /// Absent while the sending thread uses it.
    sink: Option<TerminalSink>,
    /// Counts viewers, so that one that was replaced while it was served is not put back.
    viewer: u64,
    input: VecDeque<u8>,
    closed: bool,
    over: bool,
}

impl std::fmt::Debug for Terminal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Terminal").field("id", &self.place.id).finish_non_exhaustive()
    }
}

impl Terminal {
    pub(super) fn start(
        spawner: &Spawner,
        place: Place,
        cwd: &Path,
        size: TerminalSize,
        env: &[(OsString, OsString)],
    ) -> Result<Arc<Self>, Error> {
        let program = shell::terminal_shell(env);
        let title = program.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let failed = |source| Error::Start { program: program.display().to_string(), source };
        let pty = portable_pty::native_pty_system()
            .openpty(pty_size(size))
            .map_err(|error| failed(std::io::Error::other(error)))?;
        let reader = pty.master.try_clone_reader().map_err(|e| failed(std::io::Error::other(e)))?;
        let writer = pty.master.take_writer().map_err(|e| failed(std::io::Error::other(e)))?;
        #[cfg(unix)]
        never_block(&*pty.master).map_err(failed)?;
        let process = spawn(spawner, &program, cwd, env, &pty).map_err(|error| match error {
            Spawn::Os(source) => failed(source),
            Spawn::Closed => Error::Closed,
        })?;
        // The last descriptor of the other side that we hold: the end of the shell must be seen.
        drop(pty.slave);
        let terminal = Arc::new(Self {
            place,
            title,
            process,
            master: Mutex::new(Some(pty.master)),
            state: Mutex::new(State::default()),
            changed: Condvar::new(),
            threads: Mutex::new(Vec::new()),
        });
        terminal.start_threads(reader, writer).map_err(failed)?;
        Ok(terminal)
    }

    fn start_threads(
        self: &Arc<Self>,
        reader: Box<dyn Read + Send>,
        writer: Box<dyn Write + Send>,
    ) -> std::io::Result<()> {
        let start = |name: &str, job: Box<dyn FnOnce(&Self) + Send>| {
            let terminal = Arc::clone(self);
            let thread = std::thread::Builder::new()
                .name(format!("terminal-{name}"))
                .stack_size(256 * 1024)
                .spawn(move || job(&terminal))?;
            self.threads.lock().expect("no panic while held").push(thread);
            Ok::<(), std::io::Error>(())
        };
        let started = start("read", Box::new(move |terminal| terminal.read_all(reader)))
            .and_then(|()| start("send", Box::new(Self::send_all)))
            .and_then(|()| start("write", Box::new(move |terminal| terminal.write_all(writer))))
            .and_then(|()| start("wait", Box::new(Self::wait)));
        if started.is_err() {
            self.process.kill();
            self.lock().closed = true;
            self.changed.notify_all();
            self.join();
        }
        started
    }

    pub(super) fn summary(&self) -> TerminalSummary {
        TerminalSummary {
            id: self.place.id.clone(),
            workspace_id: self.place.workspace.clone(),
            title: self.title.clone(),
            state: super::state(self.lock().view.exited()),
        }
    }

    pub(super) fn order(&self) -> u64 {
        self.place.order
    }

    pub(super) fn runs(&self) -> bool {
        self.lock().view.exited().is_none()
    }

    pub(super) fn attach(&self, sink: TerminalSink) {
        let mut state = self.lock();
        let old = state.sink.replace(sink);
        state.viewer += 1;
        state.view.attach();
        drop(state);
        self.changed.notify_all();
        drop(old);
    }

    pub(super) fn detach(&self) {
        let mut state = self.lock();
        let old = state.sink.take();
        state.viewer += 1;
        state.view.detach();
        drop(state);
        self.changed.notify_all();
        drop(old);
    }

    pub(super) fn acknowledge(&self, bytes: u64) {
        self.lock().view.acknowledge(bytes);
        self.changed.notify_all();
    }

    pub(super) fn write(&self, bytes: &[u8]) -> Result<(), Error> {
        let mut state = self.lock();
        if state.view.exited().is_some() {
            return Ok(());
        }
        if state.input.len() + bytes.len() > INPUT_BYTES {
            return Err(Error::Busy);
        }
        state.input.extend(bytes);
        drop(state);
        self.changed.notify_all();
        Ok(())
    }

    pub(super) fn resize(&self, size: TerminalSize) {
        let master = self.master.lock().expect("no panic while held");
        if let Some(master) = master.as_ref() {
            // It fails only when the PTY is gone, and then there is nothing to resize.
            _ = master.resize(pty_size(size));
        }
    }

    /// Begins the end; the waiting thread finishes it.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        let sink = state.sink.take();
        state.viewer += 1;
        state.view.detach();
        drop(state);
        self.process.ask(Ask::HangUp);
        self.changed.notify_all();
        drop(sink);
    }

    pub(super) fn is_over(&self) -> bool {
        self.lock().over
    }

    /// Waits for the threads; only after [`Self::close`].
    pub(super) fn join(&self) {
        let threads: Vec<_> = self.threads.lock().expect("no panic while held").drain(..).collect();
        for thread in threads {
            // A sink that panicked took its thread with it; the terminal is closed all the same.
            _ = thread.join();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no panic while held")
    }

    fn read_all(&self, mut reader: Box<dyn Read + Send>) {
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let mut state = self.lock();
            while !state.closed && !state.view.may_read() {
                state = self.changed.wait(state).expect("no panic while held");
            }
            drop(state);
            match reader.read(&mut buffer) {
                Ok(0) => break,
                Ok(length) => self.lock().view.read(&buffer[..length]),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                    if self.is_over() {
                        break;
                    }
                    self.until_ready(Ready::ToRead);
                    continue;
                }
                Err(_) => break,
            }
            self.changed.notify_all();
        }
        self.lock().view.end();
        self.changed.notify_all();
    }

    fn send_all(&self) {
        let mut state = self.lock();
        while !state.closed {
            let output = match state.view.next(Instant::now()) {
                Next::Send(bytes) => TerminalOutput::Bytes(bytes),
                Next::Exited(code) => TerminalOutput::Exited { code },
                Next::Wait(time) => {
                    state = self.changed.wait_timeout(state, time).expect("no panic while held").0;
                    continue;
                }
                Next::Idle => {
                    state = self.changed.wait(state).expect("no panic while held");
                    continue;
                }
            };
            let (sink, viewer) = (state.sink.take(), state.viewer);
            drop(state);
            let kept = sink.and_then(|mut sink| sink(output).then_some(sink));
            state = self.lock();
            if state.viewer == viewer {
                if kept.is_none() {
                    state.view.detach();
                }
                state.sink = kept;
            }
        }
    }

    fn write_all(&self, mut writer: Box<dyn Write + Send>) {
        loop {
            let mut state = self.lock();
            while !state.closed && state.input.is_empty() && state.view.exited().is_none() {
                state = self.changed.wait(state).expect("no panic while held");
            }
            if state.closed || state.view.exited().is_some() {
                return;
            }
            let length = state.input.len().min(4096);
            let piece: Vec<u8> = state.input.iter().take(length).copied().collect();
            drop(state);
            match writer.write(&piece) {
                Ok(written) => drop(self.lock().input.drain(..written)),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                    self.until_ready(Ready::ToWrite);
                }
                Err(_) => return,
            }
        }
    }

    /// Waits until the PTY can be read or written, or for a moment.
    ///
    /// On Unix it is never read or written blocking: the kernel does not always wake a writer when
    /// the other side is closed, and its thread could not be joined.
    #[cfg(unix)]
    #[expect(unsafe_code, reason = "poll has no safe wrapper in std")]
    fn until_ready(&self, ready: Ready) {
        let master = self.master.lock().expect("no panic while held");
        let Some(descriptor) = master.as_ref().and_then(|master| master.as_raw_fd()) else {
            return;
        };
        drop(master);
        let events = match ready {
            Ready::ToRead => libc::POLLIN,
            Ready::ToWrite => libc::POLLOUT,
        };
        let mut one = libc::pollfd { fd: descriptor, events, revents: 0 };
        // SAFETY: one descriptor in an array of one; the master keeps it open as long as `self` is.
        unsafe { libc::poll(&mut one, 1, 100) };
        if ready == Ready::ToWrite && one.revents & libc::POLLOUT == 0 && one.revents != 0 {
            // The other side is closed, which poll reports without waiting; the end is near.
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[cfg(not(unix))]
    fn until_ready(&self, _: Ready) {
        std::thread::sleep(Duration::from_millis(5));
    }

    /// Waits for the shell, ends its tree when the terminal is closed, and tells of the end.
    fn wait(&self) {
        let mut closed_at = None;
        let status = loop {
            if let Some(status) = self.process.ended_within(Duration::from_millis(100)) {
                break status;
            }
            if closed_at.is_none() && self.lock().closed {
                closed_at = Some(Instant::now());
            }
            if closed_at.is_some_and(|at| at.elapsed() >= GRACE) {
                self.process.kill();
            }
        };
        self.process.sweep();
        let mut state = self.lock();
        state.view.exit(status.code);
        drop(state);
        self.changed.notify_all();
        // A PTY of Windows never ends by itself while it is open.
        #[cfg(windows)]
        drop(self.master.lock().expect("no panic while held").take());
        let state = self.lock();
        let reads = |state: &mut State| !state.closed && !state.view.has_ended();
        let waited = self.changed.wait_timeout_while(state, DRAIN, reads);
        let mut state = waited.expect("no panic while held").0;
        state.view.end();
        state.over = true;
        drop(state);
        self.changed.notify_all();
    }
}

/// What a PTY is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ready {
    ToRead,
    ToWrite,
}

/// How starting a shell can fail.
enum Spawn {
    Os(std::io::Error),
    Closed,
}

#[cfg(unix)]
fn spawn(
    spawner: &Spawner,
    program: &Path,
    cwd: &Path,
    env: &[(OsString, OsString)],
    pty: &PtyPair,
) -> Result<Process, Spawn> {
    use std::os::unix::fs::OpenOptionsExt;
    use std::os::unix::process::CommandExt;

    let name = pty.master.tty_name();
    let name = name.ok_or_else(|| Spawn::Os(std::io::Error::other("the terminal has no name")))?;
    let mut options = std::fs::OpenOptions::new();
    let tty = options.read(true).write(true).custom_flags(libc::O_NOCTTY).open(name);
    let tty = tty.map_err(Spawn::Os)?;
    let marker = random_hex();
    let mut login = OsString::from("-");
    login.push(program.file_name().unwrap_or_default());
    let mut command = std::process::Command::new(program);
    command
        .arg0(login)
        .env_clear()
        .envs(env.iter().map(|(name, value)| (name, value)))
        .env("TERM", "xterm-256color")
        .env("COLORTERM", "truecolor")
        .env(MARKER, &marker)
        .current_dir(cwd)
        .stdin(tty.try_clone().map_err(Spawn::Os)?)
        .stdout(tty.try_clone().map_err(Spawn::Os)?)
        .stderr(tty);
    let tree = cairn_sandbox::guard(&mut command, cairn_sandbox::Terminal::Controlling);
    let spawned = spawner
        .run_blocking(move || command.spawn().map(|child| Process::new(child, tree, Some(marker))));
    spawned.map_err(|_| Spawn::Closed)?.map_err(Spawn::Os)
}

#[cfg(windows)]
fn spawn(
    _: &Spawner,
    program: &Path,
    cwd: &Path,
    env: &[(OsString, OsString)],
    pty: &PtyPair,
) -> Result<Process, Spawn> {
    let mut command = portable_pty::CommandBuilder::new(program);
    command.env_clear();
    for (name, value) in env {
        command.env(name, value);
    }
    command.env("TERM", "xterm-256color");
    command.env("COLORTERM", "truecolor");
    command.cwd(cwd);
    let child = pty.slave.spawn_command(command);
    child.map(Process::on_pty).map_err(|error| Spawn::Os(std::io::Error::other(error)))
}

/// Makes reads and writes of a PTY return at once.
#[cfg(unix)]
#[expect(unsafe_code, reason = "fcntl has no safe wrapper in std")]
fn never_block(master: &dyn MasterPty) -> std::io::Result<()> {
    let descriptor = master.as_raw_fd().ok_or_else(|| std::io::Error::other("no descriptor"))?;
    // SAFETY: changes a flag of a descriptor that `master` keeps open.
    unsafe {
        let flags = libc::fcntl(descriptor, libc::F_GETFL);
        if flags == -1 || libc::fcntl(descriptor, libc::F_SETFL, flags | libc::O_NONBLOCK) == -1 {
            return Err(std::io::Error::last_os_error());
        }
    }
    Ok(())
}

fn pty_size(size: TerminalSize) -> PtySize {
    PtySize {
        rows: size.rows.clamp(1, 1000),
        cols: size.cols.clamp(1, 1000),
        pixel_width: 0,
        pixel_height: 0,
    }
}
