//! What a long history costs: opening a session of some 2,000 messages and going on in it, against one
//! of some 200 (goal G15).
//!
//! The sessions are made by real turns against the fake model server. What a window does with the
//! first page is not measured here.

use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, ensure};
use cairn_engine::{Engine, EngineOptions};
use cairn_protocol::{SessionId, Timestamp};
use cairn_tests::model_server::{Call, ModelServer, Reply};
use serde_json::json;

use crate::Options;
use crate::figure::{Figure, less};
use crate::headless::{Place, SMALL, until_request, whole};
use crate::process::{millis, own_cpu_ms};
use crate::workspace::name;

/// Calls of each turn: with the user's text and the answer they are 42 messages.
const CALLS: usize = 20;
/// Messages of a turn.
const MESSAGES: usize = 2 + 2 * CALLS;

/// Measures the first page in this process, and the first request of a new one.
pub(crate) fn resume(options: &Options) -> anyhow::Result<()> {
    let long = session(options, 48)?;
    let short = session(options, 5)?;
    let runs = options.runs(15);
    let runtime = tokio::runtime::Runtime::new()?;
    let mut pages = [Vec::new(), Vec::new()];
    let mut page_cpu = [Vec::new(), Vec::new()];
    for round in 0..=runs {
        for (index, (place, turns)) in [(&long, 48), (&short, 5)].into_iter().enumerate() {
            let (wall, cpu) = runtime.block_on(first_page(&place.data(), turns))?;
            if round > 0 {
                pages[index].push(wall);
                page_cpu[index].push(cpu);
            }
        }
    }
    let label = |what: &str| format!("{what}, {} messages", 48 * MESSAGES);
    Figure::new("resume", label("time to the first page"), "ms", &pages[0])
        .against("210 messages", &pages[1])
        .ratio_at_most("G15", 1.2)
        .print()?;
    Figure::new("resume", label("CPU until the first page"), "ms", &page_cpu[0])
        .against("210 messages", &page_cpu[1])
        .print()?;
    let (mut resumed, mut fresh) = (Vec::new(), Vec::new());
    for round in 0..=runs.min(9) {
        let on = until_request(|server| long.cairn(&options.cairn, server, &["--continue"]))?;
        // The killed turn is closed before the next measurement, which would otherwise do it.
        let server = ModelServer::builder().start();
        whole(long.cairn(&options.cairn, &server, &["--continue"])?, &server, 1)?;
        let new = until_request(|server| short.cairn(&options.cairn, server, &[]))?;
        if round > 0 {
            resumed.push(on.cpu_ms);
            fresh.push(new.cpu_ms);
        }
    }
    let extra = less(&resumed, &fresh);
    Figure::new("resume", label("CPU to the first request"), "ms", &resumed)
        .against("new session", &fresh)
        .print()?;
    Figure::new("resume", label("more CPU than a new session"), "ms", &extra)
        .at_most("G15", 40.0)
        .print()
}

/// Makes a session of so many turns.
fn session(options: &Options, turns: usize) -> anyhow::Result<Place> {
    let place = Place::new(SMALL)?;
    for turn in 0..turns {
        let call = |step: usize| {
            let (file, offset) = (name((turn + step) % 40), 1 + step);
            let arguments = json!({"file_path": file, "offset": offset, "limit": 12});
            Reply::calls([Call::json("read_file", arguments)])
        };
        let server = ModelServer::builder().replies((0..CALLS).map(call)).start();
        let more: &[&str] = if turn == 0 { &[] } else { &["--continue"] };
        whole(place.cairn(&options.cairn, &server, more)?, &server, CALLS + 1)?;
    }
    Ok(place)
}

/// Opens an engine and its last session as a window does, and returns wall and processor time.
async fn first_page(root: &Path, turns: u32) -> anyhow::Result<(f64, f64)> {
    let id = last_session(root).await?;
    let engine = engine(root).await?;
    let (began, cpu) = (Instant::now(), own_cpu_ms()?);
    let session = engine.session(&id).await.map_err(told)?;
    let view = session.view().await.map_err(told)?;
    let (wall, cpu) = (millis(began.elapsed()), own_cpu_ms()? - cpu);
    ensure!(view.summary.turns >= turns && view.page.messages.len() == 200, "not a full page");
    engine.close().await;
    Ok((wall, cpu))
}

async fn last_session(root: &Path) -> anyhow::Result<SessionId> {
    let engine = engine(root).await?;
    let sessions = engine.sessions().await.map_err(told)?;
    let found = sessions.into_iter().max_by_key(|session| session.turns);
    engine.close().await;
    Ok(found.context("there is a session")?.id)
}

async fn engine(root: &Path) -> anyhow::Result<Engine> {
    let options = EngineOptions {
        root: PathBuf::from(root),
        home: None,
        env: Vec::new(),
        now,
        extra: Vec::new(),
        rules: Vec::new(),
        snapshots: None,
    };
    Engine::open(options).await.map_err(told)
}

fn told(error: cairn_protocol::ErrorInfo) -> anyhow::Error {
    anyhow::Error::msg(error.message)
}

/// Reads the clock.
pub(crate) fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
