//! The start of a turn: the model is reached for, the text is stored, then the work begins.

use std::sync::Arc;

use cairn_protocol::{
    ContextWindow, ErrorCode, ErrorInfo, EventMsg, Message, ModelRef, SessionMeta, Text,
    TitleSource, TurnId,
};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::{Actor, Running};
use crate::error::{Result, invalid};
use crate::task::Task;
use crate::turn::{self, TurnEnv};

/// Characters of an automatic title (P-67).
const TITLE_CHARS: usize = 48;

impl Actor {
    pub(super) async fn set_model(&mut self, model: ModelRef) -> Result<()> {
        if self.running.is_some() {
            let text =
                "The model can be switched between turns. Stop the turn or wait for its end.";
            return Err(ErrorInfo::new(ErrorCode::TurnInProgress, text));
        }
        self.engine.model_target(&model)?;
        self.record.model = Some(model.clone());
        self.record.last_error = None;
        self.save().await?;
        self.recorder.event(EventMsg::ModelChange { model }).await;
        self.announce_summary().await;
        Ok(())
    }

    pub(super) async fn start_turn(&mut self, text: String) -> Result<TurnId> {
        self.engine.check_workspace(&self.workspace).await?;
        let model = self.model()?;
        let provider = self.engine.provider(&model).await?;
        self.head_context(&model, provider.target().context_window).await?;
        let number = self.record.turns + 1;
        let turn_id = TurnId::new(format!("t{number}"));
        let begin = EventMsg::TurnBegin {
            turn_id: turn_id.clone(),
            number,
            mode: self.record.mode,
            model,
            input: text.chars().take(200).collect(),
        };
        self.recorder.event_durable(begin).await?;
        let begun = self.begun(&text, turn_id.clone(), number, provider).await;
        if let Err(error) = &begun {
            turn::close_broken(&self.recorder, &turn_id, error.clone()).await;
        }
        begun?;
        self.announce_summary().await;
        Ok(turn_id)
    }

    /// What follows a stored `turn_begin`; when it fails, the turn is ended by the caller.
    async fn begun(
        &mut self,
        text: &str,
        turn_id: TurnId,
        number: u32,
        provider: Arc<dyn cairn_provider::Provider>,
    ) -> Result<()> {
        let started_at = self.recorder.now();
        let user = Arc::new(Message::model(started_at, Text::user(text)));
        self.recorder.record_durable((*user).clone()).await?;
        self.record.turns = number;
        self.record.last_error = None;
        self.record.last_active_at = started_at;
        if self.record.title_source == TitleSource::Auto && number == 1 {
            self.set_title(title_of(text), TitleSource::Auto).await?;
        } else {
            self.save().await?;
        }
        self.spawn(turn_id, number, user, provider).await
    }

    fn model(&mut self) -> Result<ModelRef> {
        if self.record.model.is_none() {
            self.record.model = self.engine.settings().default_model;
        }
        self.record.model.clone().ok_or_else(|| {
            ErrorInfo::new(
                ErrorCode::NoModel,
                "No model is set up yet. Connect one, then send again.",
            )
        })
    }

    /// Makes sure that the trace has a head for this model: at the first turn, and after a switch (D-1).
    async fn head_context(&mut self, model: &ModelRef, window: Option<u64>) -> Result<()> {
        let loaded = self.loading.get().await?;
        if let Some(meta) = &loaded.meta
            && meta.provider == model.provider
            && meta.model_id == model.model_id
        {
            return Ok(());
        }
        let meta = SessionMeta {
            session_id: self.record.id.clone(),
            provider: model.provider.clone(),
            model_id: model.model_id.clone(),
            model_context_window: ContextWindow::from(window),
            system_prompt: crate::prompt::system_prompt(&self.workspace.path),
            agent_state: self.engine.root().join("agent").display().to_string(),
            workspace: self.workspace.path.clone(),
            source: None,
        };
        let message = Message::meta(self.recorder.now(), meta.clone());
        if loaded.meta.is_none() {
            self.recorder.record_durable(message).await?;
        } else {
            self.recorder.next_file(message).await?;
        }
        loaded.meta = Some(meta);
        loaded.tools_announced = false;
        Ok(())
    }

    async fn spawn(
        &mut self,
        turn_id: TurnId,
        number: u32,
        user: Arc<Message>,
        provider: Arc<dyn cairn_provider::Provider>,
    ) -> Result<()> {
        let settings = self.engine.settings();
        let loaded = self.loading.get().await?;
        let meta = loaded.meta.clone().ok_or_else(|| invalid("the session has no head"))?;
        let announce_tools = !std::mem::replace(&mut loaded.tools_announced, true);
        let mut context = self.loading.take()?;
        context.observe(&user);
        let cancel = CancellationToken::new();
        let ending = CancellationToken::new();
        let retry = Arc::new(Notify::new());
        let env = TurnEnv {
            engine: Arc::clone(&self.engine),
            session: self.record.id.clone(),
            workspace: self.workspace.clone(),
            turn_id: turn_id.clone(),
            number,
            recorder: self.recorder.clone(),
            live: self.live.subscribe(),
            asks: self.asks.clone(),
            snapshots: self.snapshots.clone(),
            unprotected: self.unprotected.clone(),
            tools: Arc::clone(&self.tools),
            calls: Arc::clone(&self.calls),
            provider,
            system: meta.system_prompt.into(),
            announce_tools,
            max_iterations: settings.max_iterations,
            idle_timeout: settings.model_idle_timeout_ms,
            session_usage: self.record.usage,
            retry: Arc::clone(&retry),
            cancel: cancel.clone(),
            ending: ending.clone(),
        };
        let started_at = self.recorder.now();
        let done = Task::spawn("the turn", turn::run(env, context));
        self.running = Some(Running { turn_id, started_at, cancel, ending, retry, done });
        Ok(())
    }
}

fn title_of(text: &str) -> String {
    let line = cairn_protocol::marker::strip_leading(text)
        .lines()
        .find(|line| !line.trim().is_empty())
        .unwrap_or("Untitled")
        .trim();
    if line.chars().count() <= TITLE_CHARS {
        return line.to_owned();
    }
    let cut: String = line.chars().take(TITLE_CHARS).collect();
    let end = cut.rfind(' ').filter(|end| *end > TITLE_CHARS / 2).unwrap_or(cut.len());
    format!("{}…", &cut[..end])
}
