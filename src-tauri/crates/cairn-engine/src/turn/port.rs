//! What a tool may ask of its session: a question to the user, the task list, the edit marks.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use cairn_protocol::{EventMsg, PendingQuestion, QuestionId, TodoItem, ToolCallId};
use cairn_tools::{AskUser, SessionPort};
use tokio::sync::{mpsc, oneshot};

use crate::capture::TurnCapture;
use crate::recorder::Recorder;
use crate::session::Ask;

pub(super) struct Port {
    pub(super) asks: mpsc::Sender<Ask>,
    pub(super) recorder: Recorder,
    pub(super) capture: Arc<TurnCapture>,
}

#[async_trait]
impl SessionPort for Port {
    async fn ask(&self, call: &ToolCallId, question: AskUser) -> Option<Vec<String>> {
        let question_id = QuestionId::new(crate::engine::new_id("question"));
        let question = PendingQuestion {
            question_id: question_id.clone(),
            tool_call_id: call.clone(),
            question: question.question,
            options: question.options,
            allow_text: question.allow_text,
            multi: question.multi,
        };
        let (reply, answer) = oneshot::channel();
        self.asks.send(Ask::Question { question, reply }).await.ok()?;
        let answers = answer.await.unwrap_or_default();
        self.recorder
            .event(EventMsg::QuestionAnswer { question_id, answers: answers.clone() })
            .await;
        (!answers.is_empty()).then_some(answers)
    }

    async fn set_todos(&self, items: Vec<TodoItem>) {
        // A session that is closing has nobody left to show the list to.
        let _closing = self.asks.send(Ask::Todos(items)).await;
    }

    async fn before_edit(&self, path: &Path) -> Result<(), String> {
        self.capture.before_edit(path).await
    }

    async fn after_edit(&self, path: &Path) {
        // A lost mark only loses who changed the file; the capture after the turn still sees the change.
        drop(self.capture.after_edit(path).await);
    }
}
