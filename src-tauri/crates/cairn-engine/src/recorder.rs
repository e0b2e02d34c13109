//! The one place where a session's messages get their order: trace first, then the feed (P-25, P-36, P-109).
//!
//! Every producer of a session sends here; one thread writes, so that a line is in the file before
//! anybody sees it. A failed write never loses the message silently: durable records fail to their
//! caller, and the others raise a notice on the feed.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use cairn_protocol::{
    Aggregator, ErrorCode, ErrorInfo, EventMsg, FeedItem, HistoryPage, Message, NoticeLevel,
    StoredMessage, Timestamp,
};
use cairn_store::{SyncClass, Trace};
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};

use crate::engine::blocking;
use crate::error::{Result, chain, closed, internal};
use crate::feed::{Subscriber, Subscription, subscription};
use crate::task::panic_text;

/// Messages that may wait to be written; a full queue makes the producers wait.
const QUEUE: usize = 1024;
/// Longest time between a record and its group sync (security plan 4.2, class B).
const GROUP_SYNC: Duration = Duration::from_millis(250);

/// What is to become of a message that is stored, and of one that can't be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keep {
    /// Synced with its group; held in memory while the disk does not take it.
    Grouped,
    /// Synced at once, or refused: its caller then does not do what it says.
    DurableOrRefused,
    /// Synced at once, or held: it has happened whether it can be written or not.
    DurableOrHeld,
}

enum Job {
    Record { message: Message, keep: Keep, done: Option<oneshot::Sender<Result<u64>>> },
    Partial(Message),
    Announce(FeedItem),
    Subscribe { after: Option<u64>, reply: oneshot::Sender<Result<Subscription>> },
    Page { before: Option<u64>, limit: u32, reply: oneshot::Sender<Result<HistoryPage>> },
    NextFile { meta: Message, reply: oneshot::Sender<Result<()>> },
    Stop { reply: oneshot::Sender<()> },
}

/// Sends messages of a session to its trace and its subscribers.
#[derive(Clone)]
pub(crate) struct Recorder {
    jobs: mpsc::Sender<Job>,
    now: fn() -> Timestamp,
    thread: Arc<Mutex<Option<JoinHandle<()>>>>,
}

impl Recorder {
    /// Starts the writing thread; it ends with `stop` or when the last handle is dropped.
    pub(crate) fn start(trace: Trace, now: fn() -> Timestamp) -> Result<Self> {
        let (jobs, inbox) = mpsc::channel(QUEUE);
        let writer =
            Writer { trace, now, subscribers: Vec::new(), open: Aggregator::new(), failing: false };
        let runtime = Handle::current();
        let thread = std::thread::Builder::new()
            .name("cairn-recorder".to_owned())
            .spawn(move || runtime.block_on(writer.run(inbox)))
            .map_err(|error| internal(format!("can't start a thread: {error}")))?;
        Ok(Self { jobs, now, thread: Arc::new(Mutex::new(Some(thread))) })
    }

    pub(crate) fn now(&self) -> Timestamp {
        (self.now)()
    }

    /// Stores a message in its turn; synced within a quarter of a second.
    pub(crate) async fn record(&self, message: Message) {
        let job = Job::Record { message, keep: Keep::Grouped, done: None };
        // A recorder that is gone means the session was closed; there is nobody left to tell.
        let _closed = self.jobs.send(job).await;
    }

    /// Stores an event in its turn.
    pub(crate) async fn event(&self, event: EventMsg) {
        self.record(Message::event(self.now(), event)).await;
    }

    /// Stores a message and returns once it would survive a power cut. After an error it is not stored, now
    /// or later.
    pub(crate) async fn record_durable(&self, message: Message) -> Result<u64> {
        self.durable(message, Keep::DurableOrRefused).await
    }

    /// Stores a message that says what has happened already, and returns once it would survive a power cut.
    /// After an error it is held and stored when the disk takes it again.
    pub(crate) async fn record_done(&self, message: Message) -> Result<u64> {
        self.durable(message, Keep::DurableOrHeld).await
    }

    async fn durable(&self, message: Message, keep: Keep) -> Result<u64> {
        let (done, written) = oneshot::channel();
        let job = Job::Record { message, keep, done: Some(done) };
        self.jobs.send(job).await.map_err(|_| closed())?;
        written.await.map_err(|_| closed())?
    }

    /// Stores an event and returns once it would survive a power cut.
    pub(crate) async fn event_durable(&self, event: EventMsg) -> Result<u64> {
        self.record_durable(Message::event(self.now(), event)).await
    }

    /// Shows a part of a message; parts are not stored.
    pub(crate) async fn partial(&self, message: Message) {
        let _closed = self.jobs.send(Job::Partial(message)).await;
    }

    /// Shows something that is not a message.
    pub(crate) async fn announce(&self, item: FeedItem) {
        let _closed = self.jobs.send(Job::Announce(item)).await;
    }

    /// Subscribes from `after` on: first what was stored since, then what is open, then what happens.
    pub(crate) async fn subscribe(&self, after: Option<u64>) -> Result<Subscription> {
        self.ask(|reply| Job::Subscribe { after, reply }).await?
    }

    /// Reads a page of history that ends before a place.
    pub(crate) async fn page(&self, before: Option<u64>, limit: u32) -> Result<HistoryPage> {
        self.ask(|reply| Job::Page { before, limit, reply }).await?
    }

    /// Goes on in a new trace file headed by `meta` (D-1).
    pub(crate) async fn next_file(&self, meta: Message) -> Result<()> {
        self.ask(|reply| Job::NextFile { meta, reply }).await?
    }

    /// Writes what is queued, syncs it, lets go of the trace and joins the thread. Fails when the
    /// thread had broken down; what was recorded after that is not in the trace.
    pub(crate) async fn stop(&self) -> Result<()> {
        let _gone = self.ask(|reply| Job::Stop { reply }).await;
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(thread) = thread else { return Ok(()) };
        blocking(move || {
            thread.join().map_err(|panic| {
                let why = panic_text(panic.as_ref());
                internal(format!("A defect of Cairn ended the recording of a session: {why}."))
            })
        })
        .await
    }

    async fn ask<T>(&self, job: impl FnOnce(oneshot::Sender<T>) -> Job) -> Result<T> {
        let (reply, answer) = oneshot::channel();
        self.jobs.send(job(reply)).await.map_err(|_| closed())?;
        answer.await.map_err(|_| closed())
    }
}

struct Writer {
    trace: Trace,
    now: fn() -> Timestamp,
    subscribers: Vec<Subscriber>,
    open: Aggregator,
    failing: bool,
}

impl Writer {
    async fn run(mut self, mut inbox: mpsc::Receiver<Job>) {
        let mut unsynced = false;
        loop {
            let job = if unsynced {
                match tokio::time::timeout(GROUP_SYNC, inbox.recv()).await {
                    Ok(job) => job,
                    Err(_) => {
                        unsynced = false;
                        self.sync();
                        continue;
                    }
                }
            } else {
                inbox.recv().await
            };
            let Some(job) = job else { break };
            unsynced |= matches!(job, Job::Record { .. });
            if let Job::Stop { reply } = job {
                self.sync();
                drop(self);
                let _caller_gone = reply.send(());
                return;
            }
            self.handle(job);
        }
        self.sync();
    }

    fn handle(&mut self, job: Job) {
        match job {
            Job::Record { message, keep, done } => {
                let result = self.store(message, keep);
                if let Some(done) = done {
                    let _caller_gone = done.send(result);
                }
            }
            Job::Partial(message) => {
                self.open.push(&message);
                self.publish(|| FeedItem::Partial { message: Box::new(message.clone()) });
            }
            Job::Announce(item) => self.publish(|| item.clone()),
            Job::Subscribe { after, reply } => {
                let _caller_gone = reply.send(self.subscribe(after));
            }
            Job::Page { before, limit, reply } => {
                let page = self.trace.page(before, limit).map_err(|error| storage(&error));
                let _caller_gone = reply.send(page);
            }
            Job::NextFile { meta, reply } => {
                let result = self.trace.next_file(&meta).map_err(|error| storage(&error));
                let _caller_gone = reply.send(result);
            }
            Job::Stop { .. } => {}
        }
    }

    fn append(
        &mut self,
        message: &Message,
        keep: Keep,
    ) -> std::result::Result<u64, cairn_store::Error> {
        match keep {
            Keep::Grouped => self.trace.append(message, SyncClass::B),
            Keep::DurableOrRefused => self.trace.append(message, SyncClass::A),
            Keep::DurableOrHeld => self
                .trace
                .append(message, SyncClass::A)
                // An error of this class leaves nothing behind; one of the other holds it.
                .or_else(|_refused| self.trace.append(message, SyncClass::B)),
        }
    }

    fn store(&mut self, message: Message, keep: Keep) -> Result<u64> {
        match self.append(&message, keep) {
            Ok(seq) => {
                self.failing = false;
                self.open.push(&message);
                self.publish(|| FeedItem::Stored { seq, message: Box::new(message.clone()) });
                Ok(seq)
            }
            Err(error) => {
                let info = storage(&error);
                if !self.failing {
                    self.failing = true;
                    let event = EventMsg::Notice { level: NoticeLevel::Error, info: info.clone() };
                    let notice = Message::event((self.now)(), event);
                    self.publish(|| FeedItem::Partial { message: Box::new(notice.clone()) });
                }
                self.publish(|| FeedItem::Partial { message: Box::new(message.clone()) });
                Err(info)
            }
        }
    }

    fn sync(&mut self) {
        if let Err(error) = self.trace.flush() {
            let info = storage(&error);
            let event = EventMsg::Notice { level: NoticeLevel::Error, info };
            let notice = Message::event((self.now)(), event);
            self.publish(|| FeedItem::Partial { message: Box::new(notice.clone()) });
        }
    }

    fn subscribe(&mut self, after: Option<u64>) -> Result<Subscription> {
        let (sender, receiver) = subscription();
        if let Some(after) = after {
            let missed = self.trace.last_seq().saturating_sub(after);
            let limit = u32::try_from(missed).unwrap_or(u32::MAX);
            if limit > 0 {
                let page = self.trace.page(None, limit).map_err(|error| storage(&error))?;
                for StoredMessage { seq, message } in page.messages {
                    if seq > after {
                        sender.push(FeedItem::Stored { seq, message: Box::new(message) });
                    }
                }
            }
        }
        for message in self.open.open_fragments() {
            sender.push(FeedItem::Partial { message: Box::new(message) });
        }
        self.subscribers.push(sender);
        Ok(receiver)
    }

    fn publish(&mut self, item: impl Fn() -> FeedItem) {
        self.subscribers.retain(|subscriber| subscriber.push(item()));
    }
}

fn storage(error: &cairn_store::Error) -> ErrorInfo {
    ErrorInfo::new(
        ErrorCode::Io,
        format!("The history of this session is not being saved: {}.", chain(error)),
    )
}
