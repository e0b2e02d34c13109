//! What a tool is given: the folders, the shared state of its session, and the way back to the session.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use cairn_exec::Commands;
use cairn_protocol::{TodoItem, ToolCallId};

use crate::{PathLocks, ReadLedger};

/// The session, as far as a tool may reach it. The engine implements it.
#[async_trait]
pub trait SessionPort: Send + Sync {
    /// Puts a question to the user and waits for the answer; `None` means that the user declined (Z-39).
    async fn ask(&self, call: &ToolCallId, question: AskUser) -> Option<Vec<String>>;

    /// Replaces the session's task list (Z-42).
    async fn set_todos(&self, items: Vec<TodoItem>);

    /// Makes sure that what is at `path` can be brought back. An error means that the edit must not run.
    async fn before_edit(&self, path: &Path) -> Result<(), String>;

    /// Says that an edit of `path` is over, whether it succeeded or not.
    async fn after_edit(&self, path: &Path);
}

/// A question to the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskUser {
    /// What is asked.
    pub question: String,
    /// Answers to choose from; may be empty when text is allowed.
    pub options: Vec<String>,
    /// Whether the user may type an answer.
    pub allow_text: bool,
    /// Whether several options may be chosen.
    pub multi: bool,
}

/// The folders and the shared state of one session.
#[derive(Clone)]
pub struct ToolContext {
    /// The workspace, absolute and canonical.
    pub workspace: PathBuf,
    /// The session's own folder for spilled output. It need not exist.
    pub scratch: PathBuf,
    /// The user's home folder, for `~`.
    pub home: Option<PathBuf>,
    /// The app's own folder.
    pub data_root: PathBuf,
    /// The session's commands.
    pub commands: Arc<Commands>,
    /// What the model has read (Z-31).
    pub ledger: Arc<ReadLedger>,
    /// One edit at a time on a file (G-9).
    pub locks: Arc<PathLocks>,
    /// The environment of commands.
    pub env: Vec<(OsString, OsString)>,
}
