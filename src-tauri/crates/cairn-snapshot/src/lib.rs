//! Captures the workspace before and after every turn and takes turns back, path by path.
//!
//! The store is a bare Git repository outside the workspace. Nothing is ever written to the user's `.git`, no hook,
//! filter or child process runs, and there is no operation that makes a folder look like a snapshot: a restore is a
//! set of edits of single paths, each with a checked precondition. Deciding *when* to capture is the engine's work.
//!
//! Invariants, which are also the names of the tests:
//! - I1 A capture writes nothing inside the workspace.
//! - I2 A restore touches only the paths of its plan, each with a precondition on bytes, kind and mode.
//! - I3 What exists only in the workspace is stored durably before it is overwritten or deleted.
//! - I4 Nothing is deleted without evidence that the turn made it.
//! - I5 After a crash a restore is done or not done, without help.
//! - I6 A restore can be undone, and that undo too.
//! - I7 What is not covered is listed with a reason.
//! - I8 A broken store or a failed capture never blocks the agent, and never pretends.
//!
//! Start reading at `inner.rs`; `scan.rs` looks, `capture.rs` attributes, `plan.rs` decides, `restore.rs` acts.

mod capture;
mod changes;
mod diff;
mod error;
mod files;
mod inner;
mod item;
mod lock;
mod manifest;
mod merge;
mod names;
mod objects;
mod open_turn;
mod pack;
mod plan;
mod recover;
mod restore;
mod scan;
mod state;
mod tree;

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cairn_protocol::{
    ChangeSummary, Completeness, FileDiff, RestoreId, RestorePlan, RestoreRecord, RestoreReport,
    RestoreRequest, SessionId, SnapshotId, Timestamp, TurnChanges, TurnId, TurnRecord,
};

pub use error::Error;
pub use files::{Files, SystemFiles};
pub use item::{Stat, StatKind};
pub use names::{from_text, to_text};
pub use scan::{Limits, Progress};

use error::Result;
use inner::Inner;

/// How a store is opened.
#[derive(Clone, Default)]
pub struct Options {
    /// What is covered.
    pub limits: Limits,
    /// Called during a scan with the number of files seen so far.
    pub progress: Option<Progress>,
    /// Set from outside to end a scan early; the capture then says that it failed.
    pub cancel: Option<Arc<AtomicBool>>,
    /// The user's home folder: as a workspace it is covered by edit tools only.
    pub home: Option<std::path::PathBuf>,
    /// The file operations; absent means those of the operating system.
    pub files: Option<Arc<dyn Files>>,
    /// A scan that takes no longer is also done at both ends of every command, so that what the user does between two
    /// commands is told apart without guessing from times. Absent means 20 ms.
    pub cheap_scan: Option<Duration>,
    /// The clock that stamps files of the workspace, in nanoseconds since 1970; absent means the system's.
    pub file_clock: Option<Arc<dyn Fn() -> i64 + Send + Sync>>,
}

/// What a capture brought.
#[derive(Debug, Clone, PartialEq)]
pub struct Capture {
    /// The state; absent when it failed, or when only edit tools are covered.
    pub snapshot: Option<SnapshotId>,
    /// How much is covered, with the reason for what is not.
    pub completeness: Completeness,
    /// What changed in the turn; absent before it.
    pub changes: Option<ChangeSummary>,
    /// The changed paths, sorted.
    pub paths: Vec<String>,
    /// How long it took.
    pub duration: Duration,
}

/// The snapshots of one workspace. Every method blocks; they exclude each other.
pub struct Snapshots {
    inner: Mutex<Inner>,
}

impl Snapshots {
    /// Opens the store in the folder `store`, which is made with mode 700 when absent, for a workspace. A damaged store
    /// is set aside and a new one begun; the next capture says so.
    pub fn open(store: &Path, workspace: &Path, options: Options) -> Result<Self> {
        Ok(Self { inner: Mutex::new(Inner::open(store, workspace, options)?) })
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        // After a panic the state in memory may be behind the files, which the next scan finds out by itself.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Finishes or undoes a restore that was interrupted, and closes turns that a crash left open. Returns the restores
    /// that were finished.
    pub fn recover(&self, now: Timestamp) -> Vec<RestoreReport> {
        self.inner().recover(now)
    }

    /// Captures the state before a turn. The first time this reads the whole workspace.
    pub fn begin_turn(
        &self,
        session: &SessionId,
        turn: &TurnId,
        number: u32,
        now: Timestamp,
    ) -> Capture {
        self.inner().begin_turn(session, turn, number, now)
    }

    /// Makes sure that what is at a path can be brought back. After an error the edit must not run.
    pub fn before_edit(&self, session: &SessionId, turn: &TurnId, path: &Path) -> Result<()> {
        self.inner().before_edit(session, turn, path)
    }

    /// Notes what an edit tool left at a path.
    pub fn after_edit(&self, session: &SessionId, turn: &TurnId, path: &Path) -> Result<()> {
        self.inner().after_edit(session, turn, path)
    }

    /// Notes that a command of the turn begins. A command that goes on in the background keeps its window open.
    pub fn before_command(&self, session: &SessionId, turn: &TurnId) {
        self.inner().before_command(session, turn);
    }

    /// Notes that a command of the turn is over.
    pub fn after_command(&self, session: &SessionId, turn: &TurnId) {
        self.inner().after_command(session, turn);
    }

    /// Captures the state after a turn and records the turn.
    pub fn end_turn(&self, session: &SessionId, turn: &TurnId, now: Timestamp) -> Capture {
        self.inner().end_turn(session, turn, now)
    }

    /// Returns the turns of a session, oldest first, an open one included.
    pub fn turns(&self, session: &SessionId) -> Result<Vec<TurnRecord>> {
        self.inner().turns(session)
    }

    /// Returns the restores of a session, oldest first.
    pub fn restores(&self, session: &SessionId) -> Result<Vec<RestoreRecord>> {
        self.inner().restores(session)
    }

    /// Returns what changed in a turn. For an open one: as far as is known without a new scan.
    pub fn changes(&self, session: &SessionId, turn: &TurnId) -> Result<TurnChanges> {
        self.inner().changes(session, turn)
    }

    /// Returns the difference that a turn made to a path, from a hunk on (counted from 0).
    pub fn diff(
        &self,
        session: &SessionId,
        turn: &TurnId,
        path: &str,
        from_hunk: u32,
    ) -> Result<FileDiff> {
        self.inner().diff(session, turn, path, from_hunk)
    }

    /// Returns what a restore would do. Nothing is touched.
    pub fn plan(&self, request: &RestoreRequest) -> Result<RestorePlan> {
        self.inner().plan(request)
    }

    /// Does what the plan with this token said. Fails with [`Error::Stale`] when the files have changed since.
    pub fn restore(
        &self,
        request: &RestoreRequest,
        token: &str,
        now: Timestamp,
    ) -> Result<RestoreReport> {
        self.inner().restore(request, token, now)
    }

    /// Takes a restore back: the one named, else the latest that still holds. What the user did since is kept by the
    /// same rules as in a restore.
    pub fn bring_back(
        &self,
        session: &SessionId,
        restore: Option<&RestoreId>,
        now: Timestamp,
    ) -> Result<RestoreReport> {
        self.inner().bring_back(session, restore, now)
    }

    /// Forgets all turns and restores of a session.
    pub fn forget_session(&self, session: &SessionId) -> Result<()> {
        self.inner().forget_session(session)
    }
}

#[cfg(test)]
mod tests;
