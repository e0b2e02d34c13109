//! Opens and replaces files so that no link is followed on the way and no half file is ever seen.
//!
//! Every folder on the way is opened by the one before it without following links, so that a link that was put there after a
//! path was checked leads nowhere. A file is written beside its place, synced, and renamed over it.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use sha2::{Digest, Sha256};

#[cfg(unix)]
use self::unix as system;

#[cfg(not(unix))]
use self::other as system;

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

#[cfg(unix)]
mod unix {
    use std::ffi::OsStr;
    use std::fs::File;
    use std::io;
    use std::os::fd::{AsFd, OwnedFd};
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::path::{Component, Path};

    use nix::errno::Errno;
    use nix::fcntl::{AtFlags, OFlag, openat, renameat};
    use nix::sys::stat::{Mode, fstatat, mkdirat};
    use nix::unistd::{UnlinkatFlags, unlinkat};

    use super::{Expected, PlaceError, fill, sha256_of};

    #[cfg(any(target_os = "linux", target_os = "android"))]
    const PASS_THROUGH: OFlag = OFlag::O_PATH;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    const PASS_THROUGH: OFlag = OFlag::O_RDONLY;

    #[derive(Clone, Copy, PartialEq, Eq)]
    enum Missing {
        Fail,
        Create,
    }

    pub(super) fn open(real: &Path) -> io::Result<File> {
        let (folder, name) = parent(real, Missing::Fail)?;
        let flags = OFlag::O_RDONLY | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
        Ok(File::from(openat(&folder, name, flags, Mode::empty())?))
    }

    /// Opens the folder that a path lies in, one component after the other.
    fn parent(real: &Path, missing: Missing) -> io::Result<(OwnedFd, &OsStr)> {
        let name = real.file_name().ok_or(io::ErrorKind::IsADirectory)?;
        let above = real.parent().ok_or(io::ErrorKind::IsADirectory)?;
        let flags = PASS_THROUGH | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        let mut folder = nix::fcntl::open("/", flags, Mode::empty())?;
        for component in above.components() {
            let Component::Normal(part) = component else { continue };
            folder = match openat(&folder, part, flags, Mode::empty()) {
                Ok(next) => next,
                Err(Errno::ENOENT) if missing == Missing::Create => {
                    match mkdirat(&folder, part, Mode::from_bits_truncate(0o777)) {
                        Ok(()) | Err(Errno::EEXIST) => {}
                        Err(error) => return Err(error.into()),
                    }
                    openat(&folder, part, flags, Mode::empty())?
                }
                Err(error) => return Err(error.into()),
            };
        }
        Ok((folder, name))
    }

    pub(super) fn replace(
        real: &Path,
        content: &[u8],
        expected: &Expected,
    ) -> Result<(), PlaceError> {
        let missing = if *expected == Expected::Nothing { Missing::Create } else { Missing::Fail };
        let (folder, name) = parent(real, missing)?;
        let temporary = format!(".cairn-{}.tmp", uuid::Uuid::new_v4().simple());
        let flags =
            OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        let file = openat(&folder, temporary.as_str(), flags, Mode::from_bits_truncate(0o666))
            .map_err(io::Error::from)?;
        let file = File::from(file);
        let written = fill(&file, content)
            .map_err(PlaceError::from)
            .and_then(|()| check(&folder, name, &file, expected))
            .and_then(|()| exchange(&folder, &temporary, name, expected));
        if written.is_err() {
            // The error that is reported is the first one; the temporary file is named so that it can be told.
            let _ = unlinkat(&folder, temporary.as_str(), UnlinkatFlags::NoRemoveDir);
        }
        written
    }

    /// Checks what is there, last thing before the rename, and gives the new file its mode and owner.
    fn check(
        folder: &OwnedFd,
        name: &OsStr,
        file: &File,
        expected: &Expected,
    ) -> Result<(), PlaceError> {
        let Expected::Content(sha256) = expected else {
            return match fstatat(folder, name, AtFlags::AT_SYMLINK_NOFOLLOW) {
                Err(Errno::ENOENT) => Ok(()),
                Ok(_) => Err(PlaceError::Changed),
                Err(error) => Err(PlaceError::Io(error.into())),
            };
        };
        let flags = OFlag::O_RDONLY | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
        let current = match openat(folder, name, flags, Mode::empty()) {
            Ok(current) => File::from(current),
            Err(Errno::ENOENT | Errno::ELOOP) => return Err(PlaceError::Changed),
            Err(error) => return Err(PlaceError::Io(error.into())),
        };
        let metadata = current.metadata()?;
        if !metadata.is_file() || sha256_of(&current)? != *sha256 {
            return Err(PlaceError::Changed);
        }
        let own = file.metadata()?;
        if (own.uid(), own.gid()) != (metadata.uid(), metadata.gid()) {
            // Only a privileged process may give files away; without that the file becomes the user's.
            let _ =
                std::os::unix::fs::fchown(file.as_fd(), Some(metadata.uid()), Some(metadata.gid()));
        }
        file.set_permissions(std::fs::Permissions::from_mode(metadata.mode() & 0o7777))?;
        Ok(())
    }

    fn exchange(
        folder: &OwnedFd,
        temporary: &str,
        name: &OsStr,
        expected: &Expected,
    ) -> Result<(), PlaceError> {
        if *expected == Expected::Nothing {
            match rename_if_free(folder, temporary, name) {
                Ok(()) => return Ok(()),
                Err(Errno::EEXIST) => return Err(PlaceError::Changed),
                Err(Errno::EINVAL | Errno::ENOSYS | Errno::ENOTSUP) => {}
                Err(error) => return Err(PlaceError::Io(error.into())),
            }
        }
        renameat(folder, temporary, folder, name).map_err(|error| PlaceError::Io(error.into()))
    }

    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    fn rename_if_free(folder: &OwnedFd, temporary: &str, name: &OsStr) -> nix::Result<()> {
        use nix::fcntl::{RenameFlags, renameat2};
        renameat2(folder, temporary, folder, name, RenameFlags::RENAME_NOREPLACE)
    }

    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    fn rename_if_free(_: &OwnedFd, _: &str, _: &OsStr) -> nix::Result<()> {
        Err(Errno::ENOSYS)
    }
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
