//! The tools that the model may call: what each takes, what a call will do, and doing it.
//!
//! It decides nothing: whether a call may run is `cairn-policy`'s answer, asked by `cairn-engine` between
//! [`Registry::prepare`] and [`PreparedCall::run`]. What was prepared and shown is what runs: before a file is written it is
//! checked again that it still is what it was. Start reading at `tool.rs`, then `registry.rs`; the tools themselves are
//! in `builtin/`, a file each.

mod archive;
mod arguments;
mod builtin;
mod close_out;
mod context;
mod counted;
mod diff;
mod edit;
mod ledger;
mod locks;
mod output;
mod path;
mod place;
mod registry;
mod terminal_text;
mod tool;

#[cfg(test)]
mod testing;

pub use context::{AskUser, SessionPort, ToolContext};
pub use ledger::{Identity, ReadLedger, Standing};
pub use locks::{PathLock, PathLocks};
pub use output::{Output, OutputSink};
pub use path::{Target, TargetKind, resolve};
pub use place::remove_leftovers;
pub use registry::{PreparedCall, Registry, refusal};
pub use tool::{Action, Cut, Done, Ordering, Plan, Run, Spec, Tool};
