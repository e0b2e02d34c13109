//! What the user can set, as data. Files are read and written in `cairn-config`.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{Mode, ModelRef, ShellPolicy};

/// The user's settings. Unknown fields of a newer version are kept in the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", default)]
pub struct Settings {
    /// The colours of the window.
    pub theme: Theme,
    /// Text size, 0.9 … 2.0.
    pub text_scale: f32,
    /// The mode of a new session. `auto` can't be a default.
    pub default_mode: Mode,
    /// The model of a new session.
    pub default_model: Option<ModelRef>,
    /// How shell commands are treated.
    pub shell_policy: ShellPolicy,
    /// Whether every approval goes through the native dialog (D-6).
    pub native_approvals: bool,
    /// Where turns are captured (D-2).
    pub snapshots: SnapshotMode,
    /// The most model requests in one turn (Z-8).
    pub max_iterations: u32,
    /// Milliseconds of silence after which a model request is ended (P-50); 0 for never.
    pub model_idle_timeout_ms: u64,
    /// How diffs are laid out.
    pub diff_layout: DiffLayout,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            theme: Theme::System,
            text_scale: 1.0,
            default_mode: Mode::Interactive,
            default_model: None,
            shell_policy: ShellPolicy::Approve,
            native_approvals: false,
            snapshots: SnapshotMode::Shadow,
            max_iterations: 800,
            model_idle_timeout_ms: 120_000,
            diff_layout: DiffLayout::Unified,
        }
    }
}

/// The colours of the window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Theme {
    /// As the system.
    #[default]
    System,
    /// Light.
    Light,
    /// Dark.
    Dark,
    /// Light, high contrast.
    HcLight,
    /// Dark, high contrast.
    HcDark,
}

/// Where turns are captured (D-2).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum SnapshotMode {
    /// Nowhere.
    Off,
    /// In a hidden repository outside the workspace.
    #[default]
    Shadow,
}

/// How diffs are laid out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum DiffLayout {
    /// One column.
    #[default]
    Unified,
    /// Old and new beside each other.
    Split,
}
