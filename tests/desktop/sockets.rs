//! Promise 8 for the window: the app and all below it hold no socket of the internet.
//!
//! The app runs without its driver here, for which it would listen. What a turn asks of whom is in `tests/cli`.

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::process::Stdio;

use cairn_tests::desktop::{Desktop, wait_for};

/// Where a line of `/proc/net/tcp` names the socket.
const INODE: usize = 9;

#[test]
fn promise8_the_window_listens_nowhere_and_asks_nobody() {
    let desktop = Desktop::start("sockets");
    let built = desktop.launch();
    let program = built.binary().to_owned();
    built.close();

    let mut command = desktop.command(program);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut app = command.spawn().expect("the app starts");
    wait_for("the window", || {
        let mut search = desktop.command("xdotool");
        search.args(["search", "--onlyvisible", "--name", "^Cairn$"]).stderr(Stdio::null());
        search.output().is_ok_and(|output| !output.stdout.is_empty()).then_some(())
    });
    let process = app.id();
    assert!(!below(process).is_empty(), "a window has web processes");
    let found = of_tree(process);
    app.kill().expect("it runs");
    app.wait().expect("it ends");
    assert!(found.is_empty(), "{found:?}");
}

/// Returns all processes below one.
fn below(process: u32) -> Vec<u32> {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let lists = tasks.map(|task| fs::read_to_string(task.path().join("children")));
    let lists: Vec<String> = lists.flatten().collect();
    let children = lists.iter().flat_map(|list| list.split_whitespace());
    let children = children.filter_map(|id| id.parse().ok());
    children.flat_map(|child| [vec![child], below(child)].concat()).collect()
}

/// Returns the sockets of a process and of all below it: the table and the line of the kernel.
fn of_tree(process: u32) -> Vec<String> {
    let mut held = HashSet::new();
    for id in [vec![process], below(process)].concat() {
        // A process that has just ended holds nothing.
        let links = fs::read_dir(Path::new("/proc").join(id.to_string()).join("fd"));
        let links = links.into_iter().flatten().flatten();
        let targets = links.filter_map(|link| fs::read_link(link.path()).ok());
        held.extend(targets.filter_map(|target| {
            let inode = target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?;
            Some(inode.to_owned())
        }));
    }
    let mut found = Vec::new();
    for table in ["tcp", "tcp6", "udp", "udp6"] {
        let text = fs::read_to_string(format!("/proc/net/{table}")).unwrap_or_default();
        let lines = text.lines().skip(1);
        let ours = lines.filter(|line| {
            line.split_whitespace().nth(INODE).is_some_and(|inode| held.contains(inode))
        });
        found.extend(ours.map(|line| format!("{table} {line}")));
    }
    found
}
