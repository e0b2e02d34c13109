//! `shell_task_output`: what a background command has put out (Z-34, P-82).

use std::time::Duration;

use async_trait::async_trait;
use cairn_protocol::{CallEffects, TaskId, ToolClass};
use schemars::JsonSchema;
use serde::Deserialize;

use std::sync::Arc;

use super::run_shell::ending;
use super::task_logs::{TaskLogs, find};
use crate::{Action, Cut, Done, Ordering, Plan, Run, Spec, Tool, ToolContext, arguments};

/// How long a call may wait for output (P-82).
const WAIT_LIMIT_MS: u64 = 120_000;

/// Output that is already there arrives within this time.
const READY: Duration = Duration::from_millis(20);

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
struct Input {
    /// The task, as run_shell named it.
    task_id: String,
    /// Position from which to return output, as an earlier call named it. Default: what you have not read yet.
    since: Option<u64>,
    /// How long to wait for new output or the end of the command. Default 0.
    #[schemars(range(max = 120_000))]
    wait_ms: Option<u64>,
}

/// The tool.
pub(super) struct ShellTaskOutput {
    spec: Spec,
    logs: Arc<TaskLogs>,
}

impl ShellTaskOutput {
    pub(super) fn new(logs: Arc<TaskLogs>) -> Self {
        let spec = Spec {
            name: "shell_task_output",
            aliases: &[],
            description: "Returns the output of a command that run_shell started in the background, and whether it still runs.",
            // It reads what a call that was allowed has put out; nothing new runs.
            class: ToolClass::Read,
            parameters: arguments::schema::<Input>(),
            timeout: Some(Duration::from_millis(WAIT_LIMIT_MS + 10_000)),
            max_output_chars: 16_000,
            cut: Cut::HeadAndTail,
        };
        Self { spec, logs }
    }
}

impl Tool for ShellTaskOutput {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn prepare(&self, arguments: &str, ctx: &ToolContext) -> Result<Plan, String> {
        let input: Input =
            arguments::parse(arguments, &self.spec.parameters, &[("process_id", "task_id")])?;
        let task = TaskId::new(input.task_id);
        find(&ctx.commands, &task)?;
        let effects = CallEffects {
            class: ToolClass::Read,
            title: format!("Read the output of {task}"),
            reads: Vec::new(),
            writes: Vec::new(),
            command: None,
        };
        let action = ReadTask {
            task,
            since: input.since.map(|since| usize::try_from(since).unwrap_or(usize::MAX)),
            wait: Duration::from_millis(input.wait_ms.unwrap_or_default().min(WAIT_LIMIT_MS)),
            logs: self.logs.clone(),
        };
        Ok(Plan {
            effects,
            ordering: Ordering::Serial,
            timeout: self.spec.timeout,
            action: Box::new(action),
        })
    }
}

struct ReadTask {
    task: TaskId,
    since: Option<usize>,
    wait: Duration,
    logs: Arc<TaskLogs>,
}

#[async_trait]
impl Action for ReadTask {
    async fn run(self: Box<Self>, run: &Run<'_>) -> Done {
        let running = match find(&run.ctx.commands, &self.task) {
            Ok(running) => running,
            Err(text) => return Done::failed(text),
        };
        self.logs.pump(&running, READY).await;
        let mut part = self.logs.read(&self.task, self.since);
        if part.text.is_empty() && running.status().is_none() && !self.wait.is_zero() {
            tokio::select! {
                () = run.stop.cancelled() => {}
                () = self.logs.pump(&running, self.wait) => {}
            }
            part = self.logs.read(&self.task, self.since);
        }
        let mut notes = Vec::new();
        if part.missing > 0 {
            notes.push(format!("{} earlier characters are no longer kept", part.missing));
        }
        let summary = match running.status() {
            None => {
                notes.push("still running".to_owned());
                "running".to_owned()
            }
            Some(status) => {
                notes.push(ending(&status));
                ending(&status)
            }
        };
        notes.push(format!("next since: {}", part.next));
        let mut done = Done { notes, ..Done::completed(part.text, summary) };
        done.details.exit_code = running.status().and_then(|status| status.code);
        done.details.task_id = Some(self.task);
        done.details.confined = Some(running.confined());
        done
    }
}
