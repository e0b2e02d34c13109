//! Decides about each call of a response, one at a time and in order, and runs what is allowed
//! (P-33 … P-36, Z-14, Z-45).
//!
//! Reads run together; writes to one path, commands and questions wait for one another in call
//! order. The decision itself is `cairn_policy::decide`; this file carries it out.

use std::path::PathBuf;
use std::sync::Arc;

use cairn_policy::{PolicyInput, Roots};
use cairn_protocol::{
    ApprovalId, ApprovalOutcome, ApprovalRequest, Body, CallEffects, CallGrant, Decision,
    DecisionSource, ErrorInfo, EventMsg, GrantScope, Message, ModelMsg, PartialEvent,
    PartialToolCallOutput, PolicyStep, Role, StopReason, ToolCall, ToolCallId, ToolCallOutput,
    ToolClass, Verdict,
};
use cairn_tools::{Ordering, PreparedCall};
use sha2::{Digest, Sha256};
use tokio::sync::{mpsc, oneshot};

use super::TurnEnv;
use super::port::Port;
use crate::capture::TurnCapture;
use crate::session::{ApprovalReply, Ask};
use crate::task::Task;

/// Live output that may wait to be recorded; a full queue makes the tool wait.
const OUTPUT_QUEUE: usize = 64;

/// What became of the calls of one response.
#[derive(Default)]
pub(super) struct GateResult {
    /// Outputs in call order.
    pub(super) outputs: Vec<Arc<Message>>,
    pub(super) calls: usize,
    pub(super) stop: bool,
    /// The gate itself broke down: the turn can't go on.
    pub(super) defect: Option<ErrorInfo>,
}

/// A call that runs, and what others must wait for.
struct Started {
    ordering: Ordering,
    call: ToolCallId,
    task: Task<Arc<Message>>,
    ended: tokio::sync::watch::Receiver<bool>,
}

enum Slot {
    Running(Started),
    Settled(Arc<Message>),
}

pub(super) struct Gate {
    env: TurnEnv,
    capture: Arc<TurnCapture>,
    slots: Vec<Slot>,
    stop: bool,
}

impl Gate {
    /// Starts the gate of one response. Calls go in by the sender; the future ends when the sender is
    /// dropped and every call has its output.
    pub(super) fn start(
        env: &TurnEnv,
        capture: Arc<TurnCapture>,
    ) -> (mpsc::UnboundedSender<Arc<Message>>, impl Future<Output = GateResult> + use<>) {
        // Bounded by the number of calls in one response, which the provider bounds.
        let (sender, mut calls) = mpsc::unbounded_channel::<Arc<Message>>();
        let mut gate = Self { env: env.clone(), capture, slots: Vec::new(), stop: false };
        let task = Task::spawn("the gate of the tool calls", async move {
            while let Some(message) = calls.recv().await {
                if let Body::ModelMsg(ModelMsg::ToolCall(call)) = &message.body {
                    let slot = gate.admit(call).await;
                    gate.slots.push(slot);
                }
            }
            gate.settle().await
        });
        let result = async move {
            task.await.unwrap_or_else(|defect| GateResult {
                outputs: Vec::new(),
                calls: 0,
                stop: true,
                defect: Some(defect),
            })
        };
        (sender, result)
    }

    async fn settle(self) -> GateResult {
        let calls = self.slots.len();
        let mut outputs = Vec::with_capacity(calls);
        for slot in self.slots {
            match slot {
                Slot::Settled(output) => outputs.push(output),
                Slot::Running(started) => outputs.push(match started.task.await {
                    Ok(output) => output,
                    Err(defect) => {
                        self.env.calls.remove(&started.call);
                        broken(&self.env, &started.call, &defect).await
                    }
                }),
            }
        }
        GateResult { outputs, calls, stop: self.stop, defect: None }
    }

    /// Decides about one call and starts it if it may run.
    async fn admit(&mut self, call: &ToolCall) -> Slot {
        if self.env.cancel.is_cancelled() || self.stop {
            return self.answer(call, crate::context::INTERRUPTED, StopReason::Aborted).await;
        }
        let prepared = match self.prepare(call).await {
            Ok(prepared) => prepared,
            Err(text) => return self.answer(call, &text, StopReason::Failed).await,
        };
        let decision = self.decide(call, &prepared.effects).await;
        let reply = match decision.verdict {
            Verdict::Allow => allowed(&decision),
            Verdict::Deny | Verdict::Forbidden => refused(&decision),
            Verdict::Ask(class) => self.ask(call, &prepared.effects, &decision, class).await,
        };
        let event = EventMsg::ApprovalDecision {
            decision: reply.outcome,
            tool_call_id: call.tool_call_id.clone(),
            source: Some(reply.source),
            rule: reply.rule.clone(),
            scope: reply.scope,
            reason: reply.reason.clone(),
            approval_id: None,
        };
        if reply.outcome != ApprovalOutcome::Allow {
            self.stop |= reply.stop;
            self.env.recorder.event(event).await;
            let text = denial(&reply);
            return self.answer(call, &text, StopReason::Aborted).await;
        }
        if let Err(error) = self.env.recorder.event_durable(event).await {
            let text = format!("[not run: the decision could not be recorded. {}]", error.message);
            return self.answer(call, &text, StopReason::Failed).await;
        }
        self.run(call, prepared, CallGrant { sandbox: decision.sandbox }).await
    }

    /// Looks at what a call would do, after every earlier call that could change the answer has ended.
    async fn prepare(&self, call: &ToolCall) -> Result<PreparedCall, String> {
        let prepared = self.inspect(call).await?;
        let waits: Vec<_> = self
            .slots
            .iter()
            .filter_map(|slot| match slot {
                Slot::Running(started) if conflict(&started.ordering, &prepared.ordering()) => {
                    Some(started.ended.clone())
                }
                _ => None,
            })
            .collect();
        if waits.is_empty() {
            return Ok(prepared);
        }
        for mut ended in waits {
            let _task_gone = ended.wait_for(|ended| *ended).await;
        }
        self.inspect(call).await
    }

    async fn inspect(&self, call: &ToolCall) -> Result<PreparedCall, String> {
        let (engine, context, call) =
            (Arc::clone(&self.env.engine), Arc::clone(&self.env.tools), call.clone());
        tokio::task::spawn_blocking(move || engine.tools().prepare(&call, &context))
            .await
            .unwrap_or_else(|error| Err(format!("[tool error] {error}")))
    }

    async fn decide(&self, call: &ToolCall, effects: &CallEffects) -> Decision {
        let sandbox = if effects.command.is_some() {
            self.env.engine.sandbox().await
        } else {
            self.env.engine.known_sandbox()
        };
        let live = self.env.live.borrow().clone();
        let roots = Roots {
            workspace: self.env.workspace.path.clone(),
            granted: live.granted,
            home: self.env.engine.home(),
            data_root: self.env.engine.root().display().to_string(),
        };
        cairn_policy::decide(&PolicyInput {
            mode: live.mode,
            shell_policy: live.shell_policy,
            sandbox: &sandbox,
            tool: &call.name,
            effects,
            roots: &roots,
            rules: &live.rules,
        })
    }

    async fn ask(
        &self,
        call: &ToolCall,
        effects: &CallEffects,
        decision: &Decision,
        class: cairn_protocol::AskClass,
    ) -> ApprovalReply {
        let request = ApprovalRequest {
            approval_id: ApprovalId::new(crate::engine::new_id("approval")),
            session_id: self.env.session.clone(),
            turn_id: self.env.turn_id.clone(),
            tool_call_id: call.tool_call_id.clone(),
            tool: call.name.clone(),
            arguments: call.arguments.clone(),
            effects: effects.clone(),
            reason: decision.reason.clone(),
            class,
            sandbox: decision.sandbox.clone(),
            always: decision.always.clone(),
            digest: digest(call, effects, decision),
            created_at: self.env.recorder.now(),
        };
        let (reply, answer) = oneshot::channel();
        let ask = Ask::Approval { request: Box::new(request), reply };
        if self.env.asks.send(ask).await.is_err() {
            return ApprovalReply::unanswered();
        }
        tokio::select! {
            () = self.env.cancel.cancelled() => ApprovalReply::unanswered(),
            answer = answer => answer.unwrap_or_else(|_| ApprovalReply::unanswered()),
        }
    }

    /// Runs an allowed call in its own task; its start is in the trace before its first effect (P21).
    async fn run(&self, call: &ToolCall, prepared: PreparedCall, grant: CallGrant) -> Slot {
        let class = prepared.effects.class;
        let effect = !matches!(class, ToolClass::Read | ToolClass::Interactive | ToolClass::State);
        let started = EventMsg::ToolStarted { tool_call_id: call.tool_call_id.clone() };
        if effect {
            self.capture.before_first_effect().await;
            if let Err(error) = self.env.recorder.event_durable(started).await {
                let text = format!("[not run: its start could not be recorded. {}]", error.message);
                return self.answer(call, &text, StopReason::Failed).await;
            }
        } else {
            self.env.recorder.event(started).await;
        }
        let ordering = prepared.ordering();
        let (done, ended) = tokio::sync::watch::channel(false);
        let (env, capture, id) =
            (self.env.clone(), Arc::clone(&self.capture), call.tool_call_id.clone());
        let task = Task::spawn("a tool call", async move {
            let cancel = env.calls.add(&id, &env.cancel);
            let port = Port {
                asks: env.asks.clone(),
                recorder: env.recorder.clone(),
                capture: Arc::clone(&capture),
            };
            if class == ToolClass::Execute {
                capture.before_command().await;
            }
            let (sink, live) = mpsc::channel(OUTPUT_QUEUE);
            let run = prepared.run(grant, &env.tools, Arc::new(port), sink, cancel);
            let (output, opened) = tokio::join!(run, forward(&env, &id, live));
            // What goes on in the background may still change files: its window stays open.
            let goes_on = output.details.as_ref().is_some_and(|details| details.task_id.is_some());
            if class == ToolClass::Execute && !goes_on {
                capture.after_command().await;
            }
            env.calls.remove(&id);
            if opened {
                env.recorder.partial(stop(&env, &id, output.stop_reason)).await;
            }
            let message = Message::model(env.recorder.now(), ModelMsg::ToolCallOutput(output));
            env.recorder.record(message.clone()).await;
            done.send_replace(true);
            Arc::new(message)
        });
        Slot::Running(Started { ordering, call: call.tool_call_id.clone(), task, ended })
    }

    /// Answers a call that does not run.
    async fn answer(&self, call: &ToolCall, text: &str, stop_reason: StopReason) -> Slot {
        let output = ToolCallOutput::text(&call.tool_call_id, text, stop_reason);
        let message = Message::model(self.env.recorder.now(), output);
        self.env.recorder.record(message.clone()).await;
        Slot::Settled(Arc::new(message))
    }
}

/// Answers a call whose task broke down, so that the model and the trace hear of it (P-47).
async fn broken(env: &TurnEnv, call: &ToolCallId, defect: &ErrorInfo) -> Arc<Message> {
    let text = format!("[outcome unknown: {}]", defect.message);
    let output = ToolCallOutput::text(call, text, StopReason::Failed);
    let message = Message::model(env.recorder.now(), output);
    env.recorder.record(message.clone()).await;
    Arc::new(message)
}

/// Forwards live output as parts of one segment; returns whether any was sent.
async fn forward(env: &TurnEnv, id: &ToolCallId, mut live: mpsc::Receiver<String>) -> bool {
    let mut opened = false;
    while let Some(text) = live.recv().await {
        if !opened {
            opened = true;
            env.recorder.partial(part(env, id, PartialEvent::Start, String::new(), None)).await;
        }
        env.recorder.partial(part(env, id, PartialEvent::Delta, text, None)).await;
    }
    opened
}

fn stop(env: &TurnEnv, id: &ToolCallId, reason: Option<StopReason>) -> Message {
    part(env, id, PartialEvent::Stop, String::new(), reason)
}

fn part(
    env: &TurnEnv,
    id: &ToolCallId,
    event_type: PartialEvent,
    output: String,
    stop_reason: Option<StopReason>,
) -> Message {
    let part = PartialToolCallOutput {
        role: Role::User,
        event_type,
        output,
        images: Vec::new(),
        tool_call_id: id.clone(),
        stop_reason,
    };
    Message::model(env.recorder.now(), ModelMsg::PartialToolCallOutput(part))
}

fn conflict(running: &Ordering, next: &Ordering) -> bool {
    let shared = |a: &[PathBuf], b: &[PathBuf]| a.iter().any(|path| b.contains(path));
    match (running, next) {
        (Ordering::Parallel, _) | (_, Ordering::Parallel) => false,
        (Ordering::Paths(a), Ordering::Paths(b)) => shared(a, b),
        (Ordering::Serial, _) | (_, Ordering::Serial) => true,
    }
}

fn allowed(decision: &Decision) -> ApprovalReply {
    let source = match decision.step {
        PolicyStep::AutoMode => DecisionSource::Mode,
        PolicyStep::CommandRule | PolicyStep::ToolRule => DecisionSource::Rule,
        _ => DecisionSource::Policy,
    };
    ApprovalReply {
        outcome: ApprovalOutcome::Allow,
        source,
        rule: decision.rule.clone(),
        scope: Some(GrantScope::Once),
        ..ApprovalReply::unanswered()
    }
}

fn refused(decision: &Decision) -> ApprovalReply {
    let (outcome, source) = match decision.verdict {
        Verdict::Forbidden => (ApprovalOutcome::Forbidden, DecisionSource::Policy),
        _ if decision.step == PolicyStep::ReadOnlyMode => {
            (ApprovalOutcome::Deny, DecisionSource::Mode)
        }
        _ => (ApprovalOutcome::Deny, DecisionSource::Policy),
    };
    ApprovalReply {
        outcome,
        source,
        rule: decision.rule.clone(),
        reason: Some(decision.reason.clone()),
        ..ApprovalReply::unanswered()
    }
}

/// What the model hears of a denial (P-35): who said no, and why.
fn denial(reply: &ApprovalReply) -> String {
    let mut text = match (reply.outcome, reply.source) {
        (ApprovalOutcome::Forbidden, _) | (_, DecisionSource::Policy | DecisionSource::Mode) => {
            "Tool call denied by policy.".to_owned()
        }
        _ => "Tool call denied by user.".to_owned(),
    };
    if let Some(rule) = &reply.rule {
        text.push_str(&format!(" Rule: {rule}."));
    }
    if let Some(reason) = &reply.reason {
        text.push_str(&format!(" Reason: {reason}"));
    }
    text
}

/// Binds an answer to exactly what was shown (promise 3).
fn digest(call: &ToolCall, effects: &CallEffects, decision: &Decision) -> String {
    let mut hasher = Sha256::new();
    let record = (&call.tool_call_id, &call.name, &call.arguments, effects, &decision.sandbox);
    // These types have no map with other than text keys and no float, so that they always serialise.
    let bytes = serde_json::to_vec(&record).unwrap_or_default();
    hasher.update(&bytes);
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
