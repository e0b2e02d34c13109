//! `cairn`, the headless human: the same engine without a window.
//!
//! It only parses, prints and answers; what happens is in `cairn-engine`. Commands and exit codes are
//! stable: scripts depend on them.

mod args;
mod ask;
mod patch;
mod print;
mod restore;
mod run;
mod show;
mod start;

use std::process::ExitCode;

use cairn_protocol::ErrorInfo;
use clap::Parser;

use args::{Cli, Command, PolicyCommand, SessionsCommand};

/// Usage errors, as clap itself reports them.
const EXIT_USAGE: u8 = 2;

/// How a command ends when it could not do its work.
pub(crate) enum Failure {
    /// The command line makes no sense.
    Usage(String),
    /// The engine said no.
    Engine(ErrorInfo),
}

impl From<ErrorInfo> for Failure {
    fn from(error: ErrorInfo) -> Self {
        Self::Engine(error)
    }
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => {
            print::error(&format!("can't start: {error}"));
            return ExitCode::FAILURE;
        }
    };
    let result = runtime.block_on(dispatch(cli));
    // A reader of standard input may still wait for a line that nobody types.
    runtime.shutdown_background();
    match result {
        Ok(code) => ExitCode::from(code),
        Err(Failure::Usage(text)) => {
            print::error(&text);
            ExitCode::from(EXIT_USAGE)
        }
        Err(Failure::Engine(error)) => {
            print::error(&error.message);
            ExitCode::FAILURE
        }
    }
}

async fn dispatch(cli: Cli) -> Result<u8, Failure> {
    match cli.command {
        Command::Run(args) => run::run(*args).await,
        Command::Sessions { command: SessionsCommand::List { json } } => show::sessions(json).await,
        Command::Sessions { command: SessionsCommand::Show { id, json } } => {
            show::session(&id, json).await
        }
        Command::Turns { id, json } => show::turns(&id, json).await,
        Command::Diff { id, turn, json } => show::diff(&id, &turn, json).await,
        Command::Restore(args) => restore::restore(args).await,
        Command::Policy { command: PolicyCommand::Check(args) } => show::policy(args).await,
        Command::Doctor { json } => show::doctor(json).await,
    }
}
