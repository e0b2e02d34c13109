//! Where everything lies below the data root (D-8).
//!
//! ```text
//! <root>/
//!   index.sqlite            the index; may be deleted
//!   workspaces.json         the folders that the user picked
//!   workspaces.lock         held while the registry is rewritten
//!   projects/default/sessions/<session>/
//!     <session>_001.jsonl   the trace; one file is one model context (D-1)
//!     <session>_001.jsonl.torn   what a repair cut off
//!     state.json            the session's record
//!     lock                  held by the one writer
//!     blobs/<sha256>        messages that are too long for a line
//!     scratchpad/           files that the session makes for itself
//! ```
//!
//! It only makes names; see `store.rs` for the work.

use std::path::{Path, PathBuf};

use cairn_protocol::SessionId;

use crate::Error;

/// The name of the only project; the level is hidden until there is a second one (P-175).
const PROJECT: &str = "default";

/// The paths below a data root.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    pub(crate) root: PathBuf,
}

impl Layout {
    pub(crate) fn sessions(&self) -> PathBuf {
        self.root.join("projects").join(PROJECT).join("sessions")
    }

    pub(crate) fn session(&self, id: &SessionId) -> SessionLayout {
        SessionLayout { dir: self.sessions().join(id.as_str()), id: id.clone() }
    }

    pub(crate) fn index(&self) -> PathBuf {
        self.root.join("index.sqlite")
    }

    pub(crate) fn workspaces(&self) -> PathBuf {
        self.root.join("workspaces.json")
    }

    pub(crate) fn workspaces_lock(&self) -> PathBuf {
        self.root.join("workspaces.lock")
    }
}

/// The paths of one session.
#[derive(Debug, Clone)]
pub(crate) struct SessionLayout {
    pub(crate) dir: PathBuf,
    pub(crate) id: SessionId,
}

impl SessionLayout {
    pub(crate) fn state(&self) -> PathBuf {
        self.dir.join("state.json")
    }

    pub(crate) fn lock(&self) -> PathBuf {
        self.dir.join("lock")
    }

    pub(crate) fn blobs(&self) -> PathBuf {
        self.dir.join("blobs")
    }

    pub(crate) fn scratchpad(&self) -> PathBuf {
        self.dir.join("scratchpad")
    }

    pub(crate) fn trace(&self, number: u32) -> PathBuf {
        self.dir.join(format!("{}_{number:03}.jsonl", self.id))
    }

    /// Returns the trace files in order, with their numbers.
    pub(crate) fn traces(&self) -> Result<Vec<(u32, PathBuf)>, Error> {
        let mut found = Vec::new();
        let entries = match std::fs::read_dir(&self.dir) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(found),
            result => result.map_err(Error::io("list", &self.dir))?,
        };
        for entry in entries {
            let path = entry.map_err(Error::io("list", &self.dir))?.path();
            if let Some(number) = self.number_of(&path) {
                found.push((number, path));
            }
        }
        found.sort();
        Ok(found)
    }

    fn number_of(&self, path: &Path) -> Option<u32> {
        let name = path.file_name()?.to_str()?;
        let digits = name.strip_prefix(self.id.as_str())?.strip_prefix('_')?;
        digits.strip_suffix(".jsonl")?.parse().ok()
    }
}

/// Refuses ids that could leave their folder or clash on file systems that fold case.
pub(crate) fn check_id(id: &SessionId) -> Result<(), Error> {
    let text = id.as_str();
    let good = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    if text.is_empty() || text.len() > 100 || !text.bytes().all(good) || text.starts_with('-') {
        return Err(Error::Invalid(format!("`{}` is not a session id", text.escape_debug())));
    }
    Ok(())
}
