//! File operations that fail, stop or call back at a chosen moment.
//!
//! A process that is killed is imitated by operations that all fail from the n-th on: nothing reaches the disk any more.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cairn_snapshot::{Files, Stat, SystemFiles};

/// What is to go wrong.
#[derive(Default)]
pub(crate) enum Fault {
    #[default]
    None,
    /// Every operation of this kind on a name that fits fails with this error number.
    Fail { operation: &'static str, name: fn(&[u8]) -> bool, errno: i32 },
    /// All operations that change something fail from this one on, counted from 0.
    KillAt(usize),
    /// Called once, after the first operation of this kind on a name that fits.
    After {
        operation: &'static str,
        name: fn(&[u8]) -> bool,
        call: Option<Box<dyn FnOnce() + Send>>,
    },
    /// Every look at a name takes this long.
    Slow(Duration),
}

#[derive(Default)]
struct State {
    fault: Fault,
    changed: usize,
    bytes_read: u64,
}

/// The switch: one for each case.
#[derive(Clone, Default)]
pub(crate) struct Faults(Arc<Mutex<State>>);

impl Faults {
    pub(crate) fn set(&self, fault: Fault) {
        *self.0.lock().expect("no test panics while it holds this") =
            State { fault, ..State::default() };
    }

    /// Returns how many bytes of files were read since the fault was set.
    pub(crate) fn bytes_read(&self) -> u64 {
        self.0.lock().expect("no test panics while it holds this").bytes_read
    }

    /// Returns how many operations that change something there were since the fault was set.
    pub(crate) fn changed(&self) -> usize {
        self.0.lock().expect("no test panics while it holds this").changed
    }

    fn before(&self, operation: &'static str, at: &[u8], changes: bool) -> io::Result<()> {
        let mut state = self.0.lock().expect("no test panics while it holds this");
        let count = state.changed;
        state.changed += usize::from(changes);
        let pause = match &state.fault {
            Fault::Fail { operation: own, name, errno } if *own == operation && name(at) => {
                return Err(io::Error::from_raw_os_error(*errno));
            }
            Fault::KillAt(number) if changes && count >= *number => {
                return Err(io::Error::from_raw_os_error(libc::EIO));
            }
            Fault::Slow(pause) if operation == "stat" => Some(*pause),
            _ => None,
        };
        drop(state);
        if let Some(pause) = pause {
            std::thread::sleep(pause);
        }
        Ok(())
    }

    fn after(&self, operation: &'static str, at: &[u8]) {
        let call = match &mut self.0.lock().expect("no test panics while it holds this").fault {
            Fault::After { operation: own, name, call } if *own == operation && name(at) => {
                call.take()
            }
            _ => None,
        };
        if let Some(call) = call {
            call();
        }
    }

    fn run<T>(
        &self,
        operation: &'static str,
        name: &[u8],
        changes: bool,
        work: impl FnOnce() -> io::Result<T>,
    ) -> io::Result<T> {
        self.before(operation, name, changes)?;
        let result = work();
        self.after(operation, name);
        result
    }
}

impl Files for Faults {
    fn open_dir(&self, root: BorrowedFd<'_>, path: &[u8]) -> io::Result<OwnedFd> {
        self.run("open_dir", path, false, || SystemFiles.open_dir(root, path))
    }

    fn list(&self, dir: BorrowedFd<'_>) -> io::Result<Vec<Vec<u8>>> {
        self.run("list", b"", false, || SystemFiles.list(dir))
    }

    fn stat(&self, dir: BorrowedFd<'_>, name: &[u8]) -> io::Result<Stat> {
        self.run("stat", name, false, || SystemFiles.stat(dir, name))
    }

    fn read(&self, dir: BorrowedFd<'_>, name: &[u8], limit: u64) -> io::Result<(Vec<u8>, Stat)> {
        let read = self.run("read", name, false, || SystemFiles.read(dir, name, limit))?;
        self.0.lock().expect("no test panics while it holds this").bytes_read +=
            read.0.len() as u64;
        Ok(read)
    }

    fn read_link(&self, dir: BorrowedFd<'_>, name: &[u8]) -> io::Result<Vec<u8>> {
        self.run("read_link", name, false, || SystemFiles.read_link(dir, name))
    }

    fn create(
        &self,
        dir: BorrowedFd<'_>,
        name: &[u8],
        content: &[u8],
        mode: u32,
    ) -> io::Result<()> {
        self.run("create", name, true, || SystemFiles.create(dir, name, content, mode))
    }

    fn append(&self, dir: BorrowedFd<'_>, name: &[u8], content: &[u8]) -> io::Result<()> {
        self.run("append", name, true, || SystemFiles.append(dir, name, content))
    }

    fn symlink(&self, dir: BorrowedFd<'_>, name: &[u8], target: &[u8]) -> io::Result<()> {
        self.run("symlink", name, true, || SystemFiles.symlink(dir, name, target))
    }

    fn mkdir(&self, dir: BorrowedFd<'_>, name: &[u8], mode: u32) -> io::Result<()> {
        self.run("mkdir", name, true, || SystemFiles.mkdir(dir, name, mode))
    }

    fn chmod(&self, dir: BorrowedFd<'_>, name: &[u8], mode: u32) -> io::Result<()> {
        self.run("chmod", name, true, || SystemFiles.chmod(dir, name, mode))
    }

    fn chown(&self, dir: BorrowedFd<'_>, name: &[u8], uid: u32, gid: u32) -> io::Result<()> {
        self.run("chown", name, true, || SystemFiles.chown(dir, name, uid, gid))
    }

    fn rename(
        &self,
        from: BorrowedFd<'_>,
        name: &[u8],
        to: BorrowedFd<'_>,
        new: &[u8],
    ) -> io::Result<()> {
        self.run("rename", new, true, || SystemFiles.rename(from, name, to, new))
    }

    fn unlink(&self, dir: BorrowedFd<'_>, name: &[u8]) -> io::Result<()> {
        self.run("unlink", name, true, || SystemFiles.unlink(dir, name))
    }

    fn rmdir(&self, dir: BorrowedFd<'_>, name: &[u8]) -> io::Result<()> {
        self.run("rmdir", name, true, || SystemFiles.rmdir(dir, name))
    }

    fn sync_file(&self, dir: BorrowedFd<'_>, name: &[u8]) -> io::Result<()> {
        self.run("sync_file", name, true, || SystemFiles.sync_file(dir, name))
    }

    fn sync_dir(&self, dir: BorrowedFd<'_>) -> io::Result<()> {
        self.run("sync_dir", b"", true, || SystemFiles.sync_dir(dir))
    }

    fn sync_all(&self, dir: BorrowedFd<'_>) -> io::Result<()> {
        self.run("sync_all", b"", true, || SystemFiles.sync_all(dir))
    }
}
