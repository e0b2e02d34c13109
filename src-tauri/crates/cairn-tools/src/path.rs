//! From a path as the model names it to the file that it really is.
//!
//! Links are followed one component at a time, `..` goes up from where a link led, and what does not exist yet is appended. It
//! does not judge: that a path leads out of the workspace is the policy's matter.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use cairn_protocol::ResolvedPath;

use crate::ToolContext;

#[cfg(test)]
mod tests;

/// The longest path that is looked at; Linux knows no longer one.
const PATH_LIMIT_BYTES: usize = 4096;

/// How many links a path may lead through; Linux allows 40.
const LINK_LIMIT: usize = 40;

/// A path that was resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// For the policy and the card.
    pub path: ResolvedPath,
    /// The real path, for the file system.
    pub real: PathBuf,
    /// What is there.
    pub kind: TargetKind,
}

/// What is at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetKind {
    /// Nothing.
    Missing,
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A device, pipe or socket.
    Other,
}

/// Resolves a path that the model named; blocking. An error is a text for the model.
pub fn resolve(ctx: &ToolContext, requested: &str) -> Result<Target, String> {
    if requested.trim().is_empty() {
        return Err("The path is empty.".to_owned());
    }
    if requested.contains('\0') {
        return Err("The path contains a NUL character.".to_owned());
    }
    if requested.len() > PATH_LIMIT_BYTES {
        return Err("The path is longer than 4096 bytes.".to_owned());
    }
    let start = absolute(ctx, requested);
    let (real, kind) = follow(&start)
        .map_err(|error| format!("`{requested}` can't be resolved: {}", describe(&error)))?;
    let relative = match real.strip_prefix(&ctx.workspace) {
        Ok(rest) => Some(relative_text(rest).ok_or_else(|| not_text(requested))?),
        Err(_) => None,
    };
    if relative.is_none() && real.to_str().is_none() {
        return Err(not_text(requested));
    }
    let path = ResolvedPath {
        requested: requested.to_owned(),
        real: real.to_string_lossy().into_owned(),
        relative,
    };
    Ok(Target { path, real, kind })
}

fn not_text(requested: &str) -> String {
    format!("The real path of `{requested}` is not valid UTF-8. Use run_shell for it.")
}

fn absolute(ctx: &ToolContext, requested: &str) -> PathBuf {
    let below_home =
        requested.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/'));
    if let (Some(rest), Some(home)) = (below_home, &ctx.home) {
        return home.join(rest.trim_start_matches('/'));
    }
    ctx.workspace.join(requested)
}

/// Returns a path below the workspace with `/`, and `.` for the workspace itself.
fn relative_text(rest: &Path) -> Option<String> {
    let mut parts = Vec::new();
    for component in rest.components() {
        parts.push(component.as_os_str().to_str()?);
    }
    Some(if parts.is_empty() { ".".to_owned() } else { parts.join("/") })
}

/// One step of a path that is still to go.
enum Step {
    Up,
    Into(OsString),
}

fn follow(start: &Path) -> io::Result<(PathBuf, TargetKind)> {
    let mut real = PathBuf::new();
    let mut steps = VecDeque::new();
    enqueue(start, &mut real, &mut steps);
    let mut links = 0;
    let mut kind = TargetKind::Folder;
    while let Some(step) = steps.pop_front() {
        let name = match step {
            Step::Up => {
                real.pop();
                kind = TargetKind::Folder;
                continue;
            }
            Step::Into(name) => name,
        };
        if matches!(kind, TargetKind::File | TargetKind::Other) {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        let next = real.join(&name);
        let metadata = match fs::symlink_metadata(&next) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                real = next;
                kind = TargetKind::Missing;
                continue;
            }
            Err(error) => return Err(error),
        };
        if metadata.is_symlink() {
            links += 1;
            if links > LINK_LIMIT {
                return Err(io::Error::other("it leads through too many links"));
            }
            let mut ahead = VecDeque::new();
            enqueue(&fs::read_link(&next)?, &mut real, &mut ahead);
            ahead.append(&mut steps);
            steps = ahead;
            kind = TargetKind::Folder;
            continue;
        }
        kind = if metadata.is_dir() {
            TargetKind::Folder
        } else if metadata.is_file() {
            TargetKind::File
        } else {
            TargetKind::Other
        };
        real = next;
    }
    if kind == TargetKind::Folder && fs::symlink_metadata(&real).is_err() {
        kind = TargetKind::Missing;
    }
    Ok((real, kind))
}

/// Adds the steps of a path; an absolute one starts over.
fn enqueue(path: &Path, real: &mut PathBuf, steps: &mut VecDeque<Step>) {
    for component in path.components() {
        match component {
            Component::Prefix(_) | Component::RootDir => {
                if component == Component::RootDir && !real.as_os_str().is_empty() && cfg!(unix) {
                    real.clear();
                }
                real.push(component.as_os_str());
            }
            Component::CurDir => {}
            Component::ParentDir => steps.push_back(Step::Up),
            Component::Normal(name) => steps.push_back(Step::Into(name.to_os_string())),
        }
    }
}

/// Says what an error of the file system means, without numbers.
pub(crate) fn describe(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "it does not exist".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        io::ErrorKind::NotADirectory => "a part of it is a file, not a folder".to_owned(),
        io::ErrorKind::IsADirectory => "it is a folder".to_owned(),
        io::ErrorKind::ReadOnlyFilesystem => "the file system is read-only".to_owned(),
        io::ErrorKind::StorageFull => "the disk is full".to_owned(),
        io::ErrorKind::QuotaExceeded => "the disk quota is used up".to_owned(),
        io::ErrorKind::InvalidFilename => "a name in it is too long".to_owned(),
        #[cfg(unix)]
        _ if error.raw_os_error() == Some(nix::errno::Errno::ELOOP as i32) => {
            "it leads through a link where none may be".to_owned()
        }
        _ => error.to_string(),
    }
}

impl Target {
    /// Returns the path for a person: relative where it can be, on one line, with nothing hidden.
    pub(crate) fn label(&self) -> String {
        shown_name(self.path.relative.as_deref().unwrap_or(&self.path.real).as_ref())
    }
}

/// Returns a name so that it is one line and shows every byte: control characters and bytes that are not UTF-8 as `\xNN`.
pub(crate) fn shown_name(name: &OsStr) -> String {
    let mut shown = String::new();
    for chunk in name.as_encoded_bytes().utf8_chunks() {
        for character in chunk.valid().chars() {
            let hidden = character.is_control()
                || matches!(u32::from(character), 0x200B..=0x200F | 0x2028..=0x202E | 0x2060..=0x206F | 0xFEFF);
            match character {
                '\n' => shown.push_str("\\n"),
                '\t' => shown.push_str("\\t"),
                other if hidden => shown.push_str(&format!("\\u{{{:x}}}", u32::from(other))),
                other => shown.push(other),
            }
        }
        for byte in chunk.invalid() {
            shown.push_str(&format!("\\x{byte:02x}"));
        }
    }
    shown
}

/// Returns what a missing path lacks and what is near it (P-78), for the model.
pub(crate) fn missing(target: &Target) -> String {
    let mut ancestor = target.real.parent();
    while let Some(folder) = ancestor {
        if folder.is_dir() {
            break;
        }
        ancestor = folder.parent();
    }
    let requested = &target.path.requested;
    let Some(folder) = ancestor else { return format!("`{requested}` does not exist.") };
    let wanted = target.real.strip_prefix(folder).ok().and_then(|rest| rest.components().next());
    let wanted =
        wanted.map(|part| part.as_os_str().to_string_lossy().to_lowercase()).unwrap_or_default();
    let mut names: Vec<(usize, String)> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .take(2000)
        .filter_map(Result::ok)
        .map(|entry| {
            let name = entry.file_name();
            (distance(&wanted, &name.to_string_lossy().to_lowercase()), shown_name(&name))
        })
        .collect();
    names.sort();
    let closest: Vec<String> =
        names.into_iter().take(8).map(|(_, name)| format!("`{name}`")).collect();
    let near = if closest.is_empty() {
        "it is empty".to_owned()
    } else {
        format!("closest entries: {}", closest.join(", "))
    };
    format!(
        "`{requested}` does not exist. The deepest folder that exists is `{}`; {near}.",
        folder.display()
    )
}

/// The edit distance of two names, each cut at 64 characters.
fn distance(one: &str, other: &str) -> usize {
    let one: Vec<char> = one.chars().take(64).collect();
    let other: Vec<char> = other.chars().take(64).collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (at, left) in one.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = at + 1;
        for (column, right) in other.iter().enumerate() {
            let changed = diagonal + usize::from(left != right);
            diagonal = row[column + 1];
            row[column + 1] = changed.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}
