//! Makes a session's record again from its trace, when `state.json` is lost or damaged.
//!
//! Grants of "always" are not rebuilt: forgetting one only asks again. It reads; `store.rs` writes.

use cairn_protocol::{
    Body, EventMsg, Message, Mode, ModelMsg, ModelRef, Role, SessionId, StoredMessage, TitleSource,
    TokenUsage, TurnStatus, WorkspaceId,
};

use crate::SessionRecord;

/// A title is cut to so many characters (P-67).
const TITLE_CHARS: usize = 30;

/// Folds the messages of a session into its record; `None` when no `session_meta` is among them.
/// `workspace_id` turns the path of a workspace into its id.
pub(crate) fn record_from(
    id: &SessionId,
    messages: &[StoredMessage],
    workspace_id: impl Fn(&str) -> WorkspaceId,
) -> Option<SessionRecord> {
    let meta = messages.iter().find_map(|stored| match &stored.message.body {
        Body::SessionMeta(meta) => Some(meta),
        _ => None,
    })?;
    let first = messages.first()?.message.timestamp;
    let mut record = SessionRecord {
        id: id.clone(),
        workspace_id: workspace_id(&meta.workspace),
        title: String::new(),
        title_source: TitleSource::Auto,
        model: None,
        mode: Mode::default(),
        created_at: first,
        last_active_at: first,
        turns: 0,
        usage: TokenUsage::default(),
        rules: Vec::new(),
        granted_dirs: Vec::new(),
        queue: Vec::new(),
        last_error: None,
    };
    for stored in messages {
        fold(&mut record, &stored.message);
    }
    Some(record)
}

fn fold(record: &mut SessionRecord, message: &Message) {
    record.last_active_at = record.last_active_at.max(message.timestamp);
    match &message.body {
        Body::SessionMeta(meta) => {
            let (provider, model_id) = (meta.provider.clone(), meta.model_id.clone());
            record.model = Some(ModelRef { provider, model_id });
        }
        Body::ModelMsg(ModelMsg::Text(text))
            if record.title.is_empty() && text.role == Role::User =>
        {
            let first_line = text.text.trim().lines().next().unwrap_or_default();
            record.title = first_line.chars().take(TITLE_CHARS).collect();
        }
        Body::ModelMsg(_) | Body::Unknown(_) => {}
        Body::EventMsg(event) => fold_event(record, event),
    }
}

fn fold_event(record: &mut SessionRecord, event: &EventMsg) {
    match event {
        EventMsg::TurnBegin { number, mode, model, .. } => {
            record.turns = record.turns.max(*number);
            record.mode = *mode;
            record.model = Some(model.clone());
        }
        EventMsg::TurnEnd { status, error, .. } => {
            let failed = *status == TurnStatus::Error;
            record.last_error = error.as_ref().filter(|_| failed).map(|info| info.message.clone());
        }
        EventMsg::TokenUsage { session, .. } => record.usage = *session,
        EventMsg::ModeChange { mode } => record.mode = *mode,
        EventMsg::ModelChange { model } => record.model = Some(model.clone()),
        EventMsg::Title { title, source } => {
            record.title.clone_from(title);
            record.title_source = *source;
        }
        _ => {}
    }
}
