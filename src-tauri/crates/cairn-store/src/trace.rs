//! Writing a session: one line, one write, at the end (security plan 4.2).
//!
//! What `append` returned `Ok` for survives the death of the process; for class A also a power cut. A write that
//! fails is rolled back to the length before it. It never writes parts of messages and never what came from a child
//! session: both are refused. Repair on open is in `recover.rs`, reading in `history.rs`.

use std::collections::VecDeque;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use cairn_protocol::{Body, EventMsg, HistoryPage, Message, StoredMessage};

use crate::disk::{Disk, DiskFile, Open, write_all};
use crate::history::TraceView;
use crate::layout::SessionLayout;
use crate::line::{self, Prepared};
use crate::lines::Lines;
use crate::store::Clock;
use crate::{Error, blobs};

/// How soon a record must survive a power cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyncClass {
    /// Before `append` returns: user messages, decisions, intents of side effects, snapshot ids.
    A,
    /// Within 250 ms or 64 KiB: results, message segments, state. Who appends calls `flush` when `flush_due` is over.
    B,
    /// Whenever the system likes.
    C,
}

/// Class B is synced when the oldest record that is not has waited so long.
const GROUP_DELAY: Duration = Duration::from_millis(250);

/// Class B is synced when so much is not.
const GROUP_BYTES: usize = 64 * 1024;

/// Records that could not be written are kept up to this size, and written when the disk works again.
const HELD_LIMIT_BYTES: usize = 64 * 1024 * 1024;

/// The trace does not reach the disk at present.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Degraded {
    /// Why.
    pub reason: String,
    /// Messages in memory that wait to be written.
    pub held: usize,
}

/// What must be done before the next write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Health {
    Good,
    /// A write failed: open again and cut to the known length.
    Reopen,
    /// A sync failed, so what the handle wrote may never reach the disk: copy the known lines to a new file.
    Rewrite,
}

/// A session's trace, open for writing. Only one exists at a time, over all processes.
pub struct Trace {
    disk: Arc<dyn Disk>,
    session: SessionLayout,
    clock: Clock,
    view: TraceView,
    number: u32,
    path: PathBuf,
    file: Box<dyn DiskFile>,
    length: u64,
    next_seq: u64,
    unsynced_bytes: usize,
    unsynced_since: Option<Instant>,
    health: Health,
    reason: String,
    held: VecDeque<Prepared>,
    held_bytes: usize,
    /// A next file that could not be begun. It must be gone before anything is written, or it would pass for the end.
    stray: Option<PathBuf>,
    /// The lock ends with the handle.
    _lock: File,
}

/// What a trace is opened with.
pub(crate) struct Parts {
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) session: SessionLayout,
    pub(crate) clock: Clock,
    pub(crate) lines: Lines,
    pub(crate) number: u32,
    pub(crate) lock: File,
}

impl Trace {
    pub(crate) fn new(parts: Parts) -> Result<Self, Error> {
        let Parts { disk, session, clock, lines, number, lock } = parts;
        let path = session.trace(number);
        let file = disk.open(&path, Open::Append).map_err(Error::io("open", &path))?;
        let length = file.len().map_err(Error::io("measure", &path))?;
        let next_seq = lines.last_seq() + lines.damaged_at_end + 1;
        let view = TraceView::new(Arc::clone(&disk), session.blobs(), lines);
        Ok(Self {
            disk,
            session,
            clock,
            view,
            number,
            path,
            file,
            length,
            next_seq,
            unsynced_bytes: 0,
            unsynced_since: None,
            health: Health::Good,
            reason: String::new(),
            held: VecDeque::new(),
            held_bytes: 0,
            stray: None,
            _lock: lock,
        })
    }

    /// Adds a message and returns its place. With class A it is durable when this returns.
    ///
    /// After an error of class A the message is not in the trace, unless the disk even refused to take it back. After an error of class B or C it is kept in
    /// memory (up to 64 MiB), has its place, shows in pages, and is written by a later `append` or `flush`; see [`Trace::degraded`].
    /// A message that may not be stored is refused with [`Error::Invalid`] and not kept.
    pub fn append(&mut self, message: &Message, class: SyncClass) -> Result<u64, Error> {
        check_storable(message)?;
        let prepared = line::encode(self.next_seq, message)?;
        let seq = prepared.seq;
        let result = self.write_held().and_then(|()| self.write(&prepared));
        match (result, class) {
            (Ok(()), SyncClass::A) => {
                if let Err(error) = self.sync() {
                    self.take_back(&prepared);
                    return Err(error);
                }
            }
            (Ok(()), SyncClass::B | SyncClass::C) => {}
            (Err(error), SyncClass::A) => return Err(error),
            (Err(error), SyncClass::B | SyncClass::C) => {
                self.hold(prepared);
                return Err(error);
            }
        }
        self.next_seq = seq + 1;
        if class == SyncClass::B {
            self.unsynced_since.get_or_insert((self.clock)());
            if self.group_is_due() {
                // The record is written and stays; a failed sync is repeated by the next append or flush.
                self.sync()?;
            }
        }
        Ok(seq)
    }

    /// Writes what was held back and makes everything durable.
    pub fn flush(&mut self) -> Result<(), Error> {
        self.write_held()?;
        if self.unsynced_bytes > 0 || self.health != Health::Good { self.sync() } else { Ok(()) }
    }

    /// Returns when `flush` must be called at the latest, if something of class B waits for it.
    pub fn flush_due(&self) -> Option<Instant> {
        self.unsynced_since.map(|since| since + GROUP_DELAY)
    }

    /// Returns why the trace does not reach the disk, if so; a banner must say it (P-109).
    pub fn degraded(&self) -> Option<Degraded> {
        let good = self.health == Health::Good && self.held.is_empty();
        (!good).then(|| Degraded { reason: self.reason.clone(), held: self.held.len() })
    }

    /// Returns the last `limit` messages before a place, oldest first; without a place the last ones.
    pub fn page(&self, before: Option<u64>, limit: u32) -> Result<HistoryPage, Error> {
        let mut page = self.view.page(before, limit)?;
        let wanted = |seq: u64| before.is_none_or(|before| seq < before);
        page.messages.extend(self.held_messages().filter(|held| wanted(held.seq)));
        let surplus = page.messages.len().saturating_sub(limit.max(1) as usize);
        page.has_more |= surplus > 0;
        page.messages.drain(..surplus);
        Ok(page)
    }

    /// Returns all messages of the session.
    pub fn messages(&self) -> Result<Vec<StoredMessage>, Error> {
        let mut messages = self.view.messages()?;
        messages.extend(self.held_messages());
        Ok(messages)
    }

    /// Returns the messages of the present model context (D-1).
    pub fn context_messages(&self) -> Result<Vec<StoredMessage>, Error> {
        let mut messages = self.view.context_messages()?;
        messages.extend(self.held_messages());
        Ok(messages)
    }

    /// Returns the place of the last message; 0 when there is none.
    pub fn last_seq(&self) -> u64 {
        self.next_seq - 1
    }

    /// Begins the next model context in a new file, headed by its `session_meta` (D-1, P-137). On an error the
    /// trace goes on in the old file.
    pub fn next_file(&mut self, meta: &Message) -> Result<(), Error> {
        if !matches!(meta.body, Body::SessionMeta(_)) {
            return Err(Error::Invalid("a trace file begins with a session_meta".to_owned()));
        }
        self.flush()?;
        let number = self.number + 1;
        let path = self.session.trace(number);
        let prepared = line::encode(self.next_seq, meta)?;
        let file = match self.begin_file(&path, &prepared) {
            Ok(file) => file,
            Err(error) => {
                self.reason = error.full_text();
                self.health = Health::Reopen;
                self.stray = Some(path);
                return Err(error);
            }
        };
        self.view.lines().push_file(path.clone());
        self.view.lines().push(prepared.seq, prepared.line.len() - 1);
        self.file = file;
        self.length = prepared.line.len() as u64;
        self.next_seq = prepared.seq + 1;
        self.number = number;
        self.path = path;
        Ok(())
    }

    /// Makes a file with its first line, durable with its name.
    fn begin_file(&self, path: &Path, first: &Prepared) -> Result<Box<dyn DiskFile>, Error> {
        if let Some(blob) = &first.blob {
            blobs::put(&*self.disk, &self.session.blobs(), blob)?;
        }
        let mut file = self.disk.open(path, Open::Append).map_err(Error::io("create", path))?;
        write_all(file.as_mut(), &first.line)
            .and_then(|()| file.sync())
            .and_then(|()| self.disk.sync_dir(&self.session.dir))
            .map_err(Error::io("write", path))?;
        Ok(file)
    }

    fn group_is_due(&self) -> bool {
        let waited = self.unsynced_since.map(|since| (self.clock)().duration_since(since));
        self.unsynced_bytes >= GROUP_BYTES || waited.is_some_and(|waited| waited >= GROUP_DELAY)
    }

    fn held_messages(&self) -> impl Iterator<Item = StoredMessage> + '_ {
        self.held.iter().filter_map(|held| {
            let bytes = held.line.strip_suffix(b"\n")?;
            let message = match (&held.blob, line::decode(bytes).ok()?) {
                (Some(blob), _) => serde_json::from_slice(&blob.bytes).ok()?,
                (None, line::Content::Message(message)) => *message,
                (None, line::Content::Blob { .. }) => return None,
            };
            Some(StoredMessage { seq: held.seq, message })
        })
    }

    fn hold(&mut self, prepared: Prepared) {
        let size = prepared.line.len() + prepared.blob.as_ref().map_or(0, |blob| blob.bytes.len());
        if self.held_bytes + size <= HELD_LIMIT_BYTES {
            self.next_seq = prepared.seq + 1;
            self.held_bytes += size;
            self.held.push_back(prepared);
        }
    }

    fn write_held(&mut self) -> Result<(), Error> {
        while let Some(prepared) = self.held.pop_front() {
            if let Err(error) = self.write(&prepared) {
                self.held.push_front(prepared);
                return Err(error);
            }
        }
        self.held_bytes = 0;
        Ok(())
    }

    /// Writes a record, or leaves the file as it was.
    fn write(&mut self, prepared: &Prepared) -> Result<(), Error> {
        let result = self.try_write(prepared);
        if let Err(error) = &result {
            self.reason = error.full_text();
        }
        result
    }

    fn try_write(&mut self, prepared: &Prepared) -> Result<(), Error> {
        self.restore_health()?;
        if let Some(blob) = &prepared.blob
            && let Err(error) = blobs::put(&*self.disk, &self.session.blobs(), blob)
        {
            self.health = Health::Reopen;
            return Err(error);
        }
        let line = &prepared.line;
        let result = match self.file.write(line) {
            Ok(count) if count == line.len() => Ok(()),
            // A short write is how a full disk shows itself first.
            Ok(_) => Err(std::io::ErrorKind::StorageFull.into()),
            Err(error) => Err(error),
        };
        if let Err(error) = result {
            self.health = Health::Reopen;
            // If this fails too, the cut is done when the file is opened again.
            let _ = self.file.set_len(self.length);
            return Err(Error::io("write", &self.path)(error));
        }
        self.length += line.len() as u64;
        self.unsynced_bytes += line.len();
        self.view.lines().push(prepared.seq, line.len() - 1);
        Ok(())
    }

    /// Takes back the record that was written last, because it could not be made durable.
    fn take_back(&mut self, prepared: &Prepared) {
        self.length -= prepared.line.len() as u64;
        self.view.lines().pop();
        let _ = self.file.set_len(self.length);
    }

    fn sync(&mut self) -> Result<(), Error> {
        let result = self.restore_health().and_then(|()| {
            self.file.sync().map_err(|error| {
                self.health = Health::Rewrite;
                Error::io("make durable", &self.path)(error)
            })
        });
        match &result {
            Ok(()) => {
                self.unsynced_bytes = 0;
                self.unsynced_since = None;
            }
            Err(error) => self.reason = error.full_text(),
        }
        result
    }

    /// Opens the file again after a failure and makes it what it is known to be.
    fn restore_health(&mut self) -> Result<(), Error> {
        if self.health == Health::Good {
            return Ok(());
        }
        if let Some(stray) = &self.stray {
            match self.disk.remove(stray) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(Error::io("remove", stray)(error));
                }
                _ => {}
            }
            self.disk.sync_dir(&self.session.dir).map_err(Error::io("make durable", stray))?;
            self.stray = None;
        }
        if self.health == Health::Rewrite {
            self.rewrite()?;
        }
        let file =
            self.disk.open(&self.path, Open::Append).map_err(Error::io("open", &self.path))?;
        let length = file.len().map_err(Error::io("measure", &self.path))?;
        if length < self.length {
            let source = std::io::Error::other("something else shortened the file");
            return Err(Error::io("continue", &self.path)(source));
        }
        if length > self.length {
            file.set_len(self.length).map_err(Error::io("cut", &self.path))?;
        }
        self.file = file;
        self.health = Health::Good;
        self.view.lines().reopen_last();
        Ok(())
    }

    /// A failed sync is final for its handle: the lines are copied to a new file that takes the old one's place.
    fn rewrite(&mut self) -> Result<(), Error> {
        let fresh = self.path.with_extension("jsonl.new");
        let _ = self.disk.remove(&fresh);
        let old = self.disk.open(&self.path, Open::Read).map_err(Error::io("open", &self.path))?;
        let mut new =
            self.disk.open(&fresh, Open::CreateNew).map_err(Error::io("create", &fresh))?;
        let mut at = 0;
        let mut bytes = vec![0; 1024 * 1024];
        while at < self.length {
            let wanted = (self.length - at).min(bytes.len() as u64) as usize;
            let read =
                old.read_at(&mut bytes[..wanted], at).map_err(Error::io("read", &self.path))?;
            if read == 0 {
                let source = std::io::Error::other("something else shortened the file");
                return Err(Error::io("copy", &self.path)(source));
            }
            write_all(new.as_mut(), &bytes[..read]).map_err(Error::io("write", &fresh))?;
            at += read as u64;
        }
        new.sync().map_err(Error::io("make durable", &fresh))?;
        self.disk.rename(&fresh, &self.path).map_err(Error::io("replace", &self.path))?;
        self.disk
            .sync_dir(&self.session.dir)
            .map_err(Error::io("make durable", &self.session.dir))?;
        self.view.lines().reopen_last();
        Ok(())
    }
}

impl Drop for Trace {
    fn drop(&mut self) {
        // Who needs to know calls `flush` before.
        let _ = self.flush();
    }
}

/// Refuses parts of messages, what came through a child session, and what this version does not know (P-25).
fn check_storable(message: &Message) -> Result<(), Error> {
    let why = match &message.body {
        _ if !message.origin.is_empty() => "a message of a child session",
        Body::ModelMsg(model) if model.is_partial() => "a part of a message",
        Body::EventMsg(EventMsg::Unknown) => "an event that this version does not know",
        _ => return Ok(()),
    };
    Err(Error::Invalid(format!("{why} is never stored")))
}
