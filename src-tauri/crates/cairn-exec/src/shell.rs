//! Which shell runs a command (P-87), and which one a terminal opens.
//!
//! It looks at which programs exist, never at the environment of the app.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// A shell for commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shell {
    /// Absolute.
    pub program: PathBuf,
    /// Its short name, which the model is told.
    pub name: String,
}

/// Returns the shell that runs commands here: bash, else the plainest one there is.
pub fn command_shell() -> Shell {
    let program = candidates().into_iter().find(|path| is_program(path));
    let program = program.unwrap_or_else(|| fallback().to_owned());
    let name = program.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Shell { program, name }
}

#[cfg(not(windows))]
fn candidates() -> Vec<PathBuf> {
    ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/run/current-system/sw/bin/bash"]
        .iter()
        .map(PathBuf::from)
        .collect()
}

/// The bash of Git for Windows; never the one in the system folder, which starts WSL.
#[cfg(windows)]
fn candidates() -> Vec<PathBuf> {
    [
        r"C:\Program Files\Git\bin\bash.exe",
        r"C:\Program Files (x86)\Git\bin\bash.exe",
        r"C:\Program Files\PowerShell\7\pwsh.exe",
    ]
    .iter()
    .map(PathBuf::from)
    .collect()
}

#[cfg(not(windows))]
fn fallback() -> &'static Path {
    Path::new("/bin/sh")
}

#[cfg(windows)]
fn fallback() -> &'static Path {
    Path::new(r"C:\Windows\System32\WindowsPowerShell\v1.0\powershell.exe")
}

/// Returns program and arguments for a command text.
///
/// Outside of the sandbox it is a login shell, so that the user's `PATH` additions count. Inside,
/// the home folder is empty and there is nothing to log in to.
pub(crate) fn arguments(command: &str, confined: bool) -> Vec<OsString> {
    let shell = command_shell();
    let options: &[&str] = match (shell.name.as_str(), confined) {
        ("pwsh" | "powershell", _) => &["-NoLogo", "-NoProfile", "-Command"],
        (_, true) => &["-c"],
        (_, false) => &["-l", "-c"],
    };
    let mut list = vec![shell.program.into_os_string()];
    list.extend(options.iter().map(OsString::from));
    list.push(command.into());
    list
}

/// Returns the user's shell for a terminal: `SHELL` of `env` when it is one, else the command shell.
pub(crate) fn terminal_shell(env: &[(OsString, OsString)]) -> PathBuf {
    let named = env.iter().find(|(name, _)| name == "SHELL").map(|(_, value)| PathBuf::from(value));
    let is_shell = |path: &PathBuf| {
        let name = path.file_name().unwrap_or(OsStr::new(""));
        path.is_absolute() && is_program(path) && name != "nologin" && name != "false"
    };
    named.filter(is_shell).unwrap_or_else(|| command_shell().program)
}

fn is_program(path: &Path) -> bool {
    let Ok(found) = std::fs::metadata(path) else { return false };
    #[cfg(unix)]
    let executable = std::os::unix::fs::PermissionsExt::mode(&found.permissions()) & 0o111 != 0;
    #[cfg(not(unix))]
    let executable = true;
    found.is_file() && executable
}

#[cfg(test)]
mod tests;
