//! `cargo xtask bench`: builds the release programs and runs the measuring program of `tests/bench`.

use std::path::Path;
use std::process::Command;

use crate::{Outcome, call, cargo, setup};

/// Runs all benches, or the one that is named.
pub(crate) fn bench(root: &Path, names: &[String]) -> Outcome {
    setup::everything(root)?;
    setup::interface(root)?;
    cargo(root, &["build", "--release", "--workspace", "--bins"])?;
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), Into::into);
    let program =
        target.join("release").join(if cfg!(windows) { "cairn-bench.exe" } else { "cairn-bench" });
    call(Command::new(program).args(names).current_dir(root))
}
