//! What is kept of a terminal and what its viewer may get next. Pure: no thread, no clock, no PTY.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Raw bytes kept for a viewer that attaches later.
pub(super) const SCROLLBACK_BYTES: usize = 256 * 1024;
/// Lines that such a viewer gets (P-233).
pub(super) const SCROLLBACK_LINES: usize = 400;
/// Bytes that a viewer may not have drawn yet before the PTY is no longer read (D-15).
pub(super) const WINDOW_BYTES: usize = 256 * 1024;
/// A piece of this size is sent at once.
pub(super) const LARGE_BYTES: usize = 16 * 1024;
/// No piece is larger, so that a message never holds up the window.
pub(super) const PIECE_BYTES: usize = 64 * 1024;
/// A smaller piece waits until so long after the last one.
pub(super) const PACE: Duration = Duration::from_millis(8);

/// What to do next for the viewer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Send these bytes.
    Send(Vec<u8>),
    /// Say that the shell ended.
    Exited(Option<i32>),
    /// Look again after so long, or when something changes.
    Wait(Duration),
    /// Look again when something changes.
    Idle,
}

/// The bytes of a terminal on their way to its viewer.
#[derive(Debug, Default)]
pub(super) struct View {
    scrollback: VecDeque<u8>,
    /// Read, but not sent to the viewer.
    pending: VecDeque<u8>,
    replay: Option<Vec<u8>>,
    unacknowledged: usize,
    watched: bool,
    last_sent: Option<Instant>,
    /// Nothing more will be read.
    ended: bool,
    exited: Option<Option<i32>>,
    told: bool,
}

impl View {
    /// Returns whether the PTY may be read.
    pub(super) fn may_read(&self) -> bool {
        !self.watched || self.pending.len() + self.unacknowledged < WINDOW_BYTES
    }

    /// Takes in what was read.
    pub(super) fn read(&mut self, bytes: &[u8]) {
        self.scrollback.extend(bytes);
        let excess = self.scrollback.len().saturating_sub(SCROLLBACK_BYTES);
        self.scrollback.drain(..excess);
        if self.watched {
            self.pending.extend(bytes);
        }
    }

    /// Notes that nothing more will be read.
    pub(super) fn end(&mut self) {
        self.ended = true;
    }

    pub(super) fn has_ended(&self) -> bool {
        self.ended
    }

    /// Notes how the shell ended.
    pub(super) fn exit(&mut self, code: Option<i32>) {
        self.exited = Some(code);
    }

    pub(super) fn exited(&self) -> Option<Option<i32>> {
        self.exited
    }

    /// Begins again for a new viewer.
    pub(super) fn attach(&mut self) {
        let replay = tail(self.scrollback.make_contiguous());
        *self = Self {
            scrollback: std::mem::take(&mut self.scrollback),
            replay: (!replay.is_empty()).then_some(replay),
            watched: true,
            ended: self.ended,
            exited: self.exited,
            ..Self::default()
        };
    }

    /// Forgets the viewer.
    pub(super) fn detach(&mut self) {
        self.watched = false;
        self.pending = VecDeque::new();
        self.replay = None;
        self.unacknowledged = 0;
    }

    /// Takes an acknowledgement.
    pub(super) fn acknowledge(&mut self, bytes: u64) {
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        self.unacknowledged = self.unacknowledged.saturating_sub(bytes);
    }

    /// Returns what the viewer gets now. What it returns counts as sent.
    pub(super) fn next(&mut self, now: Instant) -> Next {
        if !self.watched {
            return Next::Idle;
        }
        if let Some(replay) = self.replay.take() {
            return self.sent(replay, now);
        }
        let room = WINDOW_BYTES.saturating_sub(self.unacknowledged);
        let length = self.pending.len().min(PIECE_BYTES).min(room);
        if length > 0 {
            let since = self.last_sent.map_or(PACE, |last| now.saturating_duration_since(last));
            if length < LARGE_BYTES && since < PACE && !self.ended {
                return Next::Wait(PACE - since);
            }
            let piece = self.pending.drain(..length).collect();
            return self.sent(piece, now);
        }
        match self.exited {
            Some(code) if self.ended && self.pending.is_empty() && !self.told => {
                self.told = true;
                Next::Exited(code)
            }
            _ => Next::Idle,
        }
    }

    fn sent(&mut self, bytes: Vec<u8>, now: Instant) -> Next {
        self.unacknowledged += bytes.len();
        self.last_sent = Some(now);
        Next::Send(bytes)
    }
}

/// The last lines of what was kept, beginning at the start of a line when the front is missing.
fn tail(bytes: &[u8]) -> Vec<u8> {
    let mut lines = 0;
    let from = bytes.iter().rposition(|byte| {
        lines += usize::from(*byte == b'\n');
        lines > SCROLLBACK_LINES
    });
    let from = match from {
        Some(at) => at + 1,
        // Cut at the front: skip what is left of the first line, if lines there are.
        None if bytes.len() >= SCROLLBACK_BYTES => {
            bytes.iter().position(|byte| *byte == b'\n').map_or(0, |at| at + 1)
        }
        None => 0,
    };
    bytes[from..].to_vec()
}

#[cfg(test)]
mod tests;
