//! Opens and replaces files so that no link is followed on the way and no half file is ever seen.
//!
//! Every folder on the way is opened by the one before it without following links, so that a link that was put there after a
//! path was checked leads nowhere. A file is written beside its place, synced, and renamed over it. Where the system can, it has no
//! name until then, so that a crash leaves nothing behind; `place/leftovers.rs` removes what one left elsewhere.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use sha2::{Digest, Sha256};

#[cfg(unix)]
mod unix;

#[cfg(unix)]
use self::unix as system;

#[cfg(not(unix))]
use self::other as system;

mod leftovers;

pub use self::leftovers::remove_leftovers;

#[cfg(test)]
mod tests;

/// What must be at a place for it to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Expected {
    /// Nothing.
    Nothing,
    /// A regular file with this SHA-256, hex.
    Content(String),
}

/// How writing a file can fail.
#[derive(Debug)]
pub(crate) enum PlaceError {
    /// What is there is not what was expected.
    Changed,
    /// The system said no.
    Io(io::Error),
}

impl From<io::Error> for PlaceError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Opens a regular file for reading, following no link; never waits for a pipe. `real` is canonical.
pub(crate) fn open(real: &Path) -> io::Result<File> {
    let file = system::open(real)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::other("it is not a regular file"))
    }
}

/// Puts `content` at `real`, when what is there is as expected; makes missing folders. Blocking.
pub(crate) fn replace(real: &Path, content: &[u8], expected: &Expected) -> Result<(), PlaceError> {
    system::replace(real, content, expected)
}

/// Returns the SHA-256 of everything that a reader gives, hex.
pub(crate) fn sha256_of(mut reader: impl Read) -> io::Result<String> {
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => return Ok(hex(&hash.finalize())),
            Ok(count) => hash.update(&buffer[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Returns the SHA-256 of bytes, hex.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Writes a new file whole and makes it last.
fn fill(mut file: &File, content: &[u8]) -> io::Result<()> {
    file.write_all(content)?;
    file.sync_data()
}

#[cfg(not(unix))]
mod other {
    use std::fs::{self, File};
    use std::io;
    use std::path::Path;

    use super::{Expected, PlaceError, fill, sha256_of};

    pub(super) fn open(real: &Path) -> io::Result<File> {
        File::open(real)
    }

    pub(super) fn replace(
        real: &Path,
        content: &[u8],
        expected: &Expected,
    ) -> Result<(), PlaceError> {
        let folder = real.parent().ok_or(io::ErrorKind::IsADirectory)?;
        if *expected == Expected::Nothing {
            fs::create_dir_all(folder)?;
        }
        let file = tempfile::Builder::new().prefix(".cairn-").suffix(".tmp").tempfile_in(folder)?;
        fill(file.as_file(), content)?;
        let now = match File::open(real) {
            Ok(file) => Expected::Content(sha256_of(file)?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Expected::Nothing,
            Err(error) => return Err(error.into()),
        };
        if now != *expected {
            return Err(PlaceError::Changed);
        }
        let placed = match expected {
            Expected::Nothing => file.persist_noclobber(real),
            Expected::Content(_) => file.persist(real),
        };
        placed.map(drop).map_err(|error| PlaceError::Io(error.error))
    }
}
