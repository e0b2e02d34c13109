//! The edits themselves: single names changed by rename, unlink, mkdir, rmdir and chmod, each after a look at what is
//! there, through folders opened without following a link.
//!
//! A file is never written in place: a crash leaves the old bytes or the new ones.

use std::collections::BTreeSet;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::inner::Inner;
use crate::item::{Entry, Item, Kind, Stamp, StatKind};
use crate::names;
use crate::plan::Planned;

/// How long a busy name is tried again.
const PATIENCE: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(50);

/// With more edits than this one sync of the whole file system is cheaper than one for each.
const SYNC_ALL_FROM: usize = 16;

/// A folder that is made on the way to a path.
const FOLDER_MODE: u32 = 0o755;

/// One path from one state to another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Edit {
    #[serde(with = "names::as_text")]
    pub(crate) path: Vec<u8>,
    pub(crate) expect: Option<Item>,
    pub(crate) target: Option<Item>,
    /// The stamp at which `expect` was read.
    #[serde(skip)]
    stamp: Option<(Stamp, bool)>,
    /// Why it was left out at the last moment.
    #[serde(skip)]
    pub(crate) skipped: Option<&'static str>,
}

impl Edit {
    pub(crate) fn of(planned: &Planned) -> Self {
        let stamp = planned.now.map(|entry: Entry| (entry.stamp, entry.racy));
        Self {
            path: planned.path.clone(),
            expect: planned.item(),
            target: planned.wanted,
            stamp,
            skipped: None,
        }
    }

    /// The rest of an edit whose first half was made.
    pub(crate) fn from_nothing(edit: &Self) -> Self {
        Self { expect: None, stamp: None, ..edit.clone() }
    }

    fn turned(&self) -> Self {
        Self {
            path: self.path.clone(),
            expect: self.target,
            target: self.expect,
            stamp: None,
            skipped: None,
        }
    }

    /// Whether only the mode changes.
    fn only_mode(&self) -> bool {
        match (self.expect, self.target) {
            (Some(old), Some(new)) => old.same_content(&new) && old.kind != Kind::Link,
            _ => false,
        }
    }

    fn writes(&self) -> bool {
        !self.only_mode() && self.target.is_some_and(|item| item.kind != Kind::Dir)
    }
}

/// Where new contents wait.
pub(crate) struct Stage {
    dir: OwnedFd,
    id: String,
    count: usize,
    /// The stage is a folder in the workspace, because the store is on another device.
    inside: bool,
}

impl Stage {
    /// The same place with another number of contents.
    pub(crate) fn with_count(self, count: usize) -> Self {
        Self { count, ..self }
    }

    fn name(&self, index: usize) -> Vec<u8> {
        format!("tmp_{}_{index}", self.id).into_bytes()
    }
}

fn stage_folder(id: &str) -> Vec<u8> {
    format!(".cairn-stage-{id}").into_bytes()
}

fn is(side: Option<Item>, kind: Kind) -> bool {
    side.is_some_and(|item| item.kind == kind)
}

type Failed = (Error, Vec<Edit>);

impl Inner {
    /// Writes the new contents beside the workspace, durably.
    pub(crate) fn stage(&mut self, id: &str, edits: &[Edit]) -> Result<Stage> {
        let device = |fd: &OwnedFd| nix::sys::stat::fstat(fd.as_fd()).map(|stat| stat.st_dev);
        let inside = device(&self.store_dir).ok() != device(&self.root).ok();
        let files = std::sync::Arc::clone(&self.files);
        let io = |error| Error::io("the place for new contents", error);
        let dir = if inside {
            let name = stage_folder(id);
            match files.mkdir(self.root.as_fd(), &name, 0o700) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                    return Err(io(error));
                }
                _ => {}
            }
            files.open_dir(self.root.as_fd(), &name).map_err(io)?
        } else {
            files.open_dir(self.store_dir.as_fd(), b"stage").map_err(io)?
        };
        let stage = Stage { dir, id: id.to_owned(), count: edits.len(), inside };
        let mut written = 0;
        for (index, edit) in edits.iter().enumerate().filter(|(_, edit)| edit.writes()) {
            let Some(item) = edit.target else { continue };
            if let Err(error) = self.stage_one(&stage, &stage.name(index), &edit.path, item) {
                self.unstage(&stage);
                return Err(error);
            }
            written += 1;
        }
        let synced = if written >= SYNC_ALL_FROM {
            files.sync_all(stage.dir.as_fd())
        } else {
            let files_only = |edit: &Edit| edit.writes() && is(edit.target, Kind::File);
            let mut list = edits.iter().enumerate().filter(|(_, edit)| files_only(edit));
            list.try_for_each(|(index, _)| files.sync_file(stage.dir.as_fd(), &stage.name(index)))
        };
        if let Err(error) = synced {
            self.unstage(&stage);
            return Err(io(error));
        }
        Ok(stage)
    }

    fn stage_one(&self, stage: &Stage, name: &[u8], path: &[u8], item: Item) -> Result<()> {
        let content = self.objects.read(item.oid)?;
        let content = content.ok_or_else(|| {
            Error::Damaged(format!("the content of {} is missing", names::to_text(path)))
        })?;
        let dir = stage.dir.as_fd();
        let work = || {
            match self.files.unlink(dir, name) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            if item.kind == Kind::Link {
                return self.files.symlink(dir, name, &content);
            }
            self.files.create(dir, name, &content, item.mode)?;
            // The new file belongs to whom the old one belonged, where this process may say so.
            let (folder, own) = names::split(path);
            let old = self
                .files
                .open_dir(self.root.as_fd(), folder)
                .and_then(|dir| self.files.stat(dir.as_fd(), own));
            if let (Ok(old), Ok(new)) = (old, self.files.stat(dir, name))
                && old.kind == StatKind::File
                && (old.uid, old.gid) != (new.uid, new.gid)
                && self.files.chown(dir, name, old.uid, old.gid).is_ok()
            {
                // Changing the owner drops set-id bits.
                self.files.chmod(dir, name, item.mode)?;
            }
            Ok(())
        };
        work().map_err(|error| Error::io(names::to_text(path), error))
    }

    /// Removes what is left of a stage.
    pub(crate) fn unstage(&self, stage: &Stage) {
        for index in 0..stage.count {
            // Most of it is gone; the rest is removed at the next opening if not now.
            let _ = self.files.unlink(stage.dir.as_fd(), &stage.name(index));
        }
        if stage.inside {
            let _ = self.files.rmdir(self.root.as_fd(), &stage_folder(&stage.id));
        }
    }

    /// Tells whether a path is still what an edit was planned for.
    pub(crate) fn is_as_expected(&mut self, edit: &Edit) -> bool {
        let (dir, name) = names::split(&edit.path);
        let stat = self
            .files
            .open_dir(self.root.as_fd(), dir)
            .and_then(|dir| self.files.stat(dir.as_fd(), name));
        if let (Ok(stat), Some((stamp, false))) = (&stat, edit.stamp)
            && stat.kind != StatKind::Dir
            && stat.stamp() == stamp
        {
            return true;
        }
        let now =
            self.read_path(&edit.path, None, false).map(|entry| entry.map(|entry| entry.item()));
        match now {
            Ok(Some(Some(item))) => edit.expect == Some(item),
            Ok(None) => edit.expect.is_none(),
            _ => false,
        }
    }

    /// Makes all edits, in an order in which none is in the way of another. An edit whose path is not as expected at
    /// its moment is skipped. On an error returns those that were made.
    pub(crate) fn carry_out(
        &mut self,
        edits: &mut [Edit],
        stage: &Stage,
    ) -> std::result::Result<(), Failed> {
        let mut order: Vec<usize> = (0..edits.len()).collect();
        order.sort_by(|a, b| edits[*a].path.cmp(&edits[*b].path));
        let deepest: Vec<usize> = order.iter().rev().copied().collect();
        let indices: Vec<Vec<u8>> = edits.iter().map(|edit| edit.path.clone()).collect();
        let mut done: Vec<Edit> = Vec::new();
        let mut touched: BTreeSet<Vec<u8>> = BTreeSet::new();
        for phase in [Phase::Unlink, Phase::Rmdir, Phase::Mkdir, Phase::Put, Phase::Mode] {
            let list = if matches!(phase, Phase::Unlink | Phase::Rmdir | Phase::Mode) {
                &deepest
            } else {
                &order
            };
            for &index in list {
                let edit = edits[index].clone();
                if edit.skipped.is_some() || !phase.concerns(&edit) {
                    continue;
                }
                if phase.is_first_of(&edit) && !self.is_as_expected(&edit) {
                    edits[index].skipped = Some("you changed it just now");
                    continue;
                }
                match self.patiently(|inner| inner.make(phase, &edit, stage, &stage.name(index))) {
                    Ok(()) => {
                        touched.insert(names::split(&indices[index]).0.to_vec());
                        if !done.iter().any(|done| done.path == edit.path) {
                            done.push(edit);
                        }
                    }
                    Err(error)
                        if phase == Phase::Rmdir
                            && error.kind() == io::ErrorKind::DirectoryNotEmpty =>
                    {
                        edits[index].skipped = Some("the folder stays: other things are in it");
                    }
                    Err(error) => return Err((Error::io(names::to_text(&edit.path), error), done)),
                }
            }
        }
        if touched.len() >= SYNC_ALL_FROM {
            // The names are there; only their durability is at stake, and the journal still stands.
            let _ = self.files.sync_all(self.root.as_fd());
        } else {
            for dir in &touched {
                let _ = self
                    .files
                    .open_dir(self.root.as_fd(), dir)
                    .and_then(|dir| self.files.sync_dir(dir.as_fd()));
            }
        }
        Ok(())
    }

    fn patiently(&mut self, mut work: impl FnMut(&mut Self) -> io::Result<()>) -> io::Result<()> {
        let started = Instant::now();
        loop {
            match work(self) {
                Err(error)
                    if matches!(
                        error.raw_os_error(),
                        Some(libc::EBUSY | libc::EINTR | libc::EAGAIN)
                    ) && started.elapsed() < PATIENCE =>
                {
                    std::thread::sleep(PAUSE);
                }
                other => return other,
            }
        }
    }

    fn make(&mut self, phase: Phase, edit: &Edit, stage: &Stage, staged: &[u8]) -> io::Result<()> {
        match self.make_in(phase, edit, stage, staged) {
            Err(error) if matches!(error.raw_os_error(), Some(libc::EACCES | libc::EPERM)) => self
                .with_writable_folder(names::split(&edit.path).0, error, |inner| {
                    inner.make_in(phase, edit, stage, staged)
                }),
            other => other,
        }
    }

    /// Opens a read-only folder for one edit and closes it again.
    fn with_writable_folder(
        &mut self,
        dir: &[u8],
        error: io::Error,
        work: impl FnOnce(&mut Self) -> io::Result<()>,
    ) -> io::Result<()> {
        if dir.is_empty() {
            return Err(error);
        }
        let (parent, name) = names::split(dir);
        let parent = self.files.open_dir(self.root.as_fd(), parent)?;
        let mode = self.files.stat(parent.as_fd(), name)?.mode;
        if mode & 0o200 != 0 {
            return Err(error);
        }
        self.files.chmod(parent.as_fd(), name, mode | 0o700)?;
        let result = work(self);
        let closed = self.files.chmod(parent.as_fd(), name, mode);
        result.and(closed)
    }

    fn make_in(
        &mut self,
        phase: Phase,
        edit: &Edit,
        stage: &Stage,
        staged: &[u8],
    ) -> io::Result<()> {
        let (dir, name) = names::split(&edit.path);
        let files = std::sync::Arc::clone(&self.files);
        if matches!(phase, Phase::Mkdir | Phase::Put) {
            self.make_way(dir)?;
        }
        let dir = files.open_dir(self.root.as_fd(), dir)?;
        let dir = dir.as_fd();
        let mode = edit.target.map_or(0, |item| item.mode);
        match phase {
            Phase::Unlink => files.unlink(dir, name),
            Phase::Rmdir => files.rmdir(dir, name),
            // Writable until everything is in it; the last phase sets what it should be.
            Phase::Mkdir => files.mkdir(dir, name, mode | 0o700),
            Phase::Mode => files.chmod(dir, name, mode),
            Phase::Put => match files.rename(stage.dir.as_fd(), staged, dir, name) {
                Err(error) if error.raw_os_error() == Some(libc::EXDEV) => {
                    self.put_across(edit, dir, name)
                }
                other => other,
            },
        }
    }

    /// Puts a content onto another device than the stage's: a mount inside of the workspace.
    fn put_across(
        &self,
        edit: &Edit,
        dir: std::os::fd::BorrowedFd<'_>,
        name: &[u8],
    ) -> io::Result<()> {
        let Some(item) = edit.target else { return Ok(()) };
        let gone = || io::Error::other("its content is missing from the store");
        let content = self.objects.read(item.oid).ok().flatten().ok_or_else(gone)?;
        let temporary = format!(".cairn-{}.tmp", uuid::Uuid::new_v4().simple());
        let temporary = temporary.as_bytes();
        let made = match item.kind {
            Kind::Link => self.files.symlink(dir, temporary, &content),
            _ => self
                .files
                .create(dir, temporary, &content, item.mode)
                .and_then(|()| self.files.sync_file(dir, temporary)),
        };
        let made = made.and_then(|()| self.files.rename(dir, temporary, dir, name));
        if made.is_err() {
            // Best effort: the cause of the failure is what is reported.
            let _ = self.files.unlink(dir, temporary);
        }
        made
    }

    fn make_way(&self, dir: &[u8]) -> io::Result<()> {
        if dir.is_empty() || self.files.open_dir(self.root.as_fd(), dir).is_ok() {
            return Ok(());
        }
        let (parent, name) = names::split(dir);
        self.make_way(parent)?;
        let parent = self.files.open_dir(self.root.as_fd(), parent)?;
        match self.files.mkdir(parent.as_fd(), name, FOLDER_MODE) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => Ok(()),
        }
    }

    /// Turns edits back that were made. Tells whether all of them could be.
    pub(crate) fn undo_edits(&mut self, id: &str, done: &[Edit]) -> bool {
        let mut back: Vec<Edit> = done.iter().map(Edit::turned).collect();
        // An edit of several phases may have been made in part: each is taken from what is there.
        for edit in &mut back {
            if let Ok(entry) = self.read_path(&edit.path, None, false) {
                edit.expect = entry.and_then(|entry| entry.item());
            }
        }
        back.retain(|edit| edit.expect != edit.target);
        if back.is_empty() {
            return true;
        }
        let Ok(stage) = self.stage(&format!("{id}-back"), &back) else { return false };
        let result = self.carry_out(&mut back, &stage);
        self.unstage(&stage);
        result.is_ok() && back.iter().all(|edit| edit.skipped.is_none())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Unlink,
    Rmdir,
    Mkdir,
    Put,
    Mode,
}

impl Phase {
    fn concerns(self, edit: &Edit) -> bool {
        let (expect, target) = (edit.expect, edit.target);
        let was_dir = is(expect, Kind::Dir);
        let is_dir = is(target, Kind::Dir);
        match self {
            Self::Unlink => expect.is_some() && !was_dir && (target.is_none() || is_dir),
            Self::Rmdir => was_dir && !is_dir,
            Self::Mkdir => is_dir && !was_dir,
            Self::Put => edit.writes(),
            Self::Mode => edit.only_mode() || is_dir,
        }
    }

    /// Whether this is the first thing that happens to the path, so that its state before can be checked.
    fn is_first_of(self, edit: &Edit) -> bool {
        let all = [Self::Unlink, Self::Rmdir, Self::Mkdir, Self::Put, Self::Mode];
        all.into_iter().find(|phase| phase.concerns(edit)) == Some(self)
    }
}
