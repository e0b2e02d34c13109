//! The data root: workspaces, sessions, and the way to a session's trace.
//!
//! Several processes may open one root; each session has one writer. The state files are the truth about
//! sessions, the index only saves opening them. The folders are drawn in `layout.rs`.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use cairn_protocol::{SessionId, Timestamp, WorkspaceId, WorkspaceSummary};

use crate::disk::{Disk, Open, RealDisk};
use crate::history::TraceView;
use crate::index::{Index, signature};
use crate::layout::{Layout, SessionLayout, check_id};
use crate::lines::Lines;
use crate::record::State;
use crate::recover::{self, Recovered};
use crate::trace::{Parts, Trace};
use crate::{Error, SessionRecord, line, rebuild, record, workspaces};

/// Records that are checked when a session is opened; the rest when it is read (security plan 4.3).
const CHECKED_RECORDS: usize = 1_000;

/// The check on open ends after so many bytes, so that long lines do not make it slow.
const CHECKED_BYTES: u64 = 8 * 1024 * 1024;

/// A folder of this name is a session whose deletion was begun.
const DELETED_PREFIX: &str = ".deleted-";

/// Where a trace takes the time from, for its group sync.
pub type Clock = Arc<dyn Fn() -> Instant + Send + Sync>;

/// What the store takes from outside.
#[derive(Clone)]
pub struct Options {
    /// A clock that never goes back.
    pub clock: Clock,
    pub(crate) disk: Arc<dyn Disk>,
}

impl Default for Options {
    fn default() -> Self {
        Self { clock: Arc::new(Instant::now), disk: Arc::new(RealDisk) }
    }
}

/// The places of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionFiles {
    /// The session's folder.
    pub dir: PathBuf,
    /// For files that the session makes for itself.
    pub scratchpad: PathBuf,
}

/// An open data root.
pub struct Store {
    layout: Layout,
    disk: Arc<dyn Disk>,
    clock: Clock,
    opened_at: Timestamp,
    index: Index,
    problems: Mutex<Vec<String>>,
}

impl Store {
    /// Opens a data root and makes its folders, for the user only. Returns what is wrong and must be said, too.
    pub fn open(root: &Path, now: Timestamp) -> Result<(Arc<Self>, Vec<String>), Error> {
        Self::open_with(root, now, Options::default())
    }

    /// As [`Store::open`], with a clock of the caller's choice.
    pub fn open_with(
        root: &Path,
        now: Timestamp,
        options: Options,
    ) -> Result<(Arc<Self>, Vec<String>), Error> {
        let Options { clock, disk } = options;
        let layout = Layout { root: root.to_owned() };
        let mut problems = Vec::new();
        if let Err(error) = disk.create_dir(&layout.sessions()) {
            let error = Error::io("create", &layout.sessions())(error);
            // What is there can still be read.
            if !root.is_dir() || !matches!(error, Error::ReadOnly { .. } | Error::Full { .. }) {
                return Err(error);
            }
            problems.push(error.full_text());
        }
        problems.extend(loose_permissions(root));
        let index = Index::open(&layout.index(), now, &mut problems);
        problems.extend(workspaces::list(&*disk, &layout).1);
        let kept = Mutex::new(Vec::new());
        let store = Self { layout, disk, clock, opened_at: now, index, problems: kept };
        Ok((Arc::new(store), problems))
    }

    /// Returns what went wrong since the last call and was worked around, for the user.
    pub fn take_problems(&self) -> Vec<String> {
        std::mem::take(&mut *self.problems.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the known folders, last used first.
    pub fn workspaces(&self) -> Vec<WorkspaceSummary> {
        workspaces::list(&*self.disk, &self.layout).0
    }

    /// Returns a known folder.
    pub fn workspace(&self, id: &WorkspaceId) -> Option<WorkspaceSummary> {
        self.workspaces().into_iter().find(|workspace| workspace.id == *id)
    }

    /// Adds a folder, or notes that it was used.
    pub fn add_workspace(&self, path: &Path, now: Timestamp) -> Result<WorkspaceSummary, Error> {
        workspaces::add(&*self.disk, &self.layout, path, now)
    }

    /// Takes a folder off the list; the folder, its sessions and its snapshots stay.
    pub fn forget_workspace(&self, id: &WorkspaceId) -> Result<(), Error> {
        workspaces::forget(&*self.disk, &self.layout, id, self.opened_at)
    }

    /// Returns the folder of a session.
    pub fn session_dir(&self, id: &SessionId) -> PathBuf {
        self.layout.session(id).dir
    }

    /// Makes a session: its folder and its record.
    pub fn create_session(&self, record: SessionRecord) -> Result<SessionFiles, Error> {
        check_id(&record.id)?;
        let session = self.layout.session(&record.id);
        if session.state().exists() || !session.traces()?.is_empty() {
            return Err(Error::Invalid(format!("session `{}` exists already", record.id)));
        }
        let scratchpad = session.scratchpad();
        self.disk.create_dir(&scratchpad).map_err(Error::io("create", &scratchpad))?;
        if let Err(error) = self.save_session(&record) {
            // An empty folder that stays is not listed and may be filled again.
            let _ = fs::remove_dir_all(&session.dir);
            return Err(error);
        }
        let parent = self.layout.sessions();
        self.disk.sync_dir(&parent).map_err(Error::io("make durable", &parent))?;
        Ok(SessionFiles { dir: session.dir, scratchpad })
    }

    /// Stores a session's record: the state file whole and durable, then the index.
    pub fn save_session(&self, record: &SessionRecord) -> Result<(), Error> {
        check_id(&record.id)?;
        let session = self.layout.session(&record.id);
        if !session.dir.is_dir() {
            return Err(Error::NotFound { what: "session", id: record.id.to_string() });
        }
        record::save(&*self.disk, &session, record)?;
        // From the file again: another process may have replaced it since. The index may fail, the file holds.
        let _ = self.load_record(&session);
        Ok(())
    }

    /// Returns all sessions, last active first. Opens only the state files that the index does not know.
    pub fn sessions(&self) -> Vec<SessionRecord> {
        let mut rows = self.index.rows();
        let mut found = Vec::new();
        for id in self.session_ids() {
            let session = self.layout.session(&id);
            let current = state_signature(&session);
            let row = rows.remove(&id).filter(|row| Some(&row.signature) == current.as_ref());
            let record = match row {
                Some(row) => Some(row.record),
                None => self.read_record(&session),
            };
            found.extend(record);
        }
        for id in rows.keys() {
            self.index.remove(id);
        }
        found.sort_by(|a, b| (b.last_active_at, &b.id).cmp(&(a.last_active_at, &a.id)));
        found
    }

    /// Returns a session's record.
    pub fn session(&self, id: &SessionId) -> Option<SessionRecord> {
        check_id(id).ok()?;
        self.read_record(&self.layout.session(id))
    }

    /// Removes a session with its trace, blobs and scratchpad. Fails with [`Error::Locked`] while one writes it.
    pub fn delete_session(&self, id: &SessionId) -> Result<(), Error> {
        let session = self.existing(id)?;
        let lock = lock_session(&session)?;
        let aside = self.layout.sessions().join(format!("{DELETED_PREFIX}{id}"));
        if aside.exists() {
            fs::remove_dir_all(&aside).map_err(Error::io("remove", &aside))?;
        }
        let moved = self.disk.rename(&session.dir, &aside);
        moved.map_err(Error::io("remove", &session.dir))?;
        self.index.remove(id);
        drop(lock);
        fs::remove_dir_all(&aside).map_err(Error::io("remove", &aside))
    }

    /// Opens a session for writing: takes its lock, repairs its end, checks its last records.
    pub fn open_trace(&self, id: &SessionId) -> Result<(Trace, Recovered), Error> {
        let session = self.existing(id)?;
        let lock = lock_session(&session)?;
        let disk = &*self.disk;
        let mut files = session.traces()?;
        self.refuse_newer(&files)?;
        let mut recovered = Recovered::default();
        recover::drop_empty_last(disk, &session, &mut files)?;
        if let Some(path) = files.last().map(|(_, path)| path) {
            recovered.torn_bytes = recover::repair_end(disk, path)?;
            recover::drop_empty_last(disk, &session, &mut files)?;
        } else {
            let first = session.trace(1);
            disk.open(&first, Open::Append).map_err(Error::io("create", &first))?;
            disk.sync_dir(&session.dir).map_err(Error::io("make durable", &session.dir))?;
            files.push((1, first));
        }
        let number = files.last().map_or(1, |(number, _)| *number);
        let paths = files.into_iter().map(|(_, path)| path).collect();
        let mut lines = Lines::open(Arc::clone(&self.disk), paths)?;
        lines.scan_tail(CHECKED_RECORDS, CHECKED_BYTES)?;
        self.describe(&mut lines, &mut recovered)?;
        let (disk, clock) = (Arc::clone(&self.disk), Arc::clone(&self.clock));
        let trace = Trace::new(Parts { disk, session, clock, lines, number, lock })?;
        Ok((trace, recovered))
    }

    /// Opens a session for reading, whoever writes it.
    pub fn read_trace(&self, id: &SessionId) -> Result<TraceView, Error> {
        let session = self.existing(id)?;
        let paths = session.traces()?.into_iter().map(|(_, path)| path).collect();
        let mut lines = Lines::open(Arc::clone(&self.disk), paths)?;
        lines.scan_tail(1, CHECKED_BYTES)?;
        Ok(TraceView::new(Arc::clone(&self.disk), session.blobs(), lines))
    }

    fn existing(&self, id: &SessionId) -> Result<SessionLayout, Error> {
        check_id(id)?;
        let session = self.layout.session(id);
        if session.dir.is_dir() {
            Ok(session)
        } else {
            Err(Error::NotFound { what: "session", id: id.to_string() })
        }
    }

    /// A file of a newer version is not touched, not even repaired.
    fn refuse_newer(&self, files: &[(u32, PathBuf)]) -> Result<(), Error> {
        let Some(path) = files.last().map(|(_, path)| path) else { return Ok(()) };
        let mut lines = Lines::open(Arc::clone(&self.disk), vec![path.to_owned()])?;
        lines.scan_tail(1, CHECKED_BYTES)?;
        if lines.version > line::VERSION {
            return Err(Error::Newer { path: path.to_owned() });
        }
        Ok(())
    }

    fn describe(&self, lines: &mut Lines, recovered: &mut Recovered) -> Result<(), Error> {
        recovered.last_seq = lines.last_seq();
        recovered.saved = lines.saved;
        recovered.problems.clone_from(&lines.damage);
        let known = lines.before(u64::MAX, CHECKED_RECORDS)?;
        recovered.gaps = known.gaps;
        if recovered.torn_bytes > 0 {
            recovered.problems.push(format!(
                "the last write was cut off: {} bytes were moved to a file beside the trace",
                recovered.torn_bytes
            ));
        }
        Ok(())
    }

    fn session_ids(&self) -> Vec<SessionId> {
        let Ok(entries) = fs::read_dir(self.layout.sessions()) else { return Vec::new() };
        let mut found = Vec::new();
        for entry in entries.flatten() {
            let name = entry.file_name();
            let Some(name) = name.to_str() else { continue };
            if name.starts_with(DELETED_PREFIX) {
                // A deletion that a crash stopped half-way; who fails here tries at the next start.
                let _ = fs::remove_dir_all(entry.path());
                continue;
            }
            let id = SessionId::new(name);
            if check_id(&id).is_ok() {
                found.push(id);
            }
        }
        found
    }

    /// Reads a record from its file, or makes it again from the trace; keeps the index right.
    fn read_record(&self, session: &SessionLayout) -> Option<SessionRecord> {
        let state = match self.load_record(session) {
            Ok(state) => state,
            Err(error) => {
                self.note(error.full_text());
                return None;
            }
        };
        match state {
            State::Record(record) => Some(*record),
            State::Missing => self.rebuild(session),
            State::Damaged => {
                let path = session.state();
                let aside = path.with_extension(format!("json.damaged-{}", self.opened_at.0));
                let record = self.rebuild_unsaved(session)?;
                self.note(format!(
                    "The state of session `{}` was damaged; it was made again from the trace.",
                    session.id
                ));
                if self.disk.rename(&path, &aside).is_ok() {
                    self.save_rebuilt(&record);
                }
                Some(record)
            }
        }
    }

    /// Reads a state file and puts its record into the index, unless the file was replaced meanwhile.
    fn load_record(&self, session: &SessionLayout) -> Result<State, Error> {
        let before = state_signature(session);
        let state = record::load(&*self.disk, session)?;
        if let (State::Record(record), Some(signature)) = (&state, before)
            && state_signature(session).as_ref() == Some(&signature)
        {
            self.index.put(record, &signature);
        }
        Ok(state)
    }

    fn rebuild(&self, session: &SessionLayout) -> Option<SessionRecord> {
        let record = self.rebuild_unsaved(session)?;
        self.save_rebuilt(&record);
        Some(record)
    }

    fn rebuild_unsaved(&self, session: &SessionLayout) -> Option<SessionRecord> {
        let messages = self.read_trace(&session.id).and_then(|view| view.messages());
        match messages {
            Ok(messages) => rebuild::record_from(&session.id, &messages, workspaces::id_of),
            Err(Error::NotFound { .. }) => None,
            Err(error) => {
                self.note(error.full_text());
                None
            }
        }
    }

    fn save_rebuilt(&self, record: &SessionRecord) {
        if let Err(error) = self.save_session(record) {
            self.note(error.full_text());
        }
    }

    fn note(&self, problem: String) {
        let mut problems = self.problems.lock().unwrap_or_else(PoisonError::into_inner);
        if problems.len() < 100 && !problems.contains(&problem) {
            problems.push(problem);
        }
    }
}

fn state_signature(session: &SessionLayout) -> Option<String> {
    fs::metadata(session.state()).ok().map(|metadata| signature(&metadata))
}

/// Takes the lock of a session's one writer. The text in the file is only for people.
fn lock_session(session: &SessionLayout) -> Result<File, Error> {
    let path = session.lock();
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&path).map_err(Error::io("open", &path))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            return Err(Error::Locked { session: session.id.to_string() });
        }
        Err(TryLockError::Error(source)) => return Err(Error::NoLocks { path, source }),
    }
    let _ = file.set_len(0).and_then(|()| writeln!(file, "process {}", std::process::id()));
    Ok(file)
}

fn loose_permissions(root: &Path) -> Option<String> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = fs::metadata(root).ok()?.permissions().mode();
        if mode & 0o077 != 0 {
            return Some(format!(
                "The data folder `{}` can be read by other users; `chmod 700` makes it private.",
                root.display()
            ));
        }
    }
    #[cfg(not(unix))]
    let _ = root;
    None
}
