//! The stream of a session to its subscribers: ordered, merged, bounded (P-103 … P-107, Z-11).
//!
//! A subscriber that is slow costs memory up to a limit and then gets `Resync`; it never makes the
//! engine wait. Pacing to one batch a frame is the shell's work.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use cairn_protocol::{Body, FeedItem, ModelMsg, merge_deltas};
use tokio::sync::Notify;

/// Items that wait for one subscriber before it must open the session again (security plan 4.7).
const MAX_ITEMS: usize = 10_000;
/// Bytes of text that wait for one subscriber before it must open the session again.
const MAX_BYTES: usize = 8 * 1024 * 1024;

#[derive(Default)]
struct Queue {
    items: VecDeque<FeedItem>,
    bytes: usize,
    closed: bool,
}

struct Shared {
    queue: Mutex<Queue>,
    ready: Notify,
}

/// The receiving end: what happens in a session from now on.
pub struct Subscription {
    shared: Arc<Shared>,
}

/// The sending end, owned by the session's recorder.
pub(crate) struct Subscriber {
    shared: Arc<Shared>,
}

/// Makes the two ends of a subscription.
pub(crate) fn subscription() -> (Subscriber, Subscription) {
    let shared = Arc::new(Shared { queue: Mutex::default(), ready: Notify::new() });
    (Subscriber { shared: Arc::clone(&shared) }, Subscription { shared })
}

impl Subscription {
    /// Returns all that has happened since the last call, at least one item; `None` once the
    /// session is closed. Dropping the future loses nothing.
    pub async fn next_batch(&self) -> Option<Vec<FeedItem>> {
        loop {
            let ready = self.shared.ready.notified();
            {
                let mut queue = self.shared.queue.lock().unwrap_or_else(PoisonError::into_inner);
                if !queue.items.is_empty() {
                    queue.bytes = 0;
                    return Some(queue.items.drain(..).collect());
                }
                if queue.closed {
                    return None;
                }
            }
            ready.await;
        }
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.shared.queue.lock().unwrap_or_else(PoisonError::into_inner).closed = true;
    }
}

impl Subscriber {
    /// Queues an item; returns false once the receiver is gone.
    pub(crate) fn push(&self, item: FeedItem) -> bool {
        let mut queue = self.shared.queue.lock().unwrap_or_else(PoisonError::into_inner);
        if queue.closed {
            return false;
        }
        let bytes = weight(&item);
        let merged = match queue.items.back_mut() {
            Some(last) => merge(last, &item),
            None => false,
        };
        queue.bytes += bytes;
        if !merged {
            queue.items.push_back(item);
        }
        if queue.items.len() > MAX_ITEMS || queue.bytes > MAX_BYTES {
            queue.items.clear();
            queue.bytes = 0;
            queue.items.push_back(FeedItem::Resync {});
        }
        drop(queue);
        self.shared.ready.notify_one();
        true
    }
}

impl Drop for Subscriber {
    fn drop(&mut self) {
        self.shared.queue.lock().unwrap_or_else(PoisonError::into_inner).closed = true;
        self.shared.ready.notify_one();
    }
}

fn weight(item: &FeedItem) -> usize {
    let (FeedItem::Partial { message } | FeedItem::Stored { message, .. }) = item else {
        return 64;
    };
    64 + match &message.body {
        Body::ModelMsg(ModelMsg::PartialText(it)) => it.text.len(),
        Body::ModelMsg(ModelMsg::PartialThinking(it)) => it.thinking.len(),
        Body::ModelMsg(ModelMsg::PartialToolCall(it)) => it.arguments.len(),
        Body::ModelMsg(ModelMsg::PartialToolCallOutput(it)) => it.output.len(),
        Body::ModelMsg(ModelMsg::Text(it)) => it.text.len(),
        Body::ModelMsg(ModelMsg::ToolCallOutput(it)) => it.output.len(),
        _ => 256,
    }
}

/// Appends a delta to the delta before it when both belong to one segment.
fn merge(last: &mut FeedItem, item: &FeedItem) -> bool {
    let (FeedItem::Partial { message: last }, FeedItem::Partial { message: next }) = (last, item)
    else {
        return false;
    };
    last.origin == next.origin && merge_deltas(last, next)
}

#[cfg(test)]
mod tests;
