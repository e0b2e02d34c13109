//! Windows: commands are not confined, and the window says so; the policy makes every one ask
//! (security plan 3.5, design D-7).
//!
//! A restricted account with its own firewall rules is the plan; a half measure would be worse than
//! none, because people would rely on it.

use cairn_protocol::{SandboxBackend, SandboxState};

/// Returns the state of Windows: not enforced.
pub(crate) fn detect() -> SandboxState {
    SandboxState {
        backend: SandboxBackend::None,
        enforced: false,
        reason: "Commands are not confined on Windows, so each one asks before it runs.".to_owned(),
    }
}

/// Builds an unconfined command in its own process group, without a console window.
#[cfg(windows)]
pub(crate) fn prepare(request: &crate::LaunchRequest<'_>) -> crate::Launch {
    use std::os::windows::process::CommandExt;
    const CREATE_NEW_PROCESS_GROUP: u32 = 0x0000_0200;
    const CREATE_NO_WINDOW: u32 = 0x0800_0000;
    let mut command = std::process::Command::new(&request.argv[0]);
    command
        .args(&request.argv[1..])
        .env_clear()
        .envs(request.env.iter().map(|(name, value)| (name, value)))
        .current_dir(request.cwd)
        .creation_flags(CREATE_NEW_PROCESS_GROUP | CREATE_NO_WINDOW);
    crate::Launch { command, confined: false, tree: crate::Tree::Group, complete: true }
}
