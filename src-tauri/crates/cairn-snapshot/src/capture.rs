//! Before and after a turn: what changed goes to every turn that runs, with who is named for it.
//! The hooks of edits and commands are in `capture/hooks.rs`.
//!
//! None of this fails a turn (I8): a capture says in its completeness what is missing.

mod hooks;

use std::collections::BTreeMap;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use cairn_protocol::{
    ChangeSource, Completeness, SessionId, SkippedPath, SnapshotId, Timestamp, TurnId, TurnState,
};
use git2::ObjectType;

use crate::Capture;
use crate::error::{Error, Result};
use crate::inner::{Carried, Inner};
use crate::item::{Entry, Kind, Left, StatKind, What};
use crate::manifest::{Effect, Recorded, TurnMeta};
use crate::names;
use crate::open_turn::{Line, OpenTurn};
use crate::state::{Change, Observed, Snap};

/// How long a scan may take to be done at both ends of every command, when nothing else is asked for.
const CHEAP_SCAN: Duration = Duration::from_millis(20);

/// More paths than this that lose their cover are not followed one by one.
const CARRIED_AT_MOST: usize = 10_000;

/// More left-out paths than this are not listed one by one.
const LISTED_AT_MOST: usize = 1000;

impl Inner {
    pub(crate) fn begin_turn(
        &mut self,
        session: &SessionId,
        turn: &TurnId,
        number: u32,
        now: Timestamp,
    ) -> Capture {
        let started = Instant::now();
        let mut open = OpenTurn::new(session.clone(), turn.clone(), number, now);
        // A turn of this session that was never ended is closed with what is known now.
        if let Some(stale) =
            self.open.iter().find(|open| open.session == *session).map(|open| open.turn.clone())
        {
            self.close_turn(session, &stale, now, TurnState::Crashed);
        }
        self.carried.retain(|_, carried| carried.by_edit);
        let captured = self.capture();
        let completeness = match &captured {
            Ok(_) => self.completeness(),
            Err(error) => not_protected(error),
        };
        open.before = captured.unwrap_or_default();
        open.completeness = completeness.clone();
        let journal = open.start_journal(self.files.as_ref(), self.store_dir.as_fd(), &self.store);
        let snapshot = open.before.map(|snap| SnapshotId::new(snap.tree.to_string()));
        self.open.push(open);
        let completeness = match journal {
            Ok(()) => completeness,
            Err(error) => not_protected(&error),
        };
        Capture {
            snapshot,
            completeness,
            changes: None,
            paths: Vec::new(),
            duration: started.elapsed(),
        }
    }

    /// Looks, and makes what it found durable. `None` when only edit tools are covered.
    fn capture(&mut self) -> Result<Option<Snap>> {
        let _lock = self.lock()?;
        match self.look() {
            Err(Error::Invalid(reason)) if reason.starts_with("the workspace has more than") => {
                self.edit_only = Some(reason);
                self.state = crate::state::State::default();
            }
            other => other?,
        }
        if self.edit_only.is_some() {
            return Ok(None);
        }
        let written = self
            .state
            .write(&mut self.objects)
            .and_then(|snap| self.objects.flush().map(|()| snap));
        match written {
            Ok(snap) => {
                // Only a cache: without it the next start reads the files again.
                let _ =
                    self.state.save_cache(&self.store, self.files.as_ref(), self.store_dir.as_fd());
                Ok(Some(snap))
            }
            Err(error) => {
                // What is known refers to objects that may not be there.
                self.state = crate::state::State::default();
                Err(error)
            }
        }
    }

    /// Scans and hands what changed to the turns that run.
    fn look(&mut self) -> Result<()> {
        let observed = self.scan()?;
        self.attribute(observed)
    }

    fn attribute(&mut self, mut observed: Observed) -> Result<()> {
        for (path, entry) in observed.uncovered.drain(..).take(CARRIED_AT_MOST) {
            self.carried.entry(path).or_insert(Carried { entry: Some(entry), by_edit: false });
        }
        let mut changes = observed.changes;
        changes.extend(self.look_at_carried()?);
        for open in &mut self.open {
            let mut lines = Vec::new();
            for change in &changes {
                let source = open.attribute(change);
                if open.before.is_none()
                    && source != ChangeSource::Agent
                    && self.edit_only.is_none()
                {
                    open.skip(change.path.clone(), "the capture before the turn failed");
                    continue;
                }
                open.push(&change.path, change.pre, change.post, source);
                lines.push(line(change, source));
            }
            for (path, left) in &observed.left {
                open.skip(shown(path, *left), left.reason());
            }
            open.note(self.files.as_ref(), self.store_dir.as_fd(), &lines)?;
            open.scanned();
        }
        Ok(())
    }

    fn look_at_carried(&mut self) -> Result<Vec<Change>> {
        let mut changes = Vec::new();
        let paths: Vec<Vec<u8>> = self.carried.keys().cloned().collect();
        for path in paths {
            if self.state.get(&path).is_some_and(|entry| entry.item().is_some()) {
                self.carried.remove(&path);
                continue;
            }
            let Some(known) = self.carried.get(&path).copied() else { continue };
            let Ok(now) = self.read_path(&path, known.entry.as_ref(), true) else { continue };
            let (pre, post) =
                (known.entry.and_then(|entry| entry.item()), now.and_then(|entry| entry.item()));
            if now.is_some_and(|entry| entry.item().is_none()) {
                continue;
            }
            self.carried.insert(path.clone(), Carried { entry: now, ..known });
            if pre != post {
                let at = now.map(|entry| entry.stamp.ctime);
                changes.push(Change { path, pre, post, at });
            }
        }
        Ok(changes)
    }

    /// Reads what is at one path, with its content into the store when `keep` is set. `None` when there is nothing; an
    /// entry without an item when it can't be covered.
    pub(crate) fn read_path(
        &mut self,
        path: &[u8],
        known: Option<&Entry>,
        keep: bool,
    ) -> Result<Option<Entry>> {
        let io = |error| Error::io(names::to_text(path), error);
        let (dir, name) = names::split(path);
        let absent = |error: &std::io::Error| {
            matches!(error.raw_os_error(), Some(libc::ENOENT | libc::ENOTDIR | libc::ELOOP))
        };
        let dir = match self.files.open_dir(self.root.as_fd(), dir) {
            Ok(dir) => dir,
            Err(error) if absent(&error) => return Ok(None),
            Err(error) => return Err(io(error)),
        };
        let stat = match self.files.stat(dir.as_fd(), name) {
            Ok(stat) => stat,
            Err(error) if absent(&error) => return Ok(None),
            Err(error) => return Err(io(error)),
        };
        let limit = self.options.limits.edit_file_bytes;
        let entry = |stamp, what, racy| Ok(Some(Entry { stamp, what, racy, ignored: false }));
        if let Some(known) = known
            && known.stamp == stat.stamp()
            && !known.racy
            && known.item().is_some_and(|item| item.kind != Kind::Dir)
        {
            return Ok(Some(*known));
        }
        match stat.kind {
            StatKind::Dir => entry(stat.stamp(), What::Dir, false),
            StatKind::Special => entry(stat.stamp(), What::Left(Left::Special), false),
            StatKind::Link => {
                let target = self.files.read_link(dir.as_fd(), name).map_err(io)?;
                let oid = self.objects.put(ObjectType::Blob, &target)?;
                entry(stat.stamp(), What::Link(oid), self.is_racy(stat.youngest()))
            }
            StatKind::File if stat.size > limit => {
                entry(stat.stamp(), What::Left(Left::TooBig), false)
            }
            StatKind::File => {
                let (content, stat) = self.files.read(dir.as_fd(), name, limit).map_err(io)?;
                let oid = if keep {
                    self.objects.put(ObjectType::Blob, &content)?
                } else {
                    crate::objects::hash(ObjectType::Blob, &content)?
                };
                entry(stat.stamp(), What::File(oid), self.is_racy(stat.youngest()))
            }
        }
    }

    fn is_cheap(&self) -> bool {
        self.last_scan <= self.options.cheap_scan.unwrap_or(CHEAP_SCAN)
    }

    fn look_if_cheap(&mut self) {
        if self.is_cheap() && self.look().is_err() {
            // The scan at the end of the turn says what is wrong.
            self.last_scan = Duration::MAX;
        }
    }

    pub(crate) fn end_turn(
        &mut self,
        session: &SessionId,
        turn: &TurnId,
        now: Timestamp,
    ) -> Capture {
        self.close_turn(session, turn, now, TurnState::Closed)
    }

    pub(crate) fn close_turn(
        &mut self,
        session: &SessionId,
        turn: &TurnId,
        now: Timestamp,
        state: TurnState,
    ) -> Capture {
        let started = Instant::now();
        let failed = |error: &Error| Capture {
            snapshot: None,
            completeness: not_protected(error),
            changes: None,
            paths: Vec::new(),
            duration: started.elapsed(),
        };
        let captured = self.capture();
        let Some(at) = self.open.iter().position(|open| open.is(session, turn)) else {
            return failed(&Error::NotFound(format!("turn {turn}")));
        };
        let open = self.open.remove(at);
        let completeness = match &captured {
            Ok(_) if open.before.is_none() && self.edit_only.is_none() => open.completeness.clone(),
            Ok(_) => self.completeness(),
            Err(error) => not_protected(error),
        };
        let meta = self.turn_meta(open, captured.unwrap_or_default(), completeness, now, state);
        let summary = crate::changes::summary(&meta);
        let paths = meta.effects.iter().map(|effect| names::to_text(&effect.path)).collect();
        let snapshot = meta.after.map(|snap| SnapshotId::new(snap.tree.to_string()));
        let mut completeness = meta.completeness.clone();
        if let Err(error) = self.record_turn(session, meta) {
            completeness = not_protected(&error);
        }
        Capture {
            snapshot,
            completeness,
            changes: Some(summary),
            paths,
            duration: started.elapsed(),
        }
    }

    fn record_turn(&mut self, session: &SessionId, meta: TurnMeta) -> Result<()> {
        let _lock = self.lock()?;
        let record = match self.load_session(session) {
            Err(Error::Damaged(reason)) => {
                self.set_aside(&reason)?;
                return Err(Error::Damaged(reason));
            }
            other => other?,
        };
        record.turns.retain(|turn| turn.meta.turn != meta.turn);
        record.turns.push(Recorded::new(meta));
        if let Err(error) = self.publish(session) {
            // The journal stays, so that the turn can be recorded at the next opening.
            self.sessions.remove(session);
            return Err(error);
        }
        OpenTurn::end_journal(session, self.files.as_ref(), self.store_dir.as_fd())
    }

    pub(crate) fn turn_meta(
        &mut self,
        open: OpenTurn,
        after: Option<Snap>,
        completeness: Completeness,
        now: Timestamp,
        state: TurnState,
    ) -> TurnMeta {
        let mut skipped = open.skipped();
        let listed =
            |path: &str, list: &[SkippedPath]| list.iter().any(|skipped| skipped.path == path);
        for (path, left) in self.state.left_out().into_iter().take(LISTED_AT_MOST) {
            let path = names::to_text(&path);
            if !listed(&path, &skipped) {
                skipped.push(SkippedPath { path, reason: left.reason().to_owned() });
            }
        }
        skipped.sort_by(|a, b| a.path.cmp(&b.path));
        let deltas: BTreeMap<_, _> = open.deltas;
        let mut effects: Vec<Effect> = deltas
            .into_iter()
            .map(|(path, deltas)| Effect { path, deltas, added: 0, removed: 0, binary: false })
            .filter(|effect| effect.before() != effect.after())
            .collect();
        crate::changes::count(&self.objects, &mut effects);
        TurnMeta {
            version: 1,
            turn: open.turn,
            number: open.number,
            state,
            started: open.started,
            ended: Some(now),
            before: open.before,
            after,
            completeness,
            effects,
            skipped,
        }
    }

    pub(crate) fn forget_session(&mut self, session: &SessionId) -> Result<()> {
        let _lock = self.lock()?;
        self.open.retain(|open| open.session != *session);
        OpenTurn::end_journal(session, self.files.as_ref(), self.store_dir.as_fd())?;
        self.remove_session(session)
    }
}

fn line(change: &Change, source: ChangeSource) -> Line {
    let delta = crate::manifest::Delta { pre: change.pre, post: change.post, source };
    Line::Delta { path: change.path.clone(), delta }
}

fn shown(path: &[u8], left: Left) -> Vec<u8> {
    let mut path = path.to_vec();
    if left == Left::IgnoredDir {
        path.push(b'/');
    }
    path
}

fn not_protected(error: &Error) -> Completeness {
    let cause =
        std::error::Error::source(error).map(|source| format!(" ({source})")).unwrap_or_default();
    Completeness::NotProtected { reason: format!("the capture failed: {error}{cause}") }
}
