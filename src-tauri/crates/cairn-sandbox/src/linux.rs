//! Linux: bubblewrap with the profile of security plan 3.3.
//!
//! The argument list is in `linux/profile.rs`, the system-call filter in `linux/seccomp.rs`, the
//! proof that both hold in `linux/selftest.rs`.

mod profile;
mod seccomp;
mod selftest;

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use cairn_protocol::{NetworkAccess, SandboxBackend, SandboxState, WorkspaceAccess};

use crate::unconfined::{Terminal, guard};
use crate::{Error, Launch, LaunchRequest, Tree, protected_paths};

/// Never looked up in `PATH`: a workspace could put its own there.
const BWRAP: &str = "/usr/bin/bwrap";

/// The first version with `--disable-userns`.
const OLDEST: (u32, u32) = (0, 8);

/// Checks the folder that was bound, sets the limit of tasks (which must be set inside the user
/// namespace, else the user's other processes count) and becomes the program.
const ENTRY: &str = r#"[ "$(stat -Lc %d:%i "$1")" = "$2" ] || {
echo "cairn: the workspace was replaced while the sandbox started" >&2; exit 126; }
[ "$3" = 0 ] || ulimit -u "$3" 2>/dev/null || ulimit -p "$3" 2>/dev/null
shift 3; exec "$@""#;

/// Tasks that a command may have at once.
const MAX_TASKS: u32 = 512;

/// See [`crate::detect`].
pub(crate) fn detect() -> SandboxState {
    let (enforced, reason) = match check_program(Path::new(BWRAP))
        .and_then(|()| check_version(Path::new(BWRAP)))
        .and_then(|()| selftest::run(Path::new(BWRAP)))
    {
        Ok(()) => (
            true,
            "Commands see the workspace, a private temporary folder and system programs; no network."
                .to_owned(),
        ),
        Err(reason) => (false, format!("Commands are not confined: {reason}")),
    };
    let backend = if enforced { SandboxBackend::Bubblewrap } else { SandboxBackend::None };
    SandboxState { backend, enforced, reason }
}

/// See [`crate::prepare`].
pub(crate) fn prepare(
    access: WorkspaceAccess,
    network: NetworkAccess,
    request: &LaunchRequest<'_>,
) -> Result<Launch, Error> {
    check_program(Path::new(BWRAP)).map_err(Error::Unavailable)?;
    prepare_with(Path::new(BWRAP), access, network, request)
}

fn prepare_with(
    bwrap: &Path,
    access: WorkspaceAccess,
    network: NetworkAccess,
    request: &LaunchRequest<'_>,
) -> Result<Launch, Error> {
    let workspace = identity(request.workspace)?;
    let protected = match access {
        WorkspaceAccess::Write => protected_paths(request.workspace),
        WorkspaceAccess::Read => crate::Protected { paths: Vec::new(), complete: true },
    };
    let filter = seccomp::filter(network).map_err(Error::Unavailable)?;
    let mut keep = vec![sealed("cairn-seccomp", &filter)?];
    let mut files = Vec::new();
    for (path, text) in profile::files(network) {
        let file = sealed("cairn-file", text.as_bytes())?;
        files.push((path, file.as_raw_fd()));
        keep.push(file);
    }
    let mut arguments = profile::arguments(&profile::Profile {
        request,
        access,
        network,
        protected: &protected.paths,
        files: &files,
    });
    arguments.push("--seccomp".into());
    arguments.push(keep[0].as_raw_fd().to_string().into());
    let mut text = Vec::new();
    for argument in &arguments {
        if argument.as_bytes().contains(&0) {
            return Err(Error::Request("a path or value contains a NUL byte".to_owned()));
        }
        text.extend_from_slice(argument.as_bytes());
        text.push(0);
    }
    let list = sealed("cairn-arguments", &text)?;
    let mut command = Command::new(bwrap);
    command
        .arg("--args")
        .arg(list.as_raw_fd().to_string())
        .args(["--", "/bin/sh", "-c", ENTRY, "cairn"].map(OsStr::new))
        .arg(request.workspace)
        .arg(workspace)
        .arg(max_tasks().to_string())
        .args(request.argv)
        .env_clear()
        .current_dir("/");
    keep.push(list);
    enter(&mut command, keep.iter().map(AsRawFd::as_raw_fd).collect());
    let complete = protected.complete;
    Ok(Launch { command, keep, confined: true, tree: Tree::Namespace, complete })
}

/// The device and inode of the folder itself, not of what a link at its place points to.
fn identity(workspace: &Path) -> Result<String, Error> {
    let found = std::fs::symlink_metadata(workspace)
        .map_err(|error| Error::Request(format!("{}: {error}", workspace.display())))?;
    if !found.is_dir() {
        return Err(Error::Request(format!("{} is not a folder", workspace.display())));
    }
    Ok(format!("{}:{}", found.dev(), found.ino()))
}

/// Before 5.14 the kernel counts all tasks of the user, so the limit would hit the user's desktop.
fn max_tasks() -> u32 {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let mut numbers = release.split('.').map(|part| part.parse::<u32>().unwrap_or_default());
    let version = (numbers.next().unwrap_or_default(), numbers.next().unwrap_or_default());
    if version >= (5, 14) { MAX_TASKS } else { 0 }
}

/// Returns a memory file with `bytes`, read from its start, above the standard descriptors.
#[expect(unsafe_code, reason = "F_DUPFD_CLOEXEC and memfd_create return a descriptor that we own")]
fn sealed(name: &str, bytes: &[u8]) -> io::Result<OwnedFd> {
    let name = std::ffi::CString::new(name).expect("names are literals without NUL");
    // SAFETY: the name is a valid C string; the returned descriptor is ours alone.
    let mut file = unsafe {
        let raw = libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC);
        if raw == -1 {
            return Err(io::Error::last_os_error());
        }
        File::from_raw_fd(raw)
    };
    file.write_all(bytes)?;
    file.rewind()?;
    if file.as_raw_fd() > 2 {
        return Ok(file.into());
    }
    // SAFETY: duplicates a descriptor that is open; the result is ours alone.
    unsafe {
        match libc::fcntl(file.as_raw_fd(), libc::F_DUPFD_CLOEXEC, 10) {
            -1 => Err(io::Error::last_os_error()),
            raw => Ok(OwnedFd::from_raw_fd(raw)),
        }
    }
}

/// Puts a guard before bubblewrap and gives bubblewrap limits and no descriptors but `passed`.
///
/// `--die-with-parent` alone is not enough: bubblewrap asks for its parent-death signals only once its
/// processes run, so an app that is killed while a sandbox starts would leave the sandbox behind.
#[expect(unsafe_code, reason = "pre_exec: only system calls are made between fork and exec")]
fn enter(command: &mut Command, passed: Vec<RawFd>) {
    guard(command, Terminal::None);
    // SAFETY: runs after the guard's closure, in the process that becomes bubblewrap. It makes system
    // calls only, on that process; `passed` was allocated before the fork and is only read.
    unsafe {
        command.pre_exec(move || {
            lower(libc::RLIMIT_FSIZE, 10 << 30);
            lower(libc::RLIMIT_NOFILE, 4096);
            for descriptor in &passed {
                if libc::fcntl(*descriptor, libc::F_SETFD, 0) == -1 {
                    return Err(io::Error::last_os_error());
                }
            }
            Ok(())
        });
    }
}

/// Lowers both limits of a resource to at most `most`; never raises them.
#[expect(unsafe_code, reason = "system calls without a safe wrapper")]
fn lower(resource: libc::__rlimit_resource_t, most: libc::rlim_t) {
    // SAFETY: reads and writes a limit of the calling process.
    unsafe {
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        if libc::getrlimit(resource, &mut limit) == 0 {
            limit.rlim_max = limit.rlim_max.min(most);
            limit.rlim_cur = limit.rlim_cur.min(limit.rlim_max);
            libc::setrlimit(resource, &limit);
        }
    }
}

/// Refuses a program that someone else could have replaced or that gains privileges.
fn check_program(bwrap: &Path) -> Result<(), String> {
    let Ok(found) = std::fs::symlink_metadata(bwrap) else {
        return Err(format!(
            "{} is missing. Install the package `bubblewrap` and start Cairn again",
            bwrap.display()
        ));
    };
    let mode = found.permissions().mode();
    if !found.is_file() || mode & 0o111 == 0 {
        return Err(format!("{} is not a program", bwrap.display()));
    }
    if mode & 0o6000 != 0 {
        return Err(format!(
            "{} runs with the rights of its owner (setuid), which Cairn does not use",
            bwrap.display()
        ));
    }
    if found.uid() != 0 || mode & 0o022 != 0 {
        return Err(format!("{} can be changed by others than root", bwrap.display()));
    }
    Ok(())
}

fn check_version(bwrap: &Path) -> Result<(), String> {
    let output = Command::new(bwrap)
        .arg("--version")
        .env_clear()
        .current_dir("/")
        .stdin(std::process::Stdio::null())
        .output()
        .map_err(|error| format!("{} does not start: {error}", bwrap.display()))?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    match version(&text) {
        Some(found) if found >= OLDEST => Ok(()),
        Some(_) => Err(format!("{text} is too old; Cairn needs 0.8.0 or later")),
        None => Err(format!("{} does not say its version", bwrap.display())),
    }
}

/// Reads `bubblewrap 0.8.0`.
fn version(text: &str) -> Option<(u32, u32)> {
    let mut parts = text.strip_prefix("bubblewrap ")?.split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests;
