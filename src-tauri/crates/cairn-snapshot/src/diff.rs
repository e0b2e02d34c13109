//! The difference of one path as hunks, with what changed inside a line marked.
//!
//! It compares bytes and shows text: bytes that are not UTF-8 are shown as replacement characters.

use std::time::{Duration, Instant};

use cairn_protocol::{
    DiffContent, DiffHunk, DiffLine, FileDiff, LineKind, LineRun, SessionId, TurnId,
};
use similar::{ChangeTag, DiffOp, TextDiff};

use crate::error::{Error, Result};
use crate::inner::Inner;
use crate::item::{Item, Kind};
use crate::merge::is_binary;
use crate::{changes, names};

/// Lines of context around a change.
const CONTEXT: usize = 3;
/// Larger sides are not compared by lines, in bytes.
const SIDE_LIMIT: usize = 5 << 20;
/// A page ends after this many hunks or lines: about what a window can lay out at once.
const PAGE_HUNKS: usize = 400;
const PAGE_LINES: usize = 20_000;
/// After this long the rest of two very different files counts as replaced.
const PATIENCE: Duration = Duration::from_secs(2);
/// The same for marks inside of lines, for a whole page.
const MARK_PATIENCE: Duration = Duration::from_millis(500);
/// Longer lines get no marks, in bytes.
const MARK_LIMIT: usize = 2000;

fn lines(content: &[u8]) -> Vec<&[u8]> {
    content.split_inclusive(|byte| *byte == b'\n').collect()
}

/// Returns the number of lines added and removed; `None` for binary or too large content.
pub(crate) fn line_counts(old: &[u8], new: &[u8]) -> Option<(u32, u32)> {
    if is_binary(old) || is_binary(new) || old.len() > SIDE_LIMIT || new.len() > SIDE_LIMIT {
        return None;
    }
    let (old, new) = (lines(old), lines(new));
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    if old.is_empty() || new.is_empty() {
        return Some((count(new.len()), count(old.len())));
    }
    let diff = TextDiff::configure().timeout(PATIENCE).diff_slices(&old, &new);
    let (mut added, mut removed) = (0, 0);
    for op in diff.ops() {
        if !matches!(op, DiffOp::Equal { .. }) {
            added += op.new_range().len();
            removed += op.old_range().len();
        }
    }
    Some((count(added), count(removed)))
}

/// Compares two contents from a hunk on.
pub(crate) fn compare(old: &[u8], new: &[u8], from_hunk: usize) -> DiffContent {
    if is_binary(old) || is_binary(new) {
        return DiffContent::Binary { reason: "binary content".to_owned() };
    }
    if old.len() > SIDE_LIMIT || new.len() > SIDE_LIMIT {
        return DiffContent::Binary { reason: "larger than 5 MiB".to_owned() };
    }
    let (old, new) = (lines(old), lines(new));
    let diff = TextDiff::configure().timeout(PATIENCE).diff_slices(&old, &new);
    let deadline = Instant::now() + MARK_PATIENCE;
    let mut hunks = Vec::new();
    let mut shown = 0;
    let mut truncated = false;
    for group in diff.grouped_ops(CONTEXT).into_iter().skip(from_hunk) {
        if hunks.len() >= PAGE_HUNKS || shown >= PAGE_LINES {
            truncated = true;
            break;
        }
        let hunk = hunk(&diff, &group, &old, deadline);
        shown += hunk.lines.len();
        hunks.push(hunk);
    }
    DiffContent::Text { hunks, truncated }
}

fn hunk(
    diff: &TextDiff<'_, '_, [u8]>,
    group: &[DiffOp],
    old: &[&[u8]],
    deadline: Instant,
) -> DiffHunk {
    let start = |range: std::ops::Range<usize>, total: usize| {
        if total == 0 { 0 } else { number(range.start) }
    };
    let first = group.first().map_or((0..0, 0..0), |op| (op.old_range(), op.new_range()));
    let mut lines = Vec::new();
    for op in group {
        let long = op.old_range().chain(op.new_range()).count() > 400;
        let plain = matches!(op, DiffOp::Equal { .. }) || long || Instant::now() > deadline;
        if plain {
            lines.extend(diff.iter_changes(op).map(|change| {
                line(
                    change.tag(),
                    change.old_index(),
                    change.new_index(),
                    &[(false, change.value())],
                )
            }));
        } else {
            let marked = diff.iter_inline_changes_deadline(op, Some(deadline));
            lines.extend(marked.map(|change| {
                line(change.tag(), change.old_index(), change.new_index(), change.values())
            }));
        }
    }
    DiffHunk {
        heading: heading(old, first.0.start),
        old_start: start(first.0, diff.old_len()),
        new_start: start(first.1, diff.new_len()),
        lines,
    }
}

fn number(index: usize) -> u32 {
    u32::try_from(index + 1).unwrap_or(u32::MAX)
}

fn line(
    tag: ChangeTag,
    old: Option<usize>,
    new: Option<usize>,
    values: &[(bool, &[u8])],
) -> DiffLine {
    let kind = match tag {
        ChangeTag::Equal => LineKind::Context,
        ChangeTag::Insert => LineKind::Added,
        ChangeTag::Delete => LineKind::Removed,
    };
    let no_newline = values.last().is_none_or(|(_, value)| !value.ends_with(b"\n"));
    let length: usize = values.iter().map(|(_, value)| value.len()).sum();
    let mut runs: Vec<LineRun> = Vec::new();
    for (at, (changed, value)) in values.iter().enumerate() {
        let last = at + 1 == values.len();
        let value = if last { value.strip_suffix(b"\n").unwrap_or(value) } else { value };
        let text = String::from_utf8_lossy(value);
        let changed = *changed && length <= MARK_LIMIT;
        match runs.last_mut() {
            Some(run) if run.changed == changed => run.text.push_str(&text),
            _ if text.is_empty() => {}
            _ => runs.push(LineRun { text: text.into_owned(), changed }),
        }
    }
    DiffLine { kind, old: old.map(number), new: new.map(number), runs, no_newline }
}

/// The nearest line above that starts at the margin, as Git titles a hunk.
fn heading(old: &[&[u8]], before: usize) -> String {
    let begins = |line: &&&[u8]| {
        line.first()
            .is_some_and(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'$' | b'#'))
    };
    let line = old[..before.min(old.len())].iter().rev().take(2000).find(begins);
    line.map_or_else(String::new, |line| {
        String::from_utf8_lossy(line).trim_end().chars().take(80).collect()
    })
}

impl Inner {
    pub(crate) fn diff(
        &mut self,
        session: &SessionId,
        turn: &TurnId,
        path: &str,
        from_hunk: u32,
    ) -> Result<FileDiff> {
        let bytes = names::from_text(path)
            .ok_or_else(|| Error::Invalid(format!("{path} is not a path of the workspace")))?;
        let meta = self.turn_of(session, turn)?;
        let effect = meta.effects.iter().find(|effect| effect.path == bytes);
        let effect =
            effect.ok_or_else(|| Error::NotFound(format!("a change of {path} in turn {turn}")))?;
        let (before, after) = (effect.before(), effect.after());
        let kind = changes::kind(before, after)
            .ok_or_else(|| Error::NotFound(format!("a change of {path}")))?;
        Ok(FileDiff {
            path: path.to_owned(),
            kind,
            old_mode: before.map(mode),
            new_mode: after.map(mode),
            content: self.content(before, after, from_hunk)?,
        })
    }

    fn content(
        &self,
        before: Option<Item>,
        after: Option<Item>,
        from_hunk: u32,
    ) -> Result<DiffContent> {
        let mut sides = [Vec::new(), Vec::new()];
        for (side, item) in sides.iter_mut().zip([before, after]) {
            let Some(item) = item.filter(|item| item.kind != Kind::Dir) else { continue };
            if item.size > SIDE_LIMIT as u64 {
                return Ok(DiffContent::Binary { reason: "larger than 5 MiB".to_owned() });
            }
            match self.objects.read(item.oid)? {
                Some(content) => *side = content,
                None => {
                    return Ok(DiffContent::Missing {
                        reason: "its content was not kept".to_owned(),
                    });
                }
            }
        }
        Ok(compare(&sides[0], &sides[1], usize::try_from(from_hunk).unwrap_or(usize::MAX)))
    }
}

fn mode(item: Item) -> String {
    match item.kind {
        Kind::File => format!("100{:03o}", item.mode),
        Kind::Link => "120000".to_owned(),
        Kind::Dir => format!("040{:03o}", item.mode),
    }
}

#[cfg(test)]
mod tests;
