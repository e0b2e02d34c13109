//! How every call ends: one output, whatever happened (P-70 … P-72).
//!
//! The status is the first of: the user's stop, the timeout, a panic, what the tool says. The order of the output is: the
//! kept text, that it was cut, where the whole is, the tool's notes, why it was ended.

use std::any::Any;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;
use std::time::{Duration, Instant};

use cairn_protocol::{CallGrant, Role, StopReason, ToolCallId, ToolCallOutput};
use tokio_util::sync::CancellationToken;

use crate::{Action, Cut, Done, Output, OutputSink, Run, SessionPort, ToolContext, archive};

#[cfg(test)]
mod tests;

/// How long an action that was told to end may take to say what it has. A command needs 1 s from TERM to KILL.
const GRACE: Duration = Duration::from_secs(5);

/// The limits of one call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) timeout: Option<Duration>,
    pub(crate) max_output_chars: usize,
    pub(crate) cut: Cut,
}

/// A call that is about to run.
pub(crate) struct Call {
    pub(crate) tool: &'static str,
    pub(crate) id: ToolCallId,
    pub(crate) limits: Limits,
    pub(crate) grant: CallGrant,
    pub(crate) action: Box<dyn Action>,
}

/// Why a call was ended from outside.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ended {
    Alone,
    Stopped,
    TimedOut,
}

impl Call {
    /// Runs the call to its one output.
    pub(crate) async fn run(
        self,
        ctx: &ToolContext,
        port: &dyn SessionPort,
        sink: OutputSink,
        cancel: CancellationToken,
    ) -> ToolCallOutput {
        let Self { tool, id, limits, grant, action } = self;
        let started = Instant::now();
        let output = Output::new(sink);
        let stop = CancellationToken::new();
        let run = Run { ctx, port, call: &id, grant: &grant, stop: &stop, output: &output };
        let (ended, done) = watch(action, &run, limits.timeout, &cancel).await;
        output.finish().await;
        let mut ending = compose(tool, limits, ctx, ended, done, &output).await;
        ending.done.details.duration_ms =
            u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        ToolCallOutput {
            role: Role::User,
            output: ending.text,
            images: Vec::new(),
            tool_call_id: id,
            stop_reason: Some(ending.status),
            details: Some(ending.done.details),
        }
    }
}

/// Runs an action until it ends, the user stops it, or its time is over.
async fn watch(
    action: Box<dyn Action>,
    run: &Run<'_>,
    timeout: Option<Duration>,
    cancel: &CancellationToken,
) -> (Ended, Result<Done, String>) {
    if cancel.is_cancelled() {
        return (Ended::Stopped, Ok(Done::default()));
    }
    let mut work = pin!(caught(async move { action.run(run).await }));
    let over = async {
        match timeout {
            Some(timeout) => tokio::time::sleep(timeout).await,
            None => std::future::pending().await,
        }
    };
    let ended = tokio::select! {
        biased;
        () = cancel.cancelled() => Ended::Stopped,
        done = &mut work => return (Ended::Alone, done),
        () = over => Ended::TimedOut,
    };
    run.stop.cancel();
    match tokio::time::timeout(GRACE, &mut work).await {
        Ok(done) => (ended, done),
        Err(_) => (ended, Err("it did not stop in time and was left behind".to_owned())),
    }
}

/// Turns a panic of a future into an error.
async fn caught<F: Future>(future: F) -> Result<F::Output, String> {
    let mut future = pin!(future);
    poll_fn(|cx| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
        Ok(Poll::Pending) => Poll::Pending,
        Ok(Poll::Ready(value)) => Poll::Ready(Ok(value)),
        Err(panic) => Poll::Ready(Err(format!("the tool broke: {}", panic_text(panic.as_ref())))),
    })
    .await
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no reason given".to_owned())
}

struct Ending {
    status: StopReason,
    text: String,
    done: Done,
}

async fn compose(
    tool: &'static str,
    limits: Limits,
    ctx: &ToolContext,
    ended: Ended,
    done: Result<Done, String>,
    output: &Output,
) -> Ending {
    let (mut done, error) = match done {
        Ok(done) => (done, None),
        Err(error) => (Done::default(), Some(error)),
    };
    output.append(&done.text);
    let collected = output.take();
    let status = match ended {
        Ended::Stopped => StopReason::Aborted,
        Ended::TimedOut => StopReason::Timeout,
        Ended::Alone if error.is_some() || done.failed => StopReason::Failed,
        Ended::Alone => StopReason::Completed,
    };
    let kept = collected.keep(limits.max_output_chars, limits.cut);
    let mut lines = Vec::new();
    if !kept.text.is_empty() {
        lines.push(kept.text);
    } else {
        lines.push("[no output]".to_owned());
    }
    if kept.cut {
        lines.push(format!("[output truncated: exceeded {} chars]", limits.max_output_chars));
        let folder = ctx.scratch.join("truncated-tool-output");
        match tokio::task::spawn_blocking(move || archive::save(&folder, tool, &collected)).await {
            Ok(Ok(path)) => {
                let shown = path.to_string_lossy().replace('\\', "/");
                lines.push(format!("[whole output saved; read it in parts: {shown}]"));
                done.details.archive = Some(shown);
            }
            Ok(Err(code)) => lines.push(format!("[whole output not saved: {code}]")),
            Err(_) => lines.push("[whole output not saved: internal]".to_owned()),
        }
    }
    lines.extend(done.notes.iter().map(|note| format!("[{note}]")));
    match ended {
        Ended::Stopped => lines.push("[stopped by the user]".to_owned()),
        Ended::TimedOut => {
            let limit = limits.timeout.unwrap_or_default().as_millis();
            lines.push(format!("[timed out after {limit} ms]"));
        }
        Ended::Alone => {}
    }
    lines.extend(error.map(|error| format!("[error: {error}]")));
    if lines.len() > 1 && lines[0].ends_with('\n') {
        lines[0].pop();
    }
    Ending { status, text: lines.join("\n"), done }
}
