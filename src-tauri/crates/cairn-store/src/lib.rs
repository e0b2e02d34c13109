//! Sessions on disk: the trace is the truth, SQLite an index that can be deleted and is rebuilt.
//!
//! All of it blocks; the engine calls it from threads that may. It never decides what is worth
//! recording, never asks the user, and never repairs by throwing away: what it cannot read stays in
//! a file beside. What a message is stands in `cairn-protocol`; what one means on resume stands in
//! `cairn-engine`.
//!
//! Start reading at `store.rs` for the folders, at `line.rs` for the format of a record, at
//! `trace.rs` for writing and at `lines.rs` for reading from the end.

mod blobs;
mod disk;
mod error;
mod history;
mod index;
mod layout;
mod line;
mod lines;
mod rebuild;
mod record;
mod recover;
mod store;
mod trace;
mod workspaces;

pub use error::Error;
pub use history::TraceView;
pub use record::SessionRecord;
pub use recover::Recovered;
pub use store::{Clock, Options, SessionFiles, Store};
pub use trace::{Degraded, SyncClass, Trace};

#[cfg(test)]
mod tests;
