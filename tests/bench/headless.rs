//! The headless program: how it is run against the fake model server, and what its start costs
//! (goals G1 and G2).
//!
//! What a turn, a stream and a long session cost is in `turns.rs`, `stream.rs` and `resume.rs`.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::ensure;
use cairn_tests::model_server::{Gate, MODEL, ModelServer, Reply};
use tempfile::TempDir;

use crate::figure::Figure;
use crate::process::{Cost, run, run_until};
use crate::{Options, bare, workspace};

/// Files of the usual small workspace.
pub(crate) const SMALL: usize = 50;

/// A workspace with a data root of its own.
pub(crate) struct Place {
    base: TempDir,
    pub(crate) workspace: PathBuf,
}

impl Place {
    /// Makes a Git workspace of so many files beside an empty data root.
    pub(crate) fn new(files: usize) -> anyhow::Result<Self> {
        let base = tempfile::tempdir()?;
        let workspace = base.path().join("workspace");
        workspace::repository(&workspace, files)?;
        std::fs::create_dir_all(base.path().join("home"))?;
        Ok(Self { base, workspace })
    }

    /// Returns the data root.
    pub(crate) fn data(&self) -> PathBuf {
        self.base.path().join("data")
    }

    /// Returns where the output of a run goes.
    pub(crate) fn output(&self) -> PathBuf {
        self.base.path().join("output")
    }

    /// Forgets all that Cairn has stored.
    pub(crate) fn forget(&self) -> anyhow::Result<()> {
        match std::fs::remove_dir_all(self.data()) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// Makes a `cairn run` against a server; its output goes to a file.
    pub(crate) fn cairn(
        &self,
        program: &Path,
        server: &ModelServer,
        more: &[&str],
    ) -> anyhow::Result<Command> {
        let mut command = Command::new(program);
        self.finish(&mut command, server, more)?;
        Ok(command)
    }

    /// The same without the sandbox: the run sees no bubblewrap.
    pub(crate) fn unconfined(
        &self,
        program: &Path,
        server: &ModelServer,
        more: &[&str],
    ) -> anyhow::Result<Command> {
        let mut command = Command::new("/usr/bin/bwrap");
        command.args(["--dev-bind", "/", "/", "--ro-bind", "/dev/null", "/usr/bin/bwrap"]);
        command.arg(program);
        self.finish(&mut command, server, more)?;
        Ok(command)
    }

    fn finish(
        &self,
        command: &mut Command,
        server: &ModelServer,
        more: &[&str],
    ) -> anyhow::Result<()> {
        command
            .args(["run", "--base-url", &server.base_url(), "--model", MODEL])
            .args(["--mode", "auto", "--on-ask", "once"])
            .arg("--workspace")
            .arg(&self.workspace)
            .args(more)
            .arg("Do it.");
        self.surround(command)
    }

    /// Makes a run of the bare loop.
    pub(crate) fn bare(&self, server: &ModelServer) -> anyhow::Result<Command> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args([bare::COMMAND, &server.base_url()]);
        command.arg(&self.workspace).arg(self.base.path().join("bare.jsonl"));
        self.surround(&mut command)?;
        Ok(command)
    }

    fn surround(&self, command: &mut Command) -> anyhow::Result<()> {
        command
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", self.base.path().join("home"))
            .env("CAIRN_HOME", self.data())
            .current_dir(&self.workspace)
            .stdin(Stdio::null())
            .stdout(File::create(self.output())?)
            .stderr(Stdio::null());
        Ok(())
    }
}

/// Runs a command to its end and makes sure that it was whole.
pub(crate) fn whole(
    mut command: Command,
    server: &ModelServer,
    requests: usize,
) -> anyhow::Result<Cost> {
    let (cost, status) = run(&mut command)?;
    let seen = server.requests().len();
    ensure!(status.success() && seen == requests, "{status}, {seen} of {requests} requests");
    Ok(cost)
}

/// Processor time and memory up to the first request, from a fresh data root and from a used one.
pub(crate) fn start(options: &Options) -> anyhow::Result<()> {
    let place = Place::new(SMALL)?;
    let (mut fresh, mut used, mut floor) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..=options.runs(15) {
        place.forget()?;
        let first = until_request(|server| place.cairn(&options.cairn, server, &[]))?;
        let second = until_request(|server| place.cairn(&options.cairn, server, &[]))?;
        let bare = until_request(|server| place.bare(server))?;
        // The first round warms the page cache.
        if round > 0 {
            fresh.push(first);
            used.push(second);
            floor.push(bare);
        }
    }
    let cpu = |costs: &[Cost]| costs.iter().map(|cost| cost.cpu_ms).collect::<Vec<_>>();
    let wall = |costs: &[Cost]| costs.iter().map(|cost| cost.wall_ms).collect::<Vec<_>>();
    let memory = |costs: &[Cost]| costs.iter().map(|cost| cost.tree_mib).collect::<Vec<_>>();
    let loop_ = "bare loop";
    Figure::new("start", "CPU to the first request, fresh data root", "ms", &cpu(&fresh))
        .against(loop_, &cpu(&floor))
        .at_most("G1", 75.0)
        .print()?;
    Figure::new("start", "CPU to the first request, used data root", "ms", &cpu(&used))
        .against(loop_, &cpu(&floor))
        .at_most("G1", 75.0)
        .print()?;
    Figure::new("start", "time to the first request, used data root", "ms", &wall(&used))
        .against(loop_, &wall(&floor))
        .print()?;
    Figure::new("start", "peak memory of the tree at the first request", "MiB", &memory(&fresh))
        .against(loop_, &memory(&floor))
        .at_most("G2", 50.0)
        .print()
}

/// Runs a command until its first request has arrived, which is not answered.
pub(crate) fn until_request(
    command: impl FnOnce(&ModelServer) -> anyhow::Result<Command>,
) -> anyhow::Result<Cost> {
    let server = ModelServer::builder().reply(Reply::text(["-"]).gated(&Gate::closed())).start();
    run_until(&mut command(&server)?, || {
        server.wait_for_requests(1);
    })
}
