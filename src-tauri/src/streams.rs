//! Streams from the engine to the page: at most one message a frame each, and all owned.
//!
//! What is in a message is the engine's work; a page that reloads ends what the page before it had.

use std::collections::HashMap;
use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cairn_engine::{Engine, Subscription};
use cairn_protocol::{AppEvent, ErrorCode, ErrorInfo, FeedItem};
use futures::stream::{Stream, StreamExt, unfold};
use tauri::ipc::Channel;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::shell::Result;

/// The shortest time between two messages of a stream: one frame at 60 Hz (G13).
const FRAME: Duration = Duration::from_micros(16_667);
/// Streams of one page. A page that has more than this has lost count of its own.
const MAX_STREAMS: usize = 64;

/// The streams that run, and every other task that the shell started. Cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct Streams {
    open: Arc<Mutex<Open>>,
    tasks: TaskTracker,
    stop: CancellationToken,
}

#[derive(Default)]
struct Open {
    last: u32,
    by_id: HashMap<u32, CancellationToken>,
}

impl Streams {
    /// Runs a task until it ends or the app does.
    pub(crate) fn own(&self, task: impl Future<Output = ()> + Send + 'static) {
        let stop = self.stop.clone();
        let task = self.tasks.track_future(async move {
            tokio::select! {
                () = stop.cancelled() => {}
                () = task => {}
            }
        });
        // The tracker holds it; the handle adds nothing.
        let _tracked = tauri::async_runtime::spawn(task);
    }

    /// Sends what happens outside sessions until the page is gone. Returns the stream's id.
    pub(crate) fn app(&self, engine: Engine, channel: Channel<Vec<AppEvent>>) -> Result<u32> {
        let events = engine.subscribe();
        self.start(send_app(engine, events, channel))
    }

    /// Sends the feed of a session until it is ended. Returns the stream's id.
    pub(crate) fn session(
        &self,
        subscription: Subscription,
        channel: Channel<Vec<FeedItem>>,
    ) -> Result<u32> {
        self.start(send_session(subscription, channel))
    }

    /// Ends a stream. One that has ended already is what is wanted.
    pub(crate) fn end(&self, id: u32) {
        if let Some(stop) = self.lock().by_id.remove(&id) {
            stop.cancel();
        }
    }

    /// Ends all streams: the page that listened is gone.
    pub(crate) fn end_all(&self) {
        for (_, stop) in self.lock().by_id.drain() {
            stop.cancel();
        }
    }

    /// Ends every task and waits for it.
    pub(crate) async fn close(&self) {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }

    fn start(&self, stream: impl Future<Output = ()> + Send + 'static) -> Result<u32> {
        let (id, stop) = self.begin()?;
        let streams = self.clone();
        self.own(async move {
            tokio::select! {
                () = stop.cancelled() => {}
                () = stream => {}
            }
            streams.end(id);
        });
        Ok(id)
    }

    fn begin(&self) -> Result<(u32, CancellationToken)> {
        let mut open = self.lock();
        if open.by_id.len() >= MAX_STREAMS {
            let text = "The window follows too many sessions at once. Reload it.";
            return Err(ErrorInfo::new(ErrorCode::Invalid, text));
        }
        open.last = open.last.wrapping_add(1);
        let stop = self.stop.child_token();
        let id = open.last;
        open.by_id.insert(id, stop.clone());
        Ok((id, stop))
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn send_session(subscription: Subscription, channel: Channel<Vec<FeedItem>>) {
    let batches = unfold(subscription, async |subscription| {
        Some((subscription.next_batch().await?, subscription))
    });
    paced(batches, |items| channel.send(items).is_ok()).await;
}

async fn send_app(engine: Engine, events: Receiver<AppEvent>, channel: Channel<Vec<AppEvent>>) {
    let batches = unfold((engine, events), async |(engine, mut events)| {
        Some((next_events(&engine, &mut events).await?, (engine, events)))
    });
    paced(batches, |batch| channel.send(batch).is_ok()).await;
}

/// Sends one batch after the other, at most one a frame, until there is no next or nobody takes it.
async fn paced<T>(batches: impl Stream<Item = T>, mut send: impl FnMut(T) -> bool) {
    let mut batches = pin!(batches);
    while let Some(batch) = batches.next().await {
        let sent = Instant::now();
        if !send(batch) {
            return;
        }
        tokio::time::sleep_until(sent + FRAME).await;
    }
}

/// Returns all that has happened; when some of it was missed, the whole state as events.
async fn next_events(engine: &Engine, events: &mut Receiver<AppEvent>) -> Option<Vec<AppEvent>> {
    let mut batch = match events.recv().await {
        Ok(event) => vec![event],
        Err(RecvError::Lagged(_)) => return Some(whole_state(engine).await),
        Err(RecvError::Closed) => return None,
    };
    loop {
        match events.try_recv() {
            Ok(event) => batch.push(event),
            Err(TryRecvError::Lagged(_)) => return Some(whole_state(engine).await),
            Err(TryRecvError::Empty | TryRecvError::Closed) => return Some(batch),
        }
    }
}

async fn whole_state(engine: &Engine) -> Vec<AppEvent> {
    // A state that can't be read now is read with the next event.
    let Ok(state) = engine.state().await else { return Vec::new() };
    let mut batch = vec![
        AppEvent::Settings { settings: Box::new(state.settings) },
        AppEvent::Providers { providers: state.providers },
        AppEvent::Workspaces { workspaces: state.workspaces },
    ];
    batch.extend(state.sandbox.map(|sandbox| AppEvent::Sandbox { sandbox }));
    let sessions = state.sessions.into_iter();
    batch.extend(sessions.map(|summary| AppEvent::Session { summary: Box::new(summary) }));
    batch
}

#[cfg(test)]
mod tests;
