//! The terminals of the window: the user's shell on a PTY (P-233, design D-15).
//!
//! They are not confined: the user types here, not the agent. What is read, kept and sent is in
//! `terminals/terminal.rs`, the pure part of it in `terminals/view.rs`.

mod terminal;
mod view;

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};

use cairn_protocol::{TerminalId, TerminalSize, TerminalState, TerminalSummary, WorkspaceId};

use crate::Error;
use crate::commands::random_hex;
use crate::spawner::Spawner;

use terminal::Terminal;

/// Terminals that may be open at once.
const LIMIT: usize = 12;

/// What a viewer of a terminal gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TerminalOutput {
    /// Raw bytes, never empty. The viewer acknowledges them with [`Terminals::ack`] once drawn.
    Bytes(Vec<u8>),
    /// The shell ended. Last, exactly once for each viewer.
    Exited {
        /// Its exit code, where it had one.
        code: Option<i32>,
    },
}

/// Takes what a terminal shows; returns false when the viewer is gone. May block for a moment.
pub type TerminalSink = Box<dyn FnMut(TerminalOutput) -> bool + Send>;

/// All terminals of the app. Dropping it ends every tree.
#[derive(Debug)]
pub struct Terminals {
    open: Mutex<HashMap<TerminalId, Arc<Terminal>>>,
    /// Closed ones whose threads are still to be joined.
    closed: Mutex<Vec<Arc<Terminal>>>,
    opened: std::sync::atomic::AtomicU64,
    // Last, so that the trees are ended before the thread that spawned them ends.
    spawner: Spawner,
}

impl Terminals {
    /// Returns an empty set.
    pub fn new() -> Arc<Self> {
        Arc::new(Self {
            open: Mutex::new(HashMap::new()),
            closed: Mutex::new(Vec::new()),
            opened: std::sync::atomic::AtomicU64::new(0),
            spawner: Spawner::new("terminal-spawner"),
        })
    }

    /// Opens a terminal with the user's shell as a login shell. Blocking, some milliseconds.
    ///
    /// `env` is the whole environment of the app, as its caller read it; `SHELL` in it names the
    /// shell.
    ///
    /// # Errors
    /// [`Error::TooMany`] when 12 run. [`Error::Start`] when there is no PTY, shell or folder.
    pub fn open(
        &self,
        workspace: &WorkspaceId,
        cwd: &Path,
        size: TerminalSize,
        env: &[(OsString, OsString)],
    ) -> Result<TerminalSummary, Error> {
        self.join_closed();
        let live = self.lock().values().filter(|terminal| terminal.runs()).count();
        if live >= LIMIT {
            return Err(Error::TooMany { limit: LIMIT });
        }
        let order = self.opened.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let id = TerminalId(format!("term-{}", random_hex()));
        let place = terminal::Place { id: id.clone(), workspace: workspace.clone(), order };
        let terminal = Terminal::start(&self.spawner, place, cwd, size, env)?;
        let summary = terminal.summary();
        self.lock().insert(id, terminal);
        Ok(summary)
    }

    /// Makes `sink` the viewer in place of an earlier one. It gets the scrollback (at most 400 lines
    /// and 256 KiB), then everything as it comes: at most one message in 8 ms unless it has 16 KiB
    /// or more, never more than 256 KiB unacknowledged; then the PTY is not read and the kernel slows
    /// the programs. The scrollback counts as acknowledged when the viewer acknowledges it.
    pub fn attach(&self, id: &TerminalId, sink: TerminalSink) -> Result<(), Error> {
        self.get(id)?.attach(sink);
        Ok(())
    }

    /// Takes the viewer away; the shell goes on and its output is kept as scrollback.
    pub fn detach(&self, id: &TerminalId) -> Result<(), Error> {
        self.get(id)?.detach();
        Ok(())
    }

    /// Says that the viewer has drawn so many bytes more. Unknown ids are ignored: the
    /// acknowledgement of a closed terminal may be under way.
    pub fn ack(&self, id: &TerminalId, bytes: u64) {
        if let Ok(terminal) = self.get(id) {
            terminal.acknowledge(bytes);
        }
    }

    /// Queues input; never waits for the shell.
    ///
    /// # Errors
    /// [`Error::Busy`] when the shell does not read and 4 MiB wait already; nothing is queued then.
    pub fn write(&self, id: &TerminalId, bytes: &[u8]) -> Result<(), Error> {
        self.get(id)?.write(bytes)
    }

    /// Tells the shell the size of its window; clamped to 1 … 1000.
    pub fn resize(&self, id: &TerminalId, size: TerminalSize) -> Result<(), Error> {
        self.get(id)?.resize(size);
        Ok(())
    }

    /// Ends the terminal's tree and forgets it. Returns at once: programs get 300 ms to clean up.
    pub fn close(&self, id: &TerminalId) {
        let closed = self.lock().remove(id);
        if let Some(terminal) = closed {
            terminal.close();
            self.closed.lock().expect("no panic while held").push(terminal);
        }
        self.join_closed();
    }

    /// Returns all terminals in the order of their opening; those that exited are kept until closed.
    pub fn list(&self) -> Vec<TerminalSummary> {
        let mut all: Vec<Arc<Terminal>> = self.lock().values().cloned().collect();
        all.sort_by_key(|terminal| terminal.order());
        all.iter().map(|terminal| terminal.summary()).collect()
    }

    /// Ends all trees and waits for them, some 400 ms. Blocking.
    pub fn close_all(&self) {
        let mut all: Vec<Arc<Terminal>> = self.lock().drain().map(|(_, one)| one).collect();
        for terminal in &all {
            terminal.close();
        }
        all.append(&mut self.closed.lock().expect("no panic while held"));
        for terminal in all {
            terminal.join();
        }
    }

    fn join_closed(&self) {
        let mut closed = self.closed.lock().expect("no panic while held");
        let (over, rest): (Vec<_>, Vec<_>) =
            closed.drain(..).partition(|terminal| terminal.is_over());
        *closed = rest;
        drop(closed);
        for terminal in over {
            terminal.join();
        }
    }

    fn get(&self, id: &TerminalId) -> Result<Arc<Terminal>, Error> {
        self.lock().get(id).cloned().ok_or_else(|| Error::Unknown(format!("terminal {id}")))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<TerminalId, Arc<Terminal>>> {
        self.open.lock().expect("no panic while held")
    }
}

impl Drop for Terminals {
    fn drop(&mut self) {
        self.close_all();
    }
}

/// How a terminal's state is shown.
fn state(exited: Option<Option<i32>>) -> TerminalState {
    exited.map_or(TerminalState::Running, |code| TerminalState::Exited { code })
}
