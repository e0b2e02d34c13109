//! Every file operation of capture and restore, behind one trait, so that each can be made to fail.
//!
//! Paths are relative to an open folder and no symbolic link is ever followed. What is done with the files is in
//! `scan.rs`, `objects.rs` and `restore.rs`.

mod system;

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

use crate::item::Stat;
pub use system::SystemFiles;

/// The file operations. `dir` is an open folder and `name` one component.
pub trait Files: Send + Sync {
    /// Opens a folder at a path below `root`, no component of which may be a link. An empty path is `root` itself.
    fn open_dir(&self, root: BorrowedFd<'_>, path: &[u8]) -> io::Result<OwnedFd>;
    /// Returns the names in a folder, unsorted.
    fn list(&self, dir: BorrowedFd<'_>) -> io::Result<Vec<Vec<u8>>>;
    /// Tells what is at a name.
    fn stat(&self, dir: BorrowedFd<'_>, name: &[u8]) -> io::Result<Stat>;
    /// Reads a regular file of at most `limit` bytes whole, with its state after the read. Fails with `InvalidData`
    /// when it is not a regular file, is larger, or changes meanwhile.
    fn read(&self, dir: BorrowedFd<'_>, name: &[u8], limit: u64) -> io::Result<(Vec<u8>, Stat)>;
    /// Reads the target of a link.
    fn read_link(&self, dir: BorrowedFd<'_>, name: &[u8]) -> io::Result<Vec<u8>>;
    /// Makes a file that must not exist, with exactly this mode. It is not synced.
    fn create(&self, dir: BorrowedFd<'_>, name: &[u8], content: &[u8], mode: u32)
    -> io::Result<()>;
    /// Adds to the end of a file, which is made with mode 600 when absent. It is not synced.
    fn append(&self, dir: BorrowedFd<'_>, name: &[u8], content: &[u8]) -> io::Result<()>;
    /// Makes a symbolic link.
    fn symlink(&self, dir: BorrowedFd<'_>, name: &[u8], target: &[u8]) -> io::Result<()>;
    /// Makes a folder with exactly this mode.
    fn mkdir(&self, dir: BorrowedFd<'_>, name: &[u8], mode: u32) -> io::Result<()>;
    /// Sets the permission bits of a file or folder.
    fn chmod(&self, dir: BorrowedFd<'_>, name: &[u8], mode: u32) -> io::Result<()>;
    /// Gives a file to an owner and a group.
    fn chown(&self, dir: BorrowedFd<'_>, name: &[u8], uid: u32, gid: u32) -> io::Result<()>;
    /// Moves a name, over what is there.
    fn rename(
        &self,
        from: BorrowedFd<'_>,
        name: &[u8],
        to: BorrowedFd<'_>,
        new: &[u8],
    ) -> io::Result<()>;
    /// Removes a name that is not a folder.
    fn unlink(&self, dir: BorrowedFd<'_>, name: &[u8]) -> io::Result<()>;
    /// Removes an empty folder.
    fn rmdir(&self, dir: BorrowedFd<'_>, name: &[u8]) -> io::Result<()>;
    /// Makes the content of a file durable.
    fn sync_file(&self, dir: BorrowedFd<'_>, name: &[u8]) -> io::Result<()>;
    /// Makes the names in a folder durable.
    fn sync_dir(&self, dir: BorrowedFd<'_>) -> io::Result<()>;
    /// Makes everything on the file system of a folder durable.
    fn sync_all(&self, dir: BorrowedFd<'_>) -> io::Result<()>;
}
