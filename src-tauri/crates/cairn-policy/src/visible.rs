//! Text in which nothing hides: for dialogs and cards that show what is about to run.
//!
//! It loses nothing, so that what is shown can be read back to the bytes that run. Shortening is the
//! dialog's work.

#[cfg(test)]
mod tests;

/// Returns the text with every control, bidirectional, zero-width, tag and look-alike blank character as
/// `\u{…}`. A `\u{` that is already there is written `\u{5c}u{`, so that two texts never look the same.
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for (at, character) in text.char_indices() {
        let ambiguous = character == '\\' && text[at + 1..].starts_with("u{");
        if ambiguous || hides(character) {
            shown.push_str(&format!("\\u{{{:x}}}", u32::from(character)));
        } else {
            shown.push(character);
        }
    }
    shown
}

/// Returns whether a character is drawn as nothing, as a plain blank, or changes how its neighbours are drawn.
pub(crate) fn hides(character: char) -> bool {
    if character.is_control() || (character.is_whitespace() && character != ' ') {
        return true;
    }
    is_ignorable(character)
        || matches!(u32::from(character),
            0x2800 | 0xE000..=0xF8FF | 0xFFFC | 0xF_0000..=0x10_FFFF)
}

/// Returns whether some file systems and renderers treat a character as if it were not there.
pub(crate) fn is_ignorable(character: char) -> bool {
    matches!(u32::from(character),
        0x00AD | 0x034F | 0x061C | 0x115F..=0x1160 | 0x17B4..=0x17B5 | 0x180B..=0x180F
        | 0x200B..=0x200F | 0x202A..=0x202E | 0x2060..=0x206F | 0x3164 | 0xFE00..=0xFE0F | 0xFEFF
        | 0xFFA0 | 0xFFF0..=0xFFFB | 0x1_BCA0..=0x1_BCA3 | 0x1_D173..=0x1_D17A | 0xE_0000..=0xE_0FFF)
}
