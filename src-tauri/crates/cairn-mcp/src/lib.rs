//! Tool servers that speak the Model Context Protocol: at present, what their configuration says.
//!
//! It reads entries from text that the caller passes in; it opens no file, reads no environment,
//! starts no process and no connection. Connecting, listing and calling come with the work on tool
//! servers itself. Whether an entry may be used at all is for the caller to ask: a file in a
//! workspace is untrusted until the user has seen it (Z-79).

mod entries;
mod entry;
mod expand;

pub use entries::{FILE_LIMIT_BYTES, SERVER_LIMIT, Warning, merge, read_entries};
pub use entry::{ServerEntry, ServerPermission, Transport};
