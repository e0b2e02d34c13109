//! `cargo xtask`: the one task runner. It sets a fresh machine up, builds, runs, tests and measures.
//!
//! Standard library only, so that it is ready in seconds. What is tested is in `tests/`; what CI does is
//! `.ci/run`, which calls this.

mod bench;
mod notices;
mod setup;
mod tally;
mod test;

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

const HELP: &str = "\
cargo xtask <command>

  run [-- ARGS]   set up what is missing, build, open Cairn
  test            set up what is missing, then every check and test; ends with a count
  e2e             only the tests in the real window
  lint            formatting, clippy, UI lint and types
  bench [NAME]    measure; prints JSON lines
  bundle          make the installers of this system
  doctor          say what works on this machine
  setup           only the set-up
  notices         write THIRD-PARTY-NOTICES.md from the lock files
";

/// What makes installers; of the same release as the `tauri` crate in `Cargo.lock`.
const BUNDLER: &str = "@tauri-apps/cli@2.12.5";

/// Why a task could not go on, for a person.
pub(crate) type Outcome<T = ()> = Result<T, String>;

fn main() -> ExitCode {
    let mut args = env::args().skip(1);
    let command = args.next().unwrap_or_default();
    let rest: Vec<String> = args.collect();
    let root = root();
    let result = match command.as_str() {
        "run" => run(&root, &rest),
        "test" => test::all(&root),
        "e2e" => test::desktop(&root),
        "lint" => setup::everything(&root).and_then(|()| test::lint(&root)),
        "bench" => bench::bench(&root, &rest),
        "bundle" => bundle(&root),
        "doctor" => cargo(&root, &["run", "--quiet", "--bin", "cairn", "--", "doctor"]),
        "setup" => setup::everything(&root),
        "notices" => notices::notices(&root),
        _ => {
            print!("{HELP}");
            return if command.is_empty() || command == "help" {
                ExitCode::SUCCESS
            } else {
                ExitCode::from(2)
            };
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}

fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.ancestors().nth(2).unwrap_or(manifest).to_path_buf()
}

fn run(root: &Path, args: &[String]) -> Outcome {
    setup::everything(root)?;
    setup::interface(root)?;
    let args = args.iter().map(String::as_str).skip_while(|arg| *arg == "--");
    let mut all = vec!["run", "--bin", "cairn-desktop", "--"];
    all.extend(args);
    cargo(root, &all)
}

/// Makes the installers. The tool that makes them is large and only needed here, so that npm fetches it, in this
/// version, when it is asked for.
fn bundle(root: &Path) -> Outcome {
    setup::everything(root)?;
    setup::interface(root)?;
    let mut command = npm(root, &["exec", "--yes", BUNDLER, "--", "build"]);
    call(command.current_dir(root))
}

/// Runs cargo in the project; its output goes to the terminal.
pub(crate) fn cargo(root: &Path, args: &[&str]) -> Outcome {
    call(
        Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
            .args(args)
            .current_dir(root),
    )
}

/// Runs a command whose output goes to the terminal.
pub(crate) fn call(command: &mut Command) -> Outcome {
    let name = command.get_program().to_string_lossy().into_owned();
    let status = command.status().map_err(|error| format!("{name} can't be started: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{name} failed: {status}")) }
}

/// Returns the command that runs npm in the interface's folder.
pub(crate) fn npm(root: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(if cfg!(windows) { "npm.cmd" } else { "npm" });
    command.args(args).current_dir(root.join("ui"));
    command
}
