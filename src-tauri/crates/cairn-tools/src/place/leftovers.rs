//! What a crash leaves of a file that was being written: a temporary file beside it.
//!
//! A writer holds a lock on its temporary file, and the system takes the lock away with the process. So a
//! temporary file that can be locked is nobody's.

use std::fs::{self, File};
use std::io;
use std::path::Path;

/// Returns a name for a temporary file that no other has.
pub(super) fn temporary_name() -> String {
    format!(".cairn-{}.tmp", uuid::Uuid::new_v4().simple())
}

fn is_temporary(name: &str) -> bool {
    let middle = name.strip_prefix(".cairn-").and_then(|rest| rest.strip_suffix(".tmp"));
    middle.is_some_and(|id| id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Marks a temporary file as being written. Where files can't be locked, nothing is ever removed.
pub(super) fn hold(file: &File) {
    // A file system without locks answers so to `remove_leftovers`, too, which then leaves all as it is.
    drop(file.try_lock());
}

/// Removes the temporary files that writers which have died left in a folder; follows no link. Blocking.
///
/// # Errors
/// When the folder can't be read, or a left-over can't be removed. A folder that is not there is fine.
pub fn remove_leftovers(folder: &Path) -> io::Result<()> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let ours = entry.file_name().to_str().is_some_and(is_temporary);
        if !ours || !entry.file_type()?.is_file() {
            continue;
        }
        let path = entry.path();
        // Gone or not to be opened: then it is not ours to remove.
        let Ok(file) = super::open(&path) else { continue };
        if file.try_lock().is_ok() {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}
