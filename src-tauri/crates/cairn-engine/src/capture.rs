//! Captures of a turn: when they are taken, and what the session hears of them (D-4).
//!
//! A failed capture is shown as such and never stops the work (I8). How a capture is made is in
//! `cairn-snapshot`.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cairn_protocol::{
    Completeness, ErrorCode, ErrorInfo, EventMsg, NoticeLevel, SessionId, SnapshotEvent,
    SnapshotSide, TurnId,
};
use cairn_snapshot::{Capture, Snapshots};
use tokio::sync::watch;

use crate::error::{Result, chain, internal};
use crate::recorder::Recorder;
use crate::task::Task;

/// Runs a call on the snapshot store off the async threads.
pub(crate) async fn blocking<T: Send + 'static>(
    snapshots: Option<Arc<Snapshots>>,
    call: impl FnOnce(&Snapshots) -> std::result::Result<T, cairn_snapshot::Error> + Send + 'static,
) -> Result<T> {
    let Some(snapshots) = snapshots else {
        let text =
            "Turns are not captured in this workspace, so there is nothing to show or roll back.";
        return Err(ErrorInfo::new(ErrorCode::Unsupported, text));
    };
    tokio::task::spawn_blocking(move || call(&snapshots))
        .await
        .map_err(|error| internal(format!("the snapshot store failed: {error}")))?
        .map_err(|error| info(&error))
}

fn info(error: &cairn_snapshot::Error) -> ErrorInfo {
    use cairn_snapshot::Error;
    let code = match error {
        Error::Stale => ErrorCode::Stale,
        Error::NotFound(_) => ErrorCode::NotFound,
        Error::Invalid(_) => ErrorCode::Invalid,
        Error::Locked => ErrorCode::Locked,
        Error::TurnInProgress => ErrorCode::TurnInProgress,
        Error::WorkspaceMissing(_) | Error::WorkspaceReplaced(_) => ErrorCode::WorkspaceMissing,
        Error::Internal(_) => ErrorCode::Internal,
        _ => ErrorCode::Io,
    };
    ErrorInfo::new(code, format!("{}.", chain(error)))
}

/// The captures of one turn. The one before the turn runs while the model already works; the first
/// effect waits for it.
pub(crate) struct TurnCapture {
    marks: Marks,
    ready: watch::Receiver<bool>,
    /// What runs beside the turn; joined at its end.
    tasks: Mutex<Vec<Task<()>>>,
}

impl TurnCapture {
    /// Begins the capture before the turn.
    pub(crate) fn begin(
        snapshots: Option<Arc<Snapshots>>,
        unprotected: Option<String>,
        session: SessionId,
        turn: TurnId,
        number: u32,
        recorder: Recorder,
    ) -> Arc<Self> {
        let (done, ready) = watch::channel(false);
        let marks = Marks { snapshots, session, turn };
        let capture = Arc::new(Self { marks: marks.clone(), ready, tasks: Mutex::default() });
        capture.own(Task::spawn("the capture before the turn", async move {
            let Marks { snapshots, session, turn } = marks;
            let (now, id) = (recorder.now(), turn.clone());
            let result =
                blocking(snapshots, move |it| Ok(it.begin_turn(&session, &id, number, now))).await;
            let taken = result.unwrap_or_else(|error| failed(unprotected.unwrap_or(error.message)));
            recorder.event(EventMsg::Snapshot(event(turn, SnapshotSide::Before, &taken))).await;
            done.send_replace(true);
        }));
        capture
    }

    /// Marks, as soon as the state before the turn is known, that a command of an earlier turn still runs.
    pub(crate) fn command_goes_on(&self) {
        let (marks, ready) = (self.marks.clone(), self.ready.clone());
        self.own(Task::spawn("the mark of a running command", async move {
            known(ready).await;
            marks.window(|it, session, turn| it.before_command(session, turn)).await;
        }));
    }

    fn own(&self, task: Task<()>) {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner).push(task);
    }

    /// Waits until the state before the turn is known, or known to be lost.
    pub(crate) async fn before_first_effect(&self) {
        known(self.ready.clone()).await;
    }

    /// Keeps what a file tool is about to overwrite. An error means: do not write (I3).
    pub(crate) async fn before_edit(&self, path: &Path) -> std::result::Result<(), String> {
        self.before_first_effect().await;
        self.marks.edit(path, |it, session, turn, path| it.before_edit(session, turn, path)).await
    }

    /// Marks what a file tool has written.
    pub(crate) async fn after_edit(&self, path: &Path) -> std::result::Result<(), String> {
        self.marks.edit(path, |it, session, turn, path| it.after_edit(session, turn, path)).await
    }

    /// Marks that a command begins.
    pub(crate) async fn before_command(&self) {
        self.before_first_effect().await;
        self.marks.window(|it, session, turn| it.before_command(session, turn)).await;
    }

    /// Marks that a command has ended.
    pub(crate) async fn after_command(&self) {
        self.marks.window(|it, session, turn| it.after_command(session, turn)).await;
    }

    /// Captures the state after the turn and returns the changed paths.
    pub(crate) async fn end(
        &self,
        recorder: &Recorder,
        unprotected: Option<String>,
    ) -> Vec<String> {
        let tasks = std::mem::take(&mut *self.tasks.lock().unwrap_or_else(PoisonError::into_inner));
        for task in tasks {
            if let Err(info) = task.await {
                recorder.event(EventMsg::Notice { level: NoticeLevel::Error, info }).await;
            }
        }
        let Marks { snapshots, session, turn } = self.marks.clone();
        let (now, id) = (recorder.now(), turn.clone());
        let result = blocking(snapshots, move |it| Ok(it.end_turn(&session, &id, now))).await;
        let taken = result.unwrap_or_else(|error| failed(unprotected.unwrap_or(error.message)));
        recorder.event(EventMsg::Snapshot(event(turn, SnapshotSide::After, &taken))).await;
        taken.paths
    }
}

async fn known(mut ready: watch::Receiver<bool>) {
    // An error means that the capturing task ended, which is as good as ready.
    let _ended = ready.wait_for(|ready| *ready).await;
}

/// Tells the store who changes files, while a turn runs.
#[derive(Clone)]
struct Marks {
    snapshots: Option<Arc<Snapshots>>,
    session: SessionId,
    turn: TurnId,
}

impl Marks {
    async fn edit(
        &self,
        path: &Path,
        mark: impl FnOnce(
            &Snapshots,
            &SessionId,
            &TurnId,
            &Path,
        ) -> std::result::Result<(), cairn_snapshot::Error>
        + Send
        + 'static,
    ) -> std::result::Result<(), String> {
        if self.snapshots.is_none() {
            return Ok(());
        }
        let (session, turn, path) = (self.session.clone(), self.turn.clone(), PathBuf::from(path));
        blocking(self.snapshots.clone(), move |it| mark(it, &session, &turn, &path))
            .await
            .map_err(|error| error.message)
    }

    async fn window(&self, mark: impl FnOnce(&Snapshots, &SessionId, &TurnId) + Send + 'static) {
        let (session, turn) = (self.session.clone(), self.turn.clone());
        if self.snapshots.is_some() {
            let marked = blocking(self.snapshots.clone(), move |it| {
                mark(it, &session, &turn);
                Ok(())
            });
            // A mark that fails only loses the name of who changed a file; the capture itself stays whole.
            drop(marked.await);
        }
    }
}

fn failed(reason: String) -> Capture {
    Capture {
        snapshot: None,
        completeness: Completeness::NotProtected { reason },
        changes: None,
        paths: Vec::new(),
        duration: Duration::ZERO,
    }
}

fn event(turn_id: TurnId, side: SnapshotSide, taken: &Capture) -> SnapshotEvent {
    SnapshotEvent {
        turn_id,
        side,
        snapshot_id: taken.snapshot.clone(),
        completeness: taken.completeness.clone(),
        changes: taken.changes,
        duration_ms: u64::try_from(taken.duration.as_millis()).unwrap_or(u64::MAX),
    }
}
