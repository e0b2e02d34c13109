//! What confines a command, as data. `cairn-sandbox` makes the OS enforce it.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// What a command may reach.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum SandboxPolicy {
    /// Nothing confines it. Only after a native dialog.
    Unconfined,
    /// Only the workspace and a private temporary folder.
    Workspace {
        /// Whether the workspace may be written.
        access: WorkspaceAccess,
        /// What it may reach on the network.
        network: NetworkAccess,
    },
}

impl SandboxPolicy {
    /// The default: the workspace may be written, no network.
    pub const CONFINED: Self =
        Self::Workspace { access: WorkspaceAccess::Write, network: NetworkAccess::None };

    /// Returns whether the OS must enforce limits.
    pub fn is_confined(&self) -> bool {
        !matches!(self, Self::Unconfined)
    }
}

/// Whether a confined command may write the workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum WorkspaceAccess {
    /// Read only.
    Read,
    /// Read and write, protected paths read only.
    Write,
}

/// What a confined command may reach on the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum NetworkAccess {
    /// Nothing.
    None,
    /// Everything.
    Full,
}

/// What confines commands on this machine, as it really is (Z-55).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SandboxState {
    /// What does it.
    pub backend: SandboxBackend,
    /// Whether the self-test showed that it holds.
    pub enforced: bool,
    /// In one sentence: what is enforced, or why not and what to do.
    pub reason: String,
}

/// What confines commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum SandboxBackend {
    /// bubblewrap on Linux.
    Bubblewrap,
    /// sandbox-exec on macOS.
    Seatbelt,
    /// Nothing.
    None,
}
