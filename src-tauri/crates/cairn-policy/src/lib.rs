//! May this tool call run? Rules, command parsing and the one decision function.
//!
//! It is pure: no file is read, no clock, no environment. Paths come in resolved by the tool that will use
//! them, the state of the sandbox by whoever tested it. What the OS then enforces is `cairn-sandbox`'s work;
//! asking the user is `cairn-engine`'s. Start reading at `decide.rs`.

mod command;
mod decide;
mod paths;
mod rule;
mod veto;
mod visible;

pub use command::{ParsedCommand, parse_command};
pub use decide::{PolicyInput, Roots, decide};
pub use paths::{affects_later_sessions, is_protected, is_secret};
pub use rule::{command_rule, rule_text};
pub use veto::command_veto;
pub use visible::visible;

/// Why no rule can be made from a command.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The command is more than one plain list of words; the user may shorten it.
    #[error("a rule needs one plain command: {reason}")]
    NotPlain {
        /// What makes it more than that.
        reason: String,
    },
    /// A rule for this program would allow everything; no rule may name it.
    #[error("no rule may allow `{program}`: it can run any other program")]
    RunsAnything {
        /// The program.
        program: String,
    },
}
