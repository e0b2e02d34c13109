//! Output while it comes: a bounded record for the model, and live text for the window.
//!
//! Nobody who produces output ever waits here. When the window is slow, pieces are merged; when it is so slow that the merged
//! piece would pass its limit, the oldest of it is left out of the *live* text, and says so. The record is not affected.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc;

use crate::Cut;
use crate::terminal_text::TerminalText;

#[cfg(test)]
mod tests;

/// Takes live text. Bounded; see [`crate::PreparedCall::run`] for what happens when it is full.
pub type OutputSink = mpsc::Sender<String>;

/// An output is kept exactly up to this size (P-72).
const EXACT_LIMIT_BYTES: usize = 8 * 1024 * 1024 - 1;

/// Of a longer one, this much is kept from the beginning and from the end.
const WINDOW_BYTES: usize = 4 * 1024 * 1024;

/// The most live text that waits for a slow window. A window that is further behind than 256 KiB can't be read anyway.
const PENDING_LIMIT_BYTES: usize = 256 * 1024;

/// How long the end of a call waits for a window that does not take its text.
const FINISH_PATIENCE: Duration = Duration::from_secs(1);

/// Where a running call puts its output.
pub struct Output {
    sink: OutputSink,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    filter: TerminalText,
    collected: Collected,
    pending: String,
}

impl Output {
    /// Makes an output that sends live text to `sink`.
    pub fn new(sink: OutputSink) -> Self {
        Self { sink, state: Mutex::default() }
    }

    /// Takes bytes of a terminal or pipe. Never waits.
    pub fn push(&self, bytes: &[u8]) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let clean = state.filter.push(bytes);
        state.take_in(&clean);
        self.send(&mut state);
    }

    /// Waits until the window has room, then gives it what waits. Never ends while nothing waits.
    pub async fn drain(&self) {
        if self.state.lock().unwrap_or_else(PoisonError::into_inner).pending.is_empty() {
            std::future::pending::<()>().await;
        }
        match self.sink.reserve().await {
            Ok(permit) => {
                let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
                permit.send(std::mem::take(&mut state.pending));
            }
            Err(_) => self.state.lock().unwrap_or_else(PoisonError::into_inner).pending.clear(),
        }
    }

    /// Ends the stream: gives the window the rest, if it takes it in time.
    pub(crate) async fn finish(&self) {
        {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            let clean = state.filter.end();
            state.take_in(&clean);
            if state.pending.is_empty() {
                return;
            }
        }
        // A window that takes nothing has the whole output from the call's result.
        let _ = tokio::time::timeout(FINISH_PATIENCE, self.drain()).await;
    }

    /// Returns how many lines have come so far.
    pub(crate) fn line_count(&self) -> usize {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.collected.line_count()
    }

    /// Adds text to the record that is not live.
    pub(crate) fn append(&self, text: &str) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.collected.append(text);
    }

    /// Takes the record out.
    pub(crate) fn take(&self) -> Collected {
        std::mem::take(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner).collected)
    }

    fn send(&self, state: &mut State) {
        if state.pending.is_empty() {
            return;
        }
        match self.sink.try_send(std::mem::take(&mut state.pending)) {
            Ok(()) | Err(mpsc::error::TrySendError::Closed(_)) => {}
            Err(mpsc::error::TrySendError::Full(text)) => state.pending = text,
        }
    }
}

impl State {
    fn take_in(&mut self, clean: &str) {
        if clean.is_empty() {
            return;
        }
        self.collected.append_overwriting(clean);
        self.pending.push_str(&clean.replace('\r', "\n"));
        if self.pending.len() > PENDING_LIMIT_BYTES {
            let from = ceil_boundary(&self.pending, self.pending.len() - PENDING_LIMIT_BYTES / 2);
            let left_out = self.pending[..from].chars().count();
            self.pending
                .replace_range(..from, &format!("\n[{left_out} characters not shown live]\n"));
        }
    }
}

/// What a call gave, kept exactly or as its beginning and end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Collected {
    head: String,
    tail: String,
    /// Characters between the two that are gone.
    gone: usize,
    windowed: bool,
}

/// The part of an output that the model reads.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Kept {
    pub(crate) text: String,
    pub(crate) cut: bool,
}

impl Collected {
    pub(crate) fn append(&mut self, text: &str) {
        if !self.windowed && self.head.len() + text.len() <= EXACT_LIMIT_BYTES {
            self.head.push_str(text);
            return;
        }
        if !self.windowed {
            self.windowed = true;
            let at = floor_boundary(&self.head, WINDOW_BYTES);
            self.tail = self.head.split_off(at);
        }
        self.tail.push_str(text);
        if self.tail.len() > 2 * WINDOW_BYTES {
            let from = ceil_boundary(&self.tail, self.tail.len() - WINDOW_BYTES);
            self.gone += self.tail[..from].chars().count();
            self.tail.drain(..from);
        }
    }

    /// Appends text in which a carriage return begins the current line anew.
    fn append_overwriting(&mut self, text: &str) {
        for (at, part) in text.split('\r').enumerate() {
            if at > 0 {
                let current = if self.windowed { &mut self.tail } else { &mut self.head };
                current.truncate(current.rfind('\n').map_or(0, |newline| newline + 1));
            }
            self.append(part);
        }
    }

    fn line_count(&self) -> usize {
        let text = [self.head.as_bytes(), self.tail.as_bytes()].concat();
        crate::diff::line_count(&text)
    }

    /// Returns the text for the archive: whole, or its two ends around a line that says what is missing.
    pub(crate) fn archive_text(&self) -> String {
        if self.gone == 0 {
            return format!("{}{}", self.head, self.tail);
        }
        format!("{}\n[{} characters are missing here]\n{}", self.head, self.gone, self.tail)
    }

    /// Returns the part of at most `limit` characters that the model reads.
    pub(crate) fn keep(&self, limit: usize, cut: Cut) -> Kept {
        let total = self.head.chars().count() + self.tail.chars().count() + self.gone;
        if total <= limit {
            return Kept { text: format!("{}{}", self.head, self.tail), cut: false };
        }
        let (first, last) = match cut {
            Cut::Head => (limit, 0),
            Cut::HeadAndTail => (limit * 3 / 5, limit - limit * 3 / 5),
        };
        let beginning: String = self.head.chars().chain(self.tail.chars()).take(first).collect();
        if last == 0 {
            return Kept { text: beginning, cut: true };
        }
        let mut end: Vec<char> =
            self.tail.chars().rev().chain(self.head.chars().rev()).take(last).collect();
        end.reverse();
        let end: String = end.into_iter().collect();
        let left_out = total - first - last;
        let text = format!(
            "{}\n[… {left_out} characters left out …]\n{}",
            beginning.trim_end_matches('\n'),
            end.trim_start_matches('\n')
        );
        Kept { text, cut: true }
    }
}

fn floor_boundary(text: &str, mut at: usize) -> usize {
    at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn ceil_boundary(text: &str, mut at: usize) -> usize {
    while at < text.len() && !text.is_char_boundary(at) {
        at += 1;
    }
    at.min(text.len())
}
