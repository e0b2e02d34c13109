//! A data root, a folder to work in and `cairn` as a process, for one scenario.
//!
//! Every process has a watchdog: one that hangs fails its test instead of stopping all of them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{OnceLock, mpsc};
use std::time::Duration;

use serde_json::Value;

/// How long any process may take before its test fails. Far more than the slowest needs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(180);

/// A data root, a folder to work in, and a script.
pub(crate) struct Place {
    _folder: tempfile::TempDir,
    /// The user's home; the data root is `data` in it.
    pub(crate) home: PathBuf,
    pub(crate) workspace: PathBuf,
    pub(crate) script: PathBuf,
}

impl Place {
    pub(crate) fn new(script: &str) -> Self {
        Self::named(script, "home", "work")
    }

    /// Makes the folders with these names.
    pub(crate) fn named(script: &str, home: &str, workspace: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let root = fs::canonicalize(folder.path()).expect("it has a path");
        let at = |name: &str| root.join(name);
        let (home, workspace, path) = (at(home), at(workspace), at("script.jsonl"));
        for folder in [&home, &workspace] {
            fs::create_dir(folder).expect("a folder is made");
        }
        fs::write(workspace.join("old.txt"), "kept\n").expect("a file is written");
        fs::write(&path, script).expect("the script is written");
        Self { _folder: folder, home, workspace, script: path }
    }

    /// Returns the data root.
    pub(crate) fn data(&self) -> PathBuf {
        self.home.join("data")
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(program());
        self.dress(command.args(arguments));
        command
    }

    /// Gives a command the folder and the environment of this place.
    pub(crate) fn dress(&self, command: &mut Command) {
        command.current_dir(&self.workspace).stdin(Stdio::null());
        command.env("HOME", &self.home).env("CAIRN_HOME", self.data());
        command.env_remove("DBUS_SESSION_BUS_ADDRESS");
    }

    pub(crate) fn cairn(&self, arguments: &[&str]) -> Output {
        finish(self.command(arguments))
    }

    /// Returns the command that runs the script with these options.
    pub(crate) fn run_command(&self, options: &[&str]) -> Command {
        let script = self.script.display().to_string();
        self.command(&[&["run", "--script", &script], options, &["do it"]].concat())
    }

    /// Runs the script with these options.
    pub(crate) fn run(&self, options: &[&str]) -> Output {
        finish(self.run_command(options))
    }

    /// Returns the id of the only session.
    pub(crate) fn session(&self) -> String {
        let listed = json(&self.cairn(&["sessions", "list", "--json"]));
        let sessions = listed.as_array().expect("a list");
        assert_eq!(sessions.len(), 1, "{listed}");
        sessions[0]["id"].as_str().expect("an id").to_owned()
    }

    /// Returns the messages of a session as they are stored.
    pub(crate) fn stored(&self, session: &str) -> Vec<Value> {
        let shown = self.cairn(&["sessions", "show", session, "--json"]);
        check(&shown, 0);
        lines(&shown)
    }

    /// Returns the trace files of all sessions, as far as there are any.
    pub(crate) fn traces_of_all(&self) -> Vec<PathBuf> {
        let sessions = fs::read_dir(self.data().join("projects/default/sessions"));
        let folders = sessions.into_iter().flatten().flatten();
        let names = folders.map(|entry| entry.file_name().to_string_lossy().into_owned());
        names.flat_map(|name| self.traces(&name)).collect()
    }

    /// Returns the trace files of a session.
    pub(crate) fn traces(&self, session: &str) -> Vec<PathBuf> {
        let folder = self.data().join("projects/default/sessions").join(session);
        let entries = fs::read_dir(folder).expect("the session has a folder");
        let paths = entries.map(|entry| entry.expect("it is read").path());
        paths.filter(|path| path.extension().is_some_and(|it| it == "jsonl")).collect()
    }
}

/// Runs a command to its end and returns what it printed.
#[track_caller]
pub(crate) fn finish(mut command: Command) -> Output {
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    wait(child.expect("the program starts"))
}

/// Waits for a process and returns what it printed.
#[track_caller]
pub(crate) fn wait(child: std::process::Child) -> Output {
    let process = i32::try_from(child.id()).expect("a process id");
    let (sender, ended) = mpsc::channel();
    std::thread::spawn(move || sender.send(child.wait_with_output()));
    match ended.recv_timeout(PATIENCE) {
        Ok(output) => output.expect("its output is read"),
        Err(_) => {
            signal(process, nix::sys::signal::Signal::SIGKILL);
            panic!("the program still runs after {PATIENCE:?}");
        }
    }
}

/// Sends a signal to a process that this test started and has not waited for.
pub(crate) fn signal(process: i32, signal: nix::sys::signal::Signal) {
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(process), signal).expect("it is sent");
}

/// Returns `cairn`, built when it is not up to date: it is a program of another package.
pub(crate) fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        // This file is target/<profile>/deps/cli-…; the program lies two folders above.
        let own = std::env::current_exe().expect("the test's own path");
        let profile = own.ancestors().nth(2).expect("a target folder");
        let mut build = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        build.args(["build", "--quiet", "--bin", "cairn"]);
        build.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."));
        if profile.ends_with("release") {
            build.arg("--release");
        }
        if let Some(target) = profile.parent() {
            build.env("CARGO_TARGET_DIR", target);
        }
        assert!(build.status().expect("cargo runs").success(), "cairn does not build");
        profile.join(format!("cairn{}", std::env::consts::EXE_SUFFIX))
    })
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[track_caller]
pub(crate) fn check(output: &Output, code: i32) {
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "standard output:\n{out}\nstandard error:\n{err}");
}

#[track_caller]
pub(crate) fn json(output: &Output) -> Value {
    check(output, 0);
    serde_json::from_slice(&output.stdout).expect("one JSON value")
}

#[track_caller]
pub(crate) fn lines(output: &Output) -> Vec<Value> {
    let parse = |line: &str| serde_json::from_str(line).expect("a line is JSON");
    text(&output.stdout).lines().map(parse).collect()
}
