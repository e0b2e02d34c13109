//! A turn that runs: what is known of its changes so far, in memory and in a journal that a crash leaves behind.
//!
//! Who is named for a change is decided here. What is written at the end is in `manifest.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use nix::fcntl::{Flock, FlockArg};

use cairn_protocol::{
    ChangeSource, Completeness, SessionId, SkippedPath, Timestamp, TurnId, TurnState,
};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::files::Files;
use crate::item::Item;
use crate::manifest::{Delta, Effect, TurnMeta};
use crate::names;
use crate::objects::Objects;
use crate::state::{Change, Snap};

/// A turn that runs.
#[derive(Debug)]
pub(crate) struct OpenTurn {
    pub(crate) session: SessionId,
    pub(crate) turn: TurnId,
    pub(crate) number: u32,
    pub(crate) started: Timestamp,
    /// Absent when the capture before it failed: then only what edit tools did is known.
    pub(crate) before: Option<Snap>,
    pub(crate) completeness: Completeness,
    pub(crate) deltas: BTreeMap<Vec<u8>, Vec<Delta>>,
    pub(crate) left: BTreeMap<Vec<u8>, String>,
    /// Commands since the last scan, with file-system times in nanoseconds.
    windows: Vec<Window>,
    open_windows: usize,
    /// Paths that edit tools of other sessions changed meanwhile.
    pub(crate) foreign: BTreeSet<Vec<u8>>,
    /// Held on the journal while the turn runs; the kernel lets go of it when the process dies.
    alive: Option<Flock<File>>,
}

#[derive(Debug, Clone, Copy)]
struct Window {
    start: i64,
    end: Option<i64>,
}

/// File-system times may lag behind the clock by this much, in nanoseconds.
const LAG: i64 = 20_000_000;

/// A line of the journal.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "snake_case")]
pub(crate) enum Line {
    Begin {
        session: SessionId,
        turn: TurnId,
        number: u32,
        started: Timestamp,
        before: Option<Snap>,
        completeness: Completeness,
    },
    Delta {
        #[serde(with = "names::as_text")]
        path: Vec<u8>,
        delta: Delta,
    },
    WindowOpened,
    WindowClosed,
}

impl OpenTurn {
    pub(crate) fn new(session: SessionId, turn: TurnId, number: u32, started: Timestamp) -> Self {
        Self {
            session,
            turn,
            number,
            started,
            before: None,
            completeness: Completeness::Protected,
            deltas: BTreeMap::new(),
            left: BTreeMap::new(),
            windows: Vec::new(),
            open_windows: 0,
            foreign: BTreeSet::new(),
            alive: None,
        }
    }

    pub(crate) fn is(&self, session: &SessionId, turn: &TurnId) -> bool {
        self.session == *session && self.turn == *turn
    }

    pub(crate) fn open_window(&mut self, now: i64) {
        self.windows.push(Window { start: now, end: None });
        self.open_windows += 1;
    }

    pub(crate) fn close_window(&mut self, now: i64) {
        if let Some(window) = self.windows.iter_mut().rev().find(|window| window.end.is_none()) {
            window.end = Some(now);
            self.open_windows = self.open_windows.saturating_sub(1);
        }
    }

    /// Forgets the commands that are over: a scan has seen what they did.
    pub(crate) fn scanned(&mut self) {
        self.windows.retain(|window| window.end.is_none());
    }

    /// Names who made a change that no edit tool announced.
    pub(crate) fn attribute(&self, change: &Change) -> ChangeSource {
        let Some(first) = self.windows.first() else { return ChangeSource::Outside };
        if self.foreign.contains(&change.path) {
            return ChangeSource::Outside;
        }
        // A command is running, or the time of the change is not known: it can't be excluded.
        let Some(at) = change.at else { return ChangeSource::Shell };
        if at + LAG < first.start {
            return ChangeSource::Outside;
        }
        let within = |window: &Window| {
            at + LAG >= window.start && window.end.is_none_or(|end| at <= end + LAG)
        };
        if self.windows.iter().any(within) { ChangeSource::Shell } else { ChangeSource::Outside }
    }

    /// Adds a change to the chain of its path; returns the step as it now is.
    pub(crate) fn push(
        &mut self,
        path: &[u8],
        pre: Option<Item>,
        post: Option<Item>,
        source: ChangeSource,
    ) {
        let chain = self.deltas.entry(path.to_vec()).or_default();
        match chain.last_mut() {
            Some(last) if last.source == source && last.post == pre => last.post = post,
            _ => chain.push(Delta { pre, post, source }),
        }
        chain.retain(|delta| delta.pre != delta.post);
        if chain.is_empty() {
            self.deltas.remove(path);
        }
    }

    /// Tells whether a path was seen and not covered at the beginning, so that its absence from the state before proves
    /// nothing.
    pub(crate) fn was_left(&self, path: &[u8]) -> bool {
        self.left.keys().any(|left| path == left.as_slice() || path.starts_with(left))
    }

    /// Fills in sizes that a state read back from trees does not have.
    pub(crate) fn complete_sizes(&mut self, objects: &Objects) {
        let items =
            self.deltas.values_mut().flatten().flat_map(|delta| [&mut delta.pre, &mut delta.post]);
        for item in items.flatten().filter(|item| item.size == 0 && !item.oid.is_zero()) {
            item.size =
                objects.read(item.oid).ok().flatten().map_or(0, |content| content.len() as u64);
        }
    }

    pub(crate) fn skip(&mut self, path: Vec<u8>, reason: &str) {
        self.left.entry(path).or_insert_with(|| reason.to_owned());
    }

    pub(crate) fn skipped(&self) -> Vec<SkippedPath> {
        let skipped = |(path, reason): (&Vec<u8>, &String)| SkippedPath {
            path: names::to_text(path),
            reason: reason.clone(),
        };
        self.left.iter().map(skipped).collect()
    }

    /// What is known so far, as the record of a turn that is open.
    pub(crate) fn meta(&self) -> TurnMeta {
        let effect = |(path, deltas): (&Vec<u8>, &Vec<Delta>)| Effect {
            path: path.clone(),
            deltas: deltas.clone(),
            added: 0,
            removed: 0,
            binary: false,
        };
        TurnMeta {
            version: 1,
            turn: self.turn.clone(),
            number: self.number,
            state: TurnState::Open,
            started: self.started,
            ended: None,
            before: self.before,
            after: None,
            completeness: self.completeness.clone(),
            effects: self
                .deltas
                .iter()
                .map(effect)
                .filter(|effect| effect.before() != effect.after())
                .collect(),
            skipped: self.skipped(),
        }
    }

    fn journal_name(session: &SessionId) -> Vec<u8> {
        format!("{}.jsonl", names::component(session.as_str())).into_bytes()
    }

    /// Writes the first line of the journal, durably.
    pub(crate) fn start_journal(
        &mut self,
        files: &dyn Files,
        store: BorrowedFd<'_>,
        folder: &Path,
    ) -> Result<()> {
        let begin = Line::Begin {
            session: self.session.clone(),
            turn: self.turn.clone(),
            number: self.number,
            started: self.started,
            before: self.before,
            completeness: self.completeness.clone(),
        };
        let work = || {
            let dir = files.open_dir(store, b"open")?;
            let name = Self::journal_name(&self.session);
            match files.unlink(dir.as_fd(), &name) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            files.append(dir.as_fd(), &name, &text(&begin))?;
            files.sync_file(dir.as_fd(), &name)?;
            let journal = File::open(folder.join("open").join(OsStr::from_bytes(&name)))?;
            Flock::lock(journal, FlockArg::LockExclusiveNonblock).map_err(|(_, error)| error.into())
        };
        self.alive = Some(work().map_err(|error| Error::io("the snapshot store", error))?);
        Ok(())
    }

    /// Tells whether the process that writes a journal still runs, this one included.
    pub(crate) fn is_alive(journal: &Path) -> bool {
        let Ok(file) = File::open(journal) else { return false };
        Flock::lock(file, FlockArg::LockExclusiveNonblock).is_err()
    }

    /// Adds lines to the journal. They survive the end of the process, not that of the machine.
    pub(crate) fn note(
        &self,
        files: &dyn Files,
        store: BorrowedFd<'_>,
        lines: &[Line],
    ) -> Result<()> {
        if lines.is_empty() {
            return Ok(());
        }
        let bytes: Vec<u8> = lines.iter().flat_map(text).collect();
        let work = || {
            let dir = files.open_dir(store, b"open")?;
            files.append(dir.as_fd(), &Self::journal_name(&self.session), &bytes)
        };
        work().map_err(|error| Error::io("the snapshot store", error))
    }

    pub(crate) fn end_journal(
        session: &SessionId,
        files: &dyn Files,
        store: BorrowedFd<'_>,
    ) -> Result<()> {
        let work = || {
            let dir = files.open_dir(store, b"open")?;
            match files.unlink(dir.as_fd(), &Self::journal_name(session)) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            }
        };
        work().map_err(|error| Error::io("the snapshot store", error))
    }

    /// Reads a turn back from its journal, as far as it is whole.
    pub(crate) fn from_journal(bytes: &[u8]) -> Option<Self> {
        let mut lines = bytes
            .split(|byte| *byte == b'\n')
            .map_while(|line| serde_json::from_slice::<Line>(line).ok());
        let Some(Line::Begin { session, turn, number, started, before, completeness }) =
            lines.next()
        else {
            return None;
        };
        let mut open = Self { before, completeness, ..Self::new(session, turn, number, started) };
        for line in lines {
            match line {
                Line::Begin { .. } => return None,
                Line::Delta { path, delta } => {
                    open.push(&path, delta.pre, delta.post, delta.source)
                }
                Line::WindowOpened => open.open_window(0),
                Line::WindowClosed => open.close_window(i64::MAX - LAG),
            }
        }
        Some(open)
    }
}

fn text(line: &Line) -> Vec<u8> {
    let mut bytes = serde_json::to_vec(line).expect("plain data has a JSON form");
    bytes.push(b'\n');
    bytes
}
