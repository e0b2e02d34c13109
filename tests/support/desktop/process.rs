//! Processes that a test started, ended one by one by their ids.

use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A process that ends with its owner.
pub(super) struct Owned {
    child: Child,
}

impl Owned {
    /// Starts a program; what it says on standard error is not shown.
    #[track_caller]
    pub(super) fn spawn(mut command: Command, name: &str) -> Self {
        command.stderr(Stdio::null());
        let child = command.spawn();
        Self { child: child.unwrap_or_else(|error| panic!("{name} does not start: {error}")) }
    }

    pub(super) fn id(&self) -> i32 {
        i32::try_from(self.child.id()).expect("process ids are small")
    }

    pub(super) fn stdin(&mut self) -> ChildStdin {
        self.child.stdin.take().expect("it was piped")
    }

    pub(super) fn stdout(&mut self) -> ChildStdout {
        self.child.stdout.take().expect("it was piped")
    }

    /// Ends it now.
    pub(super) fn end(&mut self) {
        // It may have ended already.
        let _gone = self.child.kill();
        let _gone = self.child.wait();
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        self.end();
    }
}

/// Returns whether a process is there and not only waiting to be reaped.
pub(super) fn runs(id: i32) -> bool {
    stat(id).is_some_and(|(state, _, _)| state != "Z")
}

/// Kills a process.
pub(super) fn kill(id: i32) {
    let killed = Command::new("kill").args(["-KILL", &id.to_string()]).status();
    assert!(killed.is_ok(), "`kill` is not installed");
}

/// Returns the child of a process whose name begins like this.
pub(super) fn child_of(parent: i32, name: &str) -> Option<i32> {
    let ids = std::fs::read_dir("/proc").expect("/proc is there").flatten();
    let mut ids = ids.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    ids.find(|id| {
        // The kernel keeps 15 characters of a name.
        let short = &name[..name.len().min(15)];
        stat(*id).is_some_and(|(state, own, of)| of == parent && own == short && state != "Z")
    })
}

/// Returns a process's state, name and parent.
fn stat(id: i32) -> Option<(String, String, i32)> {
    let text = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    let (head, tail) = text.rsplit_once(')')?;
    let name = head.split_once('(')?.1.to_owned();
    let mut fields = tail.split_whitespace();
    let state = fields.next()?.to_owned();
    Some((state, name, fields.next()?.parse().ok()?))
}
