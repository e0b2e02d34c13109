//! Plays the rollback scenarios of `fixtures/cases/rollback.json`, and of `$CAIRN_CASES/rollback.json` when that is
//! set, against the real snapshot engine.
//!
//! A case that can't pass yet is listed by name with the reason, and the test fails when it starts to pass.

mod case;
mod expect;
mod faults;
mod steps;

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// What is not built yet. Each of these must fail.
const EXPECTED_FAILURES: [(&str, &str); 6] = [
    ("RB-115", "no rewriting of the store yet"),
    ("RB-121", "no retention yet"),
    ("RB-122", "no retention yet"),
    ("RB-145", "the conversation is cut by the engine"),
    ("RB-152", "no rollback of single hunks yet"),
    ("RB-153", "no rollback of single hunks yet"),
];

/// What is too large for every run of the tests; the benchmarks cover it.
const TOO_LARGE: [&str; 3] = ["RB-043", "RB-044", "RB-045"];

const ONE_CASE: &str = "CAIRN_ROLLBACK_CASE";

fn case_files() -> Vec<PathBuf> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/cases/rollback.json");
    let own = std::env::var_os("CAIRN_ROLLBACK_FIXTURE").map_or(own, PathBuf::from);
    let more = std::env::var_os("CAIRN_CASES").map(|dir| Path::new(&dir).join("rollback.json"));
    [Some(own), more].into_iter().flatten().filter(|path| path.exists()).collect()
}

fn cases(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).expect("reads the cases");
    let file: Value = serde_json::from_str(&text).expect("the cases are JSON");
    file["cases"].as_array().expect("a list").clone()
}

fn lists(value: &Value, name: &str) -> bool {
    value.as_array().is_some_and(|list| list.iter().any(|own| own == name))
}

/// Tells why a case is not played here; `None` when it is.
fn not_run(case: &Value) -> Option<&'static str> {
    let id = case["id"].as_str().unwrap_or("");
    if !lists(&case["platform"], std::env::consts::OS) {
        Some("another platform")
    } else if !lists(&case["mode"], "shadow") {
        Some("native mode only")
    } else if TOO_LARGE.contains(&id) {
        Some("too large")
    } else if case.to_string().contains("chown_git") && !case::is_root() {
        Some("needs root")
    } else {
        None
    }
}

/// Plays a case, in a process of its own when it asks for another environment or user.
fn play(file: &Path, case: &Value) -> Result<(), String> {
    let environment =
        case["setup"].as_array().into_iter().flatten().find(|step| step["op"] == "env");
    let plain_user = lists(&case["expect"]["checks"], "run_as_non_root") && case::is_root();
    if (environment.is_none() && !plain_user) || std::env::var_os(ONE_CASE).is_some() {
        return std::panic::catch_unwind(|| case::play(case)).unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().cloned();
            Err(format!("panics: {}", text.unwrap_or_default()))
        });
    }
    let mut command = Command::new(std::env::current_exe().expect("has a path"));
    command
        .args(["--exact", "one_case", "--nocapture"])
        .env(ONE_CASE, case["id"].as_str().unwrap_or(""));
    command.env("CAIRN_ROLLBACK_FIXTURE", file);
    if let Some(step) = environment {
        for (name, value) in step["set"].as_object().into_iter().flatten() {
            command.env(name, value.as_str().unwrap_or(""));
        }
    }
    if plain_user {
        command.uid(65534).gid(65534);
    }
    let output = command.output().map_err(|error| format!("does not start: {error}"))?;
    if output.status.success() {
        Ok(())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

/// Plays one case when this process was started for it.
#[test]
fn one_case() {
    let Ok(id) = std::env::var(ONE_CASE) else { return };
    let files = case_files();
    let found = files.iter().flat_map(|file| cases(file)).find(|case| case["id"] == id.as_str());
    let result = case::play(&found.expect("the case is there"));
    assert_eq!(result, Ok(()), "{id}");
}

#[test]
fn the_cases_come_out_as_written() {
    if std::env::var_os(ONE_CASE).is_some() {
        return;
    }
    let only = std::env::var("CAIRN_ROLLBACK_ONLY").ok();
    let (mut passed, mut skipped, mut wrong) = (0, Vec::new(), Vec::new());
    let mut expected = 0;
    for file in case_files() {
        for case in cases(&file) {
            let id = case["id"].as_str().expect("an id").to_owned();
            if only.as_ref().is_some_and(|only| !only.contains(&id)) {
                continue;
            }
            if let Some(why) = not_run(&case) {
                skipped.push(format!("{id} ({why})"));
                continue;
            }
            let reason =
                EXPECTED_FAILURES.iter().find(|(own, _)| *own == id).map(|(_, reason)| *reason);
            match (play(&file, &case), reason) {
                (Ok(()), None) => passed += 1,
                (Err(_), Some(_)) => expected += 1,
                (Ok(()), Some(reason)) => wrong.push(format!("{id} passes now, though: {reason}")),
                (Err(error), None) => wrong.push(format!("{id} {}: {error}", case["title"])),
            }
        }
    }
    println!(
        "{passed} passed, {expected} expected failures, {} not run: {}",
        skipped.len(),
        skipped.join(", ")
    );
    assert!(wrong.is_empty(), "{} cases:\n{}", wrong.len(), wrong.join("\n"));
}
