//! Terminals of the window, as data. The PTYs are in `cairn-exec`.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{TerminalId, WorkspaceId};

/// A terminal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct TerminalSummary {
    /// Names it.
    pub id: TerminalId,
    /// The workspace that it was opened in.
    pub workspace_id: WorkspaceId,
    /// The shell's name, such as `bash`.
    pub title: String,
    /// Whether the shell still runs.
    pub state: TerminalState,
}

/// Whether a terminal's shell runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum TerminalState {
    /// It runs.
    Running,
    /// It ended.
    Exited {
        /// Its exit code, where it had one.
        code: Option<i32>,
    },
}

/// The size of a terminal in cells: 1 … 1000 each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct TerminalSize {
    /// Columns.
    pub cols: u16,
    /// Rows.
    pub rows: u16,
}
