//! Turns the bytes of a terminal or pipe into text that the model can read, piece by piece.
//!
//! Escape sequences and control characters go; bytes that are not UTF-8 become U+FFFD; `\r\n` becomes `\n`. A lone carriage
//! return stays, so that a progress line can be overwritten. It keeps no text back but the beginning of a character.

#[cfg(test)]
mod tests;

/// A sequence without an end is given up after this many bytes, so that it can't swallow the rest of an output.
const SEQUENCE_LIMIT_BYTES: usize = 64 * 1024;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Within {
    #[default]
    Text,
    Escape,
    /// `ESC (` and the like: one more byte belongs to it.
    Designation,
    Control,
    /// OSC, DCS, SOS, PM, APC: until BEL or `ESC \`.
    Text8,
    Text8Escape,
}

/// The filter, with what it must remember between two pieces.
#[derive(Debug, Default)]
pub(crate) struct TerminalText {
    within: Within,
    sequence_bytes: usize,
    carry: Vec<u8>,
    carriage_return: bool,
}

impl TerminalText {
    /// Takes bytes and returns the text that they complete.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> String {
        let mut kept = std::mem::take(&mut self.carry);
        for &byte in bytes {
            if self.keeps(byte) {
                kept.push(byte);
            }
        }
        let mut text = String::with_capacity(kept.len());
        self.decode(&kept, &mut text);
        self.without_controls(&text)
    }

    /// Ends the stream and returns what is left.
    pub(crate) fn end(&mut self) -> String {
        let rest = std::mem::take(&mut self.carry);
        let text = String::from_utf8_lossy(&rest).into_owned();
        self.carriage_return = false;
        text
    }

    /// Follows the sequences; returns whether a byte is text.
    fn keeps(&mut self, byte: u8) -> bool {
        if self.within != Within::Text {
            self.sequence_bytes += 1;
            if self.sequence_bytes > SEQUENCE_LIMIT_BYTES {
                self.within = Within::Text;
            }
        }
        match (self.within, byte) {
            (Within::Text8, 0x07) => self.within = Within::Text,
            (Within::Text8, 0x1b) => self.within = Within::Text8Escape,
            (Within::Text8Escape, b'\\') => self.within = Within::Text,
            (_, 0x1b) => self.begin(),
            (Within::Text, _) => return true,
            (Within::Escape, b'[') => self.within = Within::Control,
            (Within::Escape, b']' | b'P' | b'X' | b'^' | b'_') => self.within = Within::Text8,
            (Within::Escape, 0x20..=0x2f) => self.within = Within::Designation,
            (Within::Control, b'\n') => {
                self.within = Within::Text;
                return true;
            }
            (Within::Control, 0x20..=0x3f | 0x80..) => {}
            (Within::Text8, _) => {}
            (Within::Text8Escape, _) => self.within = Within::Text8,
            (Within::Escape | Within::Designation | Within::Control, _) => {
                self.within = Within::Text
            }
        }
        false
    }

    fn begin(&mut self) {
        self.within = Within::Escape;
        self.sequence_bytes = 0;
    }

    fn decode(&mut self, mut bytes: &[u8], text: &mut String) {
        loop {
            match std::str::from_utf8(bytes) {
                Ok(rest) => return text.push_str(rest),
                Err(error) => {
                    let (valid, rest) = bytes.split_at(error.valid_up_to());
                    text.push_str(&String::from_utf8_lossy(valid));
                    let Some(length) = error.error_len() else {
                        self.carry = rest.to_vec();
                        return;
                    };
                    text.push(char::REPLACEMENT_CHARACTER);
                    bytes = &rest[length..];
                }
            }
        }
    }

    fn without_controls(&mut self, text: &str) -> String {
        let mut clean = String::with_capacity(text.len());
        for character in text.chars() {
            if character == '\r' {
                self.carriage_return = true;
                continue;
            }
            let kept = character == '\n' || character == '\t' || !character.is_control();
            if !kept {
                continue;
            }
            if std::mem::take(&mut self.carriage_return) && character != '\n' {
                clean.push('\r');
            }
            clean.push(character);
        }
        clean
    }
}
