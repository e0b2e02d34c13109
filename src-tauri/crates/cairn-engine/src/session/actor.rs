//! The task that owns a session's state: its mode, its questions, its queue and its running turn.
//!
//! One loop over what comes in; nothing else changes the state. What happens inside a turn is in
//! `turn.rs`.

use std::collections::VecDeque;
use std::sync::Arc;

use cairn_protocol::{
    ApprovalAnswer, ApprovalId, EventMsg, FeedItem, GrantScope, Mode, QueuedInput, Rule,
    RuleEffect, RuleId, RuleMatcher, SessionActivity, SessionSummary, SessionView, Timestamp,
    TitleSource, TodoItem, TurnId, WorkspaceSummary,
};
use cairn_store::SessionRecord;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use super::approvals::{Approvals, Ask};
use super::live::Live;
use super::open::Loading;
use super::{Authority, Op, Sent};
use crate::engine::Inner;
use crate::error::{Result, invalid};
use crate::recorder::Recorder;
use crate::task::Task;
use crate::turn::{Calls, TurnResult};

mod restoring;
mod starting;

/// Messages of the first page of a session.
const PAGE: u32 = 200;
/// Texts that may wait for a running turn.
const MAX_QUEUE: usize = 32;

pub(super) struct Running {
    pub(super) turn_id: TurnId,
    pub(super) started_at: Timestamp,
    pub(super) cancel: CancellationToken,
    pub(super) ending: CancellationToken,
    pub(super) retry: Arc<tokio::sync::Notify>,
    pub(super) done: Task<TurnResult>,
}

pub(super) struct Actor {
    pub(super) engine: Arc<Inner>,
    pub(super) workspace: WorkspaceSummary,
    pub(super) record: SessionRecord,
    pub(super) recorder: Recorder,
    pub(super) snapshots: Option<Arc<cairn_snapshot::Snapshots>>,
    pub(super) unprotected: Option<String>,
    pub(super) tools: Arc<cairn_tools::ToolContext>,
    pub(super) calls: Arc<Calls>,
    pub(super) live: watch::Sender<Live>,
    pub(super) approvals: Approvals,
    pub(super) asks: mpsc::Sender<Ask>,
    pub(super) todos: Vec<TodoItem>,
    pub(super) loading: Loading,
    pub(super) running: Option<Running>,
    pub(super) restoring: bool,
}

impl Actor {
    /// Serves the session until it is closed. An error is what could not be kept of it.
    pub(super) async fn run(
        mut self,
        mut ops: mpsc::Receiver<Op>,
        mut asks: mpsc::Receiver<Ask>,
    ) -> Result<()> {
        loop {
            let finished = async {
                match &mut self.running {
                    Some(running) => (&mut running.done).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                result = finished => self.turn_finished(result).await,
                op = ops.recv() => match op {
                    Some(Op::Close { reply }) => {
                        // From here on whoever opens the session waits for this task's end.
                        ops.close();
                        let closed = self.close().await;
                        let _caller_gone = reply.send(closed.clone());
                        return closed;
                    }
                    Some(op) => self.handle(op).await,
                    None => return self.close().await,
                },
                Some(ask) = asks.recv() => self.asked(ask).await,
            }
        }
    }

    async fn handle(&mut self, op: Op) {
        self.settle_ending().await;
        // A caller that no longer waits for its answer is no error.
        match op {
            Op::View { reply } => drop(reply.send(self.view().await)),
            Op::StartTurn { text, reply } => drop(reply.send(self.send(text).await)),
            Op::Unqueue { id, reply } => drop(reply.send(self.unqueue(&id).await)),
            Op::Interrupt { reply } => {
                self.interrupt();
                drop(reply.send(Ok(())));
            }
            Op::StopCommand { call, reply } => drop(reply.send(self.calls.cancel(&call))),
            Op::RetryNow { reply } => drop(reply.send(self.retry_now())),
            Op::SetMode { mode, authority, reply } => {
                drop(reply.send(self.set_mode(mode, authority).await));
            }
            Op::SetModel { model, reply } => drop(reply.send(self.set_model(model).await)),
            Op::Rename { title, reply } => drop(reply.send(self.rename(title).await)),
            Op::Pending { id, reply } => drop(reply.send(self.approvals.get(&id))),
            Op::Answer { id, digest, answer, authority, reply } => {
                drop(reply.send(self.answer(&id, &digest, answer, authority).await));
            }
            Op::AnswerQuestion { id, answers, reply } => {
                let result = self.approvals.answer_question(&id, answers);
                self.announce_summary().await;
                drop(reply.send(result));
            }
            Op::Restore { request, token, reply } => {
                drop(reply.send(self.restore(request, token).await));
            }
            Op::BringBack { restore, reply } => drop(reply.send(self.bring_back(restore).await)),
            Op::SettingsChanged => self.refresh_live(),
            Op::Close { .. } => {}
        }
    }

    async fn asked(&mut self, ask: Ask) {
        match ask {
            Ask::Approval { request, reply } => {
                self.recorder.event(EventMsg::ApprovalRequest(request.clone())).await;
                self.approvals.add(*request, reply);
            }
            Ask::Question { question, reply } => {
                self.recorder
                    .event(EventMsg::Question {
                        question_id: question.question_id.clone(),
                        tool_call_id: question.tool_call_id.clone(),
                        question: question.question.clone(),
                        options: question.options.clone(),
                        allow_text: question.allow_text,
                        multi: question.multi,
                    })
                    .await;
                self.approvals.add_question(question, reply);
            }
            Ask::Todos(items) => {
                self.todos.clone_from(&items);
                self.recorder.event(EventMsg::Todo { items }).await;
            }
        }
        self.announce_summary().await;
    }

    async fn answer(
        &mut self,
        id: &ApprovalId,
        digest: &str,
        answer: ApprovalAnswer,
        authority: Authority,
    ) -> Result<()> {
        let native_only = self.engine.settings().native_approvals;
        let answered = self.approvals.answer(id, digest, answer, authority, native_only)?;
        if let Some((matcher, scope)) = answered.grant {
            self.grant(matcher, scope).await?;
        }
        if answered.stop {
            self.interrupt();
        }
        self.announce_summary().await;
        Ok(())
    }

    async fn grant(&mut self, matcher: RuleMatcher, scope: GrantScope) -> Result<()> {
        let rule = Rule {
            id: RuleId::new(crate::engine::new_id("rule")),
            effect: RuleEffect::Allow,
            matcher,
            scope,
            created_at: self.recorder.now(),
        };
        if scope == GrantScope::Workspace {
            self.engine.add_workspace_rule(&self.workspace.id, rule).await?;
        } else {
            self.record.rules.push(rule);
            self.save().await?;
        }
        self.refresh_live();
        Ok(())
    }

    async fn view(&mut self) -> Result<SessionView> {
        let page = self.recorder.page(None, PAGE).await?;
        let (turns, restores) = self.stones().await;
        Ok(SessionView {
            summary: self.summary(),
            page,
            turns,
            restores,
            pending: self.approvals.pending(),
            questions: self.approvals.questions(),
            todos: self.todos.clone(),
            sandbox: self.engine.known_sandbox(),
            queue: self.record.queue.clone(),
            interrupted_calls: Vec::new(),
        })
    }

    async fn send(&mut self, text: String) -> Result<Sent> {
        if text.trim().is_empty() {
            return Err(invalid("There is nothing to send. Type a task first."));
        }
        if self.running.is_none() && !self.restoring {
            return self.start_turn(text).await.map(Sent::Started);
        }
        if self.record.queue.len() >= MAX_QUEUE {
            return Err(invalid(format!(
                "{MAX_QUEUE} texts wait already. Wait for the turn to end."
            )));
        }
        let id = crate::engine::new_id("queued");
        self.record.queue.push(QueuedInput { id: id.clone(), text });
        self.save().await?;
        self.announce_queue().await;
        Ok(Sent::Queued(id))
    }

    async fn unqueue(&mut self, id: &str) -> Result<String> {
        let index = self.record.queue.iter().position(|queued| queued.id == id);
        let index = index.ok_or_else(|| crate::error::not_found("waiting text", id))?;
        let text = self.record.queue.remove(index).text;
        self.save().await?;
        self.announce_queue().await;
        Ok(text)
    }

    pub(super) fn interrupt(&mut self) {
        if let Some(running) = &self.running {
            running.cancel.cancel();
        }
        self.approvals.clear();
    }

    fn retry_now(&self) -> Result<()> {
        let running = self.running.as_ref().ok_or_else(|| {
            cairn_protocol::ErrorInfo::new(
                cairn_protocol::ErrorCode::NotRunning,
                "No turn is running.",
            )
        })?;
        running.retry.notify_waiters();
        Ok(())
    }

    async fn set_mode(&mut self, mode: Mode, authority: Authority) -> Result<Mode> {
        if mode == Mode::Auto {
            authority.must_be_more_than_the_window("Mode auto")?;
        }
        if self.record.mode != mode {
            self.record.mode = mode;
            self.refresh_live();
            self.save().await?;
            self.recorder.event(EventMsg::ModeChange { mode }).await;
            self.announce_summary().await;
        }
        Ok(mode)
    }

    async fn rename(&mut self, title: String) -> Result<()> {
        let title = title.trim().to_owned();
        if title.is_empty() || title.chars().count() > 200 {
            return Err(invalid("A title has 1 to 200 characters."));
        }
        self.set_title(title, TitleSource::User).await
    }

    pub(super) async fn set_title(&mut self, title: String, source: TitleSource) -> Result<()> {
        self.record.title.clone_from(&title);
        self.record.title_source = source;
        self.save().await?;
        self.recorder.event(EventMsg::Title { title, source }).await;
        self.announce_summary().await;
        Ok(())
    }

    /// Waits for a turn that only stores its end: whoever has seen that end finds the session idle.
    async fn settle_ending(&mut self) {
        if let Some(running) = &mut self.running
            && running.ending.is_cancelled()
        {
            let result = (&mut running.done).await;
            self.turn_finished(result).await;
        }
    }

    async fn turn_finished(&mut self, result: Result<TurnResult>) {
        self.approvals.clear();
        let Some(running) = self.running.take() else { return };
        self.ended(&running.turn_id, result).await;
        if let Err(error) = self.save().await {
            self.record.last_error = Some(error.message);
        }
        self.announce_stones().await;
        self.announce_summary().await;
        self.start_next().await;
    }

    /// Takes in what a turn left. One that broke down gets its missing end.
    async fn ended(&mut self, turn_id: &TurnId, result: Result<TurnResult>) {
        match result {
            Ok(result) => {
                self.record.usage += result.usage;
                self.record.last_error = result.error.map(|error| error.message);
                self.loading.put_back(result.context);
            }
            Err(error) => {
                // What its calls started is read by nobody any more.
                self.tools.commands.kill_all().await;
                self.record.last_error = Some(error.message.clone());
                crate::turn::close_broken(&self.recorder, turn_id, error).await;
                self.loading = Loading::start(&self.engine, &self.record.id);
            }
        }
        self.record.last_active_at = self.recorder.now();
    }

    async fn start_next(&mut self) {
        let mut waiting: VecDeque<QueuedInput> = std::mem::take(&mut self.record.queue).into();
        let Some(next) = waiting.pop_front() else { return };
        self.record.queue = waiting.into();
        match self.start_turn(next.text.clone()).await {
            Ok(_) => drop(self.save().await),
            Err(error) => {
                // The text stays in the queue, where the user sees it and can take it back.
                self.record.queue.insert(0, next);
                self.record.last_error = Some(error.message);
                self.announce_summary().await;
            }
        }
        self.announce_queue().await;
    }

    async fn close(&mut self) -> Result<()> {
        self.interrupt();
        if let Some(running) = self.running.take() {
            let result = running.done.await;
            self.ended(&running.turn_id, result).await;
        }
        self.tools.commands.kill_all().await;
        let saved = self.save().await;
        self.announce_summary().await;
        // A history that is still being read holds its files.
        self.loading.finish().await;
        self.recorder.stop().await.and(saved)
    }

    pub(super) fn refresh_live(&mut self) {
        let live = self.engine.live(&self.record);
        self.live.send_replace(live);
    }

    pub(super) async fn save(&self) -> Result<()> {
        self.engine.save_session(self.record.clone()).await
    }

    pub(super) fn summary(&self) -> SessionSummary {
        let activity = match &self.running {
            Some(running) if self.approvals.count() > 0 => SessionActivity::NeedsYou {
                turn_id: running.turn_id.clone(),
                waiting: self.approvals.count(),
                started_at: running.started_at,
            },
            Some(running) => SessionActivity::Working {
                turn_id: running.turn_id.clone(),
                started_at: running.started_at,
            },
            None if self.restoring => SessionActivity::Restoring,
            None => match &self.record.last_error {
                Some(message) => SessionActivity::Failed { message: message.clone() },
                None => SessionActivity::Idle,
            },
        };
        crate::engine::summary(&self.record, activity)
    }

    pub(super) async fn announce_summary(&self) {
        let summary = self.summary();
        self.recorder.announce(FeedItem::Summary { summary: Box::new(summary.clone()) }).await;
        self.engine.session_changed(summary);
    }

    async fn announce_queue(&self) {
        self.recorder.announce(FeedItem::Queue { queue: self.record.queue.clone() }).await;
    }
}
