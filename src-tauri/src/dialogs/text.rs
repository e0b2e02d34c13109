//! Makes text harmless for native dialogs, and short enough for them (D-14).
//!
//! GTK takes the message for a printf format, dies of a NUL and eats `_` in labels; every system draws
//! control and bidirectional characters as something else. The full text is in the window's card; here
//! is what fits, and how much was left out.

use cairn_engine::visible;

/// Begins each line of a foreign text, so that it can't pass for a line of ours.
pub(crate) const MARK: &str = "  \u{2502} ";

/// Lines of a foreign text that are shown: more would push the buttons off a small screen.
const MAX_LINES: usize = 12;
/// Characters of one line that are shown.
const MAX_LINE: usize = 160;
/// Characters of a whole message, whatever it is made of.
const MAX_MESSAGE: usize = 6000;
/// Characters of a title or a label.
const MAX_TITLE: usize = 120;

/// Returns a foreign text as one line with nothing hidden in it.
pub(crate) fn line(foreign: &str) -> String {
    cut(&visible(foreign), MAX_LINE)
}

/// Returns a foreign text as marked lines; when some are left out, the last line says how many.
pub(crate) fn block(foreign: &str) -> String {
    let lines: Vec<&str> = foreign.split('\n').collect();
    let mut shown: Vec<String> =
        lines.iter().take(MAX_LINES).map(|text| format!("{MARK}{}", line(text))).collect();
    if lines.len() > MAX_LINES {
        let (more, bytes) = (lines.len() - MAX_LINES, foreign.len());
        shown.push(format!("{MARK}\u{2026} and {more} more lines, {bytes} bytes in all"));
    }
    shown.join("\n")
}

/// Returns a message as the system's dialog must be given it: line breaks, no other control character,
/// and no format.
pub(crate) fn for_system(message: &str) -> String {
    let plain: String = message.split('\n').map(visible).collect::<Vec<String>>().join("\n");
    without_format(&cut(&plain, MAX_MESSAGE))
}

/// Returns a title as the system's dialog must be given it.
pub(crate) fn for_title(title: &str) -> String {
    cut(&visible(title), MAX_TITLE)
}

/// Returns a label whose `_` is drawn.
pub(crate) fn for_label(label: &str) -> String {
    let label = cut(&visible(label), MAX_TITLE);
    if cfg!(target_os = "linux") { label.replace('_', "__") } else { label }
}

fn without_format(message: &str) -> String {
    if cfg!(target_os = "linux") { message.replace('%', "%%") } else { message.to_owned() }
}

/// Cuts at a character and says so.
fn cut(text: &str, most: usize) -> String {
    let total = text.chars().count();
    if total <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most).collect();
    format!("{kept}\u{2026} (+{} characters)", total - most)
}

#[cfg(test)]
mod tests;
