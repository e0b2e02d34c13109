//! The hooks of a turn: before and after an edit tool touches a path, before and after a command runs.
//!
//! An edit is known exactly; what a command did is found by looking. Who is named for it is decided in `open_turn.rs`.

use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};

use cairn_protocol::{ChangeSource, SessionId, TurnId};

use super::line;
use crate::error::{Error, Result};
use crate::inner::{Carried, Inner};
use crate::item::{Entry, Item, Kind, Left, What};
use crate::names;
use crate::open_turn::Line;
use crate::state::Change;

impl Inner {
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
            return Err(Error::Invalid(format!(
                "{text} can't be rolled back later: {}",
                left.reason()
            )));
        }
        let entry =
            now.map(|entry| Entry { ignored: known.is_some_and(|known| known.ignored), ..entry });
        let was_known =
            known.is_some() || self.state.covers_folder_of(path) || self.carried.contains_key(path);
        let covered = self.edit_only.is_none()
            && self.state.covers_folder_of(path)
            && !matches!(
                self.state.get(path).map(|entry| entry.what),
                Some(What::Left(Left::IgnoredFile | Left::IgnoredDir))
            )
            && self.state.node(names::split(path).0).is_some();
        if covered {
            self.state.set(path, entry);
        } else {
            self.carried.insert(path.to_vec(), Carried { entry, by_edit: true });
        }
        let post = now.and_then(|entry| entry.item());
        let uncovered_before =
            matches!(self.state.get(path).map(|entry| entry.what), Some(What::Left(_)))
                && known.is_none();
        let pre = if was_known && !uncovered_before {
            known.and_then(|entry| entry.item())
        } else {
            post
        };
        Ok((pre, post, now.map(|entry| entry.stamp.ctime)))
    }

    pub(crate) fn before_edit(
        &mut self,
        session: &SessionId,
        turn: &TurnId,
        path: &Path,
    ) -> Result<()> {
        let Some(path) = self.inside(path) else { return Ok(()) };
        if !self.open.iter().any(|open| open.is(session, turn)) {
            return Err(Error::NotFound(format!("turn {turn}")));
        }
        // What is on the way already was not made by the tool.
        self.note_way(&path, None)?;
        let unknown = self.known(&path).is_none();
        let left_before =
            matches!(self.state.get(&path).map(|entry| entry.what), Some(What::Left(_)));
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

    pub(crate) fn after_edit(
        &mut self,
        session: &SessionId,
        turn: &TurnId,
        path: &Path,
    ) -> Result<()> {
        let Some(path) = self.inside(path) else { return Ok(()) };
        let Some(editor) = self.open.iter().position(|open| open.is(session, turn)) else {
            return Err(Error::NotFound(format!("turn {turn}")));
        };
        // Folders that the tool made on the way belong to its edit.
        self.note_way(&path, Some(editor))?;
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

    /// Notes the folders above a path that were not known yet.
    fn note_way(&mut self, path: &[u8], editor: Option<usize>) -> Result<()> {
        let mut folders = Vec::new();
        let mut dir = names::split(path).0;
        while !dir.is_empty() && self.known(dir).is_none() && self.state.node(dir).is_none() {
            folders.push(dir.to_vec());
            dir = names::split(dir).0;
        }
        for dir in folders.into_iter().rev() {
            if self.state.covers_folder_of(&dir) || self.edit_only.is_some() {
                let (pre, post, at) = self.note_path(&dir)?;
                if pre != post {
                    self.announce(&Change { path: dir, pre, post, at }, editor)?;
                }
            }
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
        let cheap = self.is_cheap();
        if let Some(open) = self.open.iter_mut().find(|open| open.is(session, turn)) {
            open.close_window(now);
            if cheap {
                open.scanned();
            }
            // As above.
            let _ = open.note(self.files.as_ref(), self.store_dir.as_fd(), &[Line::WindowClosed]);
        }
    }
}
