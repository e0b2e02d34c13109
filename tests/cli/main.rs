//! `cairn` as a script sees it: its options, what it prints, its exit codes, which are stable.
//!
//! The program runs as its own process on a data root of its own, with a script in place of a model. What
//! the engine does inside is shown by `tests/engine`.

mod broken_models;
#[cfg(target_os = "linux")]
mod faults;
mod kill;
#[cfg(target_os = "linux")]
mod network;
mod place;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use serde_json::Value;

use place::{Place, check, json, lines, text};

const SAYS: &str = r#"{"say": "All is well.", "end": true}"#;
const WRITES: &str = r#"{"tool": {"name": "write_file", "arguments": {"file_path": "new.txt", "content": "one\n"}}, "end": true}
{"say": "Written.", "end": true}"#;

#[test]
fn a_completed_turn_exits_0_and_prints_the_answer() {
    let output = Place::new(SAYS).run(&[]);
    check(&output, 0);
    assert_eq!(text(&output.stdout), "All is well.\n");
}

#[test]
fn exec_is_the_same_as_run_and_a_dash_reads_the_task() {
    let place = Place::new(SAYS);
    let script = place.script.display().to_string();
    let mut command = place.command(&["exec", "--script", &script, "-"]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("cairn starts");
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(b"a task from a pipe").expect("cairn reads");
    drop(input);
    check(&child.wait_with_output().expect("cairn ends"), 0);
    let shown = text(&place.cairn(&["sessions", "show", &place.session()]).stdout);
    assert!(shown.contains("you: a task from a pipe"), "{shown}");
}

#[test]
fn a_failed_request_exits_1_and_says_why() {
    let output = Place::new(
        r#"{"error": {"status": "failed", "message": "no such model", "permanent": true}}"#,
    )
    .run(&[]);
    check(&output, 1);
    assert!(text(&output.stderr).contains("no such model"), "{}", text(&output.stderr));
}

#[test]
fn a_command_line_that_makes_no_sense_exits_2() {
    let place = Place::new(SAYS);
    let cases: &[&[&str]] = &[
        &["run"],
        &["run", "--no-such-option", "x"],
        &["run", "--base-url", "http://127.0.0.1:9", "x"],
        &["run", "--model", "m", "x"],
        &["run", "--json", "--events", "x"],
        &["run", "--allow", "bash -c", "x"],
        &["run", "--session", "s-none", "x"],
        &["sessions", "show", "s-none"],
        &["restore", "s-none"],
        &["policy", "check"],
    ];
    for case in cases {
        let output = place.cairn(case);
        assert_eq!(output.status.code(), Some(2), "{case:?}: {}", text(&output.stderr));
    }
}

#[test]
fn a_denied_approval_that_ends_the_work_exits_3_and_nothing_is_written() {
    let place = Place::new(WRITES);
    for options in [&["--on-ask", "deny"][..], &[]] {
        let output = place.run(options);
        check(&output, 3);
        assert!(!place.workspace.join("new.txt").exists());
        assert!(text(&output.stderr).contains("denied"), "{}", text(&output.stderr));
    }
}

#[test]
fn on_ask_once_allows_the_call() {
    let place = Place::new(WRITES);
    check(&place.run(&["--on-ask", "once"]), 0);
    assert_eq!(fs::read_to_string(place.workspace.join("new.txt")).expect("it is there"), "one\n");
}

#[cfg(unix)]
#[test]
fn an_interrupted_turn_exits_130_and_ends_with_turn_end() {
    let place = Place::new(r#"{"say": "I wait.", "hang": true}"#);
    let script = place.script.display().to_string();
    let mut command = place.command(&["run", "--json", "--script", &script, "wait"]);
    let mut child = command.stdout(Stdio::piped()).spawn().expect("cairn starts");
    let process = i32::try_from(child.id()).expect("a process id");
    let output = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut last = String::new();
    for line in output.lines() {
        last = line.expect("a line");
        if last.contains("I wait.") {
            interrupt(process);
        }
    }
    let status = child.wait().expect("cairn ends");
    assert_eq!(status.code(), Some(130));
    let last: Value = serde_json::from_str(&last).expect("the last line is whole");
    assert_eq!(last["payload"]["type"], "turn_end");
    assert_eq!(last["payload"]["status"], "interrupted");
}

#[cfg(unix)]
fn interrupt(process: i32) {
    place::signal(process, nix::sys::signal::Signal::SIGINT);
}

/// Z-12: exactly one `turn_end`, and it is the last.
#[test]
fn json_prints_one_message_a_line_and_turn_end_last() {
    let output = Place::new(WRITES).run(&["--json", "--mode", "auto"]);
    check(&output, 0);
    let messages = lines(&output);
    for message in &messages {
        for field in ["timestamp", "type", "payload"] {
            assert!(!message[field].is_null(), "{message}");
        }
    }
    let ends = |message: &&Value| message["payload"]["type"] == "turn_end";
    assert_eq!(messages.iter().filter(ends).count(), 1);
    let end = &messages[messages.len() - 1]["payload"];
    assert_eq!(end["type"], "turn_end");
    assert_eq!(end["produced_files"], serde_json::json!(["new.txt"]));
}

#[test]
fn events_print_the_shorter_list() {
    let place = Place::new(WRITES);
    let output = place.run(&["--events", "--mode", "auto"]);
    check(&output, 0);
    let events = lines(&output);
    assert!(!events.is_empty());
    assert!(events.iter().all(|event| event["type"].is_string()), "{events:?}");
}

#[test]
fn continue_goes_on_in_the_last_session_of_the_folder() {
    let place = Place::new(&format!("{SAYS}\n{SAYS}"));
    check(&place.run(&[]), 0);
    check(&place.run(&["--continue"]), 0);
    let listed = json(&place.cairn(&["sessions", "list", "--json"]));
    assert_eq!(listed[0]["turns"], 2, "{listed}");
    place.session();
}

#[test]
fn a_turn_is_listed_shown_taken_back_and_brought_back() {
    let place = Place::new(WRITES);
    let new = place.workspace.join("new.txt");
    check(&place.run(&["--mode", "auto"]), 0);
    let id = place.session();

    let turns = text(&place.cairn(&["turns", &id]).stdout);
    assert!(turns.starts_with("t1 ") && turns.contains("1 file +1 -0"), "{turns}");
    let patch = text(&place.cairn(&["diff", &id, "1"]).stdout);
    assert!(patch.contains("+one") && patch.contains("new.txt"), "{patch}");

    let plan = place.cairn(&["restore", &id, "1", "--dry-run"]);
    check(&plan, 0);
    assert!(text(&plan.stdout).starts_with("deleted"), "{}", text(&plan.stdout));
    assert!(new.exists(), "a dry run touches nothing");

    let report = json(&place.cairn(&["restore", &id, "1", "--json"]));
    assert_eq!(report["outcome"]["kind"], "exact", "{report}");
    assert!(!new.exists());
    assert!(place.workspace.join("old.txt").exists());

    check(&place.cairn(&["restore", &id, "--undo"]), 0);
    assert_eq!(fs::read_to_string(&new).expect("it is back"), "one\n");
}

#[test]
fn restore_keeps_what_the_user_changed_since() {
    let place = Place::new(WRITES);
    let new = place.workspace.join("new.txt");
    check(&place.run(&["--mode", "auto"]), 0);
    fs::write(&new, "mine\n").expect("the user writes");
    let output = place.cairn(&["restore", &place.session(), "1"]);
    assert!(text(&output.stdout).contains("kept yours"), "{}", text(&output.stdout));
    assert_eq!(fs::read_to_string(&new).expect("it is there"), "mine\n");
}

#[test]
fn policy_check_answers_without_running_anything() {
    let place = Place::new(SAYS);
    let verdict = |arguments: &[&str]| {
        let arguments = [&["policy", "check", "--json"], arguments].concat();
        json(&place.cairn(&arguments))["decision"]["verdict"].clone()
    };
    let reads = r#"{"file_path": "old.txt"}"#;
    let writes = r#"{"file_path": "new.txt", "content": "x"}"#;
    assert_eq!(verdict(&["--tool", "read_file", "--args", reads]), "allow");
    let asks = serde_json::json!({ "ask": "confined" });
    assert_eq!(verdict(&["--tool", "write_file", "--args", writes]), asks);
    let plan = ["--tool", "write_file", "--args", writes, "--mode", "plan"];
    assert_eq!(verdict(&plan), "deny");
    assert!(!place.workspace.join("new.txt").exists());
}

#[test]
fn doctor_names_each_check_and_no_secret() {
    let place = Place::new(SAYS);
    let mut command = place.command(&["doctor", "--json"]);
    let output = command.env("OPENAI_API_KEY", "sk-a-secret-of-this-test").output();
    let output = output.expect("cairn starts");
    let report: Value = serde_json::from_slice(&output.stdout).expect("one JSON value");
    let printed = report.to_string();
    for name in ["sandbox", "keychain", "snapshots", "terminal"] {
        assert!(printed.contains(name), "{printed}");
    }
    assert!(!printed.contains("sk-a-secret-of-this-test"));
}
