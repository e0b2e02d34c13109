//! The output of commands that go on after their call, as far as the model may want to read it again.
//!
//! It is bounded: the newest tasks, and of each the newest text. The commands themselves belong to `cairn-exec`.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cairn_exec::Running;
use cairn_protocol::TaskId;

use crate::terminal_text::TerminalText;

#[cfg(test)]
mod tests;

/// As many tasks as a session may have (P-85).
const TASK_LIMIT: usize = 64;

/// As much text as a command keeps unread (P-84).
const TEXT_LIMIT_BYTES: usize = 1024 * 1024;

/// Output that comes in pieces closer together than this is one output.
const PIECE_GAP: Duration = Duration::from_millis(50);

/// The logs of all tasks, oldest first.
#[derive(Default)]
pub(super) struct TaskLogs {
    logs: Mutex<VecDeque<(TaskId, Log)>>,
}

#[derive(Default)]
struct Log {
    filter: TerminalText,
    text: String,
    /// Characters that were dropped before `text`.
    dropped: usize,
    /// The position up to which the model has read.
    read: usize,
}

/// A part of a task's output.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) text: String,
    /// The position after it, for the next call.
    pub(super) next: usize,
    /// Characters that were asked for but are kept no more.
    pub(super) missing: usize,
}

impl TaskLogs {
    /// Adds output of a task.
    pub(super) fn append(&self, task: &TaskId, bytes: &[u8]) {
        self.with(task, |log| {
            let clean = log.filter.push(bytes).replace('\r', "\n");
            log.text.push_str(&clean);
            if log.text.len() > 2 * TEXT_LIMIT_BYTES {
                let mut from = log.text.len() - TEXT_LIMIT_BYTES;
                while !log.text.is_char_boundary(from) {
                    from += 1;
                }
                log.dropped += log.text[..from].chars().count();
                log.text.drain(..from);
            }
        });
    }

    /// Returns the output from a position on, or what the model has not read yet.
    pub(super) fn read(&self, task: &TaskId, since: Option<usize>) -> Part {
        self.with(task, |log| {
            let from = since.unwrap_or(log.read);
            let skip = from.saturating_sub(log.dropped);
            let text: String = log.text.chars().skip(skip).collect();
            let next = log.dropped + log.text.chars().count();
            log.read = next;
            Part { text, next, missing: log.dropped.saturating_sub(from) }
        })
    }

    /// Takes over what a command has put out, waiting up to `patience` for the first of it and for as long as more follows at once.
    pub(super) async fn pump(&self, running: &Running, patience: Duration) {
        let mut wait = patience;
        while let Ok(Some(bytes)) = tokio::time::timeout(wait, running.next_output()).await {
            self.append(running.id(), &bytes);
            wait = PIECE_GAP;
        }
    }

    fn with<T>(&self, task: &TaskId, act: impl FnOnce(&mut Log) -> T) -> T {
        let mut logs = self.logs.lock().unwrap_or_else(PoisonError::into_inner);
        let at = logs.iter().position(|(id, _)| id == task);
        let mut entry =
            at.and_then(|at| logs.remove(at)).unwrap_or_else(|| (task.clone(), Log::default()));
        let result = act(&mut entry.1);
        logs.push_back(entry);
        while logs.len() > TASK_LIMIT {
            logs.pop_front();
        }
        result
    }
}

/// Finds a task; an error is a text for the model.
pub(super) fn find(commands: &cairn_exec::Commands, task: &TaskId) -> Result<Arc<Running>, String> {
    commands.get(task).ok_or_else(|| {
        let known: Vec<String> = commands.list().iter().map(|info| info.id.to_string()).collect();
        let known = if known.is_empty() { "there are none".to_owned() } else { known.join(", ") };
        let shown: String = task.as_str().chars().take(40).collect();
        format!("There is no task `{shown}`. Tasks of this session: {known}.")
    })
}
