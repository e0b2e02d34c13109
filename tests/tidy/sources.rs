//! Size, headers and words of source files.

use crate::tree::{File, files, report};

/// Lines of a source file without tests.
const LINE_LIMIT: usize = 500;
/// Lines of a file of the window.
const UI_LINE_LIMIT: usize = 300;
/// Crates that talk to the OS below what the standard library offers.
const MAY_BE_UNSAFE: [&str; 3] = ["cairn-exec", "cairn-sandbox", "cairn-snapshot"];
/// Files that others take in by `include!`, where a header can't be documentation.
const INCLUDED: [&str; 1] = ["src-tauri/src/commands/table.rs"];
/// Names that say nothing.
const EMPTY_NAMES: [&str; 7] = ["util", "utils", "helper", "helpers", "common", "misc", "manager"];

fn sources() -> impl Iterator<Item = File> {
    files().into_iter().filter(|file| file.has_extension(&["rs", "ts", "tsx"]))
}

#[test]
fn no_source_file_is_too_long() {
    let too_long = |file: File| {
        let in_ui = file.path.starts_with("ui/");
        let limit = if in_ui { UI_LINE_LIMIT } else { LINE_LIMIT };
        let lines = file.text.lines().count();
        let excluded = file.is_test() || file.is_generated();
        (lines > limit && !excluded).then(|| format!("{}: {lines} lines, limit {limit}", file.path))
    };
    report(sources().filter_map(too_long).collect());
}

/// Unit tests beside the code are headed by the file that they test.
#[test]
fn every_source_file_opens_with_a_header() {
    let headless = |file: File| {
        let exempt = file.name() == "tests.rs"
            || file.path.contains("/tests/")
            || (file.is_test() && file.path.starts_with("ui/"));
        let headed = match file.has_extension(&["rs"]) {
            true if INCLUDED.contains(&file.path.as_str()) => file.text.starts_with("// "),
            true => file.text.starts_with("//! "),
            false => file.text.starts_with("/**") || file.text.starts_with("//"),
        };
        (!headed && !exempt).then_some(file.path)
    };
    report(sources().filter_map(headless).collect());
}

#[test]
fn nothing_is_left_undone() {
    // Put together, so that this file does not find itself.
    let rust = [["FIX", "ME"], ["todo", "!("], ["unimplemented", "!("], ["#[ig", "nore"]];
    let script = [["FIX", "ME"], [".on", "ly("], [".sk", "ip("], ["@ts-ig", "nore"]];
    let mut problems = Vec::new();
    for file in sources() {
        let words = if file.has_extension(&["rs"]) { &rust } else { &script };
        for (index, line) in file.text.lines().enumerate() {
            let hit = words.iter().map(|parts| parts.concat()).find(|word| line.contains(&**word));
            if let Some(word) = hit {
                problems.push(format!("{}:{}: `{word}`", file.path, index + 1));
            }
        }
    }
    report(problems);
}

#[test]
fn files_are_named_for_what_they_hold() {
    let badly_named = |file: File| {
        let stem = file.name().split('.').next().unwrap_or_default();
        let bad = stem == "mod" || EMPTY_NAMES.contains(&stem);
        let upper = file.path.starts_with("ui/src/")
            && !file.is_generated()
            && stem.contains(|c: char| c.is_ascii_uppercase());
        (bad || upper).then_some(file.path)
    };
    report(sources().filter_map(badly_named).collect());
}

#[test]
fn only_the_lowest_crates_are_unsafe() {
    let word = ["unsafe", "_code"].concat();
    let unsafe_elsewhere = |file: File| {
        let allowed = MAY_BE_UNSAFE.iter().any(|name| file.path.contains(&format!("/{name}/")));
        let hit = file.has_extension(&["rs"]) && file.text.contains(&word);
        (hit && !allowed && !file.is_test()).then_some(file.path)
    };
    report(sources().filter_map(unsafe_elsewhere).collect());
}

/// The window has one door to the shell (D-12).
#[test]
fn only_the_backend_of_the_window_knows_the_shell() {
    let package = ["@tauri", "-apps/"].concat();
    let elsewhere = |file: File| {
        let in_window =
            file.path.starts_with("ui/src/") && !file.path.starts_with("ui/src/backend/");
        (in_window && !file.is_test() && file.text.contains(&package)).then_some(file.path)
    };
    report(sources().filter_map(elsewhere).collect());
}

/// The project is complete in itself: no place on somebody's machine is named.
#[test]
fn no_file_names_a_place_outside_the_project() {
    let places = [["/work/", "main"], ["/work/", "shared"], ["/tmp/", "plan"], ["/tmp/", "t/"]];
    let mut problems = Vec::new();
    for file in files() {
        for place in places.iter().map(|parts| parts.concat()) {
            if file.text.contains(&place) {
                problems.push(format!("{}: `{place}`", file.path));
            }
        }
    }
    report(problems);
}
