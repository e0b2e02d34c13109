//! Keeps the whole of an output that was too long for the model (P-72).
//!
//! Files are private, made only when something was cut, and go with the session. A failure changes nothing about the call;
//! it is named by a short code.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::output::Collected;

#[cfg(test)]
mod tests;

/// What all kept outputs of a session may take together; the oldest go first.
const QUOTA_BYTES: u64 = 256 * 1024 * 1024;

/// Saves an output and returns where; an error is a short code. Blocking.
pub(crate) fn save(folder: &Path, tool: &str, collected: &Collected) -> Result<PathBuf, String> {
    save_within(folder, tool, collected, QUOTA_BYTES).map_err(|error| code(&error))
}

fn save_within(
    folder: &Path,
    tool: &str,
    collected: &Collected,
    quota: u64,
) -> io::Result<PathBuf> {
    make_private_folder(folder)?;
    let whole = collected.archive_text();
    make_room(folder, quota.saturating_sub(whole.len() as u64))?;
    // Version 7 ids sort by time, so the name order is the order of age.
    let path = folder.join(format!("{}-{tool}.log", uuid::Uuid::now_v7().simple()));
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    let mut file = options.open(&path)?;
    if let Err(error) = file.write_all(whole.as_bytes()) {
        // A half file would be taken for the whole; when it can't be removed, the error is told all the same.
        let _ = fs::remove_file(&path);
        return Err(error);
    }
    Ok(path)
}

fn make_private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder.create(folder)?;
    if fs::symlink_metadata(folder)?.is_dir() {
        Ok(())
    } else {
        Err(io::ErrorKind::NotADirectory.into())
    }
}

fn make_room(folder: &Path, allowed: u64) -> io::Result<()> {
    let mut files = Vec::new();
    let mut total = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        if metadata.is_file() {
            total += metadata.len();
            files.push((entry.file_name(), metadata.len()));
        }
    }
    files.sort();
    for (name, bytes) in files {
        if total <= allowed {
            break;
        }
        fs::remove_file(folder.join(name))?;
        total -= bytes;
    }
    Ok(())
}

fn code(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "disk full".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        io::ErrorKind::ReadOnlyFilesystem => "read-only".to_owned(),
        _ => error
            .raw_os_error()
            .map_or_else(|| "i/o error".to_owned(), |number| format!("i/o error {number}")),
    }
}
