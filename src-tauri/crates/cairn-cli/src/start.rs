//! Opens the engine from the process: its environment, its clock, its data root.

use std::env;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use cairn_engine::{Engine, EngineOptions, ExtraProvider};
use cairn_protocol::{Rule, SessionId, SnapshotMode, Timestamp, TurnId};

use crate::Failure;

/// What one run adds to the engine.
#[derive(Default)]
pub(crate) struct Additions {
    pub(crate) extra: Vec<ExtraProvider>,
    pub(crate) rules: Vec<Rule>,
    pub(crate) snapshots: Option<SnapshotMode>,
}

/// Opens the engine on the user's data root.
pub(crate) async fn engine(additions: Additions) -> Result<Engine, Failure> {
    let options = EngineOptions {
        root: cairn_engine::data_root(&|name| env::var_os(name)),
        home: env::var_os("HOME").or_else(|| env::var_os("USERPROFILE")).map(PathBuf::from),
        env: env::vars_os().collect(),
        now,
        extra: additions.extra,
        rules: additions.rules,
        snapshots: additions.snapshots,
    };
    Ok(Engine::open(options).await?)
}

/// Reads the clock.
pub(crate) fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// Finds a session by its id or by a beginning that only one has.
pub(crate) async fn find_session(engine: &Engine, text: &str) -> Result<SessionId, Failure> {
    let sessions = engine.sessions().await?;
    let mut found = sessions.iter().filter(|session| session.id.as_str().starts_with(text));
    match (found.next(), found.next()) {
        (Some(session), None) => Ok(session.id.clone()),
        (None, _) => {
            Err(Failure::Usage(format!("there is no session {text}; see `cairn sessions list`")))
        }
        (Some(first), Some(_)) => match sessions.iter().find(|session| session.id.as_str() == text)
        {
            Some(exact) => Ok(exact.id.clone()),
            None => Err(Failure::Usage(format!(
                "several sessions begin with {text}, one is {}",
                first.id
            ))),
        },
    }
}

/// Reads a turn: its number or its id.
pub(crate) fn turn_id(text: &str) -> TurnId {
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        TurnId::new(format!("t{text}"))
    } else {
        TurnId::new(text)
    }
}
