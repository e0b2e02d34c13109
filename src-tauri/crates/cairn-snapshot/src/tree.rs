//! Git trees from and to raw bytes: no index, no filter, no check of names.
//!
//! It holds what Git can hold: names, kinds, the executable bit. The rest is in `state.rs`.

use std::collections::BTreeMap;

use git2::{ObjectType, Oid};

use crate::error::{Error, Result};
use crate::objects::Objects;

/// One entry of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TreeEntry {
    pub(crate) name: Vec<u8>,
    pub(crate) mode: u32,
    pub(crate) oid: Oid,
}

pub(crate) const TREE_MODE: u32 = 0o040_000;
pub(crate) const BLOB_MODE: u32 = 0o100_644;

/// Writes a tree; the entries may come in any order.
pub(crate) fn write(objects: &mut Objects, mut entries: Vec<TreeEntry>) -> Result<Oid> {
    entries.sort_unstable_by(|a, b| order(a).cmp(order(b)));
    let mut bytes = Vec::with_capacity(entries.iter().map(|entry| entry.name.len() + 28).sum());
    for entry in &entries {
        bytes.extend_from_slice(format!("{:o} ", entry.mode).as_bytes());
        bytes.extend_from_slice(&entry.name);
        bytes.push(0);
        bytes.extend_from_slice(entry.oid.as_bytes());
    }
    objects.put(ObjectType::Tree, &bytes)
}

// Git sorts a folder as if its name ended in a slash.
fn order(entry: &TreeEntry) -> impl Iterator<Item = u8> + '_ {
    entry.name.iter().copied().chain((entry.mode == TREE_MODE).then_some(b'/'))
}

/// Reads a tree.
pub(crate) fn read(objects: &Objects, oid: Oid) -> Result<Vec<TreeEntry>> {
    let bytes =
        objects.read(oid)?.ok_or_else(|| Error::Damaged(format!("tree {oid} is missing")))?;
    let damaged = || Error::Damaged(format!("tree {oid} can't be read"));
    let mut entries = Vec::new();
    let mut rest = bytes.as_slice();
    while !rest.is_empty() {
        let space = rest.iter().position(|byte| *byte == b' ').ok_or_else(damaged)?;
        let mode = std::str::from_utf8(&rest[..space])
            .ok()
            .and_then(|text| u32::from_str_radix(text, 8).ok());
        rest = &rest[space + 1..];
        let nul = rest.iter().position(|byte| *byte == 0).ok_or_else(damaged)?;
        let name = rest[..nul].to_vec();
        let id = rest.get(nul + 1..nul + 21).ok_or_else(damaged)?;
        rest = &rest[nul + 21..];
        entries.push(TreeEntry {
            name,
            mode: mode.ok_or_else(damaged)?,
            oid: Oid::from_bytes(id)?,
        });
    }
    Ok(entries)
}

/// A path with its mode and id.
type Place<'a> = (&'a [u8], u32, Oid);

/// Writes nested trees for paths with their mode and id; returns `None` when there are none.
pub(crate) fn write_nested(
    objects: &mut Objects,
    paths: &BTreeMap<Vec<u8>, (u32, Oid)>,
) -> Result<Option<Oid>> {
    let list: Vec<Place<'_>> =
        paths.iter().map(|(path, (mode, oid))| (path.as_slice(), *mode, *oid)).collect();
    if list.is_empty() { Ok(None) } else { nested(objects, &list).map(Some) }
}

fn nested(objects: &mut Objects, list: &[Place<'_>]) -> Result<Oid> {
    let mut folders: BTreeMap<&[u8], Vec<Place<'_>>> = BTreeMap::new();
    let mut entries = Vec::new();
    for (path, mode, oid) in list {
        match path.iter().position(|byte| *byte == b'/') {
            Some(at) => {
                folders.entry(&path[..at]).or_default().push((&path[at + 1..], *mode, *oid))
            }
            None => entries.push(TreeEntry { name: path.to_vec(), mode: *mode, oid: *oid }),
        }
    }
    for (name, inside) in folders {
        // A path and a path below it can both be listed when a kind changed; the folder wins.
        entries.retain(|entry| entry.name != name);
        let oid = nested(objects, &inside)?;
        entries.push(TreeEntry { name: name.to_vec(), mode: TREE_MODE, oid });
    }
    write(objects, entries)
}
