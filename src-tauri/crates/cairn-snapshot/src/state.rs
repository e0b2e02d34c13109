//! What the last capture knew of every path: the stat cache, from which trees are written along changed paths only.
//!
//! It reads no file; a scan brings new folders in (`scan.rs`), `state/cache.rs` keeps them between runs.

pub(crate) mod cache;
mod meta;

use std::collections::{BTreeMap, HashMap, HashSet};

use git2::Oid;
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::item::{Entry, Item, Kind, Left, What, hex};
use crate::names;
use crate::objects::Objects;
use crate::tree::{self, TREE_MODE, TreeEntry};
pub(crate) use meta::load;

/// One folder: its names, sorted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Node {
    /// Hash of all ignore rules in force here.
    pub(crate) rules: u64,
    pub(crate) entries: Vec<(Box<[u8]>, Entry)>,
}

impl Node {
    pub(crate) fn get(&self, name: &[u8]) -> Option<&Entry> {
        let at = self.entries.binary_search_by(|(own, _)| own.as_ref().cmp(name)).ok()?;
        Some(&self.entries[at].1)
    }
}

/// Everything that is known of the workspace.
#[derive(Default)]
pub(crate) struct State {
    nodes: HashMap<Vec<u8>, Node>,
    /// The tree of each folder whose content is unchanged since it was written; `None` inside: nothing covered there.
    trees: HashMap<Vec<u8>, Option<Oid>>,
    /// Folders with something that a tree can't hold.
    odd: HashSet<Vec<u8>>,
    modes: Option<meta::Defaults>,
    snapshot: Option<Snap>,
    /// Folders to be saved in the stat cache.
    unsaved: HashSet<Vec<u8>>,
    /// File-system time of the last scan, in nanoseconds; 0 before the first.
    pub(crate) probe: i64,
}

/// A captured state: objects in the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Snap {
    #[serde(with = "hex")]
    pub(crate) tree: Oid,
    /// The tree of individually ignored files, empty when there are none.
    #[serde(with = "hex")]
    pub(crate) ignored: Oid,
    /// What trees can't hold.
    #[serde(with = "hex")]
    pub(crate) meta: Oid,
}

/// One path that is not what it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) path: Vec<u8>,
    pub(crate) pre: Option<Item>,
    pub(crate) post: Option<Item>,
    /// When it changed last, where the file system tells.
    pub(crate) at: Option<i64>,
}

/// What an application of a scan brought to light.
#[derive(Debug, Default)]
pub(crate) struct Observed {
    pub(crate) changes: Vec<Change>,
    /// Something changed that is not covered.
    pub(crate) left: Vec<(Vec<u8>, Left)>,
    /// Was covered and is there still, but is not covered by the rules any more.
    pub(crate) uncovered: Vec<(Vec<u8>, Entry)>,
}

impl State {
    pub(crate) fn node(&self, dir: &[u8]) -> Option<&Node> {
        self.nodes.get(dir)
    }

    pub(crate) fn nodes(&self) -> impl Iterator<Item = (&Vec<u8>, &Node)> {
        self.nodes.iter()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    pub(crate) fn get(&self, path: &[u8]) -> Option<&Entry> {
        let (dir, name) = names::split(path);
        self.nodes.get(dir)?.get(name)
    }

    /// Tells whether the folder of a path is one that scans look into.
    pub(crate) fn covers_folder_of(&self, path: &[u8]) -> bool {
        let (mut dir, _) = names::split(path);
        if path.split(|byte| *byte == b'/').any(names::is_git) {
            return false;
        }
        loop {
            if self.nodes.contains_key(dir) {
                return true;
            }
            // A folder that is new is covered when its nearest known ancestor has no other opinion on it.
            let (parent, name) = names::split(dir);
            if dir.is_empty() {
                return false;
            }
            if let Some(entry) = self.nodes.get(parent).and_then(|node| node.get(name)) {
                return entry.what == What::Dir;
            }
            dir = parent;
        }
    }

    /// Sets or removes what is known of one path without a scan, and of the folders above it that were not known.
    pub(crate) fn set(&mut self, path: &[u8], entry: Option<Entry>) {
        let (dir, name) = names::split(path);
        let Some(node) = self.nodes.get_mut(dir) else { return };
        match (node.entries.binary_search_by(|(own, _)| own.as_ref().cmp(name)), entry) {
            (Ok(at), Some(entry)) => node.entries[at].1 = entry,
            (Ok(at), None) => drop(node.entries.remove(at)),
            (Err(at), Some(entry)) => node.entries.insert(at, (name.into(), entry)),
            (Err(_), None) => return,
        }
        if entry.is_some_and(|entry| entry.what == What::Dir) {
            self.nodes.entry(path.to_vec()).or_default();
            self.touched(path);
        } else {
            self.nodes.remove(path);
        }
        let dir = dir.to_vec();
        self.touched(&dir);
    }

    /// Takes the result of a scan for one folder. `entered` says that the folder was not covered before, so that what
    /// is new in it to us need not be new.
    pub(crate) fn apply(&mut self, dir: &[u8], new: Node, entered: bool, out: &mut Observed) {
        let old = self.nodes.remove(dir).unwrap_or_default();
        let (mut a, mut b) = (old.entries.iter().peekable(), new.entries.iter().peekable());
        loop {
            let order = match (a.peek(), b.peek()) {
                (None, None) => break,
                (Some(_), None) => std::cmp::Ordering::Less,
                (None, Some(_)) => std::cmp::Ordering::Greater,
                (Some((x, _)), Some((y, _))) => x.cmp(y),
            };
            let before = if order.is_le() { a.next() } else { None };
            let after = if order.is_ge() { b.next() } else { None };
            let name = before.or(after).map(|(name, _)| name.as_ref()).unwrap_or_default();
            let path = names::join(dir, name);
            self.compare(
                path,
                before.map(|(_, entry)| *entry),
                after.map(|(_, entry)| *entry),
                entered,
                out,
            );
        }
        self.nodes.insert(dir.to_vec(), new);
        self.touched(dir);
    }

    fn compare(
        &mut self,
        path: Vec<u8>,
        old: Option<Entry>,
        new: Option<Entry>,
        entered: bool,
        out: &mut Observed,
    ) {
        let (pre, post) = (old.and_then(|entry| entry.item()), new.and_then(|entry| entry.item()));
        let was_dir = pre.is_some_and(|item| item.kind == Kind::Dir);
        let is_dir = post.is_some_and(|item| item.kind == Kind::Dir);
        let left = |entry: Option<Entry>| match entry.map(|entry| entry.what) {
            Some(What::Left(left)) => Some(left),
            _ => None,
        };
        match (left(old), left(new)) {
            (None, None) => {
                if pre != post && !(old.is_none() && entered) {
                    let at = new.filter(|_| !is_dir).map(|entry| entry.stamp.ctime);
                    out.changes.push(Change { path: path.clone(), pre, post, at });
                }
                if was_dir && !is_dir {
                    self.forget_below(&path, &mut |path, entry| match (entry.item(), entry.what) {
                        (Some(item), _) => {
                            out.changes.push(Change {
                                path,
                                pre: Some(item),
                                post: None,
                                at: None,
                            });
                        }
                        (None, What::Left(left)) => out.left.push((path, left)),
                        (None, _) => {}
                    });
                }
            }
            (None, Some(now)) if pre.is_some() => {
                let still = matches!(
                    now,
                    Left::IgnoredDir | Left::IgnoredFile | Left::Unreadable | Left::Store
                );
                if was_dir {
                    self.forget_below(&path, &mut |path, entry| {
                        if still && !matches!(entry.what, What::Left(_)) {
                            out.uncovered.push((path, entry));
                        }
                    });
                } else if still && let Some(old) = old {
                    out.uncovered.push((path, old));
                    return;
                }
                out.left.push((path, now));
            }
            (None, Some(now)) if !entered => out.left.push((path, now)),
            (Some(before), after) => {
                let moved = old.map(|entry| entry.stamp) != new.map(|entry| entry.stamp);
                let entered_now = before == Left::IgnoredDir && is_dir;
                if (moved && !entered_now) || (after.is_some() && after != Some(before)) {
                    out.left.push((path, before));
                }
            }
            _ => {}
        }
    }

    fn forget_below(&mut self, dir: &[u8], each: &mut dyn FnMut(Vec<u8>, Entry)) {
        let Some(node) = self.nodes.remove(dir) else { return };
        self.touched(dir);
        for (name, entry) in node.entries {
            let path = names::join(dir, &name);
            each(path.clone(), entry);
            if entry.what == What::Dir {
                self.forget_below(&path, each);
            }
        }
    }

    fn touched(&mut self, dir: &[u8]) {
        self.snapshot = None;
        self.unsaved.insert(dir.to_vec());
        let odd =
            self.nodes.get(dir).is_some_and(|node| meta::is_odd(dir, node, self.modes.as_ref()));
        if odd {
            self.odd.insert(dir.to_vec())
        } else {
            self.odd.remove(dir)
        };
        let mut at = dir;
        loop {
            self.trees.remove(at);
            if at.is_empty() {
                break;
            }
            at = names::split(at).0;
        }
    }

    /// Writes what is not in the store yet and returns the whole state.
    pub(crate) fn write(&mut self, objects: &mut Objects) -> Result<Snap> {
        if let Some(snapshot) = self.snapshot {
            return Ok(snapshot);
        }
        if self.modes.is_none() {
            self.modes = Some(meta::Defaults::of(self));
            let all: Vec<Vec<u8>> = self.nodes.keys().cloned().collect();
            let modes = self.modes.as_ref();
            self.odd =
                all.into_iter().filter(|dir| meta::is_odd(dir, &self.nodes[dir], modes)).collect();
        }
        let tree = match self.write_tree(b"", objects)? {
            Some(tree) => tree,
            None => tree::write(objects, Vec::new())?,
        };
        let (meta, ignored) = meta::collect(self);
        let ignored = match tree::write_nested(objects, &ignored)? {
            Some(tree) => tree,
            None => tree::write(objects, Vec::new())?,
        };
        let meta = objects.put(git2::ObjectType::Blob, &meta.to_bytes())?;
        let snapshot = Snap { tree, ignored, meta };
        self.snapshot = Some(snapshot);
        Ok(snapshot)
    }

    fn write_tree(&mut self, dir: &[u8], objects: &mut Objects) -> Result<Option<Oid>> {
        if let Some(done) = self.trees.get(dir) {
            return Ok(*done);
        }
        let Some(node) = self.nodes.get(dir) else { return Ok(None) };
        let mut entries = Vec::with_capacity(node.entries.len());
        let mut folders = Vec::new();
        for (name, entry) in &node.entries {
            match entry.item() {
                Some(item) if item.kind == Kind::Dir => folders.push(name.to_vec()),
                Some(item) if !entry.ignored => {
                    entries.push(TreeEntry {
                        name: name.to_vec(),
                        mode: item.git_mode(),
                        oid: item.oid,
                    });
                }
                _ => {}
            }
        }
        for name in folders {
            if let Some(oid) = self.write_tree(&names::join(dir, &name), objects)? {
                entries.push(TreeEntry { name, mode: TREE_MODE, oid });
            }
        }
        let tree = if entries.is_empty() { None } else { Some(tree::write(objects, entries)?) };
        self.trees.insert(dir.to_vec(), tree);
        Ok(tree)
    }

    /// What is seen and not covered, for the badge: all reasons but those that the rules leave out on purpose.
    pub(crate) fn left_out(&self) -> BTreeMap<Vec<u8>, Left> {
        let mut list = BTreeMap::new();
        for dir in &self.odd {
            let Some(node) = self.nodes.get(dir) else { continue };
            for (name, entry) in &node.entries {
                if let What::Left(left) = entry.what
                    && !left.by_rule()
                {
                    list.insert(names::join(dir, name), left);
                }
            }
        }
        list
    }
}
