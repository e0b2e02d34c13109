//! Rolling back and bringing back, between turns only (D-5).

use cairn_protocol::{
    ErrorCode, ErrorInfo, EventMsg, FeedItem, Message, RestoreAction, RestoreId, RestoreRecord,
    RestoreReport, RestoreRequest, Text, TurnRecord,
};

use super::Actor;
use crate::error::Result;

impl Actor {
    pub(super) async fn restore(
        &mut self,
        request: RestoreRequest,
        token: String,
    ) -> Result<RestoreReport> {
        self.must_be_idle()?;
        let request = RestoreRequest { session_id: self.record.id.clone(), ..request };
        let now = self.recorder.now();
        self.restoring = true;
        self.announce_summary().await;
        let result = crate::capture::blocking(self.snapshots.clone(), move |snapshots| {
            snapshots.restore(&request, &token, now)
        })
        .await;
        self.restored(result).await
    }

    pub(super) async fn bring_back(&mut self, restore: Option<RestoreId>) -> Result<RestoreReport> {
        self.must_be_idle()?;
        let (session, now) = (self.record.id.clone(), self.recorder.now());
        self.restoring = true;
        self.announce_summary().await;
        let result = crate::capture::blocking(self.snapshots.clone(), move |snapshots| {
            snapshots.bring_back(&session, restore.as_ref(), now)
        })
        .await;
        self.restored(result).await
    }

    async fn restored(&mut self, result: Result<RestoreReport>) -> Result<RestoreReport> {
        self.restoring = false;
        if let Ok(report) = &result {
            let event = EventMsg::Restore(Box::new(report.clone()));
            let event = Message::event(self.recorder.now(), event);
            // It is done, and the snapshot store knows it; a trace that can't take it now holds it.
            drop(self.recorder.record_done(event).await);
            // What the model has read is no longer what is there.
            self.tools.ledger.clear();
            self.tell_model(report).await;
            self.record.last_error = None;
            self.announce_stones().await;
        }
        self.announce_summary().await;
        result
    }

    /// The model hears with its next input which files are no longer as it left them.
    async fn tell_model(&mut self, report: &RestoreReport) {
        let changed = |action: &RestoreAction| {
            !matches!(action, RestoreAction::KeptYours | RestoreAction::Unchanged)
        };
        let paths: Vec<&str> = report
            .steps
            .iter()
            .filter(|step| changed(&step.action))
            .map(|step| step.path.as_str())
            .take(100)
            .collect();
        if paths.is_empty() {
            return;
        }
        let what = if report.undoes.is_some() { "brought back" } else { "rolled back" };
        let text = format!(
            "The user {what} the changes of turn {} in these files. Read them again before you rely on \
             what they hold:\n{}",
            report.turn_id,
            paths.join("\n"),
        );
        let message = Message::model(self.recorder.now(), Text::harness(text));
        self.recorder.record(message.clone()).await;
        if let Ok(loaded) = self.loading.get().await {
            loaded.context.observe(&std::sync::Arc::new(message));
        }
    }

    pub(super) async fn stones(&self) -> (Vec<TurnRecord>, Vec<RestoreRecord>) {
        let session = self.record.id.clone();
        let stones = crate::capture::blocking(self.snapshots.clone(), move |snapshots| {
            Ok((snapshots.turns(&session)?, snapshots.restores(&session)?))
        })
        .await;
        // A store that can't be read is shown by the badge; the conversation opens all the same (I8).
        stones.unwrap_or_default()
    }

    pub(super) async fn announce_stones(&self) {
        let (turns, restores) = self.stones().await;
        self.recorder.announce(FeedItem::Turns { turns, restores }).await;
    }

    pub(super) fn must_be_idle(&self) -> Result<()> {
        if self.running.is_some() {
            let text = "A turn is running. Stop it, or wait for its end, then roll back.";
            return Err(ErrorInfo::new(ErrorCode::TurnInProgress, text));
        }
        Ok(())
    }
}
