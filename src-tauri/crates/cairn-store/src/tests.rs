//! What a neighbour sees: a store in a temporary folder, with a disk that can be made to fail.

mod faults;
mod format;
mod reading;
mod recovery;
mod sessions;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use cairn_protocol::*;
use tempfile::TempDir;

use crate::disk::{Disk, DiskFile, Open, RealDisk};
use crate::*;

const NOW: Timestamp = Timestamp(1_796_000_000_000);

fn session_id() -> SessionId {
    SessionId::new("session-2026-11-30-21-25-00-0a1b2c3d")
}

fn record(id: &SessionId) -> SessionRecord {
    SessionRecord {
        id: id.clone(),
        workspace_id: WorkspaceId::new("ws-1"),
        title: "Title".to_owned(),
        title_source: TitleSource::Auto,
        model: None,
        mode: Mode::Interactive,
        created_at: NOW,
        last_active_at: NOW,
        turns: 0,
        usage: TokenUsage::default(),
        rules: Vec::new(),
        granted_dirs: Vec::new(),
        queue: Vec::new(),
        last_error: None,
    }
}

fn meta() -> Message {
    let meta = SessionMeta {
        session_id: session_id(),
        provider: "local".to_owned(),
        model_id: "m-1".to_owned(),
        model_context_window: Some(8_000).into(),
        system_prompt: "Be brief.".to_owned(),
        agent_state: "/a".to_owned(),
        workspace: "/w".to_owned(),
        source: None,
    };
    Message::meta(NOW, meta)
}

fn user(text: impl Into<String>) -> Message {
    Message::model(NOW, Text::user(text))
}

fn open(root: &Path) -> Arc<Store> {
    Store::open(root, NOW).expect("the store opens").0
}

/// Opens a store with an empty session in it.
fn with_session(root: &Path) -> Arc<Store> {
    let store = open(root);
    store.create_session(record(&session_id())).expect("a session can be made");
    store
}

fn trace_file(root: &Path, number: u32) -> PathBuf {
    let dir = root.join("projects/default/sessions").join(session_id().as_str());
    dir.join(format!("{}_{number:03}.jsonl", session_id()))
}

/// Writes `count` user texts `1` … `count` into the session.
fn fill(store: &Store, count: u64) {
    let (mut trace, _) = store.open_trace(&session_id()).expect("the trace opens");
    for number in 1..=count {
        trace.append(&user(number.to_string()), SyncClass::C).expect("it is written");
    }
}

fn text_of(message: &Message) -> String {
    match message.as_model() {
        Some(ModelMsg::Text(text)) => text.text.clone(),
        _ => format!("{:?}", message.body),
    }
}

fn texts(messages: &[StoredMessage]) -> Vec<String> {
    messages.iter().map(|stored| text_of(&stored.message)).collect()
}

fn seqs(messages: &[StoredMessage]) -> Vec<u64> {
    messages.iter().map(|stored| stored.seq).collect()
}

/// A folder in memory where there is one: hundreds of stores are made, and none needs to survive a power cut.
fn memory_dir() -> TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { TempDir::new_in(memory).unwrap() } else { TempDir::new().unwrap() }
}

/// What a failing operation does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// An error before anything happened.
    Error(io::ErrorKind),
    /// Half of a write reaches the file; other operations fail with an I/O error.
    Half,
}

/// A real disk that counts its operations and fails some.
struct TestDisk {
    real: RealDisk,
    count: AtomicUsize,
    opened: AtomicUsize,
    syncs: AtomicUsize,
    bytes_read: AtomicU64,
    /// Operations with these numbers fail.
    failing: Mutex<(std::ops::Range<usize>, Fault)>,
}

impl TestDisk {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            real: RealDisk,
            count: AtomicUsize::new(0),
            opened: AtomicUsize::new(0),
            syncs: AtomicUsize::new(0),
            bytes_read: AtomicU64::new(0),
            failing: Mutex::new((0..0, Fault::Half)),
        })
    }

    fn fail(&self, numbers: std::ops::Range<usize>, fault: Fault) {
        self.count.store(0, Ordering::SeqCst);
        *self.failing.lock().unwrap() = (numbers, fault);
    }

    fn step(&self) -> Option<Fault> {
        let number = self.count.fetch_add(1, Ordering::SeqCst);
        let failing = self.failing.lock().unwrap();
        failing.0.contains(&number).then_some(failing.1)
    }

    fn check(&self) -> io::Result<()> {
        match self.step() {
            None => Ok(()),
            Some(Fault::Error(kind)) => Err(kind.into()),
            Some(Fault::Half) => Err(io::Error::other("injected")),
        }
    }
}

struct SharedDisk(Arc<TestDisk>);

struct TestFile {
    real: Box<dyn DiskFile>,
    disk: Arc<TestDisk>,
}

impl Disk for SharedDisk {
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.0.check()?;
        self.0.real.create_dir(path)
    }

    fn open(&self, path: &Path, how: Open) -> io::Result<Box<dyn DiskFile>> {
        self.0.check()?;
        self.0.opened.fetch_add(1, Ordering::SeqCst);
        let real = self.0.real.open(path, how)?;
        Ok(Box::new(TestFile { real, disk: Arc::clone(&self.0) }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.0.check()?;
        self.0.real.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.0.check()?;
        self.0.real.remove(path)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.0.check()?;
        self.0.real.sync_dir(path)
    }
}

impl DiskFile for TestFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.disk.step() {
            None => self.real.write(bytes),
            Some(Fault::Error(kind)) => Err(kind.into()),
            Some(Fault::Half) => self.real.write(&bytes[..bytes.len() / 2]),
        }
    }

    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
        self.disk.check()?;
        let read = self.real.read_at(bytes, offset)?;
        self.disk.bytes_read.fetch_add(read as u64, Ordering::SeqCst);
        Ok(read)
    }

    fn len(&self) -> io::Result<u64> {
        self.disk.check()?;
        self.real.len()
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        self.disk.check()?;
        self.real.set_len(bytes)
    }

    fn sync(&self) -> io::Result<()> {
        self.disk.check()?;
        self.disk.syncs.fetch_add(1, Ordering::SeqCst);
        self.real.sync()
    }
}

fn options(disk: &Arc<TestDisk>) -> Options {
    Options { disk: Arc::new(SharedDisk(Arc::clone(disk))), ..Options::default() }
}

fn open_on(disk: &Arc<TestDisk>, root: &Path) -> Arc<Store> {
    Store::open_with(root, NOW, options(disk)).expect("the store opens").0
}

/// A clock that is moved by hand.
#[derive(Clone)]
struct HandClock(Arc<Mutex<Instant>>);

impl HandClock {
    fn new() -> Self {
        Self(Arc::new(Mutex::new(Instant::now())))
    }

    fn advance(&self, by: Duration) {
        *self.0.lock().unwrap() += by;
    }

    fn clock(&self) -> Clock {
        let clock = self.clone();
        Arc::new(move || *clock.0.lock().unwrap())
    }
}
