//! What the commands share: the engine, the streams, the one native dialog at a time.
//!
//! The process is read here and nowhere else: environment, home folder, clock.

use std::future::Future;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use cairn_engine::{Engine, EngineOptions, Session};
use cairn_protocol::{ErrorCode, ErrorInfo, SessionId, Timestamp};
use tokio::sync::{Mutex, MutexGuard, OnceCell};

use crate::streams::Streams;

/// What every command returns.
pub(crate) type Result<T> = std::result::Result<T, ErrorInfo>;

/// What the commands share. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Shell {
    inner: Arc<Inner>,
}

struct Inner {
    options: EngineOptions,
    engine: OnceCell<Engine>,
    streams: Streams,
    dialog: Mutex<()>,
    quitting: AtomicBool,
}

impl Shell {
    /// Makes the shell of a data root; opens nothing yet.
    pub(crate) fn new(options: EngineOptions) -> Self {
        let inner = Inner {
            options,
            engine: OnceCell::new(),
            streams: Streams::default(),
            dialog: Mutex::new(()),
            quitting: AtomicBool::new(false),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Begins to open the engine; the first command waits for it.
    pub(crate) fn open_early(&self) {
        let shell = self.clone();
        self.streams().own(async move {
            // The first command that needs it tries again and tells the window.
            let _shown_later = shell.engine().await;
        });
    }

    /// Returns the engine, and opens it when it is not open. A failure is tried again by the next call.
    pub(crate) async fn engine(&self) -> Result<Engine> {
        let options = &self.inner.options;
        self.inner.engine.get_or_try_init(|| Engine::open(options.clone())).await.cloned()
    }

    /// Returns the engine when it is open.
    pub(crate) fn opened(&self) -> Option<Engine> {
        self.inner.engine.get().cloned()
    }

    /// Returns a session, opened when it is not.
    pub(crate) async fn session(&self, id: &SessionId) -> Result<Session> {
        self.engine().await?.session(id).await
    }

    /// Returns the streams to the window.
    pub(crate) fn streams(&self) -> &Streams {
        &self.inner.streams
    }

    /// Returns the data root.
    pub(crate) fn root(&self) -> &Path {
        &self.inner.options.root
    }

    /// Waits until no native dialog is shown, and keeps others away while the guard lives.
    pub(crate) async fn dialog_turn(&self) -> MutexGuard<'_, ()> {
        self.inner.dialog.lock().await
    }

    /// Marks the app as ending; returns false when it was already.
    pub(crate) fn begin_quitting(&self) -> bool {
        !self.inner.quitting.swap(true, Ordering::SeqCst)
    }

    /// Takes the mark back: the user goes on working.
    pub(crate) fn stay(&self) {
        self.inner.quitting.store(false, Ordering::SeqCst);
    }
}

/// Runs the work of a command on a task of its own, so that a panic in it becomes an error of this one
/// call and not the end of the app.
pub(crate) async fn contain<T: Send + 'static>(
    work: impl Future<Output = Result<T>> + Send + 'static,
) -> Result<T> {
    let done = tauri::async_runtime::spawn(work).await;
    done.unwrap_or_else(|error| Err(defect(&error)))
}

/// Runs blocking work off the async threads, with panics contained alike.
pub(crate) async fn contain_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    let done = tauri::async_runtime::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(defect(&error)))
}

fn defect(error: &dyn std::fmt::Display) -> ErrorInfo {
    let text =
        format!("Cairn made a mistake and could not finish this: {error}. Nothing else stopped.");
    ErrorInfo::new(ErrorCode::Internal, text)
}

/// Reads from the process how the engine is to be opened.
pub(crate) fn options() -> EngineOptions {
    let home = std::env::home_dir().filter(|home| !home.as_os_str().is_empty());
    EngineOptions {
        root: absolute(cairn_engine::data_root(&|name| std::env::var_os(name))),
        home,
        env: std::env::vars_os().collect(),
        now,
        extra: Vec::new(),
        rules: Vec::new(),
        snapshots: None,
    }
}

/// A root that was given relative to the folder of the start, for good.
fn absolute(root: PathBuf) -> PathBuf {
    std::path::absolute(&root).unwrap_or(root)
}

fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// Returns the name under which a second start of the same data root finds the first one. It is a name
/// on the session bus: each part begins with a letter.
pub(crate) fn instance_name(root: &Path) -> String {
    let mut hasher = DefaultHasher::new();
    root.hash(&mut hasher);
    format!("dev.cairn.app.root{:016x}", hasher.finish())
}

#[cfg(test)]
mod tests;
