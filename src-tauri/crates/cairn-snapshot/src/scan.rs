//! One look at the whole workspace: a parallel walk that stats every name and reads only what may have changed.
//!
//! It writes nothing inside the workspace (I1) and follows no link. Contents go into the object store; what it found
//! is applied to the state by `capture.rs`.

mod rules;
mod worker;

use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use crate::error::{Error, Result};
use crate::files::Files;
use crate::item::{Left, What};
use crate::names;
use crate::objects::Objects;
use crate::state::{Node, Observed, State};
use rules::Rules;

/// What a capture covers.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Larger files are recorded as seen, not stored, in bytes.
    pub scan_file_bytes: u64,
    /// The same for files that an edit tool names, in bytes.
    pub edit_file_bytes: u64,
    /// New content per snapshot, in bytes.
    pub new_bytes: u64,
    /// A workspace with more files is covered by edit tools only.
    pub files: u64,
    /// One ignored file outside ignored folders, in bytes.
    pub ignored_file_bytes: u64,
    /// All of them, in bytes.
    pub ignored_bytes: u64,
    /// How many of them.
    pub ignored_files: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            scan_file_bytes: 10 << 20,
            edit_file_bytes: 100 << 20,
            new_bytes: 256 << 20,
            files: 500_000,
            ignored_file_bytes: 1 << 20,
            ignored_bytes: 32 << 20,
            ignored_files: 500,
        }
    }
}

/// Called with the number of files seen so far.
pub type Progress = Arc<dyn Fn(u64) + Send + Sync>;

/// What a walk needs.
pub(crate) struct Walk<'a> {
    pub(crate) files: &'a dyn Files,
    pub(crate) root: BorrowedFd<'a>,
    pub(crate) limits: &'a Limits,
    pub(crate) progress: Option<&'a Progress>,
    pub(crate) cancel: Option<&'a AtomicBool>,
    /// Device and file number of the store, in case it lies inside the workspace.
    pub(crate) store: (u64, u64),
    /// File-system time at the start of the walk, in nanoseconds.
    pub(crate) now: i64,
    /// How far apart two changes must be to have different times, in nanoseconds.
    pub(crate) granularity: i64,
}

struct Task {
    dir: Vec<u8>,
    rules: Arc<Rules>,
    entered: bool,
}

struct Found {
    dir: Vec<u8>,
    node: Node,
    entered: bool,
}

#[derive(Default)]
struct Queue {
    tasks: Vec<Task>,
    working: usize,
}

/// What the threads of a walk share.
struct Shared<'a> {
    walk: &'a Walk<'a>,
    state: &'a State,
    objects: Mutex<&'a mut Objects>,
    queue: Mutex<Queue>,
    wake: Condvar,
    found: Mutex<Vec<Found>>,
    unreadable: Mutex<Vec<Vec<u8>>>,
    failed: Mutex<Option<Error>>,
    stop: AtomicBool,
    seen: AtomicU64,
    new_bytes: AtomicU64,
    ignored_files: AtomicU64,
    ignored_bytes: AtomicU64,
    /// Set when the clock went back: stamps from then on prove nothing.
    distrust_from: i64,
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    // A worker that panicked has set nothing half: every shared value is changed by one statement.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Walks the workspace and brings the state up to date. On an error the state is as it was.
pub(crate) fn scan(walk: &Walk<'_>, state: &mut State, objects: &mut Objects) -> Result<Observed> {
    let (ignored_files, ignored_bytes) = covered_ignored(state);
    let shared = Shared {
        walk,
        state,
        objects: Mutex::new(objects),
        queue: Mutex::new(Queue::default()),
        wake: Condvar::new(),
        found: Mutex::default(),
        unreadable: Mutex::default(),
        failed: Mutex::default(),
        stop: AtomicBool::new(false),
        seen: AtomicU64::new(0),
        new_bytes: AtomicU64::new(0),
        ignored_files: AtomicU64::new(ignored_files),
        ignored_bytes: AtomicU64::new(ignored_bytes),
        distrust_from: if walk.now < state.probe { walk.now } else { i64::MAX },
    };
    let rules = shared.root_rules();
    locked(&shared.queue).tasks.push(Task { dir: Vec::new(), rules, entered: state.is_empty() });
    let threads = std::thread::available_parallelism().map_or(2, usize::from).clamp(2, 4);
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(|| shared.work());
        }
        shared.work();
    });
    if let Some(error) = locked(&shared.failed).take() {
        return Err(error);
    }
    let mut found = std::mem::take(&mut *locked(&shared.found));
    let unreadable = std::mem::take(&mut *locked(&shared.unreadable));
    drop(shared);
    found.sort_unstable_by(|a, b| a.dir.cmp(&b.dir));
    mark_unreadable(state, &mut found, unreadable);
    let mut observed = Observed::default();
    for Found { dir, node, entered } in found {
        // The folder may be gone or uncovered by what was found for one above it.
        let known = dir.is_empty() || state.get(&dir).is_some_and(|entry| entry.what == What::Dir);
        if known {
            state.apply(&dir, node, entered, &mut observed);
        }
    }
    state.probe = walk.now;
    Ok(observed)
}

fn covered_ignored(state: &State) -> (u64, u64) {
    let mut sum = (0, 0);
    for (_, entry) in state.nodes().flat_map(|(_, node)| &node.entries) {
        if entry.ignored {
            sum.0 += 1;
            sum.1 += entry.stamp.size;
        }
    }
    sum
}

/// Notes in the folder above each folder that could not be opened that it could not be opened.
fn mark_unreadable(state: &State, found: &mut Vec<Found>, unreadable: Vec<Vec<u8>>) {
    for path in unreadable {
        let (dir, name) = names::split(&path);
        let at = match found.iter().position(|found| found.dir == dir) {
            Some(at) => at,
            None => {
                let node = state.node(dir).cloned().unwrap_or_default();
                found.push(Found { dir: dir.to_vec(), node, entered: false });
                found.sort_unstable_by(|a, b| a.dir.cmp(&b.dir));
                found.iter().position(|found| found.dir == dir).unwrap_or_default()
            }
        };
        for (own, entry) in &mut found[at].node.entries {
            if own.as_ref() == name {
                entry.what = What::Left(Left::Unreadable);
            }
        }
    }
}

impl Shared<'_> {
    fn root_rules(&self) -> Arc<Rules> {
        let base = Arc::new(Rules::default());
        let exclude = self.walk.files.open_dir(self.walk.root, b".git/info").and_then(|dir| {
            use std::os::fd::AsFd;
            self.walk.files.read(dir.as_fd(), b"exclude", rules::RULE_FILE_LIMIT)
        });
        match exclude {
            Ok((content, _)) => base.with_file(b"", &content),
            Err(_) => base,
        }
    }

    fn work(&self) {
        loop {
            let task = {
                let mut queue = locked(&self.queue);
                loop {
                    if self.stop.load(Ordering::Relaxed) {
                        return;
                    }
                    if let Some(task) = queue.tasks.pop() {
                        queue.working += 1;
                        break task;
                    }
                    if queue.working == 0 {
                        return;
                    }
                    queue = self.wake.wait(queue).unwrap_or_else(PoisonError::into_inner);
                }
            };
            let result = self.folder(task);
            let mut queue = locked(&self.queue);
            queue.working -= 1;
            match result {
                Ok(tasks) => queue.tasks.extend(tasks),
                Err(error) => {
                    self.stop.store(true, Ordering::Relaxed);
                    locked(&self.failed).get_or_insert(error);
                }
            }
            drop(queue);
            self.wake.notify_all();
        }
    }

    fn count(&self, files: u64) -> Result<()> {
        let seen = self.seen.fetch_add(files, Ordering::Relaxed) + files;
        if let Some(progress) = self.walk.progress {
            progress(seen);
        }
        if seen > self.walk.limits.files {
            return Err(Error::Invalid(format!(
                "the workspace has more than {} files",
                self.walk.limits.files
            )));
        }
        if self.walk.cancel.is_some_and(|cancel| cancel.load(Ordering::Relaxed)) {
            return Err(Error::Invalid("the capture was cancelled".into()));
        }
        Ok(())
    }
}
