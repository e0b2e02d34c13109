//! What a tool call costs: a turn of 20 scripted calls, with and without captures, confined and not
//! (goals G2, G3 and G4).
//!
//! The same turn without calls is taken off, so that only the loop remains.

use std::process::Command;

use anyhow::ensure;
use cairn_tests::model_server::{Call, ModelServer, Reply};
use serde_json::json;

use crate::Options;
use crate::figure::{Figure, less};
use crate::headless::{Place, SMALL, whole};
use crate::process::Cost;
use crate::workspace::{marker, name};

/// Calls of a turn.
const CALLS: usize = 20;
/// How many of them edit.
const EDITS: usize = 6;

/// Which calls a turn has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mix {
    /// 7 reads, 7 commands, 6 edits.
    All,
    /// 14 reads, 6 edits.
    NoShell,
    /// No call at all.
    None,
}

/// A kind of run, with what it cost.
struct Subject {
    what: &'static str,
    mix: Mix,
    kind: Kind,
    costs: Vec<Cost>,
}

#[derive(Clone, Copy)]
enum Kind {
    Captured,
    NotCaptured,
    Unconfined,
    Bare,
}

/// Measures on the small workspace and on the largest one that was asked for.
pub(crate) fn turn20(options: &Options) -> anyhow::Result<()> {
    measure(options, SMALL, options.runs(9))?;
    match options.files.iter().max() {
        Some(files) if *files > SMALL => measure(options, *files, options.runs(5)),
        _ => Ok(()),
    }
}

fn measure(options: &Options, files: usize, runs: usize) -> anyhow::Result<()> {
    let place = Place::new(files)?;
    let subject = |what, mix, kind| Subject { what, mix, kind, costs: Vec::new() };
    let mut subjects = [
        subject("idle", Mix::None, Kind::Captured),
        subject("idle, no captures", Mix::None, Kind::NotCaptured),
        subject("captured, commands confined", Mix::All, Kind::Captured),
        subject("not captured, commands confined", Mix::All, Kind::NotCaptured),
        subject("captured, no commands", Mix::NoShell, Kind::Captured),
        subject("captured, commands unconfined", Mix::All, Kind::Unconfined),
        subject("bare idle", Mix::None, Kind::Bare),
        subject("bare", Mix::All, Kind::Bare),
    ];
    let mut edits = 0;
    for round in 0..=runs {
        for subject in &mut subjects {
            let cost = once(options, &place, subject, edits)?;
            if subject.mix != Mix::None {
                edits += 1;
            }
            if round > 0 {
                subject.costs.push(cost);
            }
        }
    }
    let cpu = |index: usize| cpus(&subjects[index].costs);
    let calls = |index: usize, idle: usize| {
        let values = less(&cpu(index), &cpu(idle));
        values.into_iter().map(|value| value / CALLS as f64).collect::<Vec<_>>()
    };
    let floor = calls(7, 6);
    let figure = |index: usize, idle: usize| {
        let what = format!("CPU a call, {} ({files} files)", subjects[index].what);
        Figure::new("turn20", what, "ms", &calls(index, idle)).against("bare loop", &floor)
    };
    figure(2, 0).at_most("G3", 12.0).print()?;
    figure(3, 1).print()?;
    figure(4, 0).print()?;
    figure(5, 0).print()?;
    let whole = "CPU of the turn, captured against not captured";
    Figure::new("turn20", format!("{whole} ({files} files)"), "ms", &cpu(2))
        .against("not captured", &cpu(3))
        .ratio_at_most("G4", 1.15)
        .print()?;
    let memory: Vec<f64> = subjects[2].costs.iter().map(|cost| cost.tree_mib).collect();
    Figure::new("turn20", format!("peak memory of the tree ({files} files)"), "MiB", &memory)
        .at_most("G2", 50.0)
        .print()?;
    let memory: Vec<f64> = subjects[2].costs.iter().map(|cost| cost.own_mib).collect();
    Figure::new("turn20", format!("peak memory of cairn alone ({files} files)"), "MiB", &memory)
        .print()
}

fn cpus(costs: &[Cost]) -> Vec<f64> {
    costs.iter().map(|cost| cost.cpu_ms).collect()
}

fn once(options: &Options, place: &Place, subject: &Subject, edits: usize) -> anyhow::Result<Cost> {
    let replies = script(subject.mix, edits);
    let requests = replies.len() + 1;
    let server = ModelServer::builder().replies(replies).start();
    let cairn = &options.cairn;
    let command: Command = match subject.kind {
        Kind::Captured => place.cairn(cairn, &server, &[])?,
        Kind::NotCaptured => place.cairn(cairn, &server, &["--no-snapshots"])?,
        Kind::Unconfined => place.unconfined(cairn, &server, &[])?,
        Kind::Bare => place.bare(&server)?,
    };
    let cost = whole(command, &server, requests)?;
    if subject.mix != Mix::None {
        for index in 0..EDITS {
            let text = std::fs::read_to_string(place.workspace.join(name(index)))?;
            ensure!(text.contains(&marker(edits + 1)), "{} was not edited", name(index));
        }
    }
    Ok(cost)
}

/// Makes the calls, one a response: read, command, edit, and so on.
fn script(mix: Mix, edits: usize) -> Vec<Reply> {
    let count = if mix == Mix::None { 0 } else { CALLS };
    let call = |step: usize| {
        let file = name(step / 3);
        match step % 3 {
            1 if mix == Mix::All => {
                let command = format!("echo step {step}; head -n 3 README.md");
                Call::json("run_shell", json!({"command": command}))
            }
            2 => Call::json(
                "replace_in_file",
                json!({
                    "file_path": file,
                    "old_string": marker(edits),
                    "new_string": marker(edits + 1),
                }),
            ),
            _ => Call::json("read_file", json!({"file_path": file})),
        }
    };
    (0..count).map(|step| Reply::calls([call(step)])).collect()
}
