//! What a case expects: the paths, the report, and the named extra checks.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::steps::{filling, place};

/// One line for each path below a folder: kind, mode, size, time and content.
pub(crate) fn picture(base: &Path) -> BTreeMap<String, String> {
    let mut lines = BTreeMap::new();
    collect(base, base, &mut lines);
    lines
}

fn collect(base: &Path, dir: &Path, lines: &mut BTreeMap<String, String>) {
    let Ok(list) = fs::read_dir(dir) else { return };
    for entry in list.flatten() {
        let path = entry.path();
        let Ok(meta) = path.symlink_metadata() else { continue };
        let name = path.strip_prefix(base).expect("is below").to_string_lossy().into_owned();
        let content = if meta.is_file() {
            let bytes = fs::read(&path).unwrap_or_default();
            format!(
                "{} {:x}",
                bytes.len(),
                bytes.iter().fold(7u64, |sum, byte| sum.wrapping_mul(31) ^ u64::from(*byte))
            )
        } else if meta.is_symlink() {
            fs::read_link(&path).unwrap_or_default().display().to_string()
        } else {
            String::new()
        };
        let time = if meta.is_dir() { (0, 0) } else { (meta.mtime(), meta.mtime_nsec()) };
        lines.insert(name, format!("{:o} {time:?} {content}", meta.mode()));
        if meta.is_dir() {
            collect(base, &path, lines);
        }
    }
}

/// Tells what is wrong with a path; `None` when it is as expected.
pub(crate) fn path(base: &Path, name: &str, expected: &Value) -> Option<String> {
    let kind = expected["kind"].as_str().expect("a kind");
    if kind == "one_of" {
        let options = expected["options"].as_array().expect("options");
        let wrong: Vec<String> =
            options.iter().map_while(|option| path(base, name, option)).collect();
        return (wrong.len() == options.len()).then(|| wrong.join(" and "));
    }
    let place = place(base, name);
    let meta = place.symlink_metadata().ok();
    let found = match &meta {
        None => "absent",
        Some(meta) if meta.is_file() => "file",
        Some(meta) if meta.is_dir() => "dir",
        Some(meta) if meta.is_symlink() => "symlink",
        Some(meta) if meta.file_type().is_fifo() => "fifo",
        Some(meta) if meta.file_type().is_socket() => "socket",
        Some(_) => "device",
    };
    if found != kind {
        return Some(format!("{name} is {found}, not {kind}"));
    }
    let meta = meta?;
    if kind == "symlink" {
        let target = fs::read_link(&place).ok()?;
        return (target.as_os_str() != expected["target"].as_str()?)
            .then(|| format!("{name} leads to {target:?}"));
    }
    if kind != "file" {
        return None;
    }
    if let Some(mode) = expected.get("mode").and_then(Value::as_str)
        && u32::from_str_radix(mode, 8).ok()? != meta.mode() & 0o7777
    {
        return Some(format!("{name} has mode {:o}, not {mode}", meta.mode() & 0o7777));
    }
    if fs::File::open(&place).is_err() {
        return None;
    }
    let content = fs::read(&place).expect("reads");
    let text = expected.get("text").and_then(Value::as_str).map(|text| text.as_bytes().to_vec());
    let bytes = expected
        .get("b64")
        .and_then(Value::as_str)
        .map(|raw| STANDARD.decode(raw).expect("base64"));
    if let Some(wanted) = text.or(bytes) {
        return (content != wanted)
            .then(|| format!("{name} has {:?}", String::from_utf8_lossy(&content)));
    }
    let size = expected.get("size").and_then(Value::as_u64)?;
    (content.len() as u64 != size)
        .then(|| format!("{name} has {} bytes, not {size}", content.len()))
}

/// Tells whether a file is what a `fill` step makes of its name.
pub(crate) fn is_filling(base: &Path, name: &str) -> bool {
    fs::read(place(base, name)).is_ok_and(|content| content == filling(name, content.len()))
}
