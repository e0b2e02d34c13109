//! What a reader must find: the map, the style, the decisions, and how to begin.

use crate::tree::{files, report, root};

#[test]
fn the_documents_are_there() {
    let wanted = ["README.md", "docs/architecture.md", "docs/style.md"];
    let missing = wanted.iter().filter(|path| !root().join(path).is_file());
    let mut problems: Vec<String> = missing.map(|path| format!("{path} is missing")).collect();
    let decisions = std::fs::read_dir(root().join("docs/decisions"));
    let count = decisions.map_or(0, |entries| entries.flatten().count());
    if count == 0 {
        problems.push("docs/decisions is empty".to_owned());
    }
    report(problems);
}

#[test]
fn the_readme_has_the_two_commands() {
    let text = std::fs::read_to_string(root().join("README.md")).unwrap_or_default();
    let commands = ["cargo xtask run", "cargo xtask test"];
    let missing = commands.iter().filter(|command| !text.contains(**command));
    report(missing.map(|command| format!("README.md lacks `{command}`")).collect());
}

/// The map names every crate, so that a new one is put on it.
#[test]
fn the_map_names_every_crate() {
    let text = std::fs::read_to_string(root().join("docs/architecture.md")).unwrap_or_default();
    let crates = std::fs::read_dir(root().join("src-tauri/crates")).expect("the crates are there");
    let names = crates.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    report(names.filter(|name| !text.contains(name.as_str())).collect());
}

/// A link within the project leads to something that is there.
#[test]
fn links_of_the_documents_lead_somewhere() {
    let mut problems = Vec::new();
    for file in files().iter().filter(|file| file.has_extension(&["md"])) {
        let folder = root().join(&file.path);
        let folder = folder.parent().expect("a file is in a folder");
        let targets = file.text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for target in targets {
            let path = target.split('#').next().unwrap_or_default();
            let inside = !path.is_empty() && !path.contains(':') && !path.contains(' ');
            if inside && !folder.join(path).exists() {
                problems.push(format!("{}: {target}", file.path));
            }
        }
    }
    report(problems);
}

/// The notices are written anew when a version changes: `cargo xtask notices`.
#[test]
fn the_notices_name_versions_of_the_lock_files() {
    let read = |path: &str| std::fs::read_to_string(root().join(path)).expect("it reads");
    let (notices, rust, ui) =
        (read("THIRD-PARTY-NOTICES.md"), read("Cargo.lock"), read("ui/package-lock.json"));
    let mut problems = Vec::new();
    for row in notices.lines().filter(|line| line.starts_with("| ")) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let (name, version) = (cells[1], cells[2]);
        let in_rust = rust.contains(&format!("name = \"{name}\"\nversion = \"{version}\"\n"));
        let in_ui =
            ui.contains(&format!("node_modules/{name}\": {{\n      \"version\": \"{version}\""));
        if !in_rust && !in_ui && name != "package" && name != "---" {
            problems.push(format!("{name} {version}"));
        }
    }
    report(problems);
}
