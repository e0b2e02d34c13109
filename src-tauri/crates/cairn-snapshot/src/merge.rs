//! The three-way rule for one path: what was before, what was after, what is now.
//!
//! Pure but for reading contents. Which paths and steps are asked about is in `plan.rs`.

use git2::{MergeFileInput, Oid};

use crate::error::Result;
use crate::item::{Item, Kind};

/// Larger files are not merged, only compared, in bytes.
const MERGE_LIMIT: usize = 8 << 20;

/// What becomes of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is as wanted.
    Same,
    /// It becomes this.
    Becomes(Option<Item>),
    /// Both changes fit together: this content with this mode.
    Merged { content: Vec<u8>, mode: u32 },
    /// The present state stays, for this reason.
    Keep(&'static str),
}

/// Reads the content of a blob; `None` when it was not kept.
pub(crate) type Read<'a> = dyn FnMut(Oid) -> Result<Option<Vec<u8>>> + 'a;

/// Takes the step from `before` to `after` back at a path that is `now`.
pub(crate) fn take_back(
    before: Option<Item>,
    after: Option<Item>,
    now: Option<Item>,
    read: &mut Read<'_>,
) -> Result<Verdict> {
    if now == before {
        return Ok(Verdict::Same);
    }
    if now == after {
        return Ok(Verdict::Becomes(before));
    }
    Ok(match (before, after, now) {
        (Some(b), Some(a), Some(n))
            if b.kind == Kind::File && a.kind == Kind::File && n.kind == Kind::File =>
        {
            return files(b, a, n, read);
        }
        (Some(b), Some(a), Some(n))
            if b.kind == Kind::Dir && a.kind == Kind::Dir && n.kind == Kind::Dir =>
        {
            match mode(b.mode, a.mode, n.mode) {
                Some(mode) if mode != n.mode => Verdict::Becomes(Some(Item { mode, ..n })),
                Some(_) => Verdict::Same,
                None => Verdict::Keep("you changed its mode since"),
            }
        }
        (None, Some(a), Some(n)) if a.kind == Kind::Dir && n.kind == Kind::Dir => {
            Verdict::Becomes(None)
        }
        (Some(b), None, Some(n)) if b.kind == Kind::Dir && n.kind == Kind::Dir => Verdict::Same,
        (None, Some(a), Some(n)) if a.same_content(&n) => {
            Verdict::Keep("you changed the mode of a file the agent made")
        }
        (None, Some(_), Some(_)) => Verdict::Keep("you changed what the agent made"),
        (Some(_), None, Some(_)) => Verdict::Keep("you made something new there"),
        (Some(_), Some(_), None) => Verdict::Keep("you deleted it"),
        (Some(b), Some(a), Some(n)) if b.kind != n.kind || a.kind != n.kind => {
            Verdict::Keep("it is of another kind now")
        }
        _ => Verdict::Keep("you changed it since"),
    })
}

fn mode(before: u32, after: u32, now: u32) -> Option<u32> {
    if now == after {
        Some(before)
    } else if now == before || after == before {
        Some(now)
    } else {
        None
    }
}

fn files(b: Item, a: Item, n: Item, read: &mut Read<'_>) -> Result<Verdict> {
    // A mode that both sides changed stays the user's; the content is decided by itself.
    let mode = mode(b.mode, a.mode, n.mode).unwrap_or(n.mode);
    if n.oid == a.oid || n.oid == b.oid || a.oid == b.oid {
        let content = if n.oid == a.oid { b } else { n };
        let wanted = Item { mode, ..content };
        return Ok(if wanted == n { Verdict::Same } else { Verdict::Becomes(Some(wanted)) });
    }
    let (Some(base), Some(ours), Some(theirs)) = (read(a.oid)?, read(n.oid)?, read(b.oid)?) else {
        return Ok(Verdict::Keep("you changed it since, and the earlier content was not kept"));
    };
    Ok(match text(&base, &ours, &theirs)? {
        Some(content) => Verdict::Merged { content, mode },
        None => Verdict::Keep("you changed the same place since"),
    })
}

/// Tells whether content is shown and merged as bytes only.
pub(crate) fn is_binary(content: &[u8]) -> bool {
    content.iter().take(8000).any(|byte| *byte == 0)
}

fn text(base: &[u8], ours: &[u8], theirs: &[u8]) -> Result<Option<Vec<u8>>> {
    if [base, ours, theirs].iter().any(|side| side.len() > MERGE_LIMIT || side.contains(&0)) {
        return Ok(None);
    }
    let unix = with_line_ends(ours, b"\n");
    if unix == with_line_ends(base, b"\n") {
        // Only the line ends differ: the change is taken back and the user's line ends stay.
        return Ok(match (ours == unix, with_line_ends(ours, b"\r\n") == ours) {
            (true, _) => Some(with_line_ends(theirs, b"\n")),
            (_, true) => Some(with_line_ends(theirs, b"\r\n")),
            _ => None,
        });
    }
    let mut inputs = [MergeFileInput::new(), MergeFileInput::new(), MergeFileInput::new()];
    for (input, content) in inputs.iter_mut().zip([base, ours, theirs]) {
        input.content(content);
    }
    let merged = git2::merge_file(&inputs[0], &inputs[1], &inputs[2], None)?;
    Ok(merged.is_automergeable().then(|| merged.content().to_vec()))
}

fn with_line_ends(content: &[u8], end: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(content.len());
    for line in content.split_inclusive(|byte| *byte == b'\n') {
        match line.strip_suffix(b"\n") {
            Some(body) => {
                out.extend_from_slice(body.strip_suffix(b"\r").unwrap_or(body));
                out.extend_from_slice(end);
            }
            None => out.extend_from_slice(line),
        }
    }
    out
}

#[cfg(test)]
mod tests;
