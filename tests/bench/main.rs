//! `cairn-bench`: measures Cairn and, in the same run and in turn with it, something to compare it with.
//!
//! It prints one JSON line a figure and judges nothing but the goals that are written beside the
//! figures; it is run by hand or by `cargo xtask bench`, never as a test. What is measured, how, and
//! the last figures are in `docs/benchmarks.md`.

mod app;
mod bare;
mod figure;
mod headless;
mod process;
mod resume;
mod snapshot;
mod stream;
mod turns;
mod window;
mod workspace;

use std::path::PathBuf;

use anyhow::{Context, bail};

/// What the command line asks for.
pub(crate) struct Options {
    /// Runs of each figure, when one has no reason for another number.
    pub(crate) runs: Option<usize>,
    /// Sizes of the generated workspaces, in files.
    pub(crate) files: Vec<usize>,
    /// The `cairn` program.
    pub(crate) cairn: PathBuf,
    /// The `cairn-desktop` program.
    pub(crate) desktop: PathBuf,
    /// The smallest window of the same kit.
    pub(crate) hello: PathBuf,
}

impl Options {
    /// Returns how many runs a bench makes.
    pub(crate) fn runs(&self, usual: usize) -> usize {
        self.runs.unwrap_or(usual).max(1)
    }
}

type Bench = fn(&Options) -> anyhow::Result<()>;

/// All benches by name, in the order in which they run.
const BENCHES: [(&str, Bench); 8] = [
    ("start", headless::start),
    ("turn20", turns::turn20),
    ("stream10k", stream::stream10k),
    ("resume", resume::resume),
    ("snapshot", snapshot::captures),
    ("rollback", snapshot::rollbacks),
    ("app", app::app),
    ("window", window::window),
];

fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1).peekable();
    if arguments.peek().map(String::as_str) == Some(bare::COMMAND) {
        return bare::main(arguments.skip(1).collect());
    }
    let beside = std::env::current_exe().context("where is this program?")?;
    let beside = beside.parent().context("a program is in a folder")?.to_owned();
    let mut options = Options {
        runs: None,
        files: vec![5_000, 50_000],
        cairn: beside.join("cairn"),
        desktop: beside.join("cairn-desktop"),
        hello: beside.join("examples").join("hello-window"),
    };
    let mut chosen = Vec::new();
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().with_context(|| format!("{argument} needs a value"));
        match argument.as_str() {
            "--runs" => options.runs = Some(value()?.parse()?),
            "--files" => {
                options.files = value()?.split(',').map(str::parse).collect::<Result<_, _>>()?;
            }
            "--cairn" => options.cairn = value()?.into(),
            "--desktop" => options.desktop = value()?.into(),
            "--hello" => options.hello = value()?.into(),
            name => match BENCHES.iter().find(|(known, _)| *known == name) {
                Some(bench) => chosen.push(*bench),
                None => bail!("there is no bench {name}; there are {}", names().join(", ")),
            },
        }
    }
    if chosen.is_empty() {
        chosen = BENCHES.to_vec();
    }
    figure::print_machine()?;
    for (name, bench) in chosen {
        bench(&options).with_context(|| format!("the bench {name}"))?;
    }
    Ok(())
}

fn names() -> Vec<&'static str> {
    BENCHES.iter().map(|(name, _)| *name).collect()
}
