//! Commands that only read: sessions, turns, diffs, decisions, the doctor.

use cairn_engine::{Engine, PolicyQuestion};
use cairn_protocol::{
    Body, CheckOutcome, Completeness, DiffContent, EventMsg, FileDiff, ModelMsg, Role, SessionId,
    Standing, TurnId, Verdict,
};
use serde_json::json;

use crate::args::PolicyArgs;
use crate::start::{Additions, engine, find_session, turn_id};
use crate::{Failure, patch, print};

pub(crate) async fn sessions(json: bool) -> Result<u8, Failure> {
    let engine = engine(Additions::default()).await?;
    let sessions = engine.sessions().await?;
    if json {
        print::json(&sessions)?;
        return Ok(0);
    }
    for session in &sessions {
        let turns = if session.turns == 1 {
            "1 turn".to_owned()
        } else {
            format!("{} turns", session.turns)
        };
        print::line(&format!(
            "{}  {}  {turns:>9}  {}",
            session.id,
            session.last_active_at,
            cairn_engine::visible(&session.title)
        ))?;
    }
    Ok(0)
}

pub(crate) async fn session(id: &str, json: bool) -> Result<u8, Failure> {
    let engine = engine(Additions::default()).await?;
    let id = find_session(&engine, id).await?;
    for stored in engine.history(&id).await? {
        if json {
            print::json(&stored.message)?;
            continue;
        }
        match &stored.message.body {
            Body::ModelMsg(ModelMsg::Text(text)) => {
                let who = if text.role == Role::User { "you" } else { "agent" };
                print::line(&format!("{who}: {}\n", print::safe(&text.text)))?;
            }
            Body::ModelMsg(ModelMsg::ToolCall(call)) => {
                print::line(&print::call(call))?;
            }
            Body::ModelMsg(ModelMsg::ToolCallOutput(output)) => {
                print::line(&format!("{}\n", print::safe(&output.output)))?;
            }
            Body::EventMsg(EventMsg::TurnEnd { turn_id, status, .. }) => {
                print::line(&format!("-- {turn_id} {status:?}\n"))?;
            }
            _ => {}
        }
    }
    Ok(0)
}

pub(crate) async fn turns(id: &str, json: bool) -> Result<u8, Failure> {
    let engine = engine(Additions::default()).await?;
    let id = find_session(&engine, id).await?;
    let (turns, restores) = engine.turns(&id).await?;
    if json {
        print::json(&json!({ "turns": turns, "restores": restores }))?;
        return Ok(0);
    }
    for turn in &turns {
        let standing = match turn.standing {
            Standing::Active => String::new(),
            Standing::Partly { rolled_back } => format!("  {} rolled back", files(rolled_back)),
            Standing::RolledBack => "  rolled back".to_owned(),
        };
        let cover = match &turn.completeness {
            Completeness::Protected => String::new(),
            Completeness::Partly { skipped, reason } => {
                format!("  {skipped} not covered: {reason}")
            }
            Completeness::NotProtected { reason } => format!("  not protected: {reason}"),
        };
        let summary = turn.summary;
        print::line(&format!(
            "{:<6} {} +{} -{}{standing}{cover}",
            turn.turn_id,
            files(summary.files),
            summary.added,
            summary.removed
        ))?;
    }
    Ok(0)
}

pub(crate) async fn diff(id: &str, turn: &str, json: bool) -> Result<u8, Failure> {
    let engine = engine(Additions::default()).await?;
    let id = find_session(&engine, id).await?;
    let turn = turn_id(turn);
    let changes = engine.changes(&id, turn.clone()).await?;
    let mut diffs = Vec::new();
    for file in &changes.files {
        let diff = whole_diff(&engine, &id, &turn, &file.path).await?;
        if json {
            diffs.push(diff);
        } else {
            print::text(&patch::unified(&diff))?;
        }
    }
    if json {
        print::json(&json!({ "changes": changes, "diffs": diffs }))?;
    }
    Ok(0)
}

/// Reads every page of a difference.
async fn whole_diff(
    engine: &Engine,
    id: &SessionId,
    turn: &TurnId,
    path: &str,
) -> Result<FileDiff, Failure> {
    let mut whole = engine.diff(id, turn.clone(), path.to_owned(), 0).await?;
    while let DiffContent::Text { hunks, truncated: true } = &mut whole.content {
        let from = u32::try_from(hunks.len()).unwrap_or(u32::MAX);
        let next = engine.diff(id, turn.clone(), path.to_owned(), from).await?;
        let DiffContent::Text { hunks: mut more, truncated } = next.content else { break };
        if more.is_empty() {
            break;
        }
        hunks.append(&mut more);
        if !truncated {
            break;
        }
    }
    Ok(whole)
}

pub(crate) async fn policy(args: PolicyArgs) -> Result<u8, Failure> {
    let engine = engine(Additions::default()).await?;
    let workspace = match args.workspace {
        Some(folder) => folder,
        None => std::env::current_dir().map_err(|error| {
            Failure::Usage(format!("the current folder can't be read: {error}"))
        })?,
    };
    let (tool, arguments) = match (args.tool, args.command) {
        (_, Some(command)) => ("run_shell".to_owned(), json!({ "command": command }).to_string()),
        (Some(tool), None) => (tool, args.args),
        (None, None) => return Err(Failure::Usage("give --tool or --command".to_owned())),
    };
    let question = PolicyQuestion { workspace, mode: args.mode.into(), tool, arguments };
    let check = engine.check_policy(question).await?;
    if args.json {
        print::json(&check)?;
        return Ok(0);
    }
    let verdict = match check.decision.verdict {
        Verdict::Allow => "allow",
        Verdict::Ask(_) => "ask",
        Verdict::Deny => "deny",
        Verdict::Forbidden => "forbidden",
    };
    print::line(&format!("{verdict}: {}", check.decision.reason))?;
    if let Some(rule) = &check.decision.rule {
        print::line(&format!("rule: {rule}"))?;
    }
    Ok(0)
}

pub(crate) async fn doctor(json: bool) -> Result<u8, Failure> {
    let engine = engine(Additions::default()).await?;
    let report = engine.doctor().await;
    engine.close().await;
    if json {
        print::json(&report)?;
    } else {
        print::line(&format!("cairn {} on {}", report.version, report.platform))?;
        for check in &report.checks {
            let mark = match check.outcome {
                CheckOutcome::Ok => "ok",
                CheckOutcome::Warning => "weak",
                CheckOutcome::Failed => "failed",
                CheckOutcome::Skipped => "not tried",
            };
            print::line(&format!("{:<12} {mark:<10} {}", check.name, check.detail))?;
        }
    }
    Ok(u8::from(!report.is_well()))
}

fn files(count: u32) -> String {
    if count == 1 { "1 file".to_owned() } else { format!("{count} files") }
}
