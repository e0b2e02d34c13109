//! Commands and terminals with real processes. Case numbers (PROC-…) are those of the security plan.
//!
//! These tests fail, not skip, where bubblewrap is missing. They wait for conditions with a deadline.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "what a test can not set up fails the test")]

#[path = "processes/commands.rs"]
mod commands;
#[path = "processes/death.rs"]
mod death;
#[path = "processes/terminals.rs"]
mod terminals;

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use cairn_exec::CommandSpec;
use cairn_protocol::SandboxPolicy;

const BOTH: [SandboxPolicy; 2] = [SandboxPolicy::CONFINED, SandboxPolicy::Unconfined];

/// A workspace, and a word that marks the processes of one test.
struct Scene {
    folder: tempfile::TempDir,
    word: String,
}

impl Scene {
    fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("cairn-exec-").tempdir_in("/var/tmp").unwrap();
        let number = u32::from_str_radix(&uuid::Uuid::new_v4().simple().to_string()[..7], 16);
        // As a fraction of a second it goes into the arguments of `sleep`.
        Self { folder, word: format!("9999.{:09}", number.unwrap()) }
    }

    fn workspace(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    /// `$W` in the script stands for the word.
    fn spec(&self, policy: &SandboxPolicy, script: &str) -> CommandSpec {
        let env = environment();
        CommandSpec {
            command: script.replace("$W", &self.word),
            workspace: self.workspace(),
            cwd: self.workspace(),
            env: cairn_sandbox::child_environment(env.into_iter(), &[]),
            sandbox: policy.clone(),
            writable: Vec::new(),
        }
    }

    /// Processes, of this test, that are there: those with the word among their arguments.
    fn processes(&self) -> usize {
        let mine =
            |line: &[u8]| line.split(|b| *b == 0).any(|argument| argument == self.word.as_bytes());
        process_files("cmdline").iter().filter(|line| mine(line)).count()
    }

    #[track_caller]
    fn wait_for_processes(&self, number: usize) {
        until(&format!("{number} processes"), || self.processes() == number);
    }
}

fn environment() -> Vec<(OsString, OsString)> {
    [("PATH", "/usr/local/bin:/usr/bin:/bin"), ("HOME", "/nonexistent"), ("SHELL", "/bin/bash")]
        .iter()
        .map(|(name, value)| (name.into(), value.into()))
        .collect()
}

fn process_files(name: &str) -> Vec<Vec<u8>> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let numbered = entries.filter(|e| e.file_name().to_string_lossy().parse::<u32>().is_ok());
    numbered.filter_map(|entry| fs::read(entry.path().join(name)).ok()).collect()
}

/// Waits for a condition, at most 10 seconds.
#[track_caller]
fn until(what: &str, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(10);
    while !condition() {
        assert!(Instant::now() < deadline, "waited in vain for {what}");
        std::thread::yield_now();
        std::thread::park_timeout(Duration::from_millis(5));
    }
}
