//! Makes the OS enforce what a command may reach: bubblewrap on Linux, seatbelt on macOS.
//!
//! It prepares a [`std::process::Command`] and never starts one itself, except for the self-test of
//! [`detect`]. It does not decide whether a command may run (`cairn-policy`), nor does it stream,
//! count or kill (`cairn-exec`). There is no fallback: when confinement is asked for and can't be
//! had, [`prepare`] fails and nothing runs (security plan, promise P08).
//!
//! Parent-death signals follow the *thread* that spawns, not the process: spawn a [`Launch`] from a
//! thread that lives as long as its commands may. `cairn-exec` keeps one for that.

mod environment;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(any(target_os = "macos", test))]
mod macos;
mod protected;
#[cfg(unix)]
mod unconfined;
#[cfg(any(windows, test))]
mod windows;

use std::ffi::OsString;
#[cfg(unix)]
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::Command;

use cairn_protocol::{SandboxPolicy, SandboxState};

pub use environment::child_environment;
pub use protected::{Protected, is_protected_name, protected_paths};
#[cfg(unix)]
pub use unconfined::{Terminal, guard};

/// Folders below the home folder that hold programs, not settings or keys. They stay visible,
/// read-only, to confined commands; the user is shown this list.
pub const TOOLCHAINS: &[&str] = &[
    ".asdf",
    ".bun/bin",
    ".cargo/bin",
    ".cargo/registry",
    ".deno/bin",
    ".nvm",
    ".pyenv",
    ".rbenv",
    ".rustup",
    ".sdkman",
    ".volta",
    "go/bin",
    "go/pkg/mod",
];

/// How preparing a command can fail. Nothing has run in any of these cases.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// This machine can't confine commands; the user reads why and what to do.
    #[error("the sandbox is not available: {0}")]
    Unavailable(String),
    /// This request can't be confined; another folder can.
    #[error("{0}")]
    Request(String),
    /// The OS refused a step of the preparation.
    #[error("could not prepare the sandbox")]
    Io(#[from] std::io::Error),
}

/// What to launch, and where.
#[derive(Debug, Clone, Copy)]
pub struct LaunchRequest<'a> {
    /// The folder that the command works in; absolute and canonical. Never taken from the model.
    pub workspace: &'a Path,
    /// The current folder of the command: in the workspace or in one of `writable`.
    pub cwd: &'a Path,
    /// The program and its arguments.
    pub argv: &'a [OsString],
    /// The whole environment, as [`child_environment`] made it.
    pub env: &'a [(OsString, OsString)],
    /// Further existing folders that a confined command may write.
    pub writable: &'a [PathBuf],
    /// The user's home folder: shown empty to a confined command, but for [`TOOLCHAINS`].
    pub home: Option<&'a Path>,
}

/// A command that is ready to be spawned.
#[derive(Debug)]
pub struct Launch {
    /// The command; its standard streams are still to be set. Can be spawned once.
    pub command: Command,
    /// Descriptors that the command names; keep them open until it is spawned.
    #[cfg(unix)]
    pub keep: Vec<OwnedFd>,
    /// Whether the OS confines it.
    pub confined: bool,
    /// What stands between the spawned process and the program.
    pub tree: Tree,
    /// Whether the search for protected paths saw the whole workspace. It is bounded, so that a
    /// huge workspace can't delay a command; shallow paths are always found first.
    pub complete: bool,
}

/// What the spawned process is, so that its tree can be ended the right way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tree {
    /// A guard, below it bubblewrap, below it the first process of a PID namespace, below it the program.
    /// End it as a guarded one.
    Namespace,
    /// A guard that adopts every orphan below it, with the program as its child. SIGTERM makes it
    /// kill everything below and then itself; SIGKILL would set the tree free, so don't.
    Guarded,
    /// The program itself, leading its own process group.
    Group,
}

/// Finds out what really confines commands on this machine, by a self-test with canaries.
///
/// Blocking, about 50 ms; the caller keeps the answer. Run it again when a command fails to start.
pub fn detect() -> SandboxState {
    #[cfg(target_os = "linux")]
    return linux::detect();
    #[cfg(target_os = "macos")]
    return macos::detect();
    #[cfg(windows)]
    return windows::detect();
    #[cfg(not(any(target_os = "linux", target_os = "macos", windows)))]
    return SandboxState {
        backend: cairn_protocol::SandboxBackend::None,
        enforced: false,
        reason: "Commands are not confined: Cairn knows no sandbox for this system.".to_owned(),
    };
}

/// Builds the command for a policy. Blocking: it looks for protected paths in the workspace.
///
/// # Errors
/// [`Error::Unavailable`] when confinement is asked for and can't be had here; it never falls back.
/// [`Error::Request`] when the folders of the request can't be confined.
pub fn prepare(policy: &SandboxPolicy, request: &LaunchRequest<'_>) -> Result<Launch, Error> {
    if request.argv.is_empty() {
        return Err(Error::Request("there is no program to run".to_owned()));
    }
    match policy {
        SandboxPolicy::Unconfined => Ok(prepare_unconfined(request)),
        SandboxPolicy::Workspace { access, network } => {
            check_folders(request)?;
            prepare_confined(*access, *network, request)
        }
    }
}

#[cfg(unix)]
fn prepare_unconfined(request: &LaunchRequest<'_>) -> Launch {
    unconfined::prepare(request)
}

#[cfg(windows)]
fn prepare_unconfined(request: &LaunchRequest<'_>) -> Launch {
    windows::prepare(request)
}

#[cfg(target_os = "linux")]
use linux::prepare as prepare_confined;
#[cfg(target_os = "macos")]
use macos::prepare as prepare_confined;

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn prepare_confined(
    _: cairn_protocol::WorkspaceAccess,
    _: cairn_protocol::NetworkAccess,
    _: &LaunchRequest<'_>,
) -> Result<Launch, Error> {
    Err(Error::Unavailable(detect().reason))
}

/// Refuses folders with which nothing would be hidden, and a current folder outside of them.
fn check_folders(request: &LaunchRequest<'_>) -> Result<(), Error> {
    let folders = std::iter::once(request.workspace).chain(request.writable.iter().map(|p| &**p));
    for folder in folders {
        if !folder.is_absolute() {
            return Err(Error::Request(format!("{} is not absolute", folder.display())));
        }
        let too_wide = folder.parent().is_none()
            || request.home.is_some_and(|home| home.starts_with(folder))
            || ["/proc", "/dev", "/sys"].iter().any(|special| folder.starts_with(special));
        if too_wide {
            return Err(Error::Request(format!(
                "{} can't be confined: the sandbox would hide nothing; use a folder inside it",
                folder.display()
            )));
        }
    }
    let inside = request.cwd.starts_with(request.workspace)
        || request.writable.iter().any(|folder| request.cwd.starts_with(folder));
    let climbs = request.cwd.components().any(|c| c == std::path::Component::ParentDir);
    if !inside || climbs {
        return Err(Error::Request(format!(
            "the current folder {} is outside the workspace",
            request.cwd.display()
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
