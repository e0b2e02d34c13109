//! What a person would call a conversation, taken from its first text (P-30, P-67).

use super::{Tag, leading_block, split_attachments};

/// Characters of a title that was taken from the first text.
const TITLE_CHARACTERS: usize = 30;

const STRIPPED: [Tag; 6] = [
    Tag::UseSkills,
    Tag::HandoffFrom,
    Tag::ScheduledTask,
    Tag::ModelSwitchFrom,
    Tag::Goal,
    Tag::BackgroundTaskDone,
];

/// Returns the text without the origin blocks in front of it, without tags that lost their partner
/// there, and without attachment lines (P-30).
pub fn strip_leading(text: &str) -> &str {
    let mut rest = text.trim_start();
    loop {
        if let Some(block) = leading_block(rest)
            && STRIPPED.contains(&block.tag)
        {
            rest = block.after.trim_start();
            continue;
        }
        let stray = STRIPPED.into_iter().flat_map(Tag::spellings).find_map(|(open, close)| {
            rest.strip_prefix(&*open).or_else(|| rest.strip_prefix(&*close))
        });
        match stray {
            Some(after) => rest = after.trim_start(),
            None => break,
        }
    }
    split_attachments(rest).0.trim_end()
}

/// Returns a title from the first text: its first words in one line, at most 30 characters (P-67).
/// Empty when nothing is left of it.
pub fn fallback_title(text: &str) -> String {
    let mut title = String::new();
    for word in strip_leading(text).split_whitespace() {
        let separator = usize::from(!title.is_empty());
        let used = title.chars().count();
        if used + separator + word.chars().count() > TITLE_CHARACTERS {
            if title.is_empty() {
                title.extend(word.chars().take(TITLE_CHARACTERS - 1));
            }
            if title.chars().count() < TITLE_CHARACTERS {
                title.push('…');
            }
            break;
        }
        if separator == 1 {
            title.push(' ');
        }
        title.push_str(word);
    }
    title
}
