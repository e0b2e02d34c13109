//! What Git trees can't hold of a state: full modes, empty folders, what was seen and left out.
//!
//! Kept as one JSON blob beside the trees, with the usual modes as defaults so that it stays small.

use std::collections::{BTreeMap, HashMap};

use git2::Oid;
use serde::{Deserialize, Serialize};

use super::{Node, Snap, State};
use crate::error::{Error, Result};
use crate::item::{Item, Kind, Left, What};
use crate::names;
use crate::objects::Objects;
use crate::tree::{self, TREE_MODE};

/// More left-out paths than this are only counted.
const LEFT_LISTED: usize = 2000;

/// The usual modes of a workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Defaults {
    file: u32,
    exec: u32,
    dir: u32,
}

impl Defaults {
    /// The most frequent modes.
    pub(super) fn of(state: &State) -> Self {
        let mut counts: [HashMap<u32, u32>; 3] = Default::default();
        for (_, entry) in state.nodes.values().flat_map(|node| &node.entries) {
            let place = match entry.what {
                What::File(_) if entry.stamp.mode & 0o100 == 0 => 0,
                What::File(_) => 1,
                What::Dir => 2,
                _ => continue,
            };
            *counts[place].entry(entry.stamp.mode).or_default() += 1;
        }
        let top = |map: &HashMap<u32, u32>, usual| {
            map.iter()
                .max_by_key(|(mode, count)| (**count, **mode))
                .map_or(usual, |(mode, _)| *mode)
        };
        Self {
            file: top(&counts[0], 0o644),
            exec: top(&counts[1], 0o755),
            dir: top(&counts[2], 0o755),
        }
    }

    fn of_item(&self, kind: Kind, exec: bool) -> u32 {
        match kind {
            Kind::Link => 0,
            Kind::Dir => self.dir,
            Kind::File if exec => self.exec,
            Kind::File => self.file,
        }
    }
}

/// The blob.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Meta {
    version: u32,
    defaults: Option<Defaults>,
    modes: BTreeMap<String, u32>,
    /// Folders without anything covered in them.
    empty: Vec<String>,
    left: BTreeMap<String, Left>,
    /// How many more were left out.
    left_more: usize,
}

impl Meta {
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("plain data has a JSON form")
    }
}

/// Tells whether a folder has something that a tree can't hold.
pub(super) fn is_odd(dir: &[u8], node: &Node, modes: Option<&Defaults>) -> bool {
    let Some(modes) = modes else { return true };
    (node.entries.is_empty() && !dir.is_empty())
        || node.entries.iter().any(|(_, entry)| {
            entry.ignored
                || match entry.item() {
                    None => true,
                    Some(item) => item.mode != modes.of_item(item.kind, item.mode & 0o100 != 0),
                }
        })
}

/// Collects the blob and the individually ignored files.
pub(super) fn collect(state: &State) -> (Meta, BTreeMap<Vec<u8>, (u32, Oid)>) {
    let defaults = state.modes.unwrap_or(Defaults { file: 0o644, exec: 0o755, dir: 0o755 });
    let mut meta = Meta { version: 1, defaults: Some(defaults), ..Meta::default() };
    let mut ignored = BTreeMap::new();
    for dir in &state.odd {
        let Some(node) = state.nodes.get(dir) else { continue };
        for (name, entry) in &node.entries {
            let path = names::join(dir, name);
            match (entry.item(), entry.what) {
                (Some(item), _) => {
                    if item.mode != defaults.of_item(item.kind, item.mode & 0o100 != 0) {
                        meta.modes.insert(names::to_text(&path), item.mode);
                    }
                    if entry.ignored && item.kind != Kind::Dir {
                        ignored.insert(path, (item.git_mode(), item.oid));
                    }
                }
                (None, What::Left(left)) if meta.left.len() < LEFT_LISTED => {
                    meta.left.insert(names::to_text(&path), left);
                }
                _ => meta.left_more += 1,
            }
        }
    }
    // A folder without a tree of its own would be lost, wherever its emptiness comes from.
    for (dir, tree) in &state.trees {
        if tree.is_none() && !dir.is_empty() {
            meta.empty.push(names::to_text(dir));
        }
    }
    meta.empty.sort_unstable();
    (meta, ignored)
}

/// Reads a captured state back as one item per path.
pub(crate) fn load(objects: &Objects, snap: &Snap) -> Result<BTreeMap<Vec<u8>, Item>> {
    let bytes = objects
        .read(snap.meta)?
        .ok_or_else(|| Error::Damaged("a snapshot's description is missing".into()))?;
    let meta: Meta =
        serde_json::from_slice(&bytes).map_err(|error| Error::Damaged(error.to_string()))?;
    let defaults = meta.defaults.unwrap_or(Defaults { file: 0o644, exec: 0o755, dir: 0o755 });
    let mut items = BTreeMap::new();
    for root in [snap.tree, snap.ignored] {
        walk(objects, root, &mut Vec::new(), &defaults, &mut items)?;
    }
    let folder = Item { kind: Kind::Dir, mode: defaults.dir, size: 0, oid: Oid::ZERO_SHA1 };
    for dir in &meta.empty {
        if let Some(path) = names::from_text(dir) {
            items.insert(path, folder);
        }
    }
    for (path, mode) in &meta.modes {
        if let Some(item) = names::from_text(path).and_then(|path| items.get_mut(&path)) {
            item.mode = *mode;
        }
    }
    Ok(items)
}

fn walk(
    objects: &Objects,
    tree: Oid,
    dir: &mut Vec<u8>,
    defaults: &Defaults,
    items: &mut BTreeMap<Vec<u8>, Item>,
) -> Result<()> {
    for entry in tree::read(objects, tree)? {
        let length = dir.len();
        if length > 0 {
            dir.push(b'/');
        }
        dir.extend_from_slice(&entry.name);
        let (kind, exec) = match entry.mode {
            TREE_MODE => (Kind::Dir, false),
            0o120_000 => (Kind::Link, false),
            mode => (Kind::File, mode & 0o100 != 0),
        };
        let oid = if kind == Kind::Dir { Oid::ZERO_SHA1 } else { entry.oid };
        items.insert(dir.clone(), Item { kind, mode: defaults.of_item(kind, exec), size: 0, oid });
        if kind == Kind::Dir {
            walk(objects, entry.oid, dir, defaults, items)?;
        }
        dir.truncate(length);
    }
    Ok(())
}
