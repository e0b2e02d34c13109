//! What is done to a session's last file before it is written again (security plan 4.3).
//!
//! A torn end is moved to a file beside and cut off; nothing is thrown away. Damage in the middle is left as it is:
//! the reader passes over it and tells (`lines.rs`). What an unfinished call means is the engine's work.

use std::path::{Path, PathBuf};

use crate::Error;
use crate::disk::{Disk, DiskFile, Open, write_all};
use crate::layout::SessionLayout;
use crate::line;

/// What was found and done when a trace was opened.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recovered {
    /// The place of the last record; 0 when there is none.
    pub last_seq: u64,
    /// Bytes at the end that were not a whole record; they are in the `.torn` file beside the trace.
    pub torn_bytes: u64,
    /// Places among the last 1,000 records that could not be read.
    pub gaps: Vec<u64>,
    /// Records that were saved out of damaged lines.
    pub saved: u32,
    /// What is wrong, for a person; empty when nothing is.
    pub problems: Vec<String>,
}

/// How much is read at once when looking for the last newline.
const CHUNK_BYTES: u64 = 64 * 1024;

/// Makes the end of the last file sound and returns the number of bytes that were cut off.
pub(crate) fn repair_end(disk: &dyn Disk, path: &Path) -> Result<u64, Error> {
    let mut file = disk.open(path, Open::Append).map_err(Error::io("open", path))?;
    let length = file.len().map_err(Error::io("measure", path))?;
    let keep = end_of_lines(file.as_ref(), length).map_err(Error::io("read", path))?;
    if keep == length {
        return Ok(0);
    }
    let mut tail = vec![0; usize::try_from(length - keep).unwrap_or(usize::MAX)];
    let read = file.read_at(&mut tail, keep).map_err(Error::io("read", path))?;
    tail.truncate(read);
    if line::check(&tail).is_some() {
        // Only the newline is missing: the record is whole.
        write_all(file.as_mut(), b"\n").map_err(Error::io("write", path))?;
        file.sync().map_err(Error::io("make durable", path))?;
        return Ok(0);
    }
    keep_torn(disk, path, &tail)?;
    file.set_len(keep).map_err(Error::io("cut", path))?;
    file.sync().map_err(Error::io("make durable", path))?;
    Ok(tail.len() as u64)
}

fn keep_torn(disk: &dyn Disk, path: &Path, tail: &[u8]) -> Result<(), Error> {
    let beside = torn_path(path);
    let mut torn = disk.open(&beside, Open::Append).map_err(Error::io("open", &beside))?;
    write_all(torn.as_mut(), tail)
        .and_then(|()| write_all(torn.as_mut(), b"\n"))
        .and_then(|()| torn.sync())
        .map_err(Error::io("write", &beside))
}

/// Returns where the torn ends of a trace file are kept.
pub(crate) fn torn_path(path: &Path) -> PathBuf {
    path.with_extension("jsonl.torn")
}

/// Returns the offset after the last newline.
fn end_of_lines(file: &dyn DiskFile, length: u64) -> std::io::Result<u64> {
    let mut high = length;
    while high > 0 {
        let low = high.saturating_sub(CHUNK_BYTES);
        let mut bytes = vec![0; (high - low) as usize];
        let read = file.read_at(&mut bytes, low)?;
        bytes.truncate(read);
        if let Some(at) = bytes.iter().rposition(|b| *b == b'\n') {
            return Ok(low + at as u64 + 1);
        }
        high = low;
    }
    Ok(0)
}

/// Removes a last file that a crash left without any record, as long as it is not the first.
pub(crate) fn drop_empty_last(
    disk: &dyn Disk,
    session: &SessionLayout,
    files: &mut Vec<(u32, PathBuf)>,
) -> Result<(), Error> {
    while files.len() > 1 {
        let path = &files[files.len() - 1].1;
        let file = disk.open(path, Open::Read).map_err(Error::io("open", path))?;
        if file.len().map_err(Error::io("measure", path))? > 0 {
            return Ok(());
        }
        disk.remove(path).map_err(Error::io("remove", path))?;
        disk.sync_dir(&session.dir).map_err(Error::io("make durable", &session.dir))?;
        files.pop();
    }
    Ok(())
}
