//! Opening and replacing by folder descriptors, one component after the other.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Component, Path};

use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, AtFlags, OFlag, openat, renameat};
use nix::sys::stat::{Mode, fstatat, mkdirat};
use nix::unistd::{UnlinkatFlags, linkat, unlinkat};

use super::leftovers::{hold, temporary_name};
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

pub(super) fn replace(real: &Path, content: &[u8], expected: &Expected) -> Result<(), PlaceError> {
    let missing = if *expected == Expected::Nothing { Missing::Create } else { Missing::Fail };
    let (folder, name) = parent(real, missing)?;
    let temporary = temporary_name();
    if let Some(file) = unnamed(&folder)? {
        fill(&file, content)?;
        check(&folder, name, &file, expected)?;
        if *expected == Expected::Nothing {
            return match give_name(&file, &folder, name) {
                Err(Errno::EEXIST) => Err(PlaceError::Changed),
                placed => placed.map_err(|error| PlaceError::Io(error.into())),
            };
        }
        give_name(&file, &folder, OsStr::new(&temporary)).map_err(io::Error::from)?;
        return finish(&folder, &temporary, || exchange(&folder, &temporary, name, expected));
    }
    let flags =
        OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    let file = openat(&folder, temporary.as_str(), flags, Mode::from_bits_truncate(0o666))
        .map_err(io::Error::from)?;
    let file = File::from(file);
    finish(&folder, &temporary, || {
        hold(&file);
        fill(&file, content)?;
        check(&folder, name, &file, expected)?;
        exchange(&folder, &temporary, name, expected)
    })
}

/// Does the last steps, and removes the temporary file when one fails.
fn finish(
    folder: &OwnedFd,
    temporary: &str,
    steps: impl FnOnce() -> Result<(), PlaceError>,
) -> Result<(), PlaceError> {
    let done = steps();
    if done.is_err() {
        // The error that is reported is the first one; what stays is removed by `remove_leftovers`.
        let _ = unlinkat(folder, temporary, UnlinkatFlags::NoRemoveDir);
    }
    done
}

/// Makes a file without a name on the folder's file system; none where there is no such thing.
#[cfg(target_os = "linux")]
fn unnamed(folder: &OwnedFd) -> io::Result<Option<File>> {
    let flags = OFlag::O_TMPFILE | OFlag::O_WRONLY | OFlag::O_CLOEXEC;
    match openat(folder, ".", flags, Mode::from_bits_truncate(0o666)) {
        Ok(file) => {
            let file = File::from(file);
            hold(&file);
            Ok(Some(file))
        }
        Err(Errno::EOPNOTSUPP | Errno::EISDIR | Errno::EINVAL | Errno::ENOENT) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(target_os = "linux"))]
fn unnamed(_: &OwnedFd) -> io::Result<Option<File>> {
    Ok(None)
}

/// Gives a file without a name one that is free. Without privileges this goes by way of `/proc`.
fn give_name(file: &File, folder: &OwnedFd, name: &OsStr) -> nix::Result<()> {
    let own = format!("/proc/self/fd/{}", file.as_raw_fd());
    linkat(AT_FDCWD, own.as_str(), folder, name, AtFlags::AT_SYMLINK_FOLLOW)
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
        let _ = std::os::unix::fs::fchown(file.as_fd(), Some(metadata.uid()), Some(metadata.gid()));
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
