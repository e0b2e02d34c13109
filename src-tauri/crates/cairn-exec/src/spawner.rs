//! One thread that starts processes and lives as long as they may.
//!
//! The kernel ties a parent-death signal to the *thread* that forked. A process that a pool's worker
//! started would die when the pool retires the worker, so everything is started here.

use std::sync::mpsc;
use std::thread::JoinHandle;

use crate::Error;

type Job = Box<dyn FnOnce() + Send>;

/// Starts processes on its own thread; ending it ends them.
#[derive(Debug)]
pub(crate) struct Spawner {
    jobs: Option<mpsc::Sender<Job>>,
    thread: Option<JoinHandle<()>>,
}

impl Spawner {
    pub(crate) fn new(name: &str) -> Self {
        let (jobs, queue) = mpsc::channel::<Job>();
        let thread = std::thread::Builder::new()
            .name(name.to_owned())
            .stack_size(256 * 1024)
            .spawn(move || queue.into_iter().for_each(|job| job()));
        // Without a thread the queue is gone, and every start fails with `Closed`.
        Self { jobs: Some(jobs), thread: thread.ok() }
    }

    /// Runs `job` on the thread and waits for it without blocking the executor. When the caller goes
    /// away first, the result is dropped on the thread.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Error> {
        let (answer, result) = tokio::sync::oneshot::channel();
        self.send(Box::new(move || drop(answer.send(job()))))?;
        result.await.map_err(|_| Error::Closed)
    }

    /// The same, blocking.
    pub(crate) fn run_blocking<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Error> {
        let (answer, result) = mpsc::sync_channel(1);
        self.send(Box::new(move || drop(answer.send(job()))))?;
        result.recv().map_err(|_| Error::Closed)
    }

    fn send(&self, job: Job) -> Result<(), Error> {
        let jobs = self.jobs.as_ref().ok_or(Error::Closed)?;
        jobs.send(job).map_err(|_| Error::Closed)
    }
}

impl Drop for Spawner {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            // A job never panics by itself; if it did, that was reported where it was awaited.
            _ = thread.join();
        }
    }
}
