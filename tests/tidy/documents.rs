//! What a reader must find: the map, the style, the decisions, and how to begin.

use crate::tree::{report, root};

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
