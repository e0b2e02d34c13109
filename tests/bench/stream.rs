//! What a streamed word costs: an answer of 10,000 deltas (goals G11 and G12).
//!
//! The same run with an answer of one word is taken off. The trace is always written.

use std::process::Command;

use cairn_tests::model_server::{ModelServer, Reply};

use crate::Options;
use crate::figure::{Figure, less};
use crate::headless::{Place, SMALL, whole};
use crate::process::Cost;

/// Deltas of the long answer.
const DELTAS: usize = 10_000;

struct Subject {
    what: &'static str,
    deltas: usize,
    kind: Kind,
    costs: Vec<Cost>,
}

#[derive(Clone, Copy)]
enum Kind {
    Plain,
    Json,
    Bare,
}

/// Measures plain text and JSON, both to a file.
pub(crate) fn stream10k(options: &Options) -> anyhow::Result<()> {
    let place = Place::new(SMALL)?;
    let subject = |what, deltas, kind| Subject { what, deltas, kind, costs: Vec::new() };
    let mut subjects = [
        subject("plain, one word", 1, Kind::Plain),
        subject("plain text to a file", DELTAS, Kind::Plain),
        subject("json, one word", 1, Kind::Json),
        subject("--json to a file", DELTAS, Kind::Json),
        subject("--json, twice as long", 2 * DELTAS, Kind::Json),
        subject("bare, one word", 1, Kind::Bare),
        subject("bare", DELTAS, Kind::Bare),
    ];
    for round in 0..=options.runs(9) {
        for subject in &mut subjects {
            let words = (0..subject.deltas).map(|index| format!("word{index} "));
            let server = ModelServer::builder().reply(Reply::text(words)).start();
            let command: Command = match subject.kind {
                Kind::Plain => place.cairn(&options.cairn, &server, &[])?,
                Kind::Json => place.cairn(&options.cairn, &server, &["--json"])?,
                Kind::Bare => place.bare(&server)?,
            };
            let cost = whole(command, &server, 1)?;
            if round > 0 {
                subject.costs.push(cost);
            }
        }
    }
    let cpu = |index: usize| subjects[index].costs.iter().map(|c| c.cpu_ms).collect::<Vec<_>>();
    let memory = |index: usize| subjects[index].costs.iter().map(|c| c.own_mib).collect::<Vec<_>>();
    let delta = |index: usize, idle: usize| {
        let values = less(&cpu(index), &cpu(idle));
        values.into_iter().map(|ms| ms * 1000.0 / DELTAS as f64).collect::<Vec<_>>()
    };
    for (index, idle) in [(1, 0), (3, 2)] {
        let what = subjects[index].what;
        Figure::new("stream10k", format!("CPU a delta, {what}"), "µs", &delta(index, idle))
            .against("bare loop", &delta(6, 5))
            .at_most("G11", 9.0)
            .print()?;
        let more = less(&memory(index), &memory(idle));
        Figure::new("stream10k", format!("more memory, {what}"), "MiB", &more)
            .against("bare loop", &less(&memory(6), &memory(5)))
            .at_most("G12", 5.0)
            .print()?;
    }
    let (more, half) = (less(&memory(4), &memory(2)), less(&memory(3), &memory(2)));
    Figure::new("stream10k", "more memory for 20,000 deltas, --json", "MiB", &more)
        .against("10,000 deltas", &half)
        .ratio_at_most("G12", 2.2)
        .print()
}
