//! `cargo xtask bench`: builds the release programs that are measured and runs the measuring program of
//! `tests/bench`.
//!
//! What is measured, and how, is in `docs/benchmarks.md`.

use std::path::Path;
use std::process::Command;

use crate::{Outcome, call, cargo, setup};

/// Benches that need no window.
const HEADLESS: [&str; 6] = ["start", "turn20", "stream10k", "resume", "snapshot", "rollback"];

/// Runs all benches, or those that are named.
pub(crate) fn bench(root: &Path, names: &[String]) -> Outcome {
    let named = |bench: &str| names.iter().any(|name| name == bench);
    setup::everything(root)?;
    if named("app") || named("window") || !HEADLESS.iter().any(|bench| named(bench)) {
        setup::interface(root)?;
        let window = ["-p", "cairn-desktop", "--features", "hello", "--bin", "cairn-desktop"];
        cargo(
            root,
            &[&["build", "--release"], &window[..], &["--example", "hello-window"]].concat(),
        )?;
    }
    let programs =
        ["-p", "cairn-cli", "-p", "cairn-tests", "--bin", "cairn", "--bin", "cairn-bench"];
    cargo(root, &[&["build", "--release"], &programs[..]].concat())?;
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), Into::into);
    let program =
        target.join("release").join(if cfg!(windows) { "cairn-bench.exe" } else { "cairn-bench" });
    call(Command::new(program).args(names).current_dir(root))
}
