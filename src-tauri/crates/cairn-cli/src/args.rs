//! The command line as data.

use std::path::PathBuf;

use cairn_protocol::{Mode, WireApi};
use clap::{Args, Parser, Subcommand, ValueEnum};

/// An AI agent works in a folder, and every turn can be rolled back exactly.
#[derive(Parser)]
#[command(name = "cairn", version, about, disable_help_subcommand = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Run one turn and print what happens.
    ///
    /// Exit codes: 0 completed, 1 failed, 2 usage, 3 stopped because an approval was denied and nothing
    /// else was possible, 130 interrupted.
    #[command(visible_alias = "exec")]
    Run(Box<RunArgs>),
    /// List sessions, or show one.
    Sessions {
        #[command(subcommand)]
        command: SessionsCommand,
    },
    /// List the turns of a session with what they changed.
    Turns {
        /// The session.
        id: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Print what a turn changed, as a unified patch.
    Diff {
        /// The session.
        id: String,
        /// The turn: its number or id.
        turn: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Roll files back to a state of a turn, or bring the last rollback back.
    Restore(RestoreArgs),
    /// Ask the policy what would happen to a call.
    Policy {
        #[command(subcommand)]
        command: PolicyCommand,
    },
    /// Say what works on this machine.
    Doctor {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

#[derive(Subcommand)]
pub(crate) enum SessionsCommand {
    /// List all sessions, last active first.
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Print the messages of a session.
    Show {
        /// The session.
        id: String,
        /// Print JSON: one protocol message a line.
        #[arg(long)]
        json: bool,
    },
}

#[derive(Subcommand)]
pub(crate) enum PolicyCommand {
    /// Judge one call; nothing runs.
    Check(PolicyArgs),
}

#[derive(Args)]
pub(crate) struct RunArgs {
    /// The folder to work in; the current one by default.
    #[arg(long, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    /// A provider of your table.
    #[arg(long, value_name = "NAME", conflicts_with = "base_url")]
    pub(crate) provider: Option<String>,
    /// An endpoint for this run only.
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// How the endpoint is spoken to.
    #[arg(long, value_enum, default_value = "chat")]
    pub(crate) api: Api,
    /// The model's id.
    #[arg(long, value_name = "ID")]
    pub(crate) model: Option<String>,
    /// The environment variable that holds the endpoint's key.
    #[arg(long, value_name = "VAR")]
    pub(crate) api_key_env: Option<String>,
    /// What may happen without a question.
    #[arg(long, value_enum)]
    pub(crate) mode: Option<ModeArg>,
    /// What to answer when the policy asks; without it, a terminal asks you and anything else denies.
    #[arg(long, value_enum)]
    pub(crate) on_ask: Option<OnAsk>,
    /// Allow commands that begin with these words, in this run.
    #[arg(long, value_name = "CMD")]
    pub(crate) allow: Vec<String>,
    /// Go on in this session.
    #[arg(long, value_name = "ID", conflicts_with = "continue_last")]
    pub(crate) session: Option<String>,
    /// Go on in the last session of the folder.
    #[arg(long = "continue")]
    pub(crate) continue_last: bool,
    /// Play this script instead of a model.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["provider", "base_url"])]
    pub(crate) script: Option<PathBuf>,
    /// Capture no turns.
    #[arg(long)]
    pub(crate) no_snapshots: bool,
    /// Print one protocol message a line as it happens.
    #[arg(long, conflicts_with = "events")]
    pub(crate) json: bool,
    /// Print one event a line as it happens.
    #[arg(long)]
    pub(crate) events: bool,
    /// The task, or `-` to read it from standard input.
    pub(crate) prompt: String,
}

#[derive(Args)]
pub(crate) struct RestoreArgs {
    /// The session.
    pub(crate) id: String,
    /// The turn: its number or id.
    #[arg(required_unless_present = "undo", conflicts_with = "undo")]
    pub(crate) turn: Option<String>,
    /// Before the turn (takes back this and later ones), after it (takes back later ones), or only this
    /// turn.
    #[arg(long, value_enum, default_value = "before")]
    pub(crate) to: Target,
    /// Only this path; may be given several times.
    #[arg(long = "path", value_name = "P")]
    pub(crate) paths: Vec<String>,
    /// Where you changed a file since, take the turn's version; yours is kept in the store.
    #[arg(long = "take", value_name = "P")]
    pub(crate) take: Vec<String>,
    /// Show what would happen; touch nothing.
    #[arg(long, conflicts_with = "undo")]
    pub(crate) dry_run: bool,
    /// Bring the last rollback back.
    #[arg(long)]
    pub(crate) undo: bool,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct PolicyArgs {
    /// The tool.
    #[arg(long, value_name = "T", required_unless_present = "command", conflicts_with = "command")]
    pub(crate) tool: Option<String>,
    /// Its arguments.
    #[arg(long, value_name = "JSON", default_value = "{}")]
    pub(crate) args: String,
    /// A shell command; short for the tool `run_shell`.
    #[arg(long, value_name = "CMD")]
    pub(crate) command: Option<String>,
    /// The mode.
    #[arg(long, value_enum, default_value = "interactive")]
    pub(crate) mode: ModeArg,
    /// The folder; the current one by default.
    #[arg(long, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Api {
    Chat,
    Responses,
    Anthropic,
    Gemini,
}

impl From<Api> for WireApi {
    fn from(api: Api) -> Self {
        match api {
            Api::Chat => Self::Chat,
            Api::Responses => Self::Responses,
            Api::Anthropic => Self::Anthropic,
            Api::Gemini => Self::Gemini,
        }
    }
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum ModeArg {
    Discuss,
    Plan,
    Interactive,
    Auto,
}

impl From<ModeArg> for Mode {
    fn from(mode: ModeArg) -> Self {
        match mode {
            ModeArg::Discuss => Self::Discuss,
            ModeArg::Plan => Self::Plan,
            ModeArg::Interactive => Self::Interactive,
            ModeArg::Auto => Self::Auto,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnAsk {
    /// Say no.
    Deny,
    /// Allow that one call.
    Once,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Target {
    Before,
    After,
    Revert,
}

impl From<Target> for cairn_protocol::RestoreTarget {
    fn from(target: Target) -> Self {
        match target {
            Target::Before => Self::Before,
            Target::After => Self::After,
            Target::Revert => Self::Revert,
        }
    }
}
