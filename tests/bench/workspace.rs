//! Generated workspaces: source-like files whose sizes are spread as in real projects.
//!
//! The same number of files always gives the same folder. What is done in it is in the benches.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::ensure;

/// Files a folder.
const FILES_IN_FOLDER: usize = 12;
/// The line that edits change; the number counts up.
const MARKER: &str = "// marker: ";

/// Words of the generated text.
const WORDS: [&str; 16] = [
    "let", "value", "return", "stone", "path", "self", "turn", "match", "trace", "index", "build",
    "config", "async", "window", "store", "limit",
];

/// Returns the path of a file, below the workspace.
pub(crate) fn name(index: usize) -> String {
    let folder = index / FILES_IN_FOLDER;
    format!("src/m{:02}/p{:02}/file_{index:05}.rs", folder / 70, folder % 70)
}

/// Returns the marker line of a file after so many edits.
pub(crate) fn marker(edits: usize) -> String {
    format!("{MARKER}{edits}")
}

/// A small generator of numbers: the same in every run, so that every run does the same work.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit as u64).unwrap_or_default()
    }
}

/// Writes the files: mostly some KiB, few of them large, 8 KiB on average.
pub(crate) fn files(folder: &Path, count: usize) -> anyhow::Result<()> {
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    for index in 0..count {
        let path = folder.join(name(index));
        if index % FILES_IN_FOLDER == 0
            && let Some(parent) = path.parent()
        {
            fs::create_dir_all(parent)?;
        }
        let bytes = (600 << numbers.below(6)) + numbers.below(5000);
        fs::write(path, text(&mut numbers, index, bytes))?;
    }
    Ok(())
}

fn text(numbers: &mut Numbers, index: usize, bytes: usize) -> String {
    let mut text = format!("//! Generated file {index}.\n{}\n", marker(0));
    while text.len() < bytes {
        text.push_str("    ");
        for _ in 0..4 + numbers.below(8) {
            text.push_str(WORDS[numbers.below(WORDS.len())]);
            text.push(' ');
        }
        text.push_str(&format!("{:x}\n", numbers.next() & 0xffff));
    }
    text
}

/// Makes a Git workspace with `AGENTS.md` and one commit.
pub(crate) fn repository(folder: &Path, count: usize) -> anyhow::Result<()> {
    fs::create_dir_all(folder)?;
    files(folder, count.saturating_sub(2))?;
    fs::write(folder.join("README.md"), "# A project\n\nGenerated.\n".repeat(20))?;
    fs::write(folder.join("AGENTS.md"), "# Notes\n\n- Keep functions short.\n".repeat(40))?;
    let git = Git { git_dir: folder.join(".git"), work_tree: folder.to_owned() };
    git.call(&["init", "--quiet"])?;
    git.call(&["add", "--all"])?;
    git.call(&["commit", "--quiet", "--message", "Begin"])?;
    Ok(())
}

/// Counts a file's marker up from `edits` by one.
pub(crate) fn edit(folder: &Path, index: usize, edits: usize) -> anyhow::Result<()> {
    let path = folder.join(name(index));
    let text = fs::read_to_string(&path)?;
    let changed = text.replacen(&marker(edits), &marker(edits + 1), 1);
    ensure!(text != changed, "{} has no marker {edits}", path.display());
    fs::write(path, changed)?;
    Ok(())
}

/// The Git command line on a repository of its own beside a work tree.
pub(crate) struct Git {
    pub(crate) git_dir: PathBuf,
    pub(crate) work_tree: PathBuf,
}

impl Git {
    /// Makes a command; no configuration of this machine reaches it.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("git");
        command
            .args(arguments)
            .current_dir(&self.work_tree)
            .env("GIT_DIR", &self.git_dir)
            .env("GIT_WORK_TREE", &self.work_tree)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .envs(["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"].map(|name| (name, "Bench")))
            .envs(["GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"].map(|name| (name, "bench@localhost")))
            .stdin(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    /// Runs a command and returns its output.
    pub(crate) fn call(&self, arguments: &[&str]) -> anyhow::Result<String> {
        let output = self.command(arguments).output()?;
        ensure!(output.status.success(), "git {arguments:?} failed");
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }
}

/// Returns the bytes of all files below a folder.
pub(crate) fn size(folder: &Path) -> anyhow::Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        bytes += if metadata.is_dir() { size(&entry.path())? } else { metadata.len() };
    }
    Ok(bytes)
}
