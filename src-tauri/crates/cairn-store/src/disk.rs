//! The few operations on files that the truth depends on, behind a trait so that tests can fail each.
//!
//! Listing folders and the SQLite index do not go through here: both can fail without a loss.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::Error;

/// What a file is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Open {
    /// To be read.
    Read,
    /// To be read, and written at its end; made when it does not exist.
    Append,
    /// To be written; must not exist.
    CreateNew,
}

/// The operations on the folder tree.
pub(crate) trait Disk: Send + Sync {
    /// Makes a folder and its parents, for the user only.
    fn create_dir(&self, path: &Path) -> io::Result<()>;
    /// Opens a file; a new one is for the user only.
    fn open(&self, path: &Path, how: Open) -> io::Result<Box<dyn DiskFile>>;
    /// Puts a file in the place of another.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Makes the names in a folder durable.
    fn sync_dir(&self, path: &Path) -> io::Result<()>;
}

/// The operations on an open file.
pub(crate) trait DiskFile: Send + Sync {
    /// Writes once; may write less than asked.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize>;
    /// Reads at an offset; returns less only at the end.
    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize>;
    /// Returns the length in bytes.
    fn len(&self) -> io::Result<u64>;
    /// Cuts the file.
    fn set_len(&self, bytes: u64) -> io::Result<()>;
    /// Makes data and length durable.
    fn sync(&self) -> io::Result<()>;
}

/// The real file system.
pub(crate) struct RealDisk;

impl Disk for RealDisk {
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(path)
    }

    fn open(&self, path: &Path, how: Open) -> io::Result<Box<dyn DiskFile>> {
        let mut options = OpenOptions::new();
        match how {
            Open::Read => options.read(true),
            Open::Append => options.read(true).append(true).create(true),
            Open::CreateNew => options.write(true).create_new(true),
        };
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        Ok(Box::new(RealFile(options.open(path)?)))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        // Windows keeps names durable with the file and can't open a folder this way.
        if cfg!(windows) { Ok(()) } else { File::open(path)?.sync_all() }
    }
}

struct RealFile(File);

impl DiskFile for RealFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match self.0.write(bytes) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => return result,
            }
        }
    }

    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut done = 0;
        while done < bytes.len() {
            let at = offset + done as u64;
            #[cfg(unix)]
            let read = std::os::unix::fs::FileExt::read_at(&self.0, &mut bytes[done..], at);
            #[cfg(windows)]
            let read = std::os::windows::fs::FileExt::seek_read(&self.0, &mut bytes[done..], at);
            match read {
                Ok(0) => break,
                Ok(count) => done += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(done)
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        self.0.set_len(bytes)
    }

    fn sync(&self) -> io::Result<()> {
        self.0.sync_data()
    }
}

static TEMP_COUNTER: AtomicU64 = AtomicU64::new(0);

fn temp_name(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let count = TEMP_COUNTER.fetch_add(1, Ordering::Relaxed);
    path.with_file_name(format!(".{name}.{}-{count}.tmp", std::process::id()))
}

/// Replaces a file so that after a crash it is whole, old or new: temporary file, sync, rename, sync of the folder.
pub(crate) fn write_atomic(disk: &dyn Disk, path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let temp = temp_name(path);
    let result = write_whole(disk, &temp, bytes)
        .and_then(|()| disk.rename(&temp, path).map_err(Error::io("replace", path)));
    if let Err(error) = result {
        // Best effort: a temporary file that stays is harmless, and the first error is the one to tell.
        let _ = disk.remove(&temp);
        return Err(error);
    }
    let folder = path.parent().unwrap_or(Path::new("."));
    disk.sync_dir(folder).map_err(Error::io("make durable", folder))
}

fn write_whole(disk: &dyn Disk, path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let mut file = match disk.open(path, Open::CreateNew) {
        // A process with our number died here once.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            disk.remove(path).map_err(Error::io("remove", path))?;
            disk.open(path, Open::CreateNew)
        }
        result => result,
    }
    .map_err(Error::io("create", path))?;
    write_all(file.as_mut(), bytes).map_err(Error::io("write", path))?;
    file.sync().map_err(Error::io("make durable", path))
}

/// Writes all bytes, in as many calls as it takes. Not for the trace, where a line is one call.
pub(crate) fn write_all(file: &mut dyn DiskFile, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let count = file.write(bytes)?;
        if count == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        bytes = &bytes[count..];
    }
    Ok(())
}

/// Reads a whole file; `None` when it does not exist.
pub(crate) fn read_all(disk: &dyn Disk, path: &Path) -> Result<Option<Vec<u8>>, Error> {
    let file = match disk.open(path, Open::Read) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        result => result.map_err(Error::io("open", path))?,
    };
    let length = file.len().map_err(Error::io("measure", path))?;
    let mut bytes = vec![0; usize::try_from(length).unwrap_or(usize::MAX)];
    let read = file.read_at(&mut bytes, 0).map_err(Error::io("read", path))?;
    bytes.truncate(read);
    Ok(Some(bytes))
}
