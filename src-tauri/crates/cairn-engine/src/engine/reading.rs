//! Reading a session without opening it, so that another process may have it open meanwhile.

use std::sync::Arc;

use cairn_protocol::{
    FileDiff, RestorePlan, RestoreRecord, RestoreRequest, SessionId, SessionSummary, StoredMessage,
    TurnChanges, TurnId, TurnRecord,
};
use cairn_snapshot::Snapshots;

use super::{Engine, blocking, storage};
use crate::error::{Result, not_found};

impl Engine {
    /// Returns a session's summary.
    pub async fn summary(&self, id: &SessionId) -> Result<SessionSummary> {
        let (store, wanted) = (self.inner.store(), id.clone());
        let record = blocking(move || Ok(store.session(&wanted))).await?;
        let record = record.ok_or_else(|| not_found("session", id.as_str()))?;
        Ok(self.inner.summary_of(&record))
    }

    /// Returns all messages of a session, oldest first.
    pub async fn history(&self, id: &SessionId) -> Result<Vec<StoredMessage>> {
        let (store, id) = (self.inner.store(), id.clone());
        blocking(move || {
            let trace = store.read_trace(&id).map_err(|error| storage(&error))?;
            trace.messages().map_err(|error| storage(&error))
        })
        .await
    }

    /// Returns a session's turns and restores, oldest first.
    pub async fn turns(&self, id: &SessionId) -> Result<(Vec<TurnRecord>, Vec<RestoreRecord>)> {
        let (snapshots, id) = self.captures(id).await?;
        crate::capture::blocking(snapshots, move |it| Ok((it.turns(&id)?, it.restores(&id)?))).await
    }

    /// Returns what changed in a turn.
    pub async fn changes(&self, id: &SessionId, turn: TurnId) -> Result<TurnChanges> {
        let (snapshots, id) = self.captures(id).await?;
        crate::capture::blocking(snapshots, move |it| it.changes(&id, &turn)).await
    }

    /// Returns the difference of one path in a turn, from a hunk on.
    pub async fn diff(
        &self,
        id: &SessionId,
        turn: TurnId,
        path: String,
        from_hunk: u32,
    ) -> Result<FileDiff> {
        let (snapshots, id) = self.captures(id).await?;
        crate::capture::blocking(snapshots, move |it| it.diff(&id, &turn, &path, from_hunk)).await
    }

    /// Returns what a rollback would do; touches nothing.
    pub async fn plan(&self, request: RestoreRequest) -> Result<RestorePlan> {
        let (snapshots, _) = self.captures(&request.session_id).await?;
        crate::capture::blocking(snapshots, move |it| it.plan(&request)).await
    }

    async fn captures(&self, id: &SessionId) -> Result<(Option<Arc<Snapshots>>, SessionId)> {
        let summary = self.summary(id).await?;
        let workspace = self.inner.workspace(&summary.workspace_id).await?;
        let (snapshots, _) = self.inner.snapshots(&workspace).await;
        Ok((snapshots, id.clone()))
    }
}
