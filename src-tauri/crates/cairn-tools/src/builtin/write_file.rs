//! `write_file`: a whole file, new or over what is there (P-80).

use std::time::Duration;

use cairn_protocol::ToolClass;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::diff::{Difference, compare, line_count};
use crate::edit::{Before, EDIT_LIMIT_BYTES, Edit, Unread, look};
use crate::{Cut, Plan, Spec, Tool, ToolContext, arguments, resolve};

#[cfg(test)]
mod tests;

/// A diff longer than this is told to the model as two numbers: it knows what it wrote.
const SHOWN_DIFF_LINES: usize = 60;

/// Nor is one shown over a longer old file.
const SHOWN_OLD_BYTES: usize = 1024 * 1024;

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
struct Input {
    /// Path of the file, relative to the workspace or absolute.
    file_path: String,
    /// The whole new content.
    content: String,
    /// Set to true to overwrite an existing file that you have not read. Default false.
    overwrite: Option<bool>,
}

/// The tool.
pub(super) struct WriteFile {
    spec: Spec,
}

impl WriteFile {
    pub(super) fn new() -> Self {
        let spec = Spec {
            name: "write_file",
            aliases: &[],
            description: "Writes a whole file and creates missing folders. To change a part of a file, use replace_in_file.",
            class: ToolClass::WriteLocal,
            parameters: arguments::schema::<Input>(),
            timeout: Some(Duration::from_secs(30)),
            max_output_chars: 16_000,
            cut: Cut::Head,
        };
        Self { spec }
    }
}

impl Tool for WriteFile {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn prepare(&self, arguments: &str, ctx: &ToolContext) -> Result<Plan, String> {
        let input: Input =
            arguments::parse(arguments, &self.spec.parameters, &[("path", "file_path")])?;
        if input.file_path.ends_with('/') {
            return Err(format!("`{}` names a folder, not a file.", input.file_path));
        }
        if input.content.len() as u64 > EDIT_LIMIT_BYTES {
            return Err("The content is larger than 32 MiB.".to_owned());
        }
        let target = resolve(ctx, &input.file_path)?;
        let unread =
            if input.overwrite.unwrap_or_default() { Unread::Overwrite } else { Unread::Refuse };
        let before = look(ctx, &target, unread).map_err(|text| {
            if text.contains("was not read") {
                format!("{text} Or set overwrite to true.")
            } else {
                text
            }
        })?;
        let after = input.content.into_bytes();
        let difference = compare(
            &target.label(),
            before.as_ref().map(|before| before.content.as_slice()),
            &after,
        );
        let success = success(&input.file_path, before.as_ref(), &after, &difference);
        let verb = if before.is_some() { "Overwrite" } else { "Create" };
        let edit = Edit { target, before, after, difference, success, notes: Vec::new() };
        Ok(edit.plan(verb, self.spec.timeout))
    }
}

fn success(path: &str, before: Option<&Before>, after: &[u8], difference: &Difference) -> String {
    let (lines, bytes) = (line_count(after), after.len());
    let Some(before) = before else {
        return format!("Created `{path}` ({lines} lines, {bytes} bytes).");
    };
    let head = format!("Overwrote `{path}` ({lines} lines, {bytes} bytes).");
    let diff = difference.hunks.concat();
    if difference.unified.is_some()
        && before.content.len() <= SHOWN_OLD_BYTES
        && diff.lines().count() <= SHOWN_DIFF_LINES
    {
        let diff =
            if diff.is_empty() { "The content is the same as before." } else { diff.as_str() };
        return format!("{head}\n{diff}");
    }
    format!("{head} +{}/-{} lines.", difference.added, difference.removed)
}
