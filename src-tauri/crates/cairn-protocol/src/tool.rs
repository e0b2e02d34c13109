//! What a tool is, what a call will do, and what it did.
//!
//! The tools themselves are in `cairn-tools`; whether a call may run is decided in `cairn-policy`.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use crate::{SandboxPolicy, TaskId};

/// A tool as the model is offered it (P-15, P-68).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct ToolDefinition {
    /// The name: letters, digits, `_` and `-`.
    pub name: String,
    /// What the model reads about it.
    pub description: String,
    /// JSON Schema of the arguments: an object without `$ref`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "unknown")]
    pub parameters: Option<Value>,
}

/// What a tool may do at most (Z-28). The policy decides by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ToolClass {
    /// Reads files or state; permission `r`.
    Read,
    /// Writes files in the workspace.
    WriteLocal,
    /// Runs a command.
    Execute,
    /// Talks to the outside.
    External,
    /// Asks the user; has no effect of its own.
    Interactive,
    /// Changes the session's own state only, such as the task list.
    State,
}

/// What one call is about to do. Made by the tool from its arguments, read by the policy and the card.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct CallEffects {
    /// The most that the call may do.
    pub class: ToolClass,
    /// One line for a person, such as `Edit src/main.rs`.
    pub title: String,
    /// Files and folders that it reads.
    pub reads: Vec<ResolvedPath>,
    /// Files that it writes, creates or deletes.
    pub writes: Vec<PlannedWrite>,
    /// The command that it runs.
    pub command: Option<PlannedCommand>,
}

/// A path as it was named, and what it really is: links followed, missing parents resolved.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ResolvedPath {
    /// As the model named it.
    pub requested: String,
    /// Absolute, canonical: every existing component resolved, the missing rest appended.
    pub real: String,
    /// Relative to the workspace root with `/`, when it is inside it or is the root itself (`.`).
    pub relative: Option<String>,
}

/// One file that a call will write.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct PlannedWrite {
    /// The file.
    pub path: ResolvedPath,
    /// What happens to it.
    pub kind: ChangeKind,
    /// SHA-256 of what is there now, hex; absent when nothing is there. Checked again before the write.
    pub before_sha256: Option<String>,
    /// The change as a unified diff, whole, when both sides are text.
    pub diff: Option<String>,
    /// Lines added.
    pub added: u32,
    /// Lines removed.
    pub removed: u32,
}

/// What happens to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// It is new.
    Created,
    /// Its content changes.
    Modified,
    /// It goes.
    Deleted,
    /// Only its mode changes.
    ModeChanged,
    /// It turns into another kind: file, link or folder.
    KindChanged,
}

/// A command that a call will run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct PlannedCommand {
    /// The shell text, byte for byte as it will run.
    pub command: String,
    /// Where it runs.
    pub cwd: ResolvedPath,
    /// After how long it is ended; absent means never.
    pub timeout_ms: Option<u64>,
    /// Whether it goes on after the call returns.
    pub background: bool,
}

/// How a call runs once it is approved: chosen by the policy, carried out by the tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct CallGrant {
    /// What confines the commands of this call.
    pub sandbox: SandboxPolicy,
}

/// Facts about a finished call for the window; the model does not read them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct ToolDetails {
    /// How long it ran.
    pub duration_ms: u64,
    /// The exit code of its command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub exit_code: Option<i32>,
    /// A short count for the card, such as `312 lines` or `14 matches`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub summary: Option<String>,
    /// The files that it changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<FileEdit>>")]
    pub edits: Vec<FileEdit>,
    /// The background command that it started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub task_id: Option<TaskId>,
    /// Whether the command was really confined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub confined: Option<bool>,
    /// Where the whole output was kept, when it was too long for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub archive: Option<String>,
}

/// One edit that a file tool made: the mark from which the snapshot knows the agent's own changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct FileEdit {
    /// Relative to the workspace, with `/`.
    pub path: String,
    /// What happened.
    pub kind: ChangeKind,
    /// Lines added.
    pub added: u32,
    /// Lines removed.
    pub removed: u32,
}

/// One task of the model's own list (Z-42).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct TodoItem {
    /// Names the task within the list.
    pub id: String,
    /// What is to do.
    pub text: String,
    /// How far it is.
    pub status: TodoStatus,
}

/// How far a task is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum TodoStatus {
    /// Not begun.
    Pending,
    /// Being done; at most one.
    InProgress,
    /// Done.
    Done,
}
