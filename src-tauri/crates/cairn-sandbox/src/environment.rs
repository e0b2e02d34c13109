//! The environment of a command: an allow-list, never the app's own environment (security plan 3.13).
//!
//! It reads no environment itself; the caller passes the parent's variables in.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// Names that are taken over as they are.
const ALLOWED: &[&str] =
    &["HOME", "LANG", "LANGUAGE", "LOGNAME", "PATH", "SHELL", "TMPDIR", "TZ", "USER"];

/// Without these no program starts on Windows.
#[cfg(windows)]
const ALLOWED_HERE: &[&str] = &[
    "APPDATA",
    "COMSPEC",
    "LOCALAPPDATA",
    "NUMBER_OF_PROCESSORS",
    "PATHEXT",
    "PROCESSOR_ARCHITECTURE",
    "PROGRAMDATA",
    "PROGRAMFILES",
    "PROGRAMFILES(X86)",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "USERNAME",
    "USERPROFILE",
    "WINDIR",
];
#[cfg(not(windows))]
const ALLOWED_HERE: &[&str] = &[];

/// Values that no one overrides (P-86): nothing may wait for an editor, a pager or a password.
const FORCED: &[(&str, &str)] = &[
    ("GIT_EDITOR", "true"),
    ("GIT_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("NO_COLOR", "1"),
    ("PAGER", "cat"),
    ("TERM", "dumb"),
];

/// Returns the environment of a command: what is allowed from `parent`, then `extra` (names that
/// the user granted), then the forced values. Sorted by name, each name once.
///
/// Variables that load code into every program (`LD_*`, `DYLD_*`, `BASH_ENV`, exported functions)
/// are dropped even from `extra`. Relative entries of `PATH` are dropped.
pub fn child_environment(
    parent: impl Iterator<Item = (OsString, OsString)>,
    extra: &[(OsString, OsString)],
) -> Vec<(OsString, OsString)> {
    let mut env: BTreeMap<OsString, OsString> = BTreeMap::new();
    for (name, value) in parent.filter(|(name, _)| is_allowed(name)) {
        env.insert(name, value);
    }
    for (name, value) in extra.iter().filter(|(name, _)| is_settable(name)) {
        env.insert(name.clone(), value.clone());
    }
    for (name, value) in &mut env {
        if name.eq_ignore_ascii_case("PATH") {
            *value = without(value, |entry| !entry.is_absolute());
        }
    }
    for (name, value) in FORCED {
        env.insert((*name).into(), (*value).into());
    }
    env.into_iter().collect()
}

fn is_allowed(name: &OsStr) -> bool {
    let Some(text) = name.to_str() else { return false };
    let text = if cfg!(windows) { text.to_ascii_uppercase() } else { text.to_owned() };
    ALLOWED.contains(&text.as_str())
        || ALLOWED_HERE.contains(&text.as_str())
        || (text.starts_with("LC_") && !looks_secret(&text))
}

/// A second net behind the allow-list, which alone is what holds.
fn looks_secret(name: &str) -> bool {
    ["TOKEN", "KEY", "SECRET", "PASSWORD"].iter().any(|word| name.contains(word))
}

fn is_settable(name: &OsStr) -> bool {
    let Some(text) = name.to_str() else { return false };
    let well_formed = !text.is_empty() && !text.contains(['=', '\0', '%', '(', ')']);
    let loads_code = text.starts_with("LD_")
        || text.starts_with("DYLD_")
        || text.starts_with("BASH_FUNC_")
        || ["BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "PS4"].contains(&text);
    well_formed && !loads_code
}

/// Returns a `PATH` without the entries that `drop` names.
pub(crate) fn without(path: &OsStr, drop: impl Fn(&Path) -> bool) -> OsString {
    let kept = std::env::split_paths(path).filter(|entry| !drop(entry));
    std::env::join_paths(kept).unwrap_or_default()
}
