//! The machine's side of what can go wrong: full disks, folders that vanish or can't be written, huge files,
//! strange names. Nothing is lost, nothing hangs, and a message says what happened.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use cairn_tests::model_server::{Call, Gate, MODEL, ModelServer, Reply};
use serde_json::json;

use crate::place::{Place, check, finish, lines, program, text, wait};

fn call(name: &str, arguments: &serde_json::Value) -> String {
    json!({"tool": {"name": name, "arguments": arguments}, "end": true}).to_string()
}

fn shell(command: &str) -> String {
    call("run_shell", &json!({"command": command}))
}

fn script(calls: &[String]) -> String {
    let end = json!({"say": "That is all.", "end": true}).to_string();
    calls.iter().chain([&end]).map(|line| format!("{line}\n")).collect()
}

fn as_root() -> bool {
    nix::unistd::geteuid().is_root()
}

/// A small file system in memory, unmounted at the end.
struct Small(PathBuf);

impl Small {
    fn mount(at: &Path, size: &str) -> Self {
        fs::create_dir_all(at).expect("a folder is made");
        let options = format!("size={size},mode=700");
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(at).status();
        assert!(mounted.is_ok_and(|status| status.success()), "no small file system");
        Self(at.to_owned())
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        // A file system that is still in use goes when its last user does.
        let _gone = Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
}

/// G-30: what does not fit is not written, the message says so, and the file that was there is as it was.
#[test]
fn a_full_disk_of_the_workspace_loses_nothing() {
    if !as_root() {
        println!("skipped: only root can mount a small file system");
        return;
    }
    let big = "x".repeat(900_000);
    let place = Place::new(&script(&[
        call("write_file", &json!({"file_path": "one.txt", "content": big})),
        call("read_file", &json!({"file_path": "kept.txt"})),
        call("write_file", &json!({"file_path": "kept.txt", "content": big})),
    ]));
    let _small = Small::mount(&place.workspace, "1m");
    fs::write(place.workspace.join("kept.txt"), "mine\n").expect("a file is written");
    let output = place.run(&["--mode", "auto", "--json"]);
    check(&output, 0);
    let results = results(&lines(&output));
    assert!(results[0].contains("Created"), "{results:?}");
    assert!(results[2].contains("the disk is full"), "{results:?}");
    let names = fs::read_dir(&place.workspace).expect("it is read").count();
    assert_eq!(names, 2, "a temporary file is left over");
    assert_eq!(fs::read_to_string(place.workspace.join("kept.txt")).expect("a file"), "mine\n");
}

/// Promise 5: a data root without room stops the turn with a clear message; what was there stays whole.
#[test]
fn a_full_disk_of_the_data_root_stops_the_turn_and_says_so() {
    if !as_root() {
        println!("skipped: only root can mount a small file system");
        return;
    }
    let write = |name: &str| call("write_file", &json!({"file_path": name, "content": "x\n"}));
    let place = Place::new(&script(&[write("one.txt"), write("two.txt")]));
    let _small = Small::mount(&place.data(), "3m");
    check(&place.run(&["--mode", "auto"]), 0);
    let session = place.session();
    let before = place.stored(&session);
    let filler = place.data().join("filler");
    let full = Command::new("dd")
        .args(["if=/dev/zero", "bs=4k"])
        .arg(format!("of={}", filler.display()))
        .output();
    assert!(full.is_ok_and(|output| !output.status.success()), "the disk is not full");

    let output = place.run(&["--mode", "auto", "--continue"]);
    check(&output, 1);
    let said = text(&output.stderr);
    assert!(said.contains("No space left on device") || said.contains("disk is full"), "{said}");

    fs::remove_file(filler).expect("room is made");
    let after = place.stored(&session);
    assert_eq!(after[..before.len()], before, "what was stored is changed");
    check(&place.run(&["--mode", "auto", "--continue"]), 0);
}

/// Returns the results of the calls, in their order.
fn results(messages: &[serde_json::Value]) -> Vec<String> {
    let outputs = messages.iter().filter(|it| it["payload"]["type"] == "tool_call_output");
    outputs.map(|it| it["payload"]["output"].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn a_workspace_that_is_gone_is_named() {
    let place = Place::new(&script(&[]));
    check(&place.run(&[]), 0);
    let workspace = place.workspace.display().to_string();
    fs::remove_dir_all(&place.workspace).expect("it is removed");
    let script = place.script.display().to_string();
    let mut command = Command::new(program());
    command.args(["run", "--script", &script, "--workspace", &workspace, "go"]);
    command.current_dir(&place.home).env("HOME", &place.home).env("CAIRN_HOME", place.data());
    let output = finish(command);
    assert_ne!(output.status.code(), Some(0));
    assert!(text(&output.stderr).contains(&workspace), "{}", text(&output.stderr));
    // The session is still there to be read.
    assert!(!place.traces_of_all().is_empty());
}

/// The folder goes while the turn runs: each call says so, nothing is made in its place, the turn ends in order.
#[test]
fn a_workspace_that_vanishes_in_a_turn_ends_the_turn_in_order() {
    let gate = Gate::closed();
    let write = json!({"file_path": "new.txt", "content": "x\n"});
    let calls = [Call::json("write_file", write), Call::json("list_files", json!({"path": "."}))];
    let server = ModelServer::builder()
        .reply(Reply::calls(calls).gated(&gate))
        .reply(Reply::text(["That is all."]))
        .start();
    let place = Place::new("");
    let moved = place.workspace.with_extension("elsewhere");
    let target = ["--base-url", &server.base_url(), "--model", MODEL, "--mode", "auto", "--json"];
    let mut command = place.command(&[&["run"], &target[..], &["go"]].concat());
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let child = child.expect("cairn starts");
    server.wait_for_requests(1);
    fs::rename(&place.workspace, &moved).expect("it is moved");
    gate.open_all();
    let output = wait(child);
    check(&output, 0);
    let messages = lines(&output);
    assert_eq!(messages[messages.len() - 1]["payload"]["type"], "turn_end");
    let results = results(&messages);
    let told = results.iter().any(|it| it.contains("is not there any more"));
    assert!(told && results.len() == 2, "{results:?}");
    assert!(!place.workspace.exists(), "the folder was made again");
    assert_eq!(fs::read_to_string(moved.join("old.txt")).expect("a file"), "kept\n");
}

/// Z-31: a folder that can't be written says so for each call; the turn goes on.
#[test]
fn a_read_only_workspace_says_so() {
    if !as_root() {
        println!("skipped: only root can mount a read-only file system");
        return;
    }
    let place = Place::new(&script(&[
        call("write_file", &json!({"file_path": "new.txt", "content": "x\n"})),
        shell("touch other.txt"),
        call("read_file", &json!({"file_path": "old.txt"})),
    ]));
    let _bound = Small::mount(&place.workspace, "1m");
    fs::write(place.workspace.join("old.txt"), "kept\n").expect("a file is written");
    let again = Command::new("mount").args(["-o", "remount,ro"]).arg(&place.workspace).status();
    assert!(again.is_ok_and(|status| status.success()), "it can't be made read-only");
    let output = place.run(&["--mode", "auto", "--json"]);
    check(&output, 0);
    let results = results(&lines(&output));
    assert!(results[0].contains("the file system is read-only"), "{results:?}");
    assert!(results[1].contains("Read-only file system"), "{results:?}");
    assert!(results[2].contains("kept"), "{results:?}");
}

/// G-26, 4.6: a file of 1 GiB costs neither memory nor room, is never touched, and reading it says what to do.
#[test]
fn a_huge_file_is_bounded_everywhere() {
    let place = Place::new(&script(&[
        call("read_file", &json!({"file_path": "huge.bin"})),
        call("grep", &json!({"pattern": "needle"})),
        call("list_files", &json!({"path": "."})),
        call("write_file", &json!({"file_path": "new.txt", "content": "x\n"})),
    ]));
    let huge = place.workspace.join("huge.bin");
    fs::File::create(&huge).and_then(|file| file.set_len(1 << 30)).expect("a sparse file");
    let before = fs::metadata(&huge).expect("it is there").mtime_nsec();
    let output = place.run(&["--mode", "auto", "--json"]);
    check(&output, 0);
    let results = results(&lines(&output));
    assert!(results.iter().all(|it| it.len() < 100_000), "an output is too long");
    assert!(results[2].contains("huge.bin"), "{results:?}");
    let session = place.session();
    check(&place.cairn(&["restore", &session, "1"]), 0);
    let after = fs::metadata(&huge).expect("it is still there");
    assert_eq!((after.len(), after.mtime_nsec()), (1 << 30, before));
    assert!(!place.workspace.join("new.txt").exists());
    assert!(size(&place.data()) < 20 << 20, "{} bytes are stored", size(&place.data()));
}

fn size(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let sizes = entries.filter_map(|entry| {
        let metadata = entry.metadata().ok()?;
        Some(if metadata.is_dir() { size(&entry.path()) } else { metadata.blocks() * 512 })
    });
    sizes.sum()
}

/// I1, I2: names that are no text, or look like options, are captured and restored byte for byte.
#[test]
fn strange_names_are_taken_back_exactly() {
    let names: Vec<&[u8]> = vec![
        b"with space",
        b"-rf",
        b"it's \"quoted\"",
        b"new\nline",
        b"not \xff\xfe text",
        b"$(touch hacked)",
        b"*",
        b"\xe2\x80\xae rtl",
    ];
    let place = Place::new(&script(&[shell(
        "for f in ./*; do printf changed > \"$f\"; done; printf made > \"$(printf 'new \\377 name')\"; rm -- ./-rf",
    )]));
    let path = |name: &[u8]| place.workspace.join(OsStr::from_bytes(name));
    for name in &names {
        fs::write(path(name), "old\n").expect("a file is written");
        fs::set_permissions(path(name), fs::Permissions::from_mode(0o640)).expect("a mode is set");
    }
    check(&place.run(&["--mode", "auto"]), 0);
    assert_eq!(fs::read(path(b"*")).expect("a file"), b"changed");
    assert!(path(b"new \xff name").exists() && !path(b"-rf").exists());
    let session = place.session();
    let shown = place.cairn(&["diff", &session, "1"]);
    check(&shown, 0);
    assert!(!text(&shown.stdout).contains('\u{202e}'));
    let report = crate::place::json(&place.cairn(&["restore", &session, "1", "--json"]));
    assert_eq!(report["outcome"]["kind"], "exact", "{report}");
    for name in &names {
        assert_eq!(fs::read(path(name)).expect("it is back"), b"old\n");
        assert_eq!(fs::metadata(path(name)).expect("it is back").mode() & 0o777, 0o640);
    }
    assert!(!path(b"new \xff name").exists() && !path(b"hacked").exists());
    check(&place.cairn(&["restore", &session, "--undo"]), 0);
    assert_eq!(fs::read(path(b"new \xff name")).expect("it is back"), b"made");
}

/// 4.1-4.4: damaged files of the data root are said, kept aside or made again; nothing readable is lost.
#[test]
fn a_damaged_data_root_opens() {
    let place = Place::new(&script(&[call("list_files", &json!({"path": "."}))]));
    check(&place.run(&["--mode", "auto"]), 0);
    let session = place.session();
    let before = place.stored(&session);
    for (file, bytes) in [
        ("index.sqlite", &b"this is no database"[..]),
        ("settings.toml", b"theme = [[["),
        ("providers.toml", b"\xff\xfe\x00"),
    ] {
        fs::write(place.data().join(file), bytes).expect("it is damaged");
        assert_eq!(place.stored(&session), before, "after {file}");
    }
    fs::remove_file(place.data().join("index.sqlite")).expect("it is removed");
    assert_eq!(place.stored(&session), before);

    let trace = place.traces(&session).pop().expect("a trace");
    let mut bytes = fs::read(&trace).expect("it is read");
    bytes.extend_from_slice(b"{\"half\": ");
    fs::write(&trace, &bytes).expect("it is torn");
    assert_eq!(place.stored(&session), before, "a torn line hides nothing");
    check(&place.run(&["--mode", "auto", "--continue"]), 0);
    assert_eq!(place.stored(&session)[..before.len()], before);
}

/// Two at once on one session: one works, the other is told.
#[test]
fn one_session_is_not_worked_on_twice() {
    let place =
        Place::new(&format!("{}{}\n", script(&[]), json!({"say": "I wait.", "hang": true})));
    check(&place.run(&[]), 0);
    let mut first = place.run_command(&["--continue", "--json"]);
    let first = first.stdout(Stdio::piped()).stderr(Stdio::null());
    let mut first = first.spawn().expect("cairn starts");
    let mut output = std::io::BufReader::new(first.stdout.take().expect("a pipe"));
    let mut line = String::new();
    while !line.contains("I wait.") {
        line.clear();
        assert_ne!(std::io::BufRead::read_line(&mut output, &mut line).expect("a line"), 0);
    }
    let second = place.run(&["--continue"]);
    assert_ne!(second.status.code(), Some(0));
    assert!(text(&second.stderr).contains("open"), "{}", text(&second.stderr));
    let process = i32::try_from(first.id()).expect("a process id");
    crate::place::signal(process, nix::sys::signal::Signal::SIGINT);
    assert_eq!(first.wait().expect("it ends").code(), Some(130));
}

/// Who reads no more ends the run; the turn is closed in the trace.
#[test]
fn a_closed_pipe_ends_the_run_in_order() {
    let place = Place::new(&format!("{}\n", json!({"say": "word ", "repeat": 20000, "end": true})));
    let mut command = place.run_command(&["--json"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = child.spawn().expect("cairn starts");
    let mut first = String::new();
    let mut output = std::io::BufReader::new(child.stdout.take().expect("a pipe"));
    std::io::BufRead::read_line(&mut output, &mut first).expect("a line");
    drop(output);
    let output = wait(child);
    assert_ne!(output.status.code(), Some(0));
    let stored = place.stored(&place.session());
    let ends = stored.iter().filter(|it| it["payload"]["type"] == "turn_end").count();
    assert_eq!((ends, &stored[stored.len() - 1]["payload"]["type"]), (1, &json!("turn_end")));
}
