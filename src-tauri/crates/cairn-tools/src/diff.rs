//! The difference of two texts, for the card, the record and the model. Bounded in time and size.

use std::time::Duration;

use similar::{ChangeTag, TextDiff};

#[cfg(test)]
mod tests;

/// The longest diff that a card shows; more can't be judged by reading.
const DIFF_LIMIT_BYTES: usize = 256 * 1024;

/// The longest text that is compared by lines.
const TEXT_LIMIT_BYTES: usize = 8 * 1024 * 1024;

/// After this time the comparison becomes coarse; it stays correct.
const PATIENCE: Duration = Duration::from_millis(500);

/// The difference of two contents.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Difference {
    /// Unified, three lines of context; absent when one side is not text or is too long.
    pub(crate) unified: Option<String>,
    /// The hunks of it, each with its header.
    pub(crate) hunks: Vec<String>,
    /// Lines added.
    pub(crate) added: u32,
    /// Lines removed.
    pub(crate) removed: u32,
}

/// Compares two contents under a name of one line; an absent one is a file that is not there.
pub(crate) fn compare(name: &str, before: Option<&[u8]>, after: &[u8]) -> Difference {
    let (Ok(old), Ok(new)) =
        (std::str::from_utf8(before.unwrap_or_default()), std::str::from_utf8(after))
    else {
        return by_count(before.unwrap_or_default(), after);
    };
    if old.len().max(new.len()) > TEXT_LIMIT_BYTES || old.contains('\0') || new.contains('\0') {
        return by_count(old.as_bytes(), new.as_bytes());
    }
    let diff = TextDiff::configure().timeout(PATIENCE).diff_lines(old, new);
    let (mut added, mut removed) = (0, 0);
    for change in diff.iter_all_changes() {
        match change.tag() {
            ChangeTag::Insert => added += 1,
            ChangeTag::Delete => removed += 1,
            ChangeTag::Equal => {}
        }
    }
    let mut unified = diff.unified_diff();
    unified.context_radius(3);
    let hunks: Vec<String> = unified.iter_hunks().map(|hunk| hunk.to_string()).collect();
    let name = name.trim_start_matches('/');
    let from = if before.is_some() { format!("a/{name}") } else { "/dev/null".to_owned() };
    let whole = format!("--- {from}\n+++ b/{name}\n{}", hunks.concat());
    Difference { unified: Some(capped(whole)), hunks, added, removed }
}

fn capped(mut diff: String) -> String {
    if diff.len() <= DIFF_LIMIT_BYTES {
        return diff;
    }
    let mut at = DIFF_LIMIT_BYTES;
    while !diff.is_char_boundary(at) {
        at -= 1;
    }
    let at = diff[..at].rfind('\n').map_or(at, |newline| newline + 1);
    let left_out = diff.len() - at;
    diff.truncate(at);
    diff.push_str(&format!("\\ The diff goes on for {left_out} bytes that are not shown here.\n"));
    diff
}

/// Counts lines where no diff is made: everything old goes, everything new comes.
fn by_count(before: &[u8], after: &[u8]) -> Difference {
    let lines = |bytes: &[u8]| u32::try_from(line_count(bytes)).unwrap_or(u32::MAX);
    if before == after {
        return Difference::default();
    }
    Difference { added: lines(after), removed: lines(before), ..Difference::default() }
}

/// Returns how many lines bytes have; an unfinished last line counts.
pub(crate) fn line_count(bytes: &[u8]) -> usize {
    let ends = bytes.iter().filter(|&&byte| byte == b'\n').count();
    ends + usize::from(bytes.last().is_some_and(|&byte| byte != b'\n'))
}
