//! Output that nobody has read yet: bounded, the newest is kept (P-84). Pure.

use std::collections::VecDeque;

/// Unread output kept for each command.
pub(crate) const LIMIT_BYTES: usize = 1024 * 1024;

/// Unread bytes and how many were dropped before them.
#[derive(Debug, Default)]
pub(crate) struct Unread {
    bytes: VecDeque<u8>,
    dropped: u64,
}

impl Unread {
    /// Appends output; what exceeds the limit is dropped from the front, never inside a character.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let skip = bytes.len().saturating_sub(LIMIT_BYTES);
        if skip > 0 {
            self.dropped += (self.bytes.len() + skip) as u64;
            self.bytes.clear();
        }
        self.bytes.extend(&bytes[skip..]);
        let mut excess = self.bytes.len().saturating_sub(LIMIT_BYTES);
        if excess > 0 || skip > 0 {
            let inside = |byte: Option<&u8>| byte.is_some_and(|b| b & 0b1100_0000 == 0b1000_0000);
            let cut = excess;
            while excess < cut + 3 && inside(self.bytes.get(excess)) {
                excess += 1;
            }
            self.bytes.drain(..excess);
            self.dropped += excess as u64;
        }
    }

    /// Returns all that was not read, after a marker when something was dropped. While more may
    /// come, an unfinished character at the end is kept back. Absent when there is nothing.
    pub(crate) fn take(&mut self, more: More) -> Option<Vec<u8>> {
        let unfinished = match more {
            More::MayCome => unfinished(self.bytes.make_contiguous()),
            More::No => 0,
        };
        let ready = self.bytes.len() - unfinished;
        if ready == 0 {
            return None;
        }
        let mut taken = Vec::new();
        if self.dropped > 0 {
            taken.extend(format!("[{} bytes of output dropped]\n", self.dropped).into_bytes());
            self.dropped = 0;
        }
        taken.extend(self.bytes.drain(..ready));
        if self.bytes.is_empty() && self.bytes.capacity() > 64 * 1024 {
            self.bytes = VecDeque::new();
        }
        Some(taken)
    }
}

/// Whether a stream goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum More {
    MayCome,
    No,
}

/// How many bytes at the end begin a UTF-8 character that is not complete.
fn unfinished(bytes: &[u8]) -> usize {
    for back in 1..=bytes.len().min(3) {
        let byte = bytes[bytes.len() - back];
        let length = match byte {
            0b1100_0000..=0b1101_1111 => 2,
            0b1110_0000..=0b1110_1111 => 3,
            0b1111_0000..=0b1111_0111 => 4,
            0b1000_0000..=0b1011_1111 => continue,
            _ => return 0,
        };
        return if back < length { back } else { 0 };
    }
    0
}

#[cfg(test)]
mod tests;
