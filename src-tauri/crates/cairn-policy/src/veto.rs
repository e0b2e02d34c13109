//! The command policy: a short list of accidents that no mode lets through (P-97 … P-99).
//!
//! It catches accidents, not attackers: a command that is assembled at run time passes (P-100). The sandbox is the
//! boundary.

use crate::command::loose::{Candidate, candidates, program_name};

#[cfg(test)]
mod tests;

/// A factory rule: its name, and whether a command is one of those it forbids.
type FactoryRule = (&'static str, fn(&Candidate) -> bool);

/// The factory rules on single commands, in order (P-99).
const COMMAND_RULES: &[FactoryRule] = &[
    ("rm-recursive-force", removes_by_force),
    ("mkfs", makes_file_system),
    ("dd-to-block-device", copies_to_device),
    ("overwrite-block-device", redirects_to_device),
    ("windows-recursive-delete", deletes_on_windows),
    ("windows-format-volume", formats_on_windows),
    ("windows-disk-overwrite", overwrites_on_windows),
];

/// Devices that may be written: nothing is stored there.
const HARMLESS_DEVICES: &[&str] = &[
    "null", "zero", "full", "stdout", "stderr", "stdin", "tty", "ptmx", "console", "random",
    "urandom", "log",
];

/// Folders of `/dev` that hold no disks.
const HARMLESS_FOLDERS: &[&str] = &["fd/", "pts/", "shm/", "tcp/", "udp/", "mqueue/", "tty"];

/// Returns the name of the factory rule that forbids a command text, in every mode.
pub fn command_veto(text: &str) -> Option<&'static str> {
    let stripped: String =
        text.chars().filter(|character| !matches!(character, '\'' | '"' | '\\')).collect();
    let mut found = candidates(text);
    if stripped != text {
        found.extend(candidates(&stripped));
    }
    for (name, forbids) in COMMAND_RULES {
        if found.iter().any(forbids) {
            return Some(name);
        }
    }
    let dense: String = stripped.chars().filter(|character| !character.is_whitespace()).collect();
    if is_fork_bomb(&dense) {
        return Some("fork-bomb");
    }
    if dense.contains("%0|%0") {
        return Some("windows-fork-bomb");
    }
    None
}

/// Returns the program of a command when it is one of those named.
fn runs(candidate: &Candidate, programs: &[&str]) -> bool {
    candidate.words().first().is_some_and(|word| programs.contains(&program_name(word).as_str()))
}

fn removes_by_force(candidate: &Candidate) -> bool {
    if !runs(candidate, &["rm"]) {
        return false;
    }
    let (mut recursive, mut force) = (false, false);
    for word in candidate.words()[1..].iter().take_while(|word| *word != "--") {
        if let Some(long) = word.strip_prefix("--") {
            recursive |= !long.is_empty() && "recursive".starts_with(long);
            force |= !long.is_empty() && "force".starts_with(long);
        } else if let Some(letters) = word.strip_prefix('-')
            && letters.chars().all(|letter| letter.is_ascii_alphabetic())
        {
            recursive |= letters.contains(['r', 'R']);
            force |= letters.contains(['f', 'F']);
        }
    }
    recursive && force
}

fn makes_file_system(candidate: &Candidate) -> bool {
    candidate.words().first().is_some_and(|word| {
        let name = program_name(word);
        name == "mkfs" || name.starts_with("mkfs.") || name == "mke2fs"
    })
}

fn copies_to_device(candidate: &Candidate) -> bool {
    runs(candidate, &["dd"])
        && candidate.words()[1..]
            .iter()
            .any(|word| word.strip_prefix("of=").is_some_and(is_block_device))
}

fn redirects_to_device(candidate: &Candidate) -> bool {
    candidate.targets().iter().any(|target| is_block_device(target))
}

/// Returns whether a path names a device below `/dev` that may hold data.
fn is_block_device(path: &str) -> bool {
    if !path.starts_with('/') {
        return false;
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            other => parts.push(other),
        }
    }
    if parts.first() != Some(&"dev") || parts.len() < 2 {
        return false;
    }
    let device = parts[1..].join("/");
    !HARMLESS_DEVICES.contains(&device.as_str())
        && !HARMLESS_FOLDERS.iter().any(|folder| device.starts_with(folder))
}

/// Finds `name(){name|name&};name` in a text without white space.
fn is_fork_bomb(dense: &str) -> bool {
    dense.match_indices("(){").any(|(at, opening)| {
        let name =
            dense[..at].rsplit([';', '|', '&', '{', '}', '(', ')']).next().unwrap_or_default();
        let name = name.strip_prefix("function").filter(|rest| !rest.is_empty()).unwrap_or(name);
        if name.is_empty() {
            return false;
        }
        let body = &dense[at + opening.len()..];
        let Some(end) = body.find('}') else { return false };
        let calls = body[end + 1..].trim_start_matches(';').starts_with(name);
        calls && body[..end].contains(&format!("{name}|{name}")) && body[..end].contains('&')
    })
}

fn deletes_on_windows(candidate: &Candidate) -> bool {
    let has =
        |flag: &str| candidate.words().iter().skip(1).any(|word| word.eq_ignore_ascii_case(flag));
    let begins = |flag: &str| {
        candidate.words().iter().skip(1).any(|word| {
            let word = word.to_ascii_lowercase();
            word.len() >= 3 && flag.starts_with(&word)
        })
    };
    if runs(candidate, &["rd", "rmdir"]) && has("/s") {
        return true;
    }
    if runs(candidate, &["del", "erase"]) && has("/s") && (has("/f") || has("/q")) {
        return true;
    }
    runs(candidate, &["remove-item", "ri", "rm", "del", "erase", "rd", "rmdir"])
        && begins("-recurse")
        && begins("-force")
}

fn formats_on_windows(candidate: &Candidate) -> bool {
    let drive = |word: &String| {
        let mut characters = word.chars();
        characters.next().is_some_and(|letter| letter.is_ascii_alphabetic())
            && characters.as_str() == ":"
    };
    runs(candidate, &["format-volume"])
        || (runs(candidate, &["format", "format.com"])
            && candidate.words().iter().skip(1).any(drive))
}

fn overwrites_on_windows(candidate: &Candidate) -> bool {
    let raw = |word: &String| {
        let dense: String =
            word.to_ascii_lowercase().chars().filter(|character| *character != '\\').collect();
        dense.contains(".physicaldrive")
    };
    runs(candidate, &["clear-disk", "initialize-disk"])
        || candidate.targets().iter().any(raw)
        || (runs(candidate, &["dd", "copy"]) && candidate.words().iter().skip(1).any(raw))
        || (runs(candidate, &["diskpart"]) && candidate.words().len() > 1)
}
