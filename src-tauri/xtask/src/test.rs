//! Every check and test, in the order in which a failure is cheapest to see.

use std::path::Path;
use std::process::Command;

use crate::tally::{Tally, counted};
use crate::{Outcome, call, cargo, npm, setup};

/// Runs everything; the last line is the count.
pub(crate) fn all(root: &Path) -> Outcome {
    setup::everything(root)?;
    lint(root)?;
    setup::interface(root)?;
    let mut tally = Tally::default();
    let interface = counted(&mut npm(root, &["run", "--silent", "test"]), &mut tally);
    let rust = counted(&mut cargo_test(root, &["--workspace", "--no-fail-fast"]), &mut tally);
    println!("\n{} passed, {} failed", tally.passed, tally.failed);
    interface.and(rust)
}

/// Runs only the tests in the real window.
pub(crate) fn desktop(root: &Path) -> Outcome {
    setup::everything(root)?;
    setup::interface(root)?;
    cargo(root, &["build", "--workspace"])?;
    call(&mut cargo_test(root, &["--workspace", "--test", "desktop"]))
}

/// Checks form: formatting, clippy, and the same of the interface.
pub(crate) fn lint(root: &Path) -> Outcome {
    cargo(root, &["fmt", "--all", "--check"])?;
    // The build script of the shell reads the built interface, which a fresh clone does not have.
    if !root.join("ui").join("dist").join("index.html").exists() {
        setup::interface(root)?;
    }
    cargo(root, &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])?;
    call(&mut npm(root, &["run", "--silent", "lint"]))?;
    call(&mut npm(root, &["run", "--silent", "types"]))
}

fn cargo_test(root: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.arg("test").args(args).current_dir(root).env("INSTA_UPDATE", "no");
    command
}
