//! Promise 5: after `kill -9` at any moment a session opens, no message that was printed is missing, and the
//! workspace holds what some step left.
//!
//! The moments are random; the seed is printed when one fails, and `CAIRN_KILL_SEED` plays it again.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::place::{Place, check, finish, signal, text};

const KILLS: u64 = 100;
/// Kills that run at the same time.
const TOGETHER: usize = 4;
/// Lines of the files that are written whole: enough for a half-written one to be seen.
const LINES: usize = 4_000;
/// How long processes of a killed tree may take to be gone.
const GONE: Duration = Duration::from_secs(20);
/// The turns of one script: the first is killed or the second is.
const TURNS: usize = 4;

/// Pseudo-random numbers that a seed gives again (splitmix64).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % below.max(1)
    }
}

fn filled(word: &str) -> String {
    format!("{word}\n").repeat(LINES)
}

/// What the model does in each turn: reads, a write, an edit, a command, a command in the background, an answer.
fn script(mark: &str) -> String {
    let mut lines = Vec::new();
    for turn in 0..TURNS {
        let (old, new) = if turn % 2 == 0 { ("left", "right") } else { ("right", "left") };
        let call = |name: &str, arguments: Value| json!({"name": name, "arguments": arguments});
        let shell = |command: String| call("run_shell", json!({"command": command}));
        let background = format!("MARK={mark} sleep 86399");
        lines.extend([
            json!({"think": "I look around first.", "chunk": 3}),
            json!({"tool": call("read_file", json!({"file_path": "edited.txt"}))}),
            json!({"tool": call("list_files", json!({"path": "."})), "end": true}),
            json!({"tool": call("write_file", json!({"file_path": "written.txt", "content": filled(&format!("turn{turn}"))})), "end": true}),
            json!({"tool": call("replace_in_file", json!({"file_path": "edited.txt", "old_string": old, "new_string": new, "replace_all": true})), "end": true}),
            json!({"tool": shell(format!("mkdir -p made && echo turn{turn} > shell.txt && ls made"))}),
            json!({"tool": call("run_shell", json!({"command": background, "background": true})), "end": true}),
            json!({"say": "A piece of the answer. ", "repeat": 60, "delay_ms": 1, "end": true}),
        ]);
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn place(mark: &str) -> Place {
    let place = Place::new(&script(mark));
    fs::write(place.workspace.join("edited.txt"), filled("left")).expect("a file is written");
    place
}

/// When a run is killed.
#[derive(Debug, Clone, Copy)]
enum Moment {
    /// After so many bytes were printed.
    Printed(usize),
    /// After so long.
    Passed(Duration),
}

/// Runs a turn until the moment, kills it, and returns the messages that were printed whole.
fn kill_at(place: &Place, options: &[&str], moment: Moment) -> Vec<Value> {
    let mut command = place.run_command(&[&["--json", "--mode", "auto"], options].concat());
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("cairn starts");
    let process = i32::try_from(child.id()).expect("a process id");
    let mut output = child.stdout.take().expect("a pipe");
    let mut printed = Vec::new();
    match moment {
        Moment::Printed(bytes) => {
            let mut piece = [0; 512];
            while printed.len() < bytes {
                match output.read(&mut piece).expect("the pipe is read") {
                    0 => break,
                    count => printed.extend_from_slice(&piece[..count]),
                }
            }
            signal(process, Signal::SIGKILL);
        }
        // A moment, not a wait for something: whatever the run is doing then is the case.
        Moment::Passed(delay) => {
            let killer = std::thread::spawn(move || {
                std::thread::sleep(delay);
                signal(process, Signal::SIGKILL);
            });
            output.read_to_end(&mut printed).expect("the pipe is read");
            killer.join().expect("it was killed");
        }
    }
    output.read_to_end(&mut printed).expect("the pipe is read");
    child.wait().expect("it is over");
    let whole = printed.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let parse = |line: &str| serde_json::from_str(line).expect("a printed line is JSON");
    let messages = text(&printed[..whole]).lines().map(parse).collect::<Vec<Value>>();
    let is_part = |message: &Value| {
        message["payload"]["type"].as_str().is_some_and(|kind| kind.starts_with("partial_"))
    };
    messages.into_iter().filter(|message| !is_part(message)).collect()
}

/// Waits until no process has the mark in its arguments or its environment.
fn wait_until_gone(mark: &str) {
    let began = Instant::now();
    loop {
        let left = marked(mark);
        if left.is_empty() {
            return;
        }
        assert!(began.elapsed() < GONE, "processes outlive cairn: {left:?}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn marked(mark: &str) -> Vec<String> {
    let own = std::process::id().to_string();
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").expect("/proc is there").flatten() {
        let id = entry.file_name().to_string_lossy().into_owned();
        if id == own || !id.bytes().all(|byte| byte.is_ascii_digit()) {
            continue;
        }
        for file in ["cmdline", "environ"] {
            // Gone between the look at the folder and this, or a zombie: nothing to read.
            let bytes = fs::read(entry.path().join(file)).unwrap_or_default();
            if bytes.windows(mark.len()).any(|window| window == mark.as_bytes()) {
                found.push(format!("{id}: {}", text(&bytes)));
                break;
            }
        }
    }
    found
}

/// Whether the session was opened since the kill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Opened {
    NotYet,
    Since,
}

/// Each file is what a step left, and there is no other file.
fn check_workspace(place: &Place, opened: Opened) {
    let read = |name: &str| fs::read_to_string(place.workspace.join(name)).ok();
    assert_eq!(read("old.txt").as_deref(), Some("kept\n"));
    let edited = read("edited.txt").expect("it is never missing");
    assert!([filled("left"), filled("right")].contains(&edited), "edited.txt is torn");
    let turns: Vec<String> = (0..TURNS).map(|turn| format!("turn{turn}")).collect();
    if let Some(written) = read("written.txt") {
        assert!(turns.iter().any(|turn| filled(turn) == written), "written.txt is torn");
    }
    if let Some(shell) = read("shell.txt") {
        // The shell itself empties the file before it writes.
        let whole = turns.iter().any(|turn| format!("{turn}\n") == shell);
        assert!(whole || shell.is_empty(), "shell.txt is torn: {shell:?}");
    }
    let allowed = ["old.txt", "edited.txt", "written.txt", "shell.txt", "made"];
    let mut names: BTreeSet<String> = names(&place.workspace);
    if opened == Opened::NotYet {
        // A new version between its two names; opening the session removes it.
        names.retain(|name| !(name.starts_with(".cairn-") && name.ends_with(".tmp")));
    }
    assert!(names.iter().all(|name| allowed.contains(&name.as_str())), "left over: {names:?}");
}

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).expect("the folder is read");
    entries.map(|entry| entry.expect("it is read").file_name().to_string_lossy().into()).collect()
}

/// No printed message is missing, and those that are there are in the order in which they were printed.
fn check_nothing_lost(printed: &[Value], stored: &[Value]) {
    let mut rest = stored.iter();
    for message in printed {
        assert!(rest.any(|it| it == message), "printed and not stored:\n{message}");
    }
}

/// Z-12: each turn has one beginning and then one end, and the end is its last message.
fn check_turns(stored: &[Value], last_may_be_open: bool) {
    let mut open: Option<&Value> = None;
    for message in stored {
        let payload = &message["payload"];
        match payload["type"].as_str() {
            Some("turn_begin") => {
                assert!(open.is_none(), "a turn began in another: {payload}");
                open = Some(&payload["turn_id"]);
            }
            Some("turn_end") => {
                assert_eq!(open.take(), Some(&payload["turn_id"]), "an end of nothing: {payload}");
            }
            Some("tool_call_output" | "request_begin" | "request_end" | "abort") => {
                assert!(open.is_some(), "outside of a turn: {payload}");
            }
            _ => {}
        }
    }
    assert!(open.is_none() || last_may_be_open, "{open:?} has no end");
}

/// Every line of the trace is whole.
fn check_trace(place: &Place, session: &str) {
    for path in place.traces(session) {
        let bytes = fs::read(&path).expect("the trace is read");
        assert!(bytes.is_empty() || bytes.ends_with(b"\n"), "{} is torn", path.display());
        for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let line = serde_json::from_slice::<Value>(line);
            line.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        }
    }
}

fn one_kill(seed: u64, reference: &Reference) {
    let mut dice = Dice(seed);
    let mark = format!("cairn-kill-{}-{seed}", std::process::id());
    let place = place(&mark);
    let second = dice.roll(3) == 0;
    let options: &[&str] = if second { &["--continue"] } else { &[] };
    if second {
        check(&place.run(&["--mode", "auto"]), 0);
    }
    let moment = if dice.roll(2) == 0 {
        let bytes = dice.roll(reference.bytes);
        Moment::Printed(usize::try_from(bytes).expect("it fits"))
    } else {
        Moment::Passed(Duration::from_micros(dice.roll(reference.micros)))
    };
    let printed = kill_at(&place, options, moment);
    wait_until_gone(&mark);
    check_workspace(&place, Opened::NotYet);

    let listed = crate::place::json(&place.cairn(&["sessions", "list", "--json"]));
    let sessions = listed.as_array().expect("a list");
    let Some(session) = sessions.first().map(|it| it["id"].as_str().expect("an id").to_owned())
    else {
        assert!(printed.is_empty(), "messages were printed and there is no session");
        check(&place.run(&["--mode", "auto"]), 0);
        return;
    };
    let stored = place.stored(&session);
    check_nothing_lost(&printed, &stored);
    check_turns(&stored, true);
    check(&place.cairn(&["turns", &session]), 0);

    check(&place.run(&["--mode", "auto", "--continue"]), 0);
    wait_until_gone(&mark);
    let after = place.stored(&session);
    assert_eq!(after[..stored.len()], stored, "what was stored is changed");
    check_turns(&after, false);
    check_trace(&place, &session);
    check_workspace(&place, Opened::Since);
    check(&place.cairn(&["turns", &session]), 0);
}

/// How much an undisturbed run prints and how long it takes.
struct Reference {
    bytes: u64,
    micros: u64,
}

#[test]
fn promise5_a_kill_at_any_moment_loses_nothing_and_tears_nothing() {
    let reference = {
        let place = place("reference");
        let began = Instant::now();
        let output = finish(place.run_command(&["--json", "--mode", "auto"]));
        check(&output, 0);
        let micros = u64::try_from(began.elapsed().as_micros()).expect("it fits");
        Reference { bytes: output.stdout.len() as u64, micros }
    };
    if let Ok(seed) = std::env::var("CAIRN_KILL_SEED") {
        one_kill(seed.parse().expect("a number"), &reference);
        return;
    }
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let base = u64::try_from(since.expect("the clock is set").as_micros()).expect("it fits");
    let next = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..TOGETHER {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= KILLS {
                        break;
                    }
                    let seed = base.wrapping_add(number);
                    let tried = std::panic::catch_unwind(|| one_kill(seed, &reference));
                    if let Err(panic) = tried {
                        // Others stop here too, and the failure names its seed.
                        next.store(KILLS, Ordering::Relaxed);
                        let reason = panic.downcast_ref::<String>().cloned().unwrap_or_default();
                        panic!("CAIRN_KILL_SEED={seed}: {reason}");
                    }
                }
            });
        }
    });
}
