//! The journal of a restore: all of its intent on one checked line, synced before the first edit.
//!
//! It goes once the restore is recorded. While it is there, a restore was interrupted.

use std::os::fd::AsFd;

use serde::{Deserialize, Serialize};

use super::edits::Edit;
use crate::error::{Error, Result};
use crate::inner::Inner;
use crate::manifest::RestoreMeta;

const NAME: &[u8] = b"restore.journal";

/// Everything that is needed to finish or to undo a restore.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Job {
    pub(crate) id: String,
    pub(crate) meta: RestoreMeta,
    pub(crate) edits: Vec<Edit>,
}

fn checksum(bytes: &[u8]) -> String {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    format!("{:08x} ", crc.sum())
}

impl Inner {
    /// Writes the journal, durably. On an error there is none.
    pub(crate) fn write_journal(&self, job: &Job) -> Result<()> {
        let body = serde_json::to_vec(job).map_err(|error| Error::Internal(error.to_string()))?;
        let mut line = checksum(&body).into_bytes();
        line.extend_from_slice(&body);
        line.push(b'\n');
        let dir = self.store_dir.as_fd();
        let work = || {
            self.files.append(dir, NAME, &line)?;
            self.files.sync_file(dir, NAME)?;
            self.files.sync_dir(dir)
        };
        work().map_err(|error| {
            self.end_journal();
            Error::io("the snapshot store", error)
        })
    }

    /// Reads the journal; `None` when no restore was interrupted before its first edit could begin.
    pub(crate) fn read_journal(&self) -> Option<Job> {
        let bytes = std::fs::read(self.store.join("restore.journal")).ok()?;
        let line = bytes.strip_suffix(b"\n")?;
        let body = line.get(9..)?;
        if !line.starts_with(checksum(body).as_bytes()) {
            return None;
        }
        serde_json::from_slice(body).ok()
    }

    /// Removes the journal.
    pub(crate) fn end_journal(&self) {
        let dir = self.store_dir.as_fd();
        // When it can't be removed, the next opening finds every path settled and removes it then.
        let _ = self.files.unlink(dir, NAME).and_then(|()| self.files.sync_dir(dir));
    }
}
