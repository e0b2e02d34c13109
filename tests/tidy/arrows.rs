//! The arrows of `docs/architecture.md`: which package may name which.

use std::collections::BTreeMap;
use std::process::Command;

use serde_json::Value;

use crate::tree::{files, report, root};

/// Every package with the packages of the workspace that it may name.
const ARROWS: &[(&str, &[&str])] = &[
    ("cairn-protocol", &[]),
    ("cairn-policy", &["cairn-protocol"]),
    ("cairn-sandbox", &["cairn-protocol"]),
    ("cairn-exec", &["cairn-protocol", "cairn-sandbox"]),
    ("cairn-snapshot", &["cairn-protocol"]),
    ("cairn-provider", &["cairn-protocol"]),
    ("cairn-mcp", &["cairn-protocol"]),
    ("cairn-store", &["cairn-protocol"]),
    ("cairn-config", &["cairn-protocol"]),
    ("cairn-tools", &["cairn-protocol", "cairn-exec"]),
    (
        "cairn-engine",
        &[
            "cairn-protocol",
            "cairn-policy",
            "cairn-sandbox",
            "cairn-exec",
            "cairn-snapshot",
            "cairn-provider",
            "cairn-mcp",
            "cairn-store",
            "cairn-config",
            "cairn-tools",
        ],
    ),
    ("cairn-cli", &["cairn-protocol", "cairn-engine"]),
    ("cairn-desktop", &["cairn-protocol", "cairn-engine"]),
    (
        "cairn-tests",
        &[
            "cairn-protocol",
            "cairn-engine",
            "cairn-config",
            "cairn-provider",
            "cairn-snapshot",
            "cairn-store",
        ],
    ),
    ("xtask", &[]),
];

/// Returns every package with all that it names, whatever the kind or the platform.
fn packages() -> BTreeMap<String, Vec<String>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo writes JSON");
    let text = |value: &Value| value.as_str().expect("a name").to_owned();
    let list = |value: &Value| value.as_array().expect("a list").clone();
    list(&metadata["packages"])
        .iter()
        .map(|package| {
            let names = list(&package["dependencies"]);
            (text(&package["name"]), names.iter().map(|it| text(&it["name"])).collect())
        })
        .collect()
}

#[test]
fn packages_depend_along_the_arrows() {
    let allowed: BTreeMap<&str, &[&str]> = ARROWS.iter().copied().collect();
    let packages = packages();
    let mut problems = Vec::new();
    for (package, names) in &packages {
        let Some(allowed) = allowed.get(package.as_str()) else {
            problems.push(format!("{package} is not on the map"));
            continue;
        };
        for name in names.iter().filter(|name| packages.contains_key(*name)) {
            if !allowed.contains(&name.as_str()) {
                problems.push(format!("{package} -> {name} is a new arrow"));
            }
        }
    }
    let gone = allowed.keys().filter(|name| !packages.contains_key(**name));
    problems.extend(gone.map(|name| format!("{name} is on the map and not in the workspace")));
    report(problems);
}

#[test]
fn only_the_shell_knows_tauri() {
    let mut problems = Vec::new();
    for (package, names) in packages() {
        let windowed =
            |name: &&String| ["tauri", "wry", "tao"].iter().any(|it| name.starts_with(it));
        for name in names.iter().filter(windowed) {
            if package != "cairn-desktop" {
                problems.push(format!("{package} -> {name}"));
            }
        }
    }
    report(problems);
}

#[test]
fn third_party_versions_are_in_the_root_manifest() {
    let mut problems = Vec::new();
    for manifest in files().iter().filter(|file| file.name() == "Cargo.toml") {
        let mut section = "";
        for line in manifest.text.lines().map(str::trim) {
            if let Some(name) = line.strip_prefix('[') {
                section = name.trim_end_matches(']');
            } else if section.ends_with("dependencies")
                && section != "workspace.dependencies"
                && line.contains('=')
                && !line.starts_with('#')
                && !line.replace(' ', "").contains("workspace=true")
            {
                problems.push(format!("{}: {line}", manifest.path));
            }
        }
    }
    report(problems);
}
