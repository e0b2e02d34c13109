//! A task with an owner: it ends when its owner lets go of it, and a panic in it is an error.
//!
//! Nothing in this crate is spawned but through here. Blocking work that is awaited where it is begun
//! needs no owner; that is `engine::blocking`.

use std::any::Any;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use cairn_protocol::ErrorInfo;
use tokio::task::JoinError;
use tokio_util::task::AbortOnDropHandle;

use crate::error::internal;

/// A task that runs. Dropping it aborts it; awaiting it gives what it returned.
pub(crate) struct Task<T> {
    what: &'static str,
    handle: AbortOnDropHandle<T>,
}

impl<T: Send + 'static> Task<T> {
    /// Starts a task; `what` names it in an error, such as "the turn".
    pub(crate) fn spawn(
        what: &'static str,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Self {
        Self { what, handle: AbortOnDropHandle::new(tokio::spawn(work)) }
    }

    /// Starts blocking work; it can't be aborted once it has begun.
    pub(crate) fn spawn_blocking(
        what: &'static str,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Self {
        Self { what, handle: AbortOnDropHandle::new(tokio::task::spawn_blocking(work)) }
    }
}

impl<T> Future for Task<T> {
    type Output = Result<T, ErrorInfo>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let done = ready!(Pin::new(&mut self.handle).poll(cx));
        Poll::Ready(done.map_err(|error| broken(self.what, error)))
    }
}

fn broken(what: &str, error: JoinError) -> ErrorInfo {
    if error.is_cancelled() {
        return internal(format!("A defect of Cairn: {what} was ended before its time."));
    }
    let why = panic_text(error.into_panic().as_ref());
    internal(format!("A defect of Cairn: {what} broke down: {why}."))
}

/// Returns what a panic said.
pub(crate) fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no reason given".to_owned())
}

#[cfg(test)]
mod tests;
