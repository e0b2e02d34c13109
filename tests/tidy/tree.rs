//! The files of the project, as the other rules read them.

use std::path::{Path, PathBuf};

/// A text file of the project.
pub(crate) struct File {
    /// Relative to the root, with `/`.
    pub(crate) path: String,
    /// Its content.
    pub(crate) text: String,
}

impl File {
    /// Returns whether the file holds tests only, which may be long.
    pub(crate) fn is_test(&self) -> bool {
        self.path.starts_with("tests/")
            || self.path.ends_with("/tests.rs")
            || self.path.contains("/tests/")
            || self.path.ends_with(".test.ts")
            || self.path.ends_with(".test.tsx")
    }

    /// Returns whether the file is written by a program.
    pub(crate) fn is_generated(&self) -> bool {
        self.path.starts_with("ui/src/protocol/")
    }

    /// Returns the last part of the path.
    pub(crate) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// Returns whether the file name ends with one of these, without the dot.
    pub(crate) fn has_extension(&self, extensions: &[&str]) -> bool {
        self.name().rsplit_once('.').is_some_and(|(_, own)| extensions.contains(&own))
    }
}

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

const SKIPPED_FOLDERS: [&str; 6] =
    [".git", "target", "node_modules", "gen", "dist", "test-results"];
const TEXT: [&str; 12] =
    ["rs", "ts", "tsx", "js", "mjs", "css", "html", "json", "jsonl", "toml", "md", "sh"];

/// Reads every text file of the project, sorted by path.
pub(crate) fn files() -> Vec<File> {
    let mut files = Vec::new();
    visit(&root(), "", &mut files);
    files.sort_by(|a, b| a.path.cmp(&b.path));
    assert!(files.len() > 50, "the tree was not found");
    files
}

fn visit(folder: &Path, prefix: &str, files: &mut Vec<File>) {
    for entry in std::fs::read_dir(folder).expect("a folder of the project reads") {
        let entry = entry.expect("an entry reads");
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{prefix}{name}");
        let kind = entry.file_type().expect("an entry has a type");
        if kind.is_dir() {
            if !SKIPPED_FOLDERS.contains(&name.as_str()) {
                visit(&entry.path(), &format!("{path}/"), files);
            }
        } else if kind.is_file() {
            let known = name.rsplit_once('.').is_some_and(|(_, own)| TEXT.contains(&own));
            let script = prefix == ".ci/";
            if known || script {
                let bytes = std::fs::read(entry.path()).expect("a file of the project reads");
                if let Ok(text) = String::from_utf8(bytes) {
                    files.push(File { path, text });
                }
            }
        }
    }
}

/// Fails with every problem at once.
#[track_caller]
pub(crate) fn report(problems: Vec<String>) {
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}
