//! Reading and replacing small files: whole, durable, for the user only.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::Error;

/// Reads a text file; `None` when it does not exist.
pub(crate) fn read(path: &Path) -> Result<Option<String>, Error> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            Err(Error::Damaged { path: path.to_owned(), reason: "it is not UTF-8 text".to_owned() })
        }
        Err(error) => Err(Error::io("read", path)(error)),
    }
}

/// Replaces a file: temporary file of mode 0600, sync, rename, sync of the folder.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), Error> {
    let folder = path.parent().unwrap_or(Path::new("."));
    create_dir(folder)?;
    let mut temp = tempfile::Builder::new()
        .prefix(".cairn-")
        .suffix(".tmp")
        .tempfile_in(folder)
        .map_err(Error::io("write in", folder))?;
    temp.write_all(text.as_bytes())
        .and_then(|()| temp.as_file().sync_data())
        .map_err(Error::io("write", path))?;
    temp.persist(path).map_err(|error| Error::io("replace", path)(error.error))?;
    if cfg!(unix) {
        File::open(folder)
            .and_then(|folder| folder.sync_all())
            .map_err(Error::io("make durable", folder))?;
    }
    Ok(())
}

/// Makes a folder and its parents, for the user only.
pub(crate) fn create_dir(path: &Path) -> Result<(), Error> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(Error::io("create", path))
}

/// Keeps a broken file under another name and returns that name.
pub(crate) fn put_aside(path: &Path) -> Result<PathBuf, Error> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let free = (1..1_000)
        .map(|number| path.with_file_name(format!("{name}.broken-{number}")))
        .find(|candidate| !candidate.exists());
    let Some(aside) = free else {
        return Err(Error::Damaged {
            path: path.to_owned(),
            reason: "and 1,000 broken copies are beside it; remove some".to_owned(),
        });
    };
    fs::rename(path, &aside).map_err(Error::io("put aside", path))?;
    Ok(aside)
}

/// Waits for the lock that keeps two processes from changing the files at once.
pub(crate) fn lock(path: &Path) -> Result<File, Error> {
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path)
        .map_err(Error::io("open", path))?;
    file.lock().map_err(Error::io("lock", path))?;
    Ok(file)
}
