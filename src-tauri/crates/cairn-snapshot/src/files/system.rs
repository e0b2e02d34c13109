//! The file operations of the operating system.
//!
//! It decides nothing; see `files.rs` for what each operation promises.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use nix::fcntl::{AtFlags, OFlag, openat};
use nix::sys::stat::{FileStat, Mode, SFlag, fchmod, fstat, fstatat, mkdirat};
use nix::unistd::{self, UnlinkatFlags, unlinkat};

use super::Files;
use crate::item::{Stat, StatKind};

/// The real file operations.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemFiles;

const FOLDER: OFlag =
    OFlag::O_RDONLY.union(OFlag::O_DIRECTORY).union(OFlag::O_NOFOLLOW).union(OFlag::O_CLOEXEC);

fn os(name: &[u8]) -> &OsStr {
    OsStr::from_bytes(name)
}

fn plain(stat: &FileStat) -> Stat {
    let kind = match SFlag::from_bits_truncate(stat.st_mode) & SFlag::S_IFMT {
        SFlag::S_IFREG => StatKind::File,
        SFlag::S_IFDIR => StatKind::Dir,
        SFlag::S_IFLNK => StatKind::Link,
        _ => StatKind::Special,
    };
    let mode = if kind == StatKind::Link { 0 } else { stat.st_mode & 0o7777 };
    Stat {
        kind,
        mode,
        size: stat.st_size as u64,
        mtime: stat.st_mtime * 1_000_000_000 + stat.st_mtime_nsec,
        ctime: stat.st_ctime * 1_000_000_000 + stat.st_ctime_nsec,
        ino: stat.st_ino,
        dev: stat.st_dev,
        uid: stat.st_uid,
        gid: stat.st_gid,
    }
}

fn invalid(reason: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason)
}

/// Opens component by component, for kernels and sandboxes without `openat2`.
fn walk(root: BorrowedFd<'_>, path: &[u8]) -> io::Result<OwnedFd> {
    let mut dir = openat(root, ".", FOLDER, Mode::empty())?;
    for part in path.split(|byte| *byte == b'/').filter(|part| !part.is_empty()) {
        dir = openat(dir.as_fd(), os(part), FOLDER, Mode::empty())?;
    }
    Ok(dir)
}

impl Files for SystemFiles {
    fn open_dir(&self, root: BorrowedFd<'_>, path: &[u8]) -> io::Result<OwnedFd> {
        if !path.contains(&b'/') {
            let name = if path.is_empty() { b"." } else { path };
            return Ok(openat(root, os(name), FOLDER, Mode::empty())?);
        }
        #[cfg(target_os = "linux")]
        {
            use nix::errno::Errno;
            use nix::fcntl::{OpenHow, ResolveFlag, openat2};
            let resolve = ResolveFlag::RESOLVE_NO_SYMLINKS | ResolveFlag::RESOLVE_BENEATH;
            let how = OpenHow::new().flags(FOLDER).resolve(resolve);
            match openat2(root, os(path), how) {
                Ok(dir) => return Ok(dir),
                Err(Errno::ENOSYS | Errno::EPERM | Errno::EAGAIN) => {}
                Err(error) => return Err(error.into()),
            }
        }
        walk(root, path)
    }

    fn list(&self, dir: BorrowedFd<'_>) -> io::Result<Vec<Vec<u8>>> {
        let mut open = nix::dir::Dir::openat(dir, ".", FOLDER, Mode::empty())?;
        let mut names = Vec::new();
        for entry in open.iter() {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name != b"." && name != b".." {
                names.push(name.to_vec());
            }
        }
        Ok(names)
    }

    fn stat(&self, dir: BorrowedFd<'_>, name: &[u8]) -> io::Result<Stat> {
        Ok(plain(&fstatat(dir, os(name), AtFlags::AT_SYMLINK_NOFOLLOW)?))
    }

    fn read(&self, dir: BorrowedFd<'_>, name: &[u8], limit: u64) -> io::Result<(Vec<u8>, Stat)> {
        let flags = OFlag::O_RDONLY
            | OFlag::O_NOFOLLOW
            | OFlag::O_NONBLOCK
            | OFlag::O_NOCTTY
            | OFlag::O_CLOEXEC;
        let file = openat(dir, os(name), flags, Mode::empty())?;
        let before = plain(&fstat(file.as_fd())?);
        if before.kind != StatKind::File {
            return Err(invalid("not a regular file"));
        }
        if before.size > limit {
            return Err(invalid("too large"));
        }
        let mut content = Vec::with_capacity(before.size as usize + 1);
        let mut file = File::from(file);
        (&mut file).take(limit + 1).read_to_end(&mut content)?;
        let after = plain(&fstat(file.as_fd())?);
        if after.stamp() != before.stamp() || content.len() as u64 != after.size {
            return Err(invalid("it changes while it is read"));
        }
        Ok((content, after))
    }

    fn read_link(&self, dir: BorrowedFd<'_>, name: &[u8]) -> io::Result<Vec<u8>> {
        Ok(nix::fcntl::readlinkat(dir, os(name))?.into_vec())
    }

    fn create(
        &self,
        dir: BorrowedFd<'_>,
        name: &[u8],
        content: &[u8],
        mode: u32,
    ) -> io::Result<()> {
        let flags =
            OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        let file = openat(dir, os(name), flags, Mode::from_bits_truncate(0o600))?;
        let mut file = File::from(file);
        file.write_all(content)?;
        Ok(fchmod(file.as_fd(), Mode::from_bits_truncate(mode))?)
    }

    fn append(&self, dir: BorrowedFd<'_>, name: &[u8], content: &[u8]) -> io::Result<()> {
        let flags = OFlag::O_WRONLY
            | OFlag::O_CREAT
            | OFlag::O_APPEND
            | OFlag::O_NOFOLLOW
            | OFlag::O_CLOEXEC;
        let file = openat(dir, os(name), flags, Mode::from_bits_truncate(0o600))?;
        File::from(file).write_all(content)
    }

    fn symlink(&self, dir: BorrowedFd<'_>, name: &[u8], target: &[u8]) -> io::Result<()> {
        Ok(unistd::symlinkat(os(target), dir, os(name))?)
    }

    fn mkdir(&self, dir: BorrowedFd<'_>, name: &[u8], mode: u32) -> io::Result<()> {
        mkdirat(dir, os(name), Mode::from_bits_truncate(0o700))?;
        let made = openat(dir, os(name), FOLDER, Mode::empty())?;
        Ok(fchmod(made.as_fd(), Mode::from_bits_truncate(mode))?)
    }

    fn chmod(&self, dir: BorrowedFd<'_>, name: &[u8], mode: u32) -> io::Result<()> {
        let mode = Mode::from_bits_truncate(mode);
        #[cfg(target_os = "linux")]
        {
            use std::os::fd::AsRawFd;
            // Through a handle of the very file: `fchmodat` of Linux would follow a link put there meanwhile.
            let flags = OFlag::O_PATH | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
            let handle = openat(dir, os(name), flags, Mode::empty())?;
            if plain(&fstat(handle.as_fd())?).kind == StatKind::Link {
                return Err(invalid("a link has no mode"));
            }
            let path = format!("/proc/self/fd/{}", handle.as_raw_fd());
            let follow = nix::sys::stat::FchmodatFlags::FollowSymlink;
            Ok(nix::sys::stat::fchmodat(nix::fcntl::AT_FDCWD, path.as_str(), mode, follow)?)
        }
        #[cfg(not(target_os = "linux"))]
        {
            let stay = nix::sys::stat::FchmodatFlags::NoFollowSymlink;
            Ok(nix::sys::stat::fchmodat(dir, os(name), mode, stay)?)
        }
    }

    fn chown(&self, dir: BorrowedFd<'_>, name: &[u8], uid: u32, gid: u32) -> io::Result<()> {
        let (uid, gid) = (unistd::Uid::from_raw(uid), unistd::Gid::from_raw(gid));
        Ok(unistd::fchownat(dir, os(name), Some(uid), Some(gid), AtFlags::AT_SYMLINK_NOFOLLOW)?)
    }

    fn rename(
        &self,
        from: BorrowedFd<'_>,
        name: &[u8],
        to: BorrowedFd<'_>,
        new: &[u8],
    ) -> io::Result<()> {
        Ok(nix::fcntl::renameat(from, os(name), to, os(new))?)
    }

    fn unlink(&self, dir: BorrowedFd<'_>, name: &[u8]) -> io::Result<()> {
        Ok(unlinkat(dir, os(name), UnlinkatFlags::NoRemoveDir)?)
    }

    fn rmdir(&self, dir: BorrowedFd<'_>, name: &[u8]) -> io::Result<()> {
        Ok(unlinkat(dir, os(name), UnlinkatFlags::RemoveDir)?)
    }

    fn sync_file(&self, dir: BorrowedFd<'_>, name: &[u8]) -> io::Result<()> {
        let flags = OFlag::O_RDONLY | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
        File::from(openat(dir, os(name), flags, Mode::empty())?).sync_all()
    }

    fn sync_dir(&self, dir: BorrowedFd<'_>) -> io::Result<()> {
        let handle = openat(dir, ".", FOLDER, Mode::empty())?;
        File::from(handle).sync_all()
    }

    fn sync_all(&self, dir: BorrowedFd<'_>) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        {
            Ok(unistd::syncfs(dir)?)
        }
        #[cfg(not(target_os = "linux"))]
        {
            let _ = dir;
            unistd::sync();
            Ok(())
        }
    }
}
