//! Finds the paths of a workspace that commands may not change: those that make other programs run
//! code or set policy (security plan 3.10).
//!
//! It judges by name and never reads a file, with one exception: a small `.git` *file* names a
//! folder, which is protected too when it lies in the workspace. `cairn-policy` holds the same list
//! for the file tools.

use std::collections::VecDeque;
use std::io::Read;
use std::path::{Path, PathBuf};

/// At most so many directory entries are looked at: about 20 ms on a warm disk.
const MAX_ENTRIES: usize = 20_000;
/// At most so many paths are protected; each costs a mount, about 0.1 ms.
const MAX_PATHS: usize = 256;
/// Deeper folders are not searched.
const MAX_DEPTH: usize = 12;

const NAMES: &[&str] = &[
    ".agents",
    ".cairn",
    ".claude",
    ".codex",
    ".cursor",
    ".devcontainer",
    ".envrc",
    ".gemini",
    ".git",
    ".gitattributes",
    ".gitlab-ci.yml",
    ".gitmodules",
    ".husky",
    ".idea",
    ".lfsconfig",
    ".mcp.json",
    ".npmrc",
    ".pre-commit-config.yaml",
    ".ripgreprc",
    ".roo",
    ".vscode",
    ".windsurf",
];
const PREFIXES: &[&str] = &[".clinerules", ".yarnrc"];
const SUFFIX: &str = ".code-workspace";

/// Folders full of other people's packages, in which such names are many and mean nothing.
const SKIPPED: &[&str] = &["node_modules", "target", ".venv", "venv", "__pycache__", ".tox"];

/// What a search found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Protected {
    /// Existing paths, absolute, shallow ones first. No path is below another.
    pub paths: Vec<PathBuf>,
    /// Whether the whole workspace was seen within the bounds.
    pub complete: bool,
}

/// Returns whether a file called `name` in a folder called `parent` is protected.
pub fn is_protected_name(parent: &str, name: &str) -> bool {
    let (parent, name) = (parent.to_lowercase(), name.to_lowercase());
    NAMES.contains(&name.as_str())
        || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        || name.ends_with(SUFFIX)
        || (parent == ".github" && name == "workflows")
        || (parent == ".cargo" && name.starts_with("config"))
}

/// Searches a workspace, breadth first, without following links. Blocking, bounded.
///
/// A protected name that is a link is represented by its target when that is in the workspace: a
/// link itself can't be made read-only.
pub fn protected_paths(workspace: &Path) -> Protected {
    let mut found = Protected { paths: Vec::new(), complete: true };
    let mut entries_left = MAX_ENTRIES;
    let mut folders = VecDeque::from([(workspace.to_path_buf(), 0)]);
    while let Some((folder, depth)) = folders.pop_front() {
        let Ok(entries) = std::fs::read_dir(&folder) else {
            found.complete = false;
            continue;
        };
        let parent = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        for entry in entries.flatten() {
            if entries_left == 0 || found.paths.len() >= MAX_PATHS {
                found.complete = false;
                return tidy(found);
            }
            entries_left -= 1;
            let name = entry.file_name().to_string_lossy().into_owned();
            let Ok(kind) = entry.file_type() else { continue };
            if is_protected_name(&parent, &name) {
                add(&mut found.paths, workspace, &entry.path(), kind, &name);
            } else if kind.is_dir() && !SKIPPED.contains(&name.as_str()) {
                if depth < MAX_DEPTH {
                    folders.push_back((entry.path(), depth + 1));
                } else {
                    found.complete = false;
                }
            }
        }
    }
    tidy(found)
}

fn add(
    paths: &mut Vec<PathBuf>,
    workspace: &Path,
    path: &Path,
    kind: std::fs::FileType,
    name: &str,
) {
    let inside =
        |target: PathBuf| (target != workspace && target.starts_with(workspace)).then_some(target);
    if kind.is_symlink() {
        paths.extend(path.canonicalize().ok().and_then(inside));
        return;
    }
    if !kind.is_dir() && !kind.is_file() {
        return;
    }
    paths.push(path.to_path_buf());
    if kind.is_file() && name.eq_ignore_ascii_case(".git") {
        paths.extend(git_folder(path).and_then(inside));
    }
}

/// The folder that a `.git` file names.
fn git_folder(path: &Path) -> Option<PathBuf> {
    let mut text = String::new();
    std::fs::File::open(path).ok()?.take(4096).read_to_string(&mut text).ok()?;
    let target = text.strip_prefix("gitdir:")?.trim();
    path.parent()?.join(target).canonicalize().ok()
}

/// Shallow first, no path twice, none below another.
fn tidy(mut found: Protected) -> Protected {
    found.paths.sort_by_key(|path| (path.components().count(), path.clone()));
    let mut kept: Vec<PathBuf> = Vec::with_capacity(found.paths.len());
    for path in found.paths {
        if !kept.iter().any(|above| path.starts_with(above)) {
            kept.push(path);
        }
    }
    Protected { paths: kept, complete: found.complete }
}
