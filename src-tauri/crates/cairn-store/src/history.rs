//! Reading a session: pages from the end, the whole, the present model context.
//!
//! It holds no lock and changes nothing, so that it can look at a session that another process writes. A record
//! that can't be understood is a gap, never an end.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use cairn_protocol::{HistoryPage, Message, StoredMessage};

use crate::Error;
use crate::blobs;
use crate::disk::Disk;
use crate::line::{self, Content};
use crate::lines::{Lines, Place};

/// The most records in one page.
const PAGE_LIMIT: u32 = 1_000;

/// A session's history, to be read only. It shows what was there when it was opened.
pub struct TraceView {
    disk: Arc<dyn Disk>,
    blobs: PathBuf,
    lines: Mutex<Lines>,
}

impl TraceView {
    pub(crate) fn new(disk: Arc<dyn Disk>, blobs: PathBuf, lines: Lines) -> Self {
        Self { disk, blobs, lines: Mutex::new(lines) }
    }

    /// Returns the last `limit` messages (1 … 1,000) before a place, oldest first; without a place the last ones.
    /// Costs as much as the page is long.
    pub fn page(&self, before: Option<u64>, limit: u32) -> Result<HistoryPage, Error> {
        let limit = limit.clamp(1, PAGE_LIMIT) as usize;
        let mut lines = self.lines();
        let stretch = lines.before(before.unwrap_or(u64::MAX), limit)?;
        let mut gaps = stretch.gaps;
        let messages = self.load(&mut lines, &stretch.places, &mut gaps)?;
        gaps.sort_unstable();
        Ok(HistoryPage { messages, has_more: stretch.has_more, gaps })
    }

    /// Returns all messages of the session, over all its files.
    pub fn messages(&self) -> Result<Vec<StoredMessage>, Error> {
        let mut lines = self.lines();
        let stretch = lines.before(u64::MAX, usize::MAX - 1)?;
        self.load(&mut lines, &stretch.places, &mut Vec::new())
    }

    /// Returns the messages of the last file: the present model context, headed by its `session_meta` (D-1).
    pub fn context_messages(&self) -> Result<Vec<StoredMessage>, Error> {
        let mut lines = self.lines();
        let places = lines.last_file()?;
        self.load(&mut lines, &places, &mut Vec::new())
    }

    /// Returns the place of the last record; 0 when there is none.
    pub fn last_seq(&self) -> u64 {
        self.lines().last_seq()
    }

    pub(crate) fn lines(&self) -> std::sync::MutexGuard<'_, Lines> {
        // A panic while scanning leaves at worst a shorter index, which the next scan completes.
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn load(
        &self,
        lines: &mut Lines,
        places: &[Place],
        gaps: &mut Vec<u64>,
    ) -> Result<Vec<StoredMessage>, Error> {
        let mut messages = Vec::with_capacity(places.len());
        for place in places {
            let bytes = lines.read(*place)?;
            match self.decode(&bytes)? {
                Some(message) => messages.push(StoredMessage { seq: place.entry.seq, message }),
                None => gaps.push(place.entry.seq),
            }
        }
        Ok(messages)
    }

    fn decode(&self, bytes: &[u8]) -> Result<Option<Message>, Error> {
        match line::decode(bytes) {
            Ok(Content::Message(message)) => Ok(Some(*message)),
            Ok(Content::Blob { sha256 }) => blobs::get(&*self.disk, &self.blobs, &sha256),
            Err(_) => Ok(None),
        }
    }
}
