//! `cairn restore`: the plan first, then the work, then what came of it.

use cairn_protocol::{
    RestoreAction, RestoreOutcome, RestoreReport, RestoreRequest, RestoreStep, SkippedPath,
};

use crate::args::RestoreArgs;
use crate::start::{Additions, engine, find_session, turn_id};
use crate::{Failure, print};

pub(crate) async fn restore(args: RestoreArgs) -> Result<u8, Failure> {
    let engine = engine(Additions::default()).await?;
    let id = find_session(&engine, &args.id).await?;
    if args.undo {
        let report = engine.session(&id).await?.bring_back(None).await;
        engine.close().await;
        return show_report(&args, &report?);
    }
    let Some(turn) = &args.turn else {
        return Err(Failure::Usage("name a turn, or --undo".to_owned()));
    };
    let request = RestoreRequest {
        session_id: id.clone(),
        turn_id: turn_id(turn),
        target: args.to.into(),
        paths: (!args.paths.is_empty()).then(|| args.paths.clone()),
        take_snapshot: args.take.clone(),
    };
    let plan = engine.plan(request.clone()).await?;
    if args.dry_run {
        if args.json {
            print::json(&plan)?;
        } else {
            show_steps(&plan.steps)?;
            show_skipped("not covered", &plan.not_covered)?;
        }
        return Ok(0);
    }
    let session = engine.session(&id).await?;
    let report = session.restore(request, plan.token).await;
    engine.close().await;
    show_report(&args, &report?)
}

fn show_report(args: &RestoreArgs, report: &RestoreReport) -> Result<u8, Failure> {
    let exact = report.outcome == RestoreOutcome::Exact;
    if args.json {
        print::json(report)?;
        return Ok(u8::from(!exact));
    }
    show_steps(&report.steps)?;
    show_skipped("not covered", &report.not_covered)?;
    match &report.outcome {
        RestoreOutcome::Exact => print::line("exact: every file was read again and is equal")?,
        RestoreOutcome::Differences { paths } => show_skipped("differs", paths)?,
    }
    Ok(u8::from(!exact))
}

fn show_steps(steps: &[RestoreStep]) -> Result<(), Failure> {
    for step in steps {
        let action = match step.action {
            RestoreAction::TakenBack => "taken back",
            RestoreAction::CreatedAgain => "created again",
            RestoreAction::Deleted => "deleted",
            RestoreAction::Merged => "merged with your change",
            RestoreAction::KeptYours => "kept yours",
            RestoreAction::Unchanged => "unchanged",
        };
        let note = step.note.as_deref().map_or_else(String::new, |note| format!("  ({note})"));
        print::line(&format!("{action:<24} {}{note}", cairn_engine::visible(&step.path)))?;
    }
    Ok(())
}

fn show_skipped(what: &str, paths: &[SkippedPath]) -> Result<(), Failure> {
    for skipped in paths {
        print::line(&format!(
            "{what:<24} {}  ({})",
            cairn_engine::visible(&skipped.path),
            skipped.reason
        ))?;
    }
    Ok(())
}
