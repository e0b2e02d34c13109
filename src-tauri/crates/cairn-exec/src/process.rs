//! A spawned process and how its whole tree is ended (security plan 4.6).
//!
//! Signals go out only while the process is not reaped, under the same lock that reaps it, so that a
//! number that the OS has given to someone else is never signalled. Walking `/proc` is in
//! `process/tree.rs`.

#[cfg(target_os = "linux")]
mod tree;

use std::process::Child;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use cairn_sandbox::Tree;

use crate::spawner;

/// Set in the environment of unconfined processes; the last net when a tree is ended.
pub(crate) const MARKER: &str = "CAIRN_TREE";

/// How a process ended. One of the two is set; neither when its end was not seen.
///
/// A confined program that died by a signal shows as the code 128 + signal, as in a shell, because
/// bubblewrap passes it on so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ExitStatus {
    /// Its exit code.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
}

impl From<std::process::ExitStatus> for ExitStatus {
    fn from(status: std::process::ExitStatus) -> Self {
        #[cfg(unix)]
        let signal = std::os::unix::process::ExitStatusExt::signal(&status);
        #[cfg(not(unix))]
        let signal = None;
        Self { code: status.code(), signal }
    }
}

/// A signal to a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ask {
    /// Please end; programs may clean up.
    Terminate,
    /// Your terminal is gone.
    HangUp,
}

/// A spawned process with the tree below it. Dropping it ends the tree.
#[derive(Debug)]
pub(crate) struct Process {
    child: Mutex<Option<Held>>,
    pid: u32,
    tree: Tree,
    /// The value of [`MARKER`] in its environment, when it has one.
    marker: Option<String>,
}

/// The handle of a process that is not reaped.
#[derive(Debug)]
enum Held {
    Child(Child),
    #[cfg(windows)]
    OnPty(Box<dyn portable_pty::Child + Send + Sync>),
}

impl Held {
    fn try_wait(&mut self) -> std::io::Result<Option<ExitStatus>> {
        match self {
            Self::Child(child) => Ok(child.try_wait()?.map(ExitStatus::from)),
            #[cfg(windows)]
            Self::OnPty(child) => {
                let code = |status: portable_pty::ExitStatus| status.exit_code().cast_signed();
                let status = |code| ExitStatus { code: Some(code), signal: None };
                Ok(child.try_wait()?.map(code).map(status))
            }
        }
    }
}

impl Process {
    pub(crate) fn new(child: Child, tree: Tree, marker: Option<String>) -> Self {
        Self { pid: child.id(), child: Mutex::new(Some(Held::Child(child))), tree, marker }
    }

    /// Wraps the shell on a pseudo console, which only `portable-pty` can start.
    #[cfg(windows)]
    pub(crate) fn on_pty(child: Box<dyn portable_pty::Child + Send + Sync>) -> Self {
        let pid = child.process_id().unwrap_or_default();
        Self { pid, child: Mutex::new(Some(Held::OnPty(child))), tree: Tree::Group, marker: None }
    }

    /// Waits until the process has ended and reaps it. One caller only.
    pub(crate) async fn ended(&self) -> ExitStatus {
        #[cfg(target_os = "linux")]
        if let Some(handle) = tree::handle(self.pid) {
            tree::ended(handle).await;
        }
        loop {
            if let Some(status) = self.reap() {
                return status;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// The same, blocking, for at most `limit`.
    pub(crate) fn ended_within(&self, limit: Duration) -> Option<ExitStatus> {
        let deadline = Instant::now() + limit;
        loop {
            let status = self.reap();
            let left = deadline.saturating_duration_since(Instant::now());
            if status.is_some() || left.is_zero() {
                return status;
            }
            #[cfg(target_os = "linux")]
            if let Some(handle) = tree::handle(self.pid) {
                tree::wait(&handle, left);
                continue;
            }
            std::thread::sleep(left.min(Duration::from_millis(20)));
        }
    }

    fn reap(&self) -> Option<ExitStatus> {
        let mut child = self.child.lock().expect("no panic while held");
        let status = match child.as_mut() {
            // Reaped before, by `drop`'s only predecessor; there is nothing to wait for.
            None => return Some(ExitStatus::default()),
            Some(running) => running.try_wait(),
        };
        match status {
            Ok(None) => None,
            Ok(Some(status)) => {
                *child = None;
                Some(status)
            }
            // Someone else reaped it: the status is lost, the process is not there.
            Err(_) => {
                *child = None;
                Some(ExitStatus::default())
            }
        }
    }

    /// Runs `action` while the process can't be reaped; not at all when it was.
    fn while_alive<T>(&self, action: impl FnOnce() -> T) -> Option<T> {
        let child = self.child.lock().expect("no panic while held");
        child.is_some().then(action)
    }

    /// Signals every program of the tree, so that it may end by itself. Returns whether there was one.
    pub(crate) fn ask(&self, ask: Ask) -> bool {
        self.while_alive(|| self.ask_programs(ask)).unwrap_or(false)
    }

    /// Sends an interrupt to the program's process group, as Ctrl-C in a terminal does.
    pub(crate) fn interrupt(&self) {
        self.while_alive(|| self.interrupt_group());
    }

    /// Ends the tree at once. When it is not over soon after, a second call ends what stands before it.
    pub(crate) fn kill(&self) {
        self.while_alive(|| self.kill_tree());
    }
}

#[cfg(target_os = "linux")]
impl Process {
    fn ask_programs(&self, ask: Ask) -> bool {
        let signal = match ask {
            Ask::Terminate => libc::SIGTERM,
            Ask::HangUp => libc::SIGHUP,
        };
        let below = tree::below(self.pid);
        // bubblewrap and the first process of the namespace are no programs, and they end all.
        let programs = below.iter().filter(|p| self.tree != Tree::Namespace || p.generation > 2);
        programs.filter(|program| program.signal(signal)).count() > 0
    }

    fn interrupt_group(&self) {
        // In a namespace the group of the program is led by the first process there.
        let leads = if self.tree == Tree::Namespace { 2 } else { 1 };
        for leader in tree::below(self.pid).iter().filter(|p| p.generation == leads) {
            leader.signal_group(libc::SIGINT);
        }
    }

    fn kill_tree(&self) {
        match self.tree {
            // The guard kills all below it; it must not die before.
            Tree::Guarded | Tree::Namespace => tree::signal(self.pid, libc::SIGTERM),
            Tree::Group => tree::signal(self.pid, libc::SIGKILL),
        }
    }

    /// Kills what carries this tree's mark and is still there: what was left when the guard itself
    /// was killed. Blocking, some milliseconds.
    pub(crate) fn sweep(&self) {
        if let Some(marker) = &self.marker {
            tree::sweep(&format!("{MARKER}={marker}"));
        }
    }
}

#[cfg(all(unix, not(target_os = "linux")))]
#[expect(unsafe_code, reason = "kill has no safe wrapper in std")]
impl Process {
    fn ask_programs(&self, ask: Ask) -> bool {
        let signal = match ask {
            Ask::Terminate => libc::SIGTERM,
            Ask::HangUp => libc::SIGHUP,
        };
        // SAFETY: the group is led by a child that is not reaped.
        unsafe { libc::kill(-self.pid.cast_signed(), signal) == 0 }
    }

    fn interrupt_group(&self) {
        // SAFETY: the group is led by a child that is not reaped.
        unsafe { libc::kill(-self.pid.cast_signed(), libc::SIGINT) };
    }

    fn kill_tree(&self) {
        // SAFETY: the group is led by a child that is not reaped.
        unsafe { libc::kill(-self.pid.cast_signed(), libc::SIGKILL) };
    }

    pub(crate) fn sweep(&self) {
        _ = (&self.marker, self.tree);
    }
}

#[cfg(windows)]
impl Process {
    fn ask_programs(&self, _: Ask) -> bool {
        false
    }

    fn interrupt_group(&self) {
        self.kill_tree();
    }

    fn kill_tree(&self) {
        _ = std::process::Command::new("taskkill")
            .args(["/T", "/F", "/PID", &self.pid.to_string()])
            .stdin(std::process::Stdio::null())
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .status();
    }

    pub(crate) fn sweep(&self) {
        _ = (&self.marker, self.tree);
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.reap().is_none() {
            self.kill();
            if self.ended_within(Duration::from_millis(500)).is_none() {
                self.kill();
                self.ended_within(Duration::from_millis(500));
            }
            self.sweep();
        }
    }
}

/// Spawns on the thread of `spawner` and wraps the child before anyone can lose it.
pub(crate) async fn spawn(
    spawner: &spawner::Spawner,
    mut command: std::process::Command,
    tree: Tree,
    marker: Option<String>,
) -> Result<std::io::Result<Process>, crate::Error> {
    // The command goes away on the thread too: it holds our copies of the pipe's write end.
    spawner.run(move || command.spawn().map(|child| Process::new(child, tree, marker))).await
}
