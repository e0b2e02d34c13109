//! `run_shell`: a command in the session's shell, in the foreground or in the background (Z-34, P-81).
//!
//! What confines it is said by the grant and made by `cairn-sandbox`; processes and their trees are `cairn-exec`'s work.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use cairn_exec::{CommandSpec, ExitStatus, Running};
use cairn_protocol::{CallEffects, PlannedCommand, ToolClass, ToolDetails};
use schemars::JsonSchema;
use serde::Deserialize;

use super::task_logs::TaskLogs;
use crate::counted::counted;
use crate::path::{missing, shown_name};
use crate::{
    Action, Cut, Done, Ordering, Plan, Run, Spec, TargetKind, Tool, ToolContext, arguments, resolve,
};

#[cfg(test)]
mod tests;

/// After this a foreground command is ended (P-75), unless the call says otherwise.
const DEFAULT_TIMEOUT_MS: u64 = 120_000;

/// The longest that a call may hold a turn.
const MAX_TIMEOUT_MS: u64 = 3_600_000;

/// Linux takes no longer single argument.
const COMMAND_LIMIT_BYTES: usize = 128 * 1024 - 1;

/// How long the rest of the output of a command that has ended is waited for.
const DRAIN_LIMIT: Duration = Duration::from_secs(2);

/// What a background command says at once is returned with its name.
const FIRST_OUTPUT: Duration = Duration::from_millis(250);

const TITLE_LIMIT_CHARS: usize = 120;

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
struct Input {
    /// In one short sentence, what the command is for. The user sees it.
    #[expect(dead_code, reason = "the window reads it from the arguments")]
    description: Option<String>,
    /// The command, as typed into a shell.
    command: String,
    /// Folder to run it in. Default: the workspace.
    cwd: Option<String>,
    /// After how many milliseconds to end it. Default 120000, at most 3600000. Has no effect in the background.
    #[schemars(range(min = 1, max = 3_600_000))]
    timeout_ms: Option<u64>,
    /// Whether to return at once and let it go on; read it with shell_task_output. Use it for servers and watchers. Default false.
    background: Option<bool>,
    /// After how many milliseconds to return and let it go on in the background.
    #[schemars(range(min = 250, max = 3_600_000))]
    yield_time_ms: Option<u64>,
}

/// Other names of fields that models know.
const ALIASES: &[(&str, &str)] =
    &[("cmd", "command"), ("workdir", "cwd"), ("run_in_background", "background")];

/// The tool.
pub(super) struct RunShell {
    spec: Spec,
    logs: Arc<TaskLogs>,
}

impl RunShell {
    pub(super) fn new(logs: Arc<TaskLogs>) -> Self {
        let spec = Spec {
            name: "run_shell",
            aliases: &["exec_command"],
            description: "Runs a command in a shell in the workspace and returns its output, standard output and error together. There is no terminal \
                and nobody answers questions: pass flags such as --yes. Long output is cut in the middle and saved whole. A command that does \
                not end by itself must run in the background.",
            class: ToolClass::Execute,
            parameters: arguments::schema::<Input>(),
            timeout: Some(Duration::from_millis(DEFAULT_TIMEOUT_MS)),
            max_output_chars: 16_000,
            cut: Cut::HeadAndTail,
        };
        Self { spec, logs }
    }
}

impl Tool for RunShell {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn prepare(&self, arguments: &str, ctx: &ToolContext) -> Result<Plan, String> {
        let input: Input = arguments::parse(arguments, &self.spec.parameters, ALIASES)?;
        if input.command.trim().is_empty() {
            return Err("`command` is empty.".to_owned());
        }
        if input.command.contains('\0') {
            return Err("`command` contains a NUL character.".to_owned());
        }
        if input.command.len() > COMMAND_LIMIT_BYTES {
            return Err(
                "`command` is longer than 128 KiB. Write it to a file and run that.".to_owned()
            );
        }
        let requested = input.cwd.as_deref().unwrap_or(".");
        let cwd = resolve(ctx, requested)?;
        match cwd.kind {
            TargetKind::Folder => {}
            TargetKind::Missing => return Err(missing(&cwd)),
            TargetKind::File | TargetKind::Other => {
                return Err(format!("`{requested}` is not a folder."));
            }
        }
        let background = input.background.unwrap_or_default();
        let goes_on = background || input.yield_time_ms.is_some();
        let timeout_ms = input.timeout_ms.unwrap_or(DEFAULT_TIMEOUT_MS).min(MAX_TIMEOUT_MS);
        let command = PlannedCommand {
            command: input.command.clone(),
            cwd: cwd.path.clone(),
            timeout_ms: (!goes_on).then_some(timeout_ms),
            background: goes_on,
        };
        let effects = CallEffects {
            class: ToolClass::Execute,
            title: title(&input.command),
            reads: Vec::new(),
            writes: Vec::new(),
            command: Some(command),
        };
        let leave_after = if background {
            Some(FIRST_OUTPUT)
        } else {
            input.yield_time_ms.map(Duration::from_millis)
        };
        let timeout = (!goes_on).then(|| Duration::from_millis(timeout_ms));
        let action = RunCommand {
            command: input.command,
            cwd: cwd.real,
            leave_after,
            logs: self.logs.clone(),
        };
        Ok(Plan { effects, ordering: Ordering::Serial, timeout, action: Box::new(action) })
    }
}

fn title(command: &str) -> String {
    let line: String =
        command.trim().lines().next().unwrap_or_default().chars().take(TITLE_LIMIT_CHARS).collect();
    let more = if line.len() < command.trim().len() { " …" } else { "" };
    format!("Run {}{more}", shown_name(line.as_ref()))
}

struct RunCommand {
    command: String,
    cwd: PathBuf,
    /// After how long it is left to itself.
    leave_after: Option<Duration>,
    logs: Arc<TaskLogs>,
}

/// How watching a command came to an end.
enum Watched {
    Exited(ExitStatus),
    Left,
    Stopped,
}

#[async_trait]
impl Action for RunCommand {
    async fn run(self: Box<Self>, run: &Run<'_>) -> Done {
        let spec = CommandSpec {
            command: self.command.clone(),
            workspace: run.ctx.workspace.clone(),
            cwd: self.cwd.clone(),
            env: run.ctx.env.clone(),
            sandbox: run.grant.sandbox.clone(),
            writable: Vec::new(),
        };
        let running = match run.ctx.commands.spawn(spec).await {
            Ok(running) => running,
            Err(error) => return Done::failed(format!("The command was not run: {error}.")),
        };
        let watched = self.watch(&running, run).await;
        if !matches!(watched, Watched::Left) {
            // Its output is in the result; what could not be ended stays listed.
            run.ctx.commands.forget(running.id());
        }
        let details = ToolDetails { confined: Some(running.confined()), ..ToolDetails::default() };
        match watched {
            Watched::Exited(status) => exited(&status, run, details),
            Watched::Stopped => Done { failed: true, details, ..Done::default() },
            Watched::Left => {
                let task = running.id().clone();
                let note = format!(
                    "it goes on in the background; task_id: {task}. Read it with shell_task_output, end it with shell_task_kill"
                );
                let details = ToolDetails {
                    task_id: Some(task),
                    summary: Some("in the background".to_owned()),
                    ..details
                };
                Done { notes: vec![note], details, ..Done::default() }
            }
        }
    }
}

impl RunCommand {
    async fn watch(&self, running: &Arc<Running>, run: &Run<'_>) -> Watched {
        let mut exit = Box::pin(running.wait());
        let mut leave = Box::pin(async {
            match self.leave_after {
                Some(after) => tokio::time::sleep(after).await,
                None => std::future::pending().await,
            }
        });
        let mut next = Next::new(running);
        loop {
            tokio::select! {
                biased;
                () = run.stop.cancelled() => {
                    running.kill().await;
                    next.drain(run).await;
                    return Watched::Stopped;
                }
                piece = next.piece() => run.output.push(&piece),
                status = &mut exit => {
                    next.drain(run).await;
                    return Watched::Exited(status);
                }
                () = &mut leave => return Watched::Left,
                () = run.output.drain() => {}
            }
            if self.leave_after.is_some() {
                next.note(&self.logs, running);
            }
        }
    }
}

/// The next output of a command, and what of it the model will have read.
struct Next<'r> {
    running: &'r Running,
    over: bool,
    last: Vec<u8>,
}

impl<'r> Next<'r> {
    fn new(running: &'r Running) -> Self {
        Self { running, over: false, last: Vec::new() }
    }

    /// Waits for output; never ends once there can be no more. Nothing is lost when it is dropped while it waits.
    async fn piece(&mut self) -> Vec<u8> {
        if !self.over {
            match self.running.next_output().await {
                Some(piece) => {
                    self.last.clone_from(&piece);
                    return piece;
                }
                None => self.over = true,
            }
        }
        std::future::pending().await
    }

    /// Takes what is left once the command has ended.
    async fn drain(&mut self, run: &Run<'_>) {
        let rest = async {
            while let Some(piece) = self.running.next_output().await {
                run.output.push(&piece);
            }
        };
        // A command that could not be ended may hold its pipe for ever.
        let _ = tokio::time::timeout(DRAIN_LIMIT, rest).await;
    }

    /// Remembers that the model has read the last piece.
    fn note(&mut self, logs: &TaskLogs, running: &Running) {
        if !self.last.is_empty() {
            logs.append(running.id(), &std::mem::take(&mut self.last));
            logs.read(running.id(), None);
        }
    }
}

fn exited(status: &ExitStatus, run: &Run<'_>, details: ToolDetails) -> Done {
    let succeeded = status.code == Some(0);
    let lines = run.output.line_count();
    let summary = match (succeeded, lines) {
        (true, 0) => "no output".to_owned(),
        (true, _) => counted(lines, "line"),
        (false, _) => ending(status),
    };
    let notes = if succeeded { Vec::new() } else { vec![ending(status)] };
    let details = ToolDetails { exit_code: status.code, summary: Some(summary), ..details };
    Done { failed: !succeeded, notes, details, ..Done::default() }
}

/// Says how a command ended.
pub(super) fn ending(status: &ExitStatus) -> String {
    match (status.code, status.signal) {
        (Some(code), _) => format!("exit code: {code}"),
        (None, Some(signal)) => format!("ended by signal {}", signal_name(signal)),
        (None, None) => "ended; how is not known".to_owned(),
    }
}

#[cfg(unix)]
fn signal_name(signal: i32) -> String {
    let name = nix::sys::signal::Signal::try_from(signal).map(|signal| signal.as_str());
    name.map_or_else(|_| signal.to_string(), |name| format!("{signal} ({name})"))
}

#[cfg(not(unix))]
fn signal_name(signal: i32) -> String {
    signal.to_string()
}
