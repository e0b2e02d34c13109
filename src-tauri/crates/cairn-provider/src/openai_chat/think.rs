//! Splits `<think>…</think>` at the start of a content from the answer, over any cut.
//!
//! Only a tag at the very start counts; later ones are the model's own words.

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// What a piece of content is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    /// Reasoning.
    Thinking(&'a str),
    /// The answer.
    Text(&'a str),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Too little came to tell.
    Start,
    /// After the opening tag, before the first character that is not a line end.
    Opening,
    Inside,
    /// After the closing tag, before the first visible character.
    Gap,
    Outside,
}

/// The state between two deltas.
pub(super) struct Splitter {
    state: State,
    held: String,
}

impl Splitter {
    pub(super) fn new() -> Self {
        Self { state: State::Start, held: String::new() }
    }

    /// From now on everything is answer: reasoning came in a field of its own.
    pub(super) fn give_up(&mut self) {
        if self.state == State::Start && self.held.is_empty() {
            self.state = State::Outside;
        }
    }

    /// Takes a delta and hands out what it is sure of.
    pub(super) fn push(&mut self, delta: &str, mut on_piece: impl FnMut(Piece<'_>)) {
        if self.state == State::Outside {
            if !delta.is_empty() {
                on_piece(Piece::Text(delta));
            }
            return;
        }
        let mut held = std::mem::take(&mut self.held);
        held.push_str(delta);
        let mut rest = held.as_str();
        if self.state == State::Start {
            let visible = rest.trim_start();
            if let Some(inside) = visible.strip_prefix(OPEN) {
                self.state = State::Opening;
                rest = inside;
            } else if OPEN.starts_with(visible) {
                self.held = held;
                return;
            } else {
                self.state = State::Outside;
            }
        }
        if self.state == State::Opening {
            rest = rest.trim_start_matches(['\r', '\n']);
            if !rest.is_empty() {
                self.state = State::Inside;
            }
        }
        if self.state == State::Inside {
            if let Some(end) = rest.find(CLOSE) {
                if end > 0 {
                    on_piece(Piece::Thinking(&rest[..end]));
                }
                rest = &rest[end + CLOSE.len()..];
                self.state = State::Gap;
            } else {
                let sure = rest.len() - partial_close(rest);
                if sure > 0 {
                    on_piece(Piece::Thinking(&rest[..sure]));
                }
                self.held = rest[sure..].to_owned();
                return;
            }
        }
        if self.state == State::Gap {
            rest = rest.trim_start();
            if !rest.is_empty() {
                self.state = State::Outside;
            }
        }
        if self.state == State::Outside && !rest.is_empty() {
            on_piece(Piece::Text(rest));
        }
    }

    /// Hands out what was held back.
    pub(super) fn finish(&mut self, mut on_piece: impl FnMut(Piece<'_>)) {
        let held = std::mem::take(&mut self.held);
        if held.is_empty() {
            return;
        }
        match self.state {
            State::Opening | State::Inside => on_piece(Piece::Thinking(&held)),
            _ => on_piece(Piece::Text(&held)),
        }
    }
}

/// Returns how many bytes at the end may be the beginning of the closing tag.
fn partial_close(text: &str) -> usize {
    (1..CLOSE.len()).rev().find(|len| text.ends_with(&CLOSE[..*len])).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{Piece, Splitter};

    fn split(deltas: &[&str]) -> (String, String) {
        let (mut thinking, mut text) = (String::new(), String::new());
        let mut take = |piece: Piece<'_>| match piece {
            Piece::Thinking(part) => thinking.push_str(part),
            Piece::Text(part) => text.push_str(part),
        };
        let mut splitter = Splitter::new();
        for delta in deltas {
            splitter.push(delta, &mut take);
        }
        splitter.finish(&mut take);
        (thinking, text)
    }

    #[track_caller]
    fn check(content: &str, thinking: &str, text: &str) {
        let expected = (thinking.to_owned(), text.to_owned());
        assert_eq!(split(&[content]), expected, "whole");
        let letters: Vec<String> = content.chars().map(String::from).collect();
        let letters: Vec<&str> = letters.iter().map(String::as_str).collect();
        assert_eq!(split(&letters), expected, "letter by letter");
    }

    #[test]
    fn tags_at_the_start_are_reasoning() {
        check("<think>why</think>\n\nbecause", "why", "because");
        check("\n<think>a < b </thin </think>x", "a < b </thin ", "x");
        check("<think></think>x", "", "x");
        check("<think>\n\nwhy\n</think>x", "why\n", "x");
        check("<think>never closed </th", "never closed </th", "");
    }

    #[test]
    fn tags_elsewhere_are_text() {
        check("use <think>x</think>", "", "use <think>x</think>");
        check("<thing>", "", "<thing>");
        check("<thi", "", "<thi");
        check("  spaced", "", "  spaced");
        check("", "", "");
    }
}
