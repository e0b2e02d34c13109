//! The registry of folders that the user picked: `workspaces.json`.
//!
//! The id comes from the canonical path, so that a folder that is forgotten and picked again finds its snapshots.
//! It never looks into a folder.

use std::fs::{File, OpenOptions};
use std::path::Path;

use cairn_protocol::{Timestamp, WorkspaceId, WorkspaceSummary};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::Error;
use crate::disk::{Disk, read_all, write_atomic};
use crate::layout::Layout;
use crate::line::hex;

const VERSION: u64 = 1;

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Registry {
    v: u64,
    #[serde(default)]
    workspaces: Vec<Entry>,
    #[serde(flatten)]
    extra: Map<String, Value>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    id: WorkspaceId,
    path: String,
    last_used_at: Timestamp,
    #[serde(flatten)]
    extra: Map<String, Value>,
}

/// Returns the id of the folder with this canonical path.
pub(crate) fn id_of(path: &str) -> WorkspaceId {
    let digest = Sha256::digest(path.as_bytes());
    WorkspaceId::new(format!("ws-{}", hex(&digest[..8])))
}

/// Returns the folders, last used first, and what is wrong with the file, if something is.
pub(crate) fn list(disk: &dyn Disk, layout: &Layout) -> (Vec<WorkspaceSummary>, Option<String>) {
    let (registry, problem) = match read(disk, layout) {
        Ok(Some(registry)) => (registry, None),
        Ok(None) => {
            let path = layout.workspaces();
            let text = format!("The list of workspaces in `{}` is damaged.", path.display());
            (Registry::default(), Some(text))
        }
        Err(error) => (Registry::default(), Some(error.full_text())),
    };
    let mut found: Vec<WorkspaceSummary> = registry.workspaces.into_iter().map(summary).collect();
    found.sort_by_key(|workspace| std::cmp::Reverse(workspace.last_used_at));
    (found, problem)
}

/// Adds a folder, or notes that it was used.
pub(crate) fn add(
    disk: &dyn Disk,
    layout: &Layout,
    path: &Path,
    now: Timestamp,
) -> Result<WorkspaceSummary, Error> {
    let canonical = path.canonicalize().map_err(|source| match source.kind() {
        std::io::ErrorKind::NotFound => {
            Error::NotFound { what: "folder", id: path.display().to_string() }
        }
        _ => Error::io("open", path)(source),
    })?;
    if !canonical.is_dir() {
        return Err(Error::Invalid(format!("`{}` is not a folder", path.display())));
    }
    let Some(text) = canonical.to_str() else {
        return Err(Error::Invalid(format!(
            "the path of `{}` is not UTF-8; rename the folder or pick its parent",
            path.display()
        )));
    };
    let id = id_of(text);
    let fresh =
        Entry { id: id.clone(), path: text.to_owned(), last_used_at: now, extra: Map::new() };
    change(disk, layout, now, |registry| {
        match registry.workspaces.iter_mut().find(|entry| entry.id == id) {
            Some(entry) => entry.last_used_at = entry.last_used_at.max(now),
            None => registry.workspaces.push(fresh.clone()),
        }
    })?;
    Ok(summary(fresh))
}

/// Takes a folder off the list. The folder itself, its sessions and snapshots stay.
pub(crate) fn forget(
    disk: &dyn Disk,
    layout: &Layout,
    id: &WorkspaceId,
    now: Timestamp,
) -> Result<(), Error> {
    change(disk, layout, now, |registry| registry.workspaces.retain(|entry| entry.id != *id))
}

fn summary(entry: Entry) -> WorkspaceSummary {
    let path = Path::new(&entry.path);
    let name = path.file_name().map_or(entry.path.clone(), |n| n.to_string_lossy().into_owned());
    let present = path.is_dir();
    let Entry { id, path, last_used_at, .. } = entry;
    WorkspaceSummary { id, name, path, last_used_at, present }
}

/// Reads the registry; `None` when it is damaged.
fn read(disk: &dyn Disk, layout: &Layout) -> Result<Option<Registry>, Error> {
    match read_all(disk, &layout.workspaces())? {
        None => Ok(Some(Registry { v: VERSION, ..Registry::default() })),
        Some(bytes) => Ok(serde_json::from_slice(&bytes).ok()),
    }
}

/// Rewrites the registry while no other process does.
fn change(
    disk: &dyn Disk,
    layout: &Layout,
    now: Timestamp,
    edit: impl FnOnce(&mut Registry),
) -> Result<(), Error> {
    let path = layout.workspaces();
    let _lock = lock(&layout.workspaces_lock())?;
    let mut registry = match read(disk, layout)? {
        Some(registry) => registry,
        None => {
            let aside = path.with_extension(format!("json.damaged-{}", now.0));
            disk.rename(&path, &aside).map_err(Error::io("put aside", &path))?;
            Registry { v: VERSION, ..Registry::default() }
        }
    };
    if registry.v > VERSION {
        return Err(Error::Newer { path });
    }
    edit(&mut registry);
    let mut bytes = serde_json::to_vec_pretty(&registry)
        .map_err(|error| Error::Invalid(format!("the workspaces can't be written: {error}")))?;
    bytes.push(b'\n');
    write_atomic(disk, &path, &bytes)
}

/// Waits for the lock of the registry; it is held for a few milliseconds only.
fn lock(path: &Path) -> Result<File, Error> {
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path)
        .map_err(Error::io("open", path))?;
    file.lock().map_err(|source| Error::NoLocks { path: path.to_owned(), source })?;
    Ok(file)
}
