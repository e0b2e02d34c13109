//! Changes of a turn, plans and reports of a rollback, as data. The work is in `cairn-snapshot`.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{ChangeKind, Completeness, RestoreId, SessionId, SnapshotId, Timestamp, TurnId};

/// A path relative to the workspace, with `/`. Bytes that are not UTF-8 are written `\xNN`, a back-slash in a name
/// `\\`; see `cairn-snapshot` for the two conversions.
pub type RelativePath = String;

/// How much a turn changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ChangeSummary {
    /// Paths.
    pub files: u32,
    /// Lines added.
    pub added: u32,
    /// Lines removed.
    pub removed: u32,
}

/// One turn as the snapshot store knows it: the data of a stone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct TurnRecord {
    /// The turn.
    pub turn_id: TurnId,
    /// Its number in the session, from 1.
    pub number: u32,
    /// The state before it; absent when the capture failed.
    pub before: Option<SnapshotId>,
    /// The state after it; absent while it is open, or when the capture failed.
    pub after: Option<SnapshotId>,
    /// Open, closed, or left open by a crash.
    pub state: TurnState,
    /// How much of the workspace was captured.
    pub completeness: Completeness,
    /// What changed.
    pub summary: ChangeSummary,
    /// Which of its changes are still in the workspace.
    pub standing: Standing,
    /// When it began.
    pub started_at: Timestamp,
    /// When it was closed.
    pub ended_at: Option<Timestamp>,
}

/// Whether a turn was closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum TurnState {
    /// It runs.
    Open,
    /// It was captured after its work.
    Closed,
    /// The app died in it; what can be known is known.
    Crashed,
}

/// Which of a turn's changes still stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Standing {
    /// None was rolled back.
    Active,
    /// Some were.
    Partly {
        /// How many paths were rolled back.
        rolled_back: u32,
    },
    /// All were.
    RolledBack,
}

/// What changed in a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct TurnChanges {
    /// The turn.
    pub turn: TurnRecord,
    /// Each path, sorted.
    pub files: Vec<ChangedFile>,
    /// What was not captured, with the reason.
    pub skipped: Vec<SkippedPath>,
}

/// One changed path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ChangedFile {
    /// The path.
    pub path: RelativePath,
    /// What happened.
    pub kind: ChangeKind,
    /// Who changed it.
    pub source: ChangeSource,
    /// Where it was before, when it seems to be renamed. For the viewer only: a rollback has both paths.
    pub renamed_from: Option<RelativePath>,
    /// Lines added; 0 for binary content.
    pub added: u32,
    /// Lines removed; 0 for binary content.
    pub removed: u32,
    /// Whether one side is binary.
    pub binary: bool,
    /// Bytes before.
    pub old_size: Option<u64>,
    /// Bytes after.
    pub new_size: Option<u64>,
    /// Whether it was rolled back since.
    pub rolled_back: bool,
}

/// Who changed a path in a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ChangeSource {
    /// A file tool of the agent.
    Agent,
    /// A command of the agent, while it ran.
    Shell,
    /// The user or another program, meanwhile. Not rolled back by default.
    Outside,
}

/// A path that a capture left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SkippedPath {
    /// The path.
    pub path: RelativePath,
    /// Why, for a person.
    pub reason: String,
}

/// The difference of one path between two states.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct FileDiff {
    /// The path.
    pub path: RelativePath,
    /// What happened.
    pub kind: ChangeKind,
    /// Octal mode before, such as `100644`.
    pub old_mode: Option<String>,
    /// Octal mode after.
    pub new_mode: Option<String>,
    /// The content difference.
    pub content: DiffContent,
}

/// The content difference of one path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum DiffContent {
    /// Both sides are text.
    Text {
        /// Hunks with 3 lines of context, in order.
        hunks: Vec<DiffHunk>,
        /// Whether more lines follow that were left out (page by `from_hunk`).
        truncated: bool,
    },
    /// One side is binary, or too large to compare by lines.
    Binary {
        /// Why there is no text, for a person.
        reason: String,
    },
    /// The content was not kept, so it can't be shown.
    Missing {
        /// Why.
        reason: String,
    },
}

/// A run of changed lines with context.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct DiffHunk {
    /// First line on the old side, from 1; 0 when that side is empty.
    pub old_start: u32,
    /// First line on the new side, from 1; 0 when that side is empty.
    pub new_start: u32,
    /// The nearest line above that looks like a heading, for the hunk's title; may be empty.
    pub heading: String,
    /// Its lines, in order.
    pub lines: Vec<DiffLine>,
}

/// One line of a hunk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct DiffLine {
    /// Which side it is on.
    pub kind: LineKind,
    /// Its number on the old side, from 1.
    pub old: Option<u32>,
    /// Its number on the new side, from 1.
    pub new: Option<u32>,
    /// Its text in runs: each is marked when it is what changed within the line. No line end.
    pub runs: Vec<LineRun>,
    /// Whether the file ends here without a line end.
    pub no_newline: bool,
}

/// Which side a line is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum LineKind {
    /// On both.
    Context,
    /// On the new one.
    Added,
    /// On the old one.
    Removed,
}

/// A run of text in a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct LineRun {
    /// The text.
    pub text: String,
    /// Whether it is what changed within the line.
    pub changed: bool,
}

/// Which state a rollback leads to (D-5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum RestoreTarget {
    /// Before this turn: takes back this turn and the later ones.
    Before,
    /// After this turn: takes back the later ones.
    After,
    /// Takes back only this turn and keeps later work.
    Revert,
}

/// What is to be rolled back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RestoreRequest {
    /// The session.
    pub session_id: SessionId,
    /// The turn.
    pub turn_id: TurnId,
    /// Which state.
    pub target: RestoreTarget,
    /// Only these paths; absent means all.
    #[serde(default)]
    pub paths: Option<Vec<RelativePath>>,
    /// Paths where the snapshot's version is to win over the user's. Every other conflict keeps the user's.
    #[serde(default)]
    pub take_snapshot: Vec<RelativePath>,
}

/// What a rollback would do; nothing has been touched yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RestorePlan {
    /// What was asked for.
    pub request: RestoreRequest,
    /// Hash over the plan and the present state of its paths. A confirmation must carry it; when anything moved
    /// since, the restore is refused as stale.
    pub token: String,
    /// One per path, sorted.
    pub steps: Vec<RestoreStep>,
    /// What can't be rolled back because it was not captured.
    pub not_covered: Vec<SkippedPath>,
}

/// What happens to one path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RestoreStep {
    /// The path.
    pub path: RelativePath,
    /// What happens.
    pub action: RestoreAction,
    /// Why, where it is not obvious.
    pub note: Option<String>,
    /// Lines that come back.
    pub added: u32,
    /// Lines that go.
    pub removed: u32,
}

/// What happens to a path in a rollback.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum RestoreAction {
    /// Its content or mode is put back.
    TakenBack,
    /// It was deleted and is made again.
    CreatedAgain,
    /// The turn made it; it is deleted.
    Deleted,
    /// Your later edit and the rollback fit together.
    Merged,
    /// You changed it since; yours is kept.
    KeptYours,
    /// It is as wanted already.
    Unchanged,
}

/// What a rollback did. A restore is a recorded step of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct RestoreReport {
    /// Names the restore.
    pub restore_id: RestoreId,
    /// The session.
    pub session_id: SessionId,
    /// The turn.
    pub turn_id: TurnId,
    /// Which state was asked for; absent when this brings back an earlier restore.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub target: Option<RestoreTarget>,
    /// The restore that this one takes back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub undoes: Option<RestoreId>,
    /// `exact`, or each difference.
    pub outcome: RestoreOutcome,
    /// What was done, one per path, sorted.
    pub steps: Vec<RestoreStep>,
    /// What could not be rolled back because it was not captured.
    pub not_covered: Vec<SkippedPath>,
    /// The state before the restore, from which it can be undone.
    pub safety: SnapshotId,
    /// When it was done.
    pub at: Timestamp,
}

/// Whether a rollback came out as planned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum RestoreOutcome {
    /// Every path was read again and is equal to what was wanted.
    Exact,
    /// All but these.
    Differences {
        /// Each path with what is different.
        paths: Vec<SkippedPath>,
    },
}

/// A restore as the timeline shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RestoreRecord {
    /// What it did.
    pub report: RestoreReport,
    /// The restore that took this one back.
    pub undone_by: Option<RestoreId>,
}
