//! A session's record: what a list shows and what outlives a run beside the messages (`state.json`).
//!
//! The file is replaced whole, never edited. Fields of a newer version are kept. When the file is lost or damaged,
//! `rebuild.rs` makes the record again from the trace.

use cairn_protocol::{
    Mode, ModelRef, QueuedInput, Rule, SessionId, Timestamp, TitleSource, TokenUsage, WorkspaceId,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::Error;
use crate::disk::{Disk, read_all, write_atomic};
use crate::layout::SessionLayout;

/// The version of the format that this code writes.
const VERSION: u64 = 1;

/// What is known about a session without its messages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionRecord {
    /// Names it.
    pub id: SessionId,
    /// Its workspace.
    pub workspace_id: WorkspaceId,
    /// Its title.
    pub title: String,
    /// Who gave the title.
    pub title_source: TitleSource,
    /// The model; absent until one is chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelRef>,
    /// The mode.
    pub mode: Mode,
    /// When it was made.
    pub created_at: Timestamp,
    /// When something last happened in it.
    pub last_active_at: Timestamp,
    /// Turns so far.
    #[serde(default)]
    pub turns: u32,
    /// Tokens so far.
    #[serde(default)]
    pub usage: TokenUsage,
    /// What "always, in this session" stored.
    #[serde(default)]
    pub rules: Vec<Rule>,
    /// Folders beside the workspace that the user opened to this session.
    #[serde(default)]
    pub granted_dirs: Vec<String>,
    /// What waits to be sent (P-115).
    #[serde(default)]
    pub queue: Vec<QueuedInput>,
    /// Why the last turn failed, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
}

/// What a state file is.
#[derive(Debug)]
pub(crate) enum State {
    /// There is none.
    Missing,
    /// It can't be read as a record.
    Damaged,
    /// It is sound.
    Record(Box<SessionRecord>),
}

pub(crate) fn load(disk: &dyn Disk, session: &SessionLayout) -> Result<State, Error> {
    let Some(bytes) = read_all(disk, &session.state())? else { return Ok(State::Missing) };
    let record = serde_json::from_slice::<SessionRecord>(&bytes).ok();
    // A folder that was copied under another name must not pass for the original.
    Ok(match record.filter(|record| record.id == session.id) {
        Some(record) => State::Record(Box::new(record)),
        None => State::Damaged,
    })
}

pub(crate) fn save(
    disk: &dyn Disk,
    session: &SessionLayout,
    record: &SessionRecord,
) -> Result<(), Error> {
    let path = session.state();
    let old = read_all(disk, &path)?
        .and_then(|bytes| serde_json::from_slice::<Map<String, Value>>(&bytes).ok())
        .unwrap_or_default();
    if old.get("v").and_then(Value::as_u64).is_some_and(|version| version > VERSION) {
        return Err(Error::Newer { path });
    }
    let unwritable = |error| Error::Invalid(format!("a session can't be written as JSON: {error}"));
    let Value::Object(fields) = serde_json::to_value(record).map_err(unwritable)? else {
        return Err(Error::Invalid("a session is not a JSON object".to_owned()));
    };
    let mut whole = Map::new();
    whole.insert("v".to_owned(), VERSION.into());
    whole.extend(fields);
    for (name, value) in old {
        // Optional fields of ours are absent on purpose; all else belongs to another version.
        if !matches!(name.as_str(), "model" | "lastError") {
            whole.entry(name).or_insert(value);
        }
    }
    let mut bytes = serde_json::to_vec_pretty(&Value::Object(whole)).map_err(unwritable)?;
    bytes.push(b'\n');
    write_atomic(disk, &path, &bytes)
}
