//! Processes: commands of a session with bounded output, and the terminals of the window.
//!
//! Whatever is started here dies with its owner, whole trees of it: when it is killed, when its
//! session or terminal ends, and when the app is killed. It does not decide what may run
//! (`cairn-policy`) and does not confine (`cairn-sandbox`); it reads no environment and no settings.
//!
//! Commands are in `commands.rs`, terminals in `terminals.rs`, the ending of trees in `process.rs`.

mod commands;
mod process;
mod running;
mod shell;
mod spawner;
mod terminals;
mod unread;

pub use commands::{CommandSpec, Commands, TaskInfo};
pub use process::ExitStatus;
pub use running::Running;
pub use shell::{Shell, command_shell};
pub use terminals::{TerminalOutput, TerminalSink, Terminals};

/// How starting or talking to a process can fail.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It must run confined and can't; nothing ran.
    #[error(transparent)]
    Sandbox(#[from] cairn_sandbox::Error),
    /// The OS did not start it.
    #[error("could not start {program}")]
    Start {
        /// The program.
        program: String,
        /// What the OS said.
        source: std::io::Error,
    },
    /// As many as allowed are in use; end one first.
    #[error("{limit} of them are running already")]
    TooMany {
        /// How many are allowed.
        limit: usize,
    },
    /// There is none of this name (any more).
    #[error("there is no {0}")]
    Unknown(String),
    /// It does not read its input, and as much as is kept for it waits already; nothing was queued.
    #[error("the terminal does not read its input")]
    Busy,
    /// The owner is shutting down.
    #[error("shutting down")]
    Closed,
}
