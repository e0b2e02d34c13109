//! Where the records of a session lie, found from the end backwards and only as far as needed.
//!
//! A page of a long session costs as much as a page of a short one. Every line that is passed is checked: its
//! checksum, and that places in the session grow. Places that are missing between two sound records are the gaps;
//! they are computed, never stored. It never writes; see `recover.rs` and `trace.rs`.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;

use crate::Error;
use crate::disk::{Disk, DiskFile, Open};
use crate::line;

/// How much is read at once when scanning backwards.
const CHUNK_BYTES: u64 = 64 * 1024;

/// A stretch without a newline that is longer than this is not one of our lines (limit 256 KiB).
const STRETCH_LIMIT_BYTES: u64 = 1024 * 1024;

/// At most so many missing places are listed of one hole.
const GAP_LIMIT: u64 = 1_000;

/// At most so many damaged places are described (P-179).
const DAMAGE_LIMIT: usize = 20;

/// A sound record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) seq: u64,
    offset: u64,
    length: u32,
}

/// A sound record and the file that it is in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    file: usize,
    pub(crate) entry: Entry,
}

/// Some records in order, and what is missing around them.
#[derive(Debug)]
pub(crate) struct Stretch {
    pub(crate) places: Vec<Place>,
    pub(crate) has_more: bool,
    pub(crate) gaps: Vec<u64>,
}

struct FileLines {
    path: PathBuf,
    /// The end of what is known; a writer moves it on.
    end: u64,
    /// Everything from here to `end` has been looked at.
    scanned: u64,
    entries: VecDeque<Entry>,
    reader: Option<Box<dyn DiskFile>>,
}

/// The records of a session.
pub(crate) struct Lines {
    disk: Arc<dyn Disk>,
    files: Vec<FileLines>,
    /// The file in which the scan stands.
    frontier: usize,
    /// The smallest place that the scan has seen.
    lowest: u64,
    /// The newest format version seen.
    pub(crate) version: u32,
    /// Damaged lines after the last sound record.
    pub(crate) damaged_at_end: u64,
    /// Records that were saved out of damaged lines.
    pub(crate) saved: u32,
    /// What is damaged, for a person.
    pub(crate) damage: Vec<String>,
}

impl Lines {
    /// Looks at the lengths of the files, in order, and at nothing else.
    pub(crate) fn open(disk: Arc<dyn Disk>, paths: Vec<PathBuf>) -> Result<Self, Error> {
        let mut lines = Self {
            disk,
            files: Vec::new(),
            frontier: paths.len().saturating_sub(1),
            lowest: u64::MAX,
            version: 0,
            damaged_at_end: 0,
            saved: 0,
            damage: Vec::new(),
        };
        for path in paths {
            let reader = lines.disk.open(&path, Open::Read).map_err(Error::io("open", &path))?;
            let end = reader.len().map_err(Error::io("measure", &path))?;
            let reader = Some(reader);
            lines.files.push(FileLines {
                path,
                end,
                scanned: end,
                entries: VecDeque::new(),
                reader,
            });
        }
        Ok(lines)
    }

    /// Adds a new, empty last file.
    pub(crate) fn push_file(&mut self, path: PathBuf) {
        let (entries, reader) = (VecDeque::new(), None);
        self.files.push(FileLines { path, end: 0, scanned: 0, entries, reader });
        if self.files.len() == 1 {
            self.frontier = 0;
        }
    }

    /// Adds a record that was written at the end of the last file; `length` is without the newline.
    pub(crate) fn push(&mut self, seq: u64, length: usize) {
        let file = self.files.last_mut().expect("a writer has a file");
        let length_u32 = u32::try_from(length).expect("a line is at most 256 KiB");
        file.entries.push_back(Entry { seq, offset: file.end, length: length_u32 });
        file.end += length as u64 + 1;
        self.lowest = self.lowest.min(seq);
        self.damaged_at_end = 0;
    }

    /// Takes back the record that was pushed last.
    pub(crate) fn pop(&mut self) {
        let file = self.files.last_mut().expect("a writer has a file");
        if let Some(entry) = file.entries.pop_back() {
            file.end = entry.offset;
        }
    }

    /// Forgets the handle of the last file, because another file took its name.
    pub(crate) fn reopen_last(&mut self) {
        if let Some(file) = self.files.last_mut() {
            file.reader = None;
        }
    }

    /// Returns the place of the last record, 0 when there is none, as far as the scan went.
    pub(crate) fn last_seq(&self) -> u64 {
        let last = self.files.iter().rev().find_map(|file| file.entries.back());
        last.map_or(0, |entry| entry.seq)
    }

    /// Scans until so many records are known, or so many bytes were looked at and a record was among them, or all.
    pub(crate) fn scan_tail(&mut self, records: usize, bytes: u64) -> Result<(), Error> {
        let stop = self.unscanned().saturating_sub(bytes);
        loop {
            let known = self.known_before(u64::MAX);
            if known >= records || (known > 0 && self.unscanned() <= stop) || !self.scan_more()? {
                return Ok(());
            }
        }
    }

    fn unscanned(&self) -> u64 {
        self.files.iter().map(|file| file.scanned).sum()
    }

    fn known_before(&self, seq: u64) -> usize {
        self.files.iter().map(|file| file.entries.partition_point(|entry| entry.seq < seq)).sum()
    }

    /// Returns the last `limit` records whose place is below `before`, with what is missing among them.
    pub(crate) fn before(&mut self, before: u64, limit: usize) -> Result<Stretch, Error> {
        while self.known_before(before) <= limit && self.scan_more()? {}
        let mut places: Vec<Place> = Vec::new();
        for (number, file) in self.files.iter().enumerate().rev() {
            let count = file.entries.partition_point(|entry| entry.seq < before);
            let missing = (limit + 1).saturating_sub(places.len());
            let range = count.saturating_sub(missing)..count;
            places
                .extend(file.entries.range(range).rev().map(|e| Place { file: number, entry: *e }));
        }
        places.reverse();
        let has_more = places.len() > limit;
        let mut below = if has_more { places.remove(0).entry.seq } else { 0 };
        let mut gaps = Vec::new();
        for place in &places {
            gaps.extend((below + 1..place.entry.seq).take(GAP_LIMIT as usize));
            below = place.entry.seq;
        }
        let last = self.last_seq();
        if before > last {
            gaps.extend((last + 1..before).take(self.damaged_at_end.min(GAP_LIMIT) as usize));
        }
        Ok(Stretch { places, has_more, gaps })
    }

    /// Returns all records of the last file, in order.
    pub(crate) fn last_file(&mut self) -> Result<Vec<Place>, Error> {
        let Some(last) = self.files.len().checked_sub(1) else { return Ok(Vec::new()) };
        while self.files[last].scanned > 0 && self.scan_more()? {}
        Ok(self.files[last].entries.iter().map(|e| Place { file: last, entry: *e }).collect())
    }

    /// Reads the line of a record.
    pub(crate) fn read(&mut self, place: Place) -> Result<Vec<u8>, Error> {
        let disk = Arc::clone(&self.disk);
        let file = &mut self.files[place.file];
        let mut bytes = vec![0; place.entry.length as usize];
        let path = file.path.clone();
        let read = reader(&*disk, file)?
            .read_at(&mut bytes, place.entry.offset)
            .map_err(Error::io("read", &path))?;
        bytes.truncate(read);
        Ok(bytes)
    }

    /// Looks at one more chunk towards the beginning; returns whether there was one.
    fn scan_more(&mut self) -> Result<bool, Error> {
        loop {
            match self.files.get(self.frontier) {
                None => return Ok(false),
                Some(file) if file.scanned > 0 => break,
                Some(_) if self.frontier == 0 => return Ok(false),
                Some(_) => self.frontier -= 1,
            }
        }
        let disk = Arc::clone(&self.disk);
        let number = self.frontier;
        let file = &mut self.files[number];
        let path = file.path.clone();
        let high = file.scanned;
        let (low, bytes) =
            whole_lines(reader(&*disk, file)?, high).map_err(Error::io("read", &path))?;
        let at_end = number + 1 == self.files.len() && high == self.files[number].end;
        self.files[number].scanned = low;
        let mut end = bytes.len();
        if at_end && !bytes.ends_with(b"\n") {
            // A write that is under way, or was cut: never acknowledged, so no damage.
            let start = bytes.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
            self.take(number, &bytes[start..], low + start as u64);
            end = start;
        }
        // From the last line to the first, so that places must fall.
        while end > 0 {
            let body = bytes[..end].strip_suffix(b"\n").unwrap_or(&bytes[..end]);
            let start = body.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
            self.accept(number, &body[start..], low + start as u64);
            end = start;
        }
        Ok(true)
    }

    fn accept(&mut self, file: usize, line: &[u8], offset: u64) {
        if line.is_empty() || self.take(file, line, offset) {
            return;
        }
        let pieces = line::pieces(line);
        for piece in pieces.iter().rev() {
            if self.take(file, &line[piece.clone()], offset + piece.start as u64) {
                self.saved += 1;
            }
        }
        if pieces.is_empty() && self.lowest == u64::MAX && line.iter().any(|b| *b != 0) {
            self.damaged_at_end += 1;
        }
        if self.damage.len() < DAMAGE_LIMIT {
            let name = self.files[file].path.file_name().unwrap_or_default().to_string_lossy();
            self.damage.push(format!(
                "{name}: a damaged line at byte {offset}, {} of its records could be saved",
                pieces.len()
            ));
        }
    }

    /// Takes a record that is sound and in order.
    fn take(&mut self, file: usize, line: &[u8], offset: u64) -> bool {
        let Some(head) = line::check(line) else { return false };
        let Ok(length) = u32::try_from(line.len()) else { return false };
        if head.seq >= self.lowest {
            return false;
        }
        self.lowest = head.seq;
        self.version = self.version.max(head.version);
        self.files[file].entries.push_front(Entry { seq: head.seq, offset, length });
        true
    }
}

fn reader<'a>(disk: &dyn Disk, file: &'a mut FileLines) -> Result<&'a dyn DiskFile, Error> {
    let FileLines { reader, path, .. } = file;
    if reader.is_none() {
        *reader = Some(disk.open(path, Open::Read).map_err(Error::io("open", path))?);
    }
    Ok(reader.as_deref().expect("it was opened above"))
}

/// Reads the bytes before `high` back to the beginning of a line.
fn whole_lines(file: &dyn DiskFile, high: u64) -> std::io::Result<(u64, Vec<u8>)> {
    let mut window = CHUNK_BYTES;
    loop {
        let low = high.saturating_sub(window);
        let mut bytes = vec![0; (high - low) as usize];
        let read = file.read_at(&mut bytes, low)?;
        bytes.truncate(read);
        if low == 0 {
            return Ok((0, bytes));
        }
        // The last byte ends the line that is wanted; a beginning must lie before it.
        let searched = &bytes[..bytes.len().saturating_sub(1)];
        if let Some(at) = searched.iter().position(|b| *b == b'\n') {
            bytes.drain(..=at);
            return Ok((low + at as u64 + 1, bytes));
        }
        if window >= STRETCH_LIMIT_BYTES {
            return Ok((low, bytes));
        }
        window *= 4;
    }
}
