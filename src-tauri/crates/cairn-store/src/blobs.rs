//! Messages that are too long for a line, by the SHA-256 of their bytes.
//!
//! A blob is durable before the line that names it is written. It never removes one: a session's
//! blobs go with the session.

use std::path::Path;

use cairn_protocol::Message;
use sha2::{Digest, Sha256};

use crate::Error;
use crate::disk::{Disk, read_all, write_atomic};
use crate::line::{Blob, hex};

/// Stores a blob, unless a sound one is there.
pub(crate) fn put(disk: &dyn Disk, folder: &Path, blob: &Blob) -> Result<(), Error> {
    let path = folder.join(&blob.sha256);
    if read_all(disk, &path)?.is_some_and(|bytes| bytes == blob.bytes) {
        return Ok(());
    }
    disk.create_dir(folder).map_err(Error::io("create", folder))?;
    write_atomic(disk, &path, &blob.bytes)
}

/// Reads the message of a blob; `None` when it is missing, damaged or not understood.
pub(crate) fn get(disk: &dyn Disk, folder: &Path, sha256: &str) -> Result<Option<Message>, Error> {
    let name_is_digest = sha256.len() == 64 && sha256.bytes().all(|b| b.is_ascii_hexdigit());
    if !name_is_digest {
        return Ok(None);
    }
    let Some(bytes) = read_all(disk, &folder.join(sha256))? else {
        return Ok(None);
    };
    if hex(&Sha256::digest(&bytes)) != sha256 {
        return Ok(None);
    }
    Ok(serde_json::from_slice(&bytes).ok())
}
