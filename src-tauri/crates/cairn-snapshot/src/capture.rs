//! Before and after a turn, an edit and a command: what changed goes to every turn that runs, with who is named for it.
//!
//! None of this fails a turn (I8): a capture says in its completeness what is missing.

use std::collections::BTreeMap;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};
use std::time::{Duration, Instant};

use cairn_protocol::{
    ChangeSource, Completeness, SessionId, SkippedPath, SnapshotId, Timestamp, TurnId, TurnState,
};
use git2::ObjectType;

use crate::Capture;
use crate::error::{Error, Result};
use crate::inner::{Carried, Inner};
use crate::item::{Entry, Item, Kind, Left, StatKind, What};
use crate::manifest::{Effect, Recorded, TurnMeta};
use crate::names;
use crate::open_turn::{Line, OpenTurn};
use crate::state::{Change, Observed, Snap};

/// A scan that takes no longer is also done at both ends of every command, so that what the user does between two
/// commands is told apart without guessing from times.
const CHEAP_SCAN: Duration = Duration::from_millis(20);

/// More paths than this that lose their cover are not followed one by one.
const CARRIED_AT_MOST: usize = 10_000;

/// More left-out paths than this are not listed one by one.
const LISTED_AT_MOST: usize = 1000;

impl Inner {
    pub(crate) fn begin_turn(&mut self, session: &SessionId, turn: &TurnId, number: u32, now: Timestamp) -> Capture {
        let started = Instant::now();
        let mut open = OpenTurn::new(session.clone(), turn.clone(), number, now);
        // A turn of this session that was never ended is closed with what is known now.
        if let Some(stale) = self.open.iter().find(|open| open.session == *session).map(|open| open.turn.clone()) {
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
        Capture { snapshot, completeness, changes: None, paths: Vec::new(), duration: started.elapsed() }
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
        let written = self.state.write(&mut self.objects).and_then(|snap| self.objects.flush().map(|()| snap));
        match written {
            Ok(snap) => {
                // Only a cache: without it the next start reads the files again.
                let _ = self.state.save_cache(&self.store, self.files.as_ref(), self.store_dir.as_fd());
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
                if open.before.is_none() && source != ChangeSource::Agent && self.edit_only.is_none() {
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
            let (pre, post) = (known.entry.and_then(|entry| entry.item()), now.and_then(|entry| entry.item()));
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
    pub(crate) fn read_path(&mut self, path: &[u8], known: Option<&Entry>, keep: bool) -> Result<Option<Entry>> {
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
            StatKind::File if stat.size > limit => entry(stat.stamp(), What::Left(Left::TooBig), false),
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

    /// Turns a path of a tool into one of the workspace; `None` when it lies outside of it.
    fn inside(&self, path: &Path) -> Option<Vec<u8>> {
        let relative = if path.is_absolute() {
            match path.strip_prefix(&self.workspace) {
                Ok(relative) => relative.to_path_buf(),
                // The folder may be named through a link that leads into the workspace.
                Err(_) => {
                    let parent = path.parent()?.canonicalize().ok()?;
                    parent.strip_prefix(&self.workspace).ok()?.join(path.file_name()?)
                }
            }
        } else {
            path.to_path_buf()
        };
        let mut bytes = Vec::new();
        for part in relative.components() {
            match part {
                Component::Normal(name) => bytes = names::join(&bytes, name.as_bytes()),
                Component::CurDir => {}
                _ => return None,
            }
        }
        names::is_inside(&bytes).then_some(bytes)
    }

    fn known(&self, path: &[u8]) -> Option<Entry> {
        match self.state.get(path) {
            Some(entry) if entry.item().is_some() => Some(*entry),
            _ => self.carried.get(path).and_then(|carried| carried.entry),
        }
    }

    /// Notes what is at a path now; returns what was known of it and what it is.
    fn note_path(&mut self, path: &[u8]) -> Result<(Option<Item>, Option<Item>, Option<i64>)> {
        let known = self.known(path);
        let now = self.read_path(path, known.as_ref(), true)?;
        if let Some(Entry { what: What::Left(left), .. }) = now {
            let text = names::to_text(path);
            return Err(Error::Invalid(format!("{text} can't be rolled back later: {}", left.reason())));
        }
        let entry = now.map(|entry| Entry { ignored: known.is_some_and(|known| known.ignored), ..entry });
        let was_known = known.is_some() || self.state.covers_folder_of(path) || self.carried.contains_key(path);
        let covered = self.edit_only.is_none()
            && self.state.covers_folder_of(path)
            && !matches!(self.state.get(path).map(|entry| entry.what), Some(What::Left(Left::IgnoredFile | Left::IgnoredDir)))
            && self.state.node(names::split(path).0).is_some();
        if covered {
            self.state.set(path, entry);
        } else {
            self.carried.insert(path.to_vec(), Carried { entry, by_edit: true });
        }
        let post = now.and_then(|entry| entry.item());
        let uncovered_before =
            matches!(self.state.get(path).map(|entry| entry.what), Some(What::Left(_))) && known.is_none();
        let pre = if was_known && !uncovered_before { known.and_then(|entry| entry.item()) } else { post };
        Ok((pre, post, now.map(|entry| entry.stamp.ctime)))
    }

    pub(crate) fn before_edit(&mut self, session: &SessionId, turn: &TurnId, path: &Path) -> Result<()> {
        let Some(path) = self.inside(path) else { return Ok(()) };
        if !self.open.iter().any(|open| open.is(session, turn)) {
            return Err(Error::NotFound(format!("turn {turn}")));
        }
        let unknown = self.known(&path).is_none();
        let left_before = matches!(self.state.get(&path).map(|entry| entry.what), Some(What::Left(_)));
        let (mut pre, post, at) = self.note_path(&path)?;
        if unknown && left_before {
            // It was seen but not kept before; its first known state is this one.
            pre = post;
        }
        if let Some(item) = post
            && item.kind != Kind::Dir
            && (pre != post || unknown || !self.objects.has_content(item.oid))
        {
            let _lock = self.lock()?;
            self.objects.flush()?;
        }
        if pre != post {
            self.announce(&Change { path, pre, post, at }, None)?;
        }
        Ok(())
    }

    pub(crate) fn after_edit(&mut self, session: &SessionId, turn: &TurnId, path: &Path) -> Result<()> {
        let Some(path) = self.inside(path) else { return Ok(()) };
        let Some(editor) = self.open.iter().position(|open| open.is(session, turn)) else {
            return Err(Error::NotFound(format!("turn {turn}")));
        };
        // Folders that the tool made on the way belong to its edit.
        let mut folders = Vec::new();
        let mut dir = names::split(&path).0;
        while !dir.is_empty() && self.known(dir).is_none() && self.state.node(dir).is_none() {
            folders.push(dir.to_vec());
            dir = names::split(dir).0;
        }
        for dir in folders.into_iter().rev() {
            if self.state.covers_folder_of(&dir) || self.edit_only.is_some() {
                let (pre, post, at) = self.note_path(&dir)?;
                if pre != post {
                    self.announce(&Change { path: dir, pre, post, at }, Some(editor))?;
                }
            }
        }
        let (pre, post, at) = match self.note_path(&path) {
            Err(Error::Invalid(reason)) => {
                if let Some(open) = self.open.get_mut(editor) {
                    open.skip(path, &reason);
                }
                return Ok(());
            }
            other => other?,
        };
        if pre != post {
            self.announce(&Change { path, pre, post, at }, Some(editor))?;
        }
        Ok(())
    }

    /// Hands one change to all turns that run. `editor` is the turn whose edit tool made it.
    fn announce(&mut self, change: &Change, editor: Option<usize>) -> Result<()> {
        for (index, open) in self.open.iter_mut().enumerate() {
            let source = match editor {
                Some(editor) if editor == index => ChangeSource::Agent,
                Some(_) => {
                    open.foreign.insert(change.path.clone());
                    ChangeSource::Outside
                }
                None => open.attribute(change),
            };
            open.push(&change.path, change.pre, change.post, source);
            open.note(self.files.as_ref(), self.store_dir.as_fd(), &[line(change, source)])?;
        }
        Ok(())
    }

    pub(crate) fn before_command(&mut self, session: &SessionId, turn: &TurnId) {
        self.look_if_cheap();
        let now = self.file_time();
        if let Some(open) = self.open.iter_mut().find(|open| open.is(session, turn)) {
            open.open_window(now);
            // Without the line a crash would leave the command's changes unnamed; the command runs all the same.
            let _ = open.note(self.files.as_ref(), self.store_dir.as_fd(), &[Line::WindowOpened]);
        }
    }

    pub(crate) fn after_command(&mut self, session: &SessionId, turn: &TurnId) {
        self.look_if_cheap();
        let now = self.file_time();
        let cheap = self.last_scan <= CHEAP_SCAN;
        if let Some(open) = self.open.iter_mut().find(|open| open.is(session, turn)) {
            open.close_window(now);
            if cheap {
                open.scanned();
            }
            // As above.
            let _ = open.note(self.files.as_ref(), self.store_dir.as_fd(), &[Line::WindowClosed]);
        }
    }

    fn look_if_cheap(&mut self) {
        if self.last_scan <= CHEAP_SCAN && self.look().is_err() {
            // The scan at the end of the turn says what is wrong.
            self.last_scan = Duration::MAX;
        }
    }

    pub(crate) fn end_turn(&mut self, session: &SessionId, turn: &TurnId, now: Timestamp) -> Capture {
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
        Capture { snapshot, completeness, changes: Some(summary), paths, duration: started.elapsed() }
    }

    fn record_turn(&mut self, session: &SessionId, meta: TurnMeta) -> Result<()> {
        let _lock = self.lock()?;
        let record = self.load_session(session)?;
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
        let listed = |path: &str, list: &[SkippedPath]| list.iter().any(|skipped| skipped.path == path);
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
    let cause = std::error::Error::source(error).map(|source| format!(" ({source})")).unwrap_or_default();
    Completeness::NotProtected { reason: format!("the capture failed: {error}{cause}") }
}
