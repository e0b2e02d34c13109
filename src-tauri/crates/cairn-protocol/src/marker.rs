//! Blocks and lines inside the text of user messages: written by the engine, read for display, for
//! titles and from imported traces (P-26 … P-31).
//!
//! Markers are plain text, so a user or a tool can write a look-alike. Nothing here grants anything,
//! tool output is never read as a marker, and what the model said neither. The typed blocks are in
//! `marker/typed.rs`, the transcript of a broken-off turn in `marker/transcript.rs`.

mod attachment;
mod title;
mod transcript;
mod typed;

pub use attachment::{Attachment, AttachmentKind, split_attachments};
pub use title::{fallback_title, strip_leading};
pub use transcript::Transcript;
pub use typed::{BackgroundKind, Marker, Named, read_leading};

/// The tags of blocks (P-27).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Tag {
    /// What was done in a turn that the user stopped.
    TurnAborted,
    /// What failed attempts of a request gave so far.
    TurnRetried,
    /// What is left of an earlier context.
    ContextSummary,
    /// The model's own summary, when it is asked for one.
    Summary,
    /// What the user said while the turn ran.
    UserSteering,
    /// One round of a goal.
    Goal,
    /// The skills that the user named.
    UseSkills,
    /// Which agent the user came from.
    HandoffFrom,
    /// Which schedule wrote the message.
    ScheduledTask,
    /// A background command or subagent has ended.
    BackgroundTaskDone,
    /// Which model the user came from.
    ModelSwitchFrom,
    /// Instructions of the agent's developer.
    DeveloperInstructions,
}

impl Tag {
    /// Every tag.
    pub const ALL: [Self; 12] = [
        Self::TurnAborted,
        Self::TurnRetried,
        Self::ContextSummary,
        Self::Summary,
        Self::UserSteering,
        Self::Goal,
        Self::UseSkills,
        Self::HandoffFrom,
        Self::ScheduledTask,
        Self::BackgroundTaskDone,
        Self::ModelSwitchFrom,
        Self::DeveloperInstructions,
    ];

    /// Returns the word between the brackets.
    pub fn name(self) -> &'static str {
        match self {
            Self::TurnAborted => "turn_aborted",
            Self::TurnRetried => "turn_retried",
            Self::ContextSummary => "context_summary",
            Self::Summary => "summary",
            Self::UserSteering => "user_steering",
            Self::Goal => "goal",
            Self::UseSkills => "use_skills",
            Self::HandoffFrom => "handoff_from",
            Self::ScheduledTask => "scheduled_task",
            Self::BackgroundTaskDone => "background_task_done",
            Self::ModelSwitchFrom => "model_switch_from",
            Self::DeveloperInstructions => "developer_instructions",
        }
    }

    /// Returns whether the older spelling with angle brackets is read too (P-26).
    fn has_angle_form(self) -> bool {
        !matches!(self, Self::UserSteering | Self::Goal)
    }

    fn spellings(self) -> impl Iterator<Item = (String, String)> {
        let name = self.name();
        let square = Some((format!("[{name}]"), format!("[/{name}]")));
        let angle = self.has_angle_form().then(|| (format!("<{name}>"), format!("</{name}>")));
        square.into_iter().chain(angle)
    }
}

/// Writes a block: the tag, the body and the closing tag, each on its own line (P-26).
pub fn write_block(tag: Tag, body: &str) -> String {
    let name = tag.name();
    format!("[{name}]\n{body}\n[/{name}]")
}

/// A block found in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block<'a> {
    /// What it is.
    pub tag: Tag,
    /// What is before it.
    pub before: &'a str,
    /// What is between the tags, without the line breaks next to them.
    pub body: &'a str,
    /// What is after it, without one line break next to it.
    pub after: &'a str,
}

/// Finds the first block with this tag; the square form is looked for first (P-26).
pub fn find_block(text: &str, tag: Tag) -> Option<Block<'_>> {
    tag.spellings().find_map(|(open, close)| {
        let start = text.find(&open)?;
        let inner = &text[start + open.len()..];
        let end = find_close(inner, &close, tag)?;
        Some(Block {
            tag,
            before: &text[..start],
            body: trim_breaks(&inner[..end]),
            after: trim_one_break(&inner[end + close.len()..]),
        })
    })
}

/// Returns the block that the text begins with, whatever its tag.
pub fn leading_block(text: &str) -> Option<Block<'_>> {
    let starts = |tag: &Tag| tag.spellings().any(|(open, _)| text.starts_with(&open));
    let tag = Tag::ALL.into_iter().find(starts)?;
    find_block(text, tag).filter(|block| block.before.is_empty())
}

/// Finds the closing tag: one at the start of a line counts before one inside a line. The closing tag
/// of a goal counts only alone on its line (P-28), because its body is the user's own text.
fn find_close(inner: &str, close: &str, tag: Tag) -> Option<usize> {
    let at_line_start = |position: &usize| inner[..*position].ends_with('\n');
    let alone = |position: &usize| {
        let after = &inner[position + close.len()..];
        at_line_start(position) && (after.is_empty() || after.starts_with(['\n', '\r']))
    };
    let mut positions = inner.match_indices(close).map(|(position, _)| position);
    if tag == Tag::Goal {
        return positions.find(alone);
    }
    positions.find(at_line_start).or_else(|| inner.find(close))
}

fn trim_one_break(text: &str) -> &str {
    text.strip_prefix("\r\n").or_else(|| text.strip_prefix('\n')).unwrap_or(text)
}

fn trim_breaks(text: &str) -> &str {
    let text = trim_one_break(text);
    text.strip_suffix("\r\n").or_else(|| text.strip_suffix('\n')).unwrap_or(text)
}

#[cfg(test)]
mod tests;
