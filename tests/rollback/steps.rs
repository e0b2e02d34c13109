//! The steps of the cases: what an agent, a command or a user does to files.

use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

/// Turns a path of a case into one below `base`.
pub(crate) fn place(base: &Path, text: &str) -> PathBuf {
    match text.strip_prefix("b64:") {
        Some(raw) => base.join(OsString::from_vec(STANDARD.decode(raw).expect("base64"))),
        None => base.join(text),
    }
}

/// Returns the deterministic bytes of a `fill` step.
pub(crate) fn filling(path: &str, size: usize) -> Vec<u8> {
    let seed = path
        .bytes()
        .fold(0x9e37_79b9_7f4a_7c15_u64, |sum, byte| sum.rotate_left(7) ^ u64::from(byte));
    let mut state = seed | 1;
    let mut bytes = Vec::with_capacity(size + 8);
    while bytes.len() < size {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend_from_slice(&state.to_le_bytes());
    }
    bytes.truncate(size);
    bytes
}

pub(crate) fn text<'a>(step: &'a Value, key: &str) -> &'a str {
    step[key].as_str().unwrap_or_else(|| panic!("`{key}` in {step}"))
}

/// Names the paths that a step changes.
pub(crate) fn touched(step: &Value) -> Vec<String> {
    let raw = step.get("path_b64").and_then(Value::as_str).map(|raw| format!("b64:{raw}"));
    let plain = ["path", "from", "to"].iter().filter(|key| step["op"] == "mv" || **key == "path");
    raw.into_iter()
        .chain(plain.filter_map(|key| step.get(*key).and_then(Value::as_str).map(str::to_owned)))
        .collect()
}

fn put(path: &Path, content: &[u8], mode: Option<&str>) {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).expect("makes the folder");
    }
    fs::write(path, content).unwrap_or_else(|error| panic!("writes {}: {error}", path.display()));
    if let Some(mode) = mode {
        set_mode(path, mode);
    }
}

fn set_mode(path: &Path, mode: &str) {
    let mode = u32::from_str_radix(mode, 8).expect("octal");
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("sets the mode");
}

/// Runs one step. Fails with the name of an operation that is not known.
pub(crate) fn run(base: &Path, step: &Value) -> Result<(), String> {
    let path = || place(base, text(step, "path"));
    let mode = step.get("mode").and_then(Value::as_str);
    match text(step, "op") {
        "write" => put(&path(), text(step, "text").as_bytes(), mode),
        "write_b64" => put(&path(), &STANDARD.decode(text(step, "b64")).expect("base64"), mode),
        "write_rawname" => {
            let path = place(base, &format!("b64:{}", text(step, "path_b64")));
            put(&path, text(step, "text").as_bytes(), mode);
        }
        "fill" => {
            let size =
                step["size"].as_u64().and_then(|size| usize::try_from(size).ok()).expect("a size");
            put(&path(), &filling(text(step, "path"), size), mode);
        }
        "append" => {
            let mut file =
                fs::OpenOptions::new().append(true).create(true).open(path()).expect("opens");
            file.write_all(text(step, "text").as_bytes()).expect("appends");
        }
        "sub" => {
            let old = fs::read_to_string(path()).expect("reads");
            let new = old.replacen(text(step, "from"), text(step, "to"), 1);
            fs::write(path(), new).expect("writes");
        }
        "rm" => fs::remove_file(path()).expect("removes"),
        "rmtree" => fs::remove_dir_all(path()).expect("removes"),
        "mv" => {
            let (from, to) = (place(base, text(step, "from")), place(base, text(step, "to")));
            fs::create_dir_all(to.parent().expect("has a folder")).expect("makes the folder");
            fs::rename(from, to).expect("renames");
        }
        "mkdir" => fs::create_dir_all(path()).expect("makes the folder"),
        "symlink" => std::os::unix::fs::symlink(text(step, "target"), path()).expect("links"),
        "chmod" => set_mode(&path(), mode.expect("a mode")),
        "utime" => {
            let seconds = step["mtime"].as_u64().expect("seconds");
            let time: SystemTime = UNIX_EPOCH + Duration::from_secs(seconds);
            fs::File::options()
                .write(true)
                .open(path())
                .and_then(|file| file.set_modified(time))
                .expect("sets the time");
        }
        "mkfifo" => {
            let done = Command::new("mkfifo").arg(path()).status().expect("mkfifo runs");
            assert!(done.success());
        }
        "mksock" => drop(std::os::unix::net::UnixListener::bind(path()).expect("binds")),
        "git" => git(base, step),
        "gen_tree" => generate(base, step),
        "mmap_poke" => {
            // What a mapped page leaves behind when it is written back: new bytes in place, no other sign.
            let byte = [u8::try_from(step["byte"].as_u64().expect("a byte")).expect("a byte")];
            let file = fs::File::options().write(true).open(path()).expect("opens");
            file.write_all_at(&byte, step["offset"].as_u64().expect("an offset")).expect("writes");
        }
        "chown_git" => {
            let uid = u32::try_from(step["uid"].as_u64().expect("a uid")).expect("a uid");
            std::os::unix::fs::chown(base.join(".git"), Some(uid), Some(uid)).expect("gives away");
        }
        "replace_root_with_new_dir" => {
            fs::rename(base, base.with_extension("old")).expect("renames");
            fs::create_dir(base).expect("makes the folder");
        }
        "noop" | "env" => {}
        other => return Err(format!("step `{other}`")),
    }
    Ok(())
}

/// Runs Git as the user of the case, whatever the environment of the tests.
pub(crate) fn git_command(cwd: &Path) -> Command {
    let mut command = Command::new("git");
    for (name, _) in
        std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("GIT_"))
    {
        command.env_remove(name);
    }
    command
        .current_dir(cwd)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .args(["-c", "user.name=u", "-c", "user.email=u@localhost", "-c", "safe.directory=*"]);
    command
}

fn git(base: &Path, step: &Value) {
    let cwd = base.join(step.get("cwd").and_then(Value::as_str).unwrap_or(""));
    let args =
        step["args"].as_array().expect("arguments").iter().map(|arg| arg.as_str().expect("text"));
    let done = git_command(&cwd).args(args).output().expect("git runs");
    assert!(done.status.success(), "{step}: {}", String::from_utf8_lossy(&done.stderr));
}

fn generate(base: &Path, step: &Value) {
    let number = |key: &str| step[key].as_u64().expect("a number");
    let root = base.join(step.get("root").and_then(Value::as_str).unwrap_or(""));
    for file in 0..number("files") {
        let dir = root.join(format!("g{}", file / number("per_dir")));
        if file % number("per_dir") == 0 {
            fs::create_dir_all(&dir).expect("makes the folder");
        }
        fs::write(dir.join(format!("f{file}.rs")), format!("{file}\n")).expect("writes");
    }
}
