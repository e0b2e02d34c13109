//! `shell_task_kill`: ends a background command with all that it started (Z-34, P-83).

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use cairn_protocol::{CallEffects, TaskId, ToolClass};
use schemars::JsonSchema;
use serde::Deserialize;

use super::run_shell::ending;
use super::task_logs::{TaskLogs, find};
use crate::{Action, Cut, Done, Ordering, Plan, Run, Spec, Tool, ToolContext, arguments};

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
struct Input {
    /// The task, as run_shell named it.
    task_id: String,
}

/// The tool.
pub(super) struct ShellTaskKill {
    spec: Spec,
    logs: Arc<TaskLogs>,
}

impl ShellTaskKill {
    pub(super) fn new(logs: Arc<TaskLogs>) -> Self {
        let spec = Spec {
            name: "shell_task_kill",
            aliases: &["kill_command"],
            description: "Ends a command that run_shell started in the background, with all its children, and returns its last output.",
            // It ends what the session itself started; it changes nothing else.
            class: ToolClass::State,
            parameters: arguments::schema::<Input>(),
            timeout: Some(Duration::from_secs(30)),
            max_output_chars: 16_000,
            cut: Cut::HeadAndTail,
        };
        Self { spec, logs }
    }
}

impl Tool for ShellTaskKill {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn prepare(&self, arguments: &str, ctx: &ToolContext) -> Result<Plan, String> {
        let input: Input =
            arguments::parse(arguments, &self.spec.parameters, &[("process_id", "task_id")])?;
        let task = TaskId::new(input.task_id);
        find(&ctx.commands, &task)?;
        let effects = CallEffects {
            class: ToolClass::State,
            title: format!("End {task}"),
            reads: Vec::new(),
            writes: Vec::new(),
            command: None,
        };
        let action = KillTask { task, logs: self.logs.clone() };
        Ok(Plan {
            effects,
            ordering: Ordering::Serial,
            timeout: self.spec.timeout,
            action: Box::new(action),
        })
    }
}

struct KillTask {
    task: TaskId,
    logs: Arc<TaskLogs>,
}

#[async_trait]
impl Action for KillTask {
    async fn run(self: Box<Self>, run: &Run<'_>) -> Done {
        let running = match find(&run.ctx.commands, &self.task) {
            Ok(running) => running,
            Err(text) => return Done::failed(text),
        };
        let before = running.status();
        running.kill().await;
        self.logs.pump(&running, Duration::from_millis(50)).await;
        let part = self.logs.read(&self.task, None);
        run.ctx.commands.forget(&self.task);
        let note = match before {
            Some(status) => format!("it had ended already; {}", ending(&status)),
            None => "ended".to_owned(),
        };
        let mut done = Done { notes: vec![note], ..Done::completed(part.text, "ended") };
        done.details.task_id = Some(self.task);
        done
    }
}
