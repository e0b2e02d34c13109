//! `replace_in_file`: one exact text for another (P-79).
//!
//! It works on bytes, so that a file that is not UTF-8 keeps every byte that is not replaced. There is no approximate match:
//! it would change what nobody named.

use std::time::Duration;

use cairn_protocol::ToolClass;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::diff::{Difference, compare};
use crate::edit::{EDIT_LIMIT_BYTES, Edit, Unread, look};
use crate::path::missing;
use crate::{Cut, Plan, Spec, TargetKind, Tool, ToolContext, arguments, resolve};

#[cfg(test)]
mod tests;

/// How many hunks of the diff the model reads.
const SHOWN_HUNKS: usize = 5;

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
struct Input {
    /// Path of an existing file, relative to the workspace or absolute.
    file_path: String,
    /// The exact text to replace, with its white space. It must occur exactly once, unless replace_all is true.
    old_string: String,
    /// The text to put in its place.
    new_string: String,
    /// Whether to replace every occurrence. Default false.
    replace_all: Option<bool>,
}

/// The tool.
pub(super) struct ReplaceInFile {
    spec: Spec,
}

impl ReplaceInFile {
    pub(super) fn new() -> Self {
        let spec = Spec {
            name: "replace_in_file",
            aliases: &["edit_file"],
            description: "Replaces an exact text in a file that you have read. Give enough of the surrounding lines for the text to occur \
                exactly once; leave out the line numbers of read_file.",
            class: ToolClass::WriteLocal,
            parameters: arguments::schema::<Input>(),
            timeout: Some(Duration::from_secs(30)),
            max_output_chars: 16_000,
            cut: Cut::Head,
        };
        Self { spec }
    }
}

impl Tool for ReplaceInFile {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn prepare(&self, arguments: &str, ctx: &ToolContext) -> Result<Plan, String> {
        let input: Input =
            arguments::parse(arguments, &self.spec.parameters, &[("path", "file_path")])?;
        if input.old_string.is_empty() {
            return Err("`old_string` is empty. To write a whole file, use write_file.".to_owned());
        }
        if input.old_string == input.new_string {
            return Err("`old_string` and `new_string` are the same.".to_owned());
        }
        let target = resolve(ctx, &input.file_path)?;
        if target.kind == TargetKind::Missing {
            return Err(missing(&target));
        }
        let Some(before) = look(ctx, &target, Unread::Refuse)? else {
            return Err(missing(&target));
        };
        let (old, new) = (input.old_string.as_bytes(), input.new_string.as_bytes());
        let places = occurrences(&before.content, old);
        if places.is_empty() {
            return Err(not_found(&input.file_path, &before.content, &input.old_string));
        }
        if places.len() > 1 && !input.replace_all.unwrap_or_default() {
            return Err(format!(
                "`old_string` occurs {} times in `{}`. Give more of the surrounding text, or set replace_all to true.",
                places.len(),
                input.file_path
            ));
        }
        let grown = before.content.len() + places.len() * new.len().saturating_sub(old.len());
        if grown as u64 > EDIT_LIMIT_BYTES {
            return Err("The file would become larger than 32 MiB.".to_owned());
        }
        let after = replaced(&before.content, &places, old.len(), new);
        let difference = compare(&target.label(), Some(&before.content), &after);
        let success = success(&input.file_path, places.len(), &difference);
        let edit =
            Edit { target, before: Some(before), after, difference, success, notes: Vec::new() };
        Ok(edit.plan("Edit", self.spec.timeout))
    }
}

/// Returns where `wanted` begins, from left to right, without overlaps.
fn occurrences(content: &[u8], wanted: &[u8]) -> Vec<usize> {
    memchr::memmem::find_iter(content, wanted).collect()
}

fn replaced(content: &[u8], places: &[usize], length: usize, new: &[u8]) -> Vec<u8> {
    let mut after = Vec::with_capacity(content.len() + places.len() * new.len());
    let mut from = 0;
    for &at in places {
        after.extend_from_slice(&content[from..at]);
        after.extend_from_slice(new);
        from = at + length;
    }
    after.extend_from_slice(&content[from..]);
    after
}

/// Says that nothing was found, and why it may be so.
fn not_found(path: &str, content: &[u8], wanted: &str) -> String {
    let base = format!("`old_string` occurs 0 times in `{path}`.");
    let crlf = wanted.replace("\r\n", "\n").replace('\n', "\r\n");
    if wanted.contains('\n') && !occurrences(content, crlf.as_bytes()).is_empty() {
        return format!(
            "{base} It would occur with CRLF line endings, which this file uses: write \\r\\n at the ends of lines."
        );
    }
    let lf = wanted.replace("\r\n", "\n");
    if lf != wanted && !occurrences(content, lf.as_bytes()).is_empty() {
        return format!("{base} It would occur with LF line endings, which this file uses.");
    }
    let squeeze = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    if squeeze(&String::from_utf8_lossy(content)).contains(&squeeze(wanted)) {
        return format!(
            "{base} It would occur with other white space: compare indentation and line ends."
        );
    }
    format!("{base} Read the file again; it may not hold what you expect.")
}

fn success(path: &str, count: usize, difference: &Difference) -> String {
    let times = if count == 1 { "1 occurrence".to_owned() } else { format!("{count} occurrences") };
    let mut text = format!("Replaced {times} in `{path}`.\n");
    for hunk in difference.hunks.iter().take(SHOWN_HUNKS) {
        text.push_str(hunk);
    }
    if difference.hunks.len() > SHOWN_HUNKS {
        text.push_str(&format!("and {} more\n", difference.hunks.len() - SHOWN_HUNKS));
    }
    text
}
