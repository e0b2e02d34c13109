//! The rules that "always, in this workspace" stored: one file a workspace, for the user only.
//!
//! A file that can't be read is an error, not an empty list: it may hold denials.

use std::path::{Path, PathBuf};

use cairn_protocol::{Rule, WorkspaceId};
use serde::{Deserialize, Serialize};

use crate::{Error, edit, files};

const HEADER: &str =
    "# What was decided with \"always\" in one workspace. Remove a rule to be asked again.\n\n";

#[derive(Serialize, Deserialize)]
struct RuleFile {
    v: u32,
    workspace: WorkspaceId,
    #[serde(default)]
    rules: Vec<Rule>,
}

const VERSION: u32 = 1;

fn path_of(root: &Path, workspace: &WorkspaceId) -> Result<PathBuf, Error> {
    let text = workspace.as_str();
    let good = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    if text.is_empty() || text.len() > 100 || !text.bytes().all(good) {
        return Err(Error::Invalid(format!("`{}` is not a workspace id", text.escape_debug())));
    }
    Ok(root.join("rules").join(format!("{text}.toml")))
}

/// Reads the rules of a workspace.
pub(crate) fn load(root: &Path, workspace: &WorkspaceId) -> Result<Vec<Rule>, Error> {
    let path = path_of(root, workspace)?;
    let Some(text) = files::read(&path)? else { return Ok(Vec::new()) };
    let damaged = |reason: String| Error::Damaged { path: path.clone(), reason };
    let document = edit::parse(&text).map_err(damaged)?;
    let file: RuleFile = edit::from_table(document.as_table()).map_err(damaged)?;
    if file.v > VERSION {
        return Err(damaged("a newer version of Cairn wrote it".to_owned()));
    }
    if file.workspace != *workspace {
        return Err(damaged("it belongs to another workspace".to_owned()));
    }
    Ok(file.rules)
}

/// Replaces the rules of a workspace. A damaged file is not replaced: its denials would be lost.
pub(crate) fn save(root: &Path, workspace: &WorkspaceId, rules: &[Rule]) -> Result<(), Error> {
    load(root, workspace)?;
    let file = RuleFile { v: VERSION, workspace: workspace.clone(), rules: rules.to_vec() };
    let text = toml_edit::ser::to_string_pretty(&file)
        .map_err(|error| Error::Invalid(format!("the rules can't be written: {error}")))?;
    files::write(&path_of(root, workspace)?, &format!("{HEADER}{text}"))
}
