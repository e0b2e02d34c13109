//! The window: how long it takes to show, and what it costs while nothing happens, against the
//! smallest window of the same kit (goals G20, G21 and G22).
//!
//! Both show themselves when their first view is drawn. The screen is a virtual one with software
//! drawing; nobody types. The small window is `hello.rs`.

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use cairn_tests::desktop::{Desktop, wait_for};

use crate::Options;
use crate::figure::Figure;
use crate::process::{descendants, millis};

/// How long a window is left alone before its memory is read, and then watched for its processor time.
const IDLE: Duration = Duration::from_secs(30);

/// A program with a window.
struct Subject<'a> {
    program: &'a Path,
    title: &'static str,
    starts: Vec<f64>,
    idle: Vec<Idle>,
}

/// What an idle window holds and uses.
struct Idle {
    pss_mib: f64,
    dirty_mib: f64,
    cpu_percent: f64,
}

/// Measures starts in turn, then both windows at rest, one after the other.
pub(crate) fn app(options: &Options) -> anyhow::Result<()> {
    for program in [&options.desktop, &options.hello] {
        ensure!(program.is_file(), "{} is not built", program.display());
    }
    let desktop = Desktop::start("bench");
    let subject = |program, title| Subject { program, title, starts: Vec::new(), idle: Vec::new() };
    let mut subjects = [subject(&*options.desktop, "Cairn"), subject(&*options.hello, "Hello")];
    for round in 0..=options.runs(9) {
        for subject in &mut subjects {
            let began = Instant::now();
            let child = open(&desktop, subject)?;
            let shown = millis(began.elapsed());
            close(child)?;
            if round > 0 {
                subject.starts.push(shown);
            }
        }
    }
    for _ in 0..options.runs(3).min(3) {
        for subject in &mut subjects {
            let child = open(&desktop, subject)?;
            let idle = rest(child.id())?;
            close(child)?;
            subject.idle.push(idle);
        }
    }
    let [cairn, hello] = subjects;
    let values = |subject: &Subject<'_>, value: fn(&Idle) -> f64| {
        subject.idle.iter().map(value).collect::<Vec<_>>()
    };
    let reference = "the smallest window of the same kit";
    Figure::new("app", "start until the window is shown", "ms", &cairn.starts)
        .against(reference, &hello.starts)
        .ratio_at_most("G20", 1.4)
        .print()?;
    Figure::new("app", "idle memory of the tree, PSS", "MiB", &values(&cairn, |it| it.pss_mib))
        .against(reference, &values(&hello, |it| it.pss_mib))
        .ratio_at_most("G21", 1.5)
        .print()?;
    Figure::new("app", "idle private dirty memory", "MiB", &values(&cairn, |it| it.dirty_mib))
        .against(reference, &values(&hello, |it| it.dirty_mib))
        .at_most("G21", 150.0)
        .print()?;
    let what = "idle CPU of one core";
    Figure::new("app", what, "%", &values(&cairn, |it| it.cpu_percent))
        .at_most("G22", 0.5)
        .print()?;
    Figure::new("app", format!("{what}, {reference}"), "%", &values(&hello, |it| it.cpu_percent))
        .print()
}

/// Starts a program and waits until its window is shown.
fn open(desktop: &Desktop, subject: &Subject<'_>) -> anyhow::Result<Child> {
    let mut command = desktop.command(subject.program);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let child = command.spawn().context("the window's program")?;
    let pattern = format!("^{}$", subject.title);
    wait_for(&format!("the window {}", subject.title), || {
        let mut search = desktop.command("xdotool");
        search.args(["search", "--onlyvisible", "--name", &pattern]);
        let output = search.stderr(Stdio::null()).output().ok()?;
        (!output.stdout.is_empty()).then_some(())
    });
    Ok(child)
}

/// Ends a program and all that it started.
fn close(mut child: Child) -> anyhow::Result<()> {
    let others = descendants(child.id());
    child.kill()?;
    child.wait()?;
    wait_for("the end of the web processes", || {
        others.iter().all(|id| !Path::new(&format!("/proc/{id}")).exists()).then_some(())
    });
    Ok(())
}

fn rest(pid: u32) -> anyhow::Result<Idle> {
    std::thread::sleep(IDLE);
    let (before, began) = (busy_ns(pid), Instant::now());
    std::thread::sleep(IDLE);
    let busy = busy_ns(pid).saturating_sub(before);
    let passed = began.elapsed();
    let kib = |field: &str| tree(pid).map(|pid| rollup_kib(pid, field)).sum::<u64>();
    #[expect(clippy::cast_precision_loss, reason = "memory and time of a minute are below 2^52")]
    Ok(Idle {
        pss_mib: kib("Pss:") as f64 / 1024.0,
        dirty_mib: kib("Private_Dirty:") as f64 / 1024.0,
        cpu_percent: busy as f64 / passed.as_nanos() as f64 * 100.0,
    })
}

fn tree(pid: u32) -> impl Iterator<Item = u32> {
    std::iter::once(pid).chain(descendants(pid))
}

/// Returns the processor time of all threads that live, in nanoseconds.
pub(crate) fn busy_ns(pid: u32) -> u64 {
    let thread = |path: &Path| {
        let text = fs::read_to_string(path.join("schedstat")).unwrap_or_default();
        text.split(' ').next().and_then(|ns| ns.parse::<u64>().ok()).unwrap_or_default()
    };
    let process = |pid: u32| -> u64 {
        let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
        tasks.map(|task| thread(&task.path())).sum()
    };
    tree(pid).map(process).sum()
}

fn rollup_kib(pid: u32, field: &str) -> u64 {
    let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(field));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or_default()
}
