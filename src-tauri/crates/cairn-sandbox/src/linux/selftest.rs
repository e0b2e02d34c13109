//! Proves that the sandbox holds: canaries that a confined command must not reach.
//!
//! It goes through the same code as every command. A sandbox that starts but does not confine (a
//! stand-in, a kernel without the filter) is found out and counts as none.

use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use cairn_protocol::{NetworkAccess, WorkspaceAccess};

use crate::{LaunchRequest, child_environment};

/// A sandbox that needs longer than this to start is of no use.
const TIME_LIMIT: Duration = Duration::from_secs(5);

/// Prints one line for each fact. Arguments: the folder outside, the workspace.
const SCRIPT: &str = r#"
exec 2>&1
cd "$2" || exit
read -r line < "$1/canary" && echo "read $line"
(echo x > "$1/written") 2>/dev/null && echo "wrote outside"
(echo x > inside) && echo "wrote inside"
(echo x > .git/config) 2>/dev/null && echo "wrote protected"
[ -w /proc/sys/vm/swappiness ] && echo "wrote outside"
echo "net $(readlink /proc/self/ns/net)"
echo "pid $(readlink /proc/self/ns/pid)"
while read -r key value; do case $key in
NoNewPrivs:|Seccomp:|CapEff:) echo "$key $value";;
esac; done < /proc/self/status
read -r -d '' first < /proc/1/environ; echo "environ [$first]"
set -- /proc/self/fd/*; echo "fds $#"
(exec 3<>/dev/tcp/127.0.0.1/9) 2>&1 | { read -r line; echo "connect $line"; }
echo done
"#;

/// Returns why the sandbox can't be used, as a sentence without a full stop.
pub(super) fn run(bwrap: &Path) -> Result<(), String> {
    let told = |error: std::io::Error| format!("the self-test could not be prepared: {error}");
    let base = tempfile::Builder::new().prefix("cairn-check-").tempdir().map_err(told)?;
    let base = base.path().canonicalize().map(|path| (base, path)).map_err(told)?;
    let (workspace, outside) = (base.1.join("workspace"), base.1.join("outside"));
    std::fs::create_dir_all(workspace.join(".git")).map_err(told)?;
    std::fs::create_dir_all(&outside).map_err(told)?;
    std::fs::write(outside.join("canary"), "CANARY\n").map_err(told)?;
    let output = confined(bwrap, &workspace, &outside)?;
    judge(&output)?;
    if outside.join("written").exists() || workspace.join(".git/config").exists() {
        return Err("a confined command could write where it must not".to_owned());
    }
    Ok(())
}

fn confined(bwrap: &Path, workspace: &Path, outside: &Path) -> Result<String, String> {
    let argv = ["/bin/bash", "--norc", "--noprofile", "-c", SCRIPT, "check"].map(OsString::from);
    let argv: Vec<OsString> = argv.into_iter().chain([outside.into(), workspace.into()]).collect();
    let env = child_environment(std::iter::empty(), &[("LC_ALL".into(), "C".into())]);
    let request = LaunchRequest {
        workspace,
        cwd: workspace,
        argv: &argv,
        env: &env,
        writable: &[],
        home: None,
    };
    let mut launch =
        super::prepare_with(bwrap, WorkspaceAccess::Write, NetworkAccess::None, &request)
            .map_err(|error| error.to_string())?;
    let told = |error: std::io::Error| format!("it does not start: {error}");
    // A file, not a pipe: nothing that the command leaves behind can make the reader wait.
    let mut output = tempfile::tempfile().map_err(told)?;
    let copy = || output.try_clone().map(Stdio::from).map_err(told);
    launch.command.stdin(Stdio::null()).stdout(copy()?).stderr(copy()?);
    let mut child = launch.command.spawn().map_err(told)?;
    let deadline = Instant::now() + TIME_LIMIT;
    let status = loop {
        match child.try_wait().map_err(told)? {
            Some(status) => break status,
            None if Instant::now() > deadline => {
                child.kill().and_then(|()| child.wait()).map_err(told)?;
                return Err("it does not start in time".to_owned());
            }
            None => std::thread::sleep(Duration::from_millis(2)),
        }
    };
    let text = read(&mut output).map_err(told)?;
    if status.success() { Ok(text) } else { Err(explain(text.trim())) }
}

fn read(file: &mut File) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.take(64 * 1024).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Adds what to do to the messages that people meet.
fn explain(message: &str) -> String {
    let first = message.lines().next().unwrap_or("it fails without a message");
    let namespaces = ["uid map", "user namespace", "RTM_NEWADDR", "Creating new namespace"];
    if namespaces.iter().any(|text| first.contains(text)) {
        return format!(
            "this system does not let ordinary programs make user namespaces ({first}). On Ubuntu \
             24.04 and later an AppArmor profile for /usr/bin/bwrap allows it"
        );
    }
    format!("bubblewrap fails ({first})")
}

/// Compares what the command saw with what it must see.
fn judge(output: &str) -> Result<(), String> {
    let fact = |name: &str| {
        output.lines().find_map(|line| line.strip_prefix(name)).map(str::trim).unwrap_or_default()
    };
    let same = |name: &str| {
        let ours = std::fs::read_link(format!("/proc/self/ns/{name}")).unwrap_or_default();
        let theirs = fact(&format!("{name} "));
        theirs.is_empty() || Path::new(theirs) == ours
    };
    let failed = if !output.lines().any(|line| line == "done") {
        "does not run to its end"
    } else if output.contains("CANARY") {
        "can read a file outside the workspace"
    } else if output.contains("wrote outside") || output.contains("wrote protected") {
        "can write where it must not"
    } else if !output.contains("wrote inside") {
        "can't write the workspace"
    } else if same("net") || !fact("connect ").contains("Operation not permitted") {
        "can reach the network"
    } else if same("pid") {
        "can see other processes"
    } else if fact("NoNewPrivs:") != "1" || !fact("CapEff:").trim_matches('0').is_empty() {
        "can gain rights"
    } else if fact("Seccomp:") != "2" {
        "runs without the system-call filter"
    } else if fact("environ ") != "[]" {
        "can see the environment of its launcher"
    } else if !["3", "4"].contains(&fact("fds ")) {
        "inherits open files"
    } else {
        return Ok(());
    };
    Err(format!("the self-test failed, because a confined command {failed}"))
}
