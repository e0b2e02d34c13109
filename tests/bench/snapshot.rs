//! What captures and rollbacks cost in generated workspaces, against the Git command line on the same
//! files in the same run (goals G5, G6, G7, G9 and G10).
//!
//! It uses `cairn-snapshot` directly, without an engine. That each capture found exactly what was
//! changed is checked outside the measured time.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, ensure};
use cairn_protocol::{
    Completeness, RestoreOutcome, RestoreRequest, RestoreTarget, SessionId, TurnId,
};
use cairn_snapshot::{Capture, Snapshots};
use tempfile::TempDir;

use crate::Options;
use crate::figure::Figure;
use crate::process::{children_cpu_ms, millis, own_cpu_ms};
use crate::resume::now;
use crate::workspace::{Git, edit, files, name, size};

/// The name of what captures are compared with.
const GIT: &str = "git add -A, write-tree";

/// Wall and processor time of several runs, in milliseconds.
#[derive(Default)]
struct Times {
    wall: Vec<f64>,
    cpu: Vec<f64>,
}

impl Times {
    /// Measures work in this process and in the programs that it waits for.
    fn measure<T>(&mut self, work: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<T> {
        let cpu = own_cpu_ms()? + children_cpu_ms()?;
        let began = Instant::now();
        let result = work()?;
        self.wall.push(millis(began.elapsed()));
        self.cpu.push(own_cpu_ms()? + children_cpu_ms()? - cpu);
        Ok(result)
    }
}

/// A generated folder with a store beside it, and a Git repository that follows the same files.
struct Bed {
    base: TempDir,
    workspace: PathBuf,
    git: Git,
    session: SessionId,
    turns: u32,
    edits: BTreeMap<usize, usize>,
}

impl Bed {
    fn new(count: usize) -> anyhow::Result<Self> {
        let base = tempfile::tempdir()?;
        let workspace = base.path().join("workspace");
        fs::create_dir_all(&workspace)?;
        files(&workspace, count)?;
        let git = Git { git_dir: base.path().join("git"), work_tree: workspace.clone() };
        let session = SessionId::new("s-bench");
        Ok(Self { base, workspace, git, session, turns: 0, edits: BTreeMap::new() })
    }

    fn store(&self) -> PathBuf {
        self.base.path().join("store")
    }

    fn open(&self) -> anyhow::Result<Snapshots> {
        Ok(Snapshots::open(&self.store(), &self.workspace, cairn_snapshot::Options::default())?)
    }

    fn next_turn(&mut self) -> TurnId {
        self.turns += 1;
        self.turn()
    }

    fn turn(&self) -> TurnId {
        TurnId::new(format!("t{}", self.turns))
    }

    /// Begins the turn and tells whether all files are covered.
    fn begin(&self, snapshots: &Snapshots) -> anyhow::Result<bool> {
        let capture = snapshots.begin_turn(&self.session, &self.turn(), self.turns, now());
        capture.snapshot.context("the capture before the turn failed")?;
        Ok(capture.completeness == Completeness::Protected)
    }

    /// Begins turns until all files are covered, for one capture takes in 256 MiB of new content at most.
    /// Returns how many it took.
    fn cover(&mut self, snapshots: &Snapshots) -> anyhow::Result<u32> {
        for captures in 1..=10 {
            self.next_turn();
            if self.begin(snapshots)? {
                return Ok(captures);
            }
        }
        anyhow::bail!("ten captures did not cover the workspace")
    }

    /// Changes a file and returns its path.
    fn edit(&mut self, index: usize) -> anyhow::Result<String> {
        let edits = self.edits.entry(index).or_default();
        edit(&self.workspace, index, *edits)?;
        *edits += 1;
        Ok(name(index))
    }

    fn git_tree(&self) -> anyhow::Result<String> {
        self.git.call(&["add", "--all"])?;
        self.git.call(&["write-tree"])
    }

    fn spread(&self, count: usize, step: usize) -> Vec<usize> {
        let files = (0..).take_while(|index| self.workspace.join(name(*index)).exists()).count();
        (0..count).map(|number| (number * (files / count) + step * 17) % files).collect()
    }
}

fn expect_paths(capture: &Capture, mut paths: Vec<String>) -> anyhow::Result<()> {
    paths.sort();
    ensure!(capture.paths == paths, "captured {:?}, changed {paths:?}", capture.paths);
    Ok(())
}

/// Measures captures in workspaces of all sizes.
pub(crate) fn captures(options: &Options) -> anyhow::Result<()> {
    let mut later = Vec::new();
    for files in &options.files {
        later.push((*files, captures_of(options, *files)?));
    }
    if let [(small, few), (large, many)] = later.as_slice() {
        let what = format!("capture after a change, {large} files against {small}");
        Figure::new("snapshot", what, "ms", many)
            .against("the smaller one", few)
            .ratio_at_most("G6", 2.0)
            .print()?;
    }
    Ok(())
}

fn captures_of(options: &Options, count: usize) -> anyhow::Result<Vec<f64>> {
    let mut bed = Bed::new(count)?;
    let (mut first, mut git_first) = (Times::default(), Times::default());
    let (mut first_after, mut git_after) = (Times::default(), Times::default());
    let mut snapshots = bed.open()?;
    let captures = first.measure(|| bed.cover(&snapshots))?;
    ensure!(captures == 1 || count > 5_000, "{captures} captures of a small workspace");
    bed.git.call(&["init", "--quiet"])?;
    let mut tree = git_first.measure(|| bed.git_tree())?;
    let (mut before, mut after) = (Times::default(), Times::default());
    let mut reopened = Times::default();
    let runs = options.runs(11);
    for (round, index) in bed.spread(runs + 1, 3).into_iter().enumerate() {
        let path = bed.edit(index)?;
        let times = if round == 0 { &mut first_after } else { &mut after };
        let (session, turn) = (bed.session.clone(), bed.turn());
        let capture = times.measure(|| Ok(snapshots.end_turn(&session, &turn, now())))?;
        expect_paths(&capture, vec![path])?;
        let next = git_after.measure(|| bed.git_tree())?;
        ensure!(next != tree, "git saw no change");
        tree = next;
        bed.next_turn();
        if round % 2 == 1 {
            drop(snapshots);
            snapshots = reopened.measure(|| {
                let opened = bed.open()?;
                bed.begin(&opened)?;
                Ok(opened)
            })?;
        } else {
            before.measure(|| bed.begin(&snapshots))?;
        }
    }
    let at = |what: &str| format!("{what}, {count} files");
    let first_of = match captures {
        1 => "first capture".to_owned(),
        _ => format!("first {captures} captures, each at most 256 MiB"),
    };
    let wall = |what: &str, times: &Times, git: &Times| {
        Figure::new("snapshot", at(what), "ms", &times.wall).against(GIT, &git.wall)
    };
    let cpu = |what: &str, times: &Times, git: &Times| {
        let what = format!("CPU of the {what}");
        Figure::new("snapshot", at(&what), "ms", &times.cpu).against(GIT, &git.cpu)
    };
    wall(&first_of, &first, &git_first).print()?;
    cpu(&first_of, &first, &git_first).ratio_at_most("G9", 0.5).print()?;
    wall("first capture after one changed file", &first_after, &git_after).print()?;
    wall("later capture before a turn", &before, &git_after).print()?;
    wall("opening and first capture of a new process", &reopened, &git_after).print()?;
    cpu("opening and first capture of a new process", &reopened, &git_after).print()?;
    wall("later capture after one changed file", &after, &git_after)
        .ratio_at_most("G5", 1.0 / 25.0)
        .print()?;
    cpu("later capture after one changed file", &after, &git_after)
        .ratio_at_most("G7", 0.6)
        .print()?;
    print_sizes(&bed, count)?;
    Ok(after.cpu)
}

#[expect(clippy::cast_precision_loss, reason = "sizes of a workspace are far below 2^52")]
fn print_sizes(bed: &Bed, count: usize) -> anyhow::Result<()> {
    let mib = |folder: &Path| anyhow::Ok(size(folder)? as f64 / f64::from(1 << 20));
    let what = format!("size of the store, {count} files");
    Figure::new("snapshot", what, "MiB", &[mib(&bed.store())?])
        .against("the workspace", &[mib(&bed.workspace)?])
        .print()?;
    let what = format!("size of the store against Git's, {count} files");
    Figure::new("snapshot", what, "MiB", &[mib(&bed.store())?])
        .against("git add -A", &[mib(&bed.git.git_dir)?])
        .print()
}

/// Measures rollbacks of one and of a hundred files in the largest workspace.
pub(crate) fn rollbacks(options: &Options) -> anyhow::Result<()> {
    let count = options.files.iter().copied().max().unwrap_or(50_000);
    let mut bed = Bed::new(count)?;
    let snapshots = bed.open()?;
    bed.cover(&snapshots)?;
    snapshots.end_turn(&bed.session, &bed.turn(), now());
    bed.git.call(&["init", "--quiet"])?;
    for changed in [1, 100] {
        rollback(options, &mut bed, &snapshots, changed, count)?;
    }
    Ok(())
}

fn rollback(
    options: &Options,
    bed: &mut Bed,
    snapshots: &Snapshots,
    changed: usize,
    count: usize,
) -> anyhow::Result<()> {
    let (mut cairn, mut git) = (Times::default(), Times::default());
    for round in 0..options.runs(7) {
        let indexes = bed.spread(changed, round);
        let tree = bed.git_tree()?;
        let unchanged = state(&bed.workspace)?;
        // The same change twice: once for Git, which leaves the files as they were, once for Cairn.
        change(bed, &indexes)?;
        git.measure(|| {
            bed.git.call(&["restore", "--source", &tree, "--", "."])?;
            bed.git.call(&["clean", "-fdq"])
        })?;
        same(&unchanged, &state(&bed.workspace)?, &indexes)?;
        bed.next_turn();
        bed.begin(snapshots)?;
        let (before, texts) = (state(&bed.workspace)?, texts(bed, &indexes)?);
        snapshots.before_command(&bed.session, &bed.turn());
        change(bed, &indexes)?;
        snapshots.after_command(&bed.session, &bed.turn());
        let capture = snapshots.end_turn(&bed.session, &bed.turn(), now());
        expect_paths(&capture, indexes.iter().map(|index| name(*index)).collect())?;
        let request = RestoreRequest {
            session_id: bed.session.clone(),
            turn_id: bed.turn(),
            target: RestoreTarget::Before,
            paths: None,
            take_snapshot: Vec::new(),
        };
        let report = cairn.measure(|| {
            let plan = snapshots.plan(&request)?;
            Ok(snapshots.restore(&request, &plan.token, now())?)
        })?;
        ensure!(report.outcome == RestoreOutcome::Exact, "{:?}", report.outcome);
        same(&before, &state(&bed.workspace)?, &indexes)?;
        ensure!(texts == self::texts(bed, &indexes)?, "other contents than before the turn");
        ensure!(report.steps.len() == changed, "{} of {changed} steps", report.steps.len());
    }
    let what = format!("rollback of {changed} of {count} files, plan included");
    let reference = "git restore --source, clean";
    Figure::new("rollback", what.as_str(), "ms", &cairn.wall)
        .against(reference, &git.wall)
        .ratio_at_most("G10", 0.1)
        .print()?;
    Figure::new("rollback", format!("CPU of the {what}"), "ms", &cairn.cpu)
        .against(reference, &git.cpu)
        .print()
}

/// Changes files without counting, because they are put back.
fn change(bed: &Bed, indexes: &[usize]) -> anyhow::Result<()> {
    for index in indexes {
        edit(&bed.workspace, *index, bed.edits.get(index).copied().unwrap_or_default())?;
    }
    Ok(())
}

fn texts(bed: &Bed, indexes: &[usize]) -> anyhow::Result<Vec<String>> {
    indexes.iter().map(|index| Ok(fs::read_to_string(bed.workspace.join(name(*index)))?)).collect()
}

type State = BTreeMap<PathBuf, (u64, i64, i64)>;

/// Returns size and time of every file.
fn state(folder: &Path) -> anyhow::Result<State> {
    let mut state = State::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let metadata = entry.metadata()?;
            if metadata.is_dir() {
                open.push(entry.path());
            } else {
                let seen = (metadata.len(), metadata.mtime(), metadata.mtime_nsec());
                state.insert(entry.path(), seen);
            }
        }
    }
    Ok(state)
}

/// Makes sure that all files are there and that those which were not changed were not written.
fn same(before: &State, after: &State, changed: &[usize]) -> anyhow::Result<()> {
    let names: Vec<String> = changed.iter().map(|index| name(*index)).collect();
    ensure!(before.len() == after.len(), "{} files, now {}", before.len(), after.len());
    for (path, seen) in before {
        let now = after.get(path).with_context(|| format!("{} is gone", path.display()))?;
        let touched = names.iter().any(|name| path.ends_with(name));
        ensure!(now.0 == seen.0, "{} has another size", path.display());
        ensure!(touched || now == seen, "{} was written", path.display());
    }
    Ok(())
}
