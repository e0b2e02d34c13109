//! `cargo xtask notices`: writes `THIRD-PARTY-NOTICES.md`, the list of all that the programs are built from.
//!
//! Names, versions and licences come from cargo and from the interface's lock file; nothing is looked up elsewhere. It
//! does not judge whether licences fit together, and does not repeat their texts.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::Outcome;

/// The systems that programs are built for. Packages for others are in nobody's program.
const TARGETS: [&str; 4] = [
    "x86_64-unknown-linux-gnu",
    "aarch64-apple-darwin",
    "x86_64-apple-darwin",
    "x86_64-pc-windows-msvc",
];

const HEAD: &str = "\
# Third-party notices

Cairn is licensed under MIT or Apache-2.0. The programs are built from the packages below, each under its own licence, whose text
the package carries. Where a package offers several licences, Cairn uses it under one that permits this use.

This file is written by `cargo xtask notices` from the lock files; do not edit it.

";

/// What a table can't say.
const REMARKS: &str = "\
## Parts within packages

- **libgit2**, compiled in through `libgit2-sys`, is under the GNU General Public License, version 2, with this linking exception:

  > In addition to the permissions in the GNU General Public License, the authors give you unlimited permission to link the
  > compiled version of this library into combinations with other programs, and to distribute those combinations without any
  > restriction coming from the use of this file. (The General Public License restrictions do apply in other respects; for
  > example, they cover modification of the file, and distribution when not linked into a combined executable.)

  Cairn uses it unmodified.
- **zlib**, through `libz-sys`, is under the zlib licence.
- **SQLite**, through `libsqlite3-sys`, is in the public domain.
- **tree-sitter** and its grammar for Bash, through the packages of the same names, are under the MIT licence.
- Packages under **MPL-2.0** are used unmodified; their source is on crates.io under the name and version below.

## Fonts

- **Atkinson Hyperlegible Next**: SIL Open Font License 1.1,
  [text](ui/src/styles/fonts/OFL-atkinson-hyperlegible-next.txt).
- **JetBrains Mono**: SIL Open Font License 1.1, [text](ui/src/styles/fonts/OFL-jetbrains-mono.txt).

## Used, not shipped

WebKitGTK and GTK, bubblewrap, the Secret Service and the shells are the system's own. Cairn calls them where they are installed and
does not contain them.

";

/// One package: name, version, licence.
type Package = (String, String, String);

/// Writes the file.
pub(crate) fn notices(root: &Path) -> Outcome {
    let crates = crates(root)?;
    let modules = modules(root)?;
    let mut text = HEAD.to_owned();
    text.push_str(REMARKS);
    table(&mut text, "Rust packages", &crates);
    text.push('\n');
    table(&mut text, "Packages of the interface", &modules);
    let path = root.join("THIRD-PARTY-NOTICES.md");
    fs::write(&path, text)
        .map_err(|error| format!("{} can't be written: {error}", path.display()))?;
    println!(
        "{}: {} Rust packages, {} of the interface",
        path.display(),
        crates.len(),
        modules.len()
    );
    Ok(())
}

fn table(text: &mut String, title: &str, packages: &BTreeSet<Package>) {
    let _infallible =
        writeln!(text, "## {title}\n\n| package | version | licence |\n| --- | --- | --- |");
    for (name, version, licence) in packages {
        let licence = if licence.is_empty() { "see the package" } else { licence };
        let _infallible = writeln!(text, "| {name} | {version} | {licence} |");
    }
}

/// Asks cargo for what goes into the two programs on any system that they are built for.
fn crates(root: &Path) -> Outcome<BTreeSet<Package>> {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(["tree", "--locked", "--package", "cairn-desktop", "--package", "cairn-cli"]);
    command.args(["--edges", "normal", "--prefix", "none", "--format", "{p}|{l}"]);
    for target in TARGETS {
        command.args(["--target", target]);
    }
    let output = command.current_dir(root).output();
    let output = output.map_err(|error| format!("cargo can't be started: {error}"))?;
    if !output.status.success() {
        return Err(format!("cargo tree failed: {}", String::from_utf8_lossy(&output.stderr)));
    }
    let packages: BTreeSet<Package> =
        String::from_utf8_lossy(&output.stdout).lines().filter_map(crate_of).collect();
    if packages.is_empty() { Err("cargo tree names no package".to_owned()) } else { Ok(packages) }
}

/// Reads `name v1.2.3 (proc-macro)|MIT (*)`. A package of the project has its folder there, and is left out.
fn crate_of(line: &str) -> Option<Package> {
    let (package, licence) = line.split_once('|')?;
    let licence = licence.trim_end_matches("(*)").trim();
    let mut words = package.split_whitespace();
    let (name, version) = (words.next()?, words.next()?.strip_prefix('v')?);
    let ours = words.any(|word| word.starts_with("(/") || word.contains(":\\"));
    (!ours).then(|| (name.to_owned(), version.to_owned(), licence.to_owned()))
}

/// Reads the lock file of the interface; what only builds and tests it is left out.
fn modules(root: &Path) -> Outcome<BTreeSet<Package>> {
    let path = root.join("ui").join("package-lock.json");
    let lock = fs::read_to_string(&path)
        .map_err(|error| format!("{} can't be read: {error}", path.display()))?;
    let packages = modules_of(&lock);
    if packages.is_empty() {
        Err(format!("{} names no package", path.display()))
    } else {
        Ok(packages)
    }
}

/// npm writes an entry a block: its path at four spaces, its fields at six.
fn modules_of(lock: &str) -> BTreeSet<Package> {
    let mut packages = BTreeSet::new();
    let mut entry: Option<Entry> = None;
    for line in lock.lines() {
        if let Some(path) = line.strip_prefix("    \"node_modules/") {
            let name = path.trim_end_matches("\": {");
            let name = name.rsplit("node_modules/").next().unwrap_or(name);
            entry = Some(Entry { name: name.to_owned(), ..Entry::default() });
        } else if line.starts_with("    }") {
            if let Some(done) = entry.take()
                && !done.only_for_work
            {
                packages.insert((done.name, done.version, done.licence));
            }
        } else if let (Some(entry), Some(field)) = (&mut entry, line.strip_prefix("      \"")) {
            entry.read(field);
        }
    }
    packages
}

/// What is known so far of a package of the interface.
#[derive(Default)]
struct Entry {
    name: String,
    version: String,
    licence: String,
    only_for_work: bool,
}

impl Entry {
    /// Reads `name": "value",`.
    fn read(&mut self, field: &str) {
        let Some((name, value)) = field.split_once("\": ") else { return };
        let value = value.trim_end_matches(',').trim_matches('"');
        match name {
            "version" => value.clone_into(&mut self.version),
            "license" => value.clone_into(&mut self.licence),
            "dev" | "devOptional" => self.only_for_work = value == "true",
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
