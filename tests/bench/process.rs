//! Runs a program and measures its whole process tree: processor time and memory.
//!
//! Processor time is what the kernel adds to the waiting parent (`getrusage` for children), so that it
//! is exact to the microsecond and holds every descendant that was waited for. Memory is sampled
//! from `/proc`: the peak of the first process is the kernel's own, that of the tree the largest
//! sum seen. One program runs at a time.

use std::fs;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use anyhow::Context;
use nix::sys::resource::{Usage, UsageWho, getrusage};
use nix::sys::time::TimeValLike;

/// How often memory is looked at.
const PERIOD: Duration = Duration::from_millis(4);

/// What a run cost.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cost {
    /// User and system time of the tree, in milliseconds.
    pub(crate) cpu_ms: f64,
    /// From the start to the end, in milliseconds.
    pub(crate) wall_ms: f64,
    /// Peak resident memory of the program's own process, in MiB.
    pub(crate) own_mib: f64,
    /// Peak of the sum over the tree, in MiB; shared pages count for each process.
    pub(crate) tree_mib: f64,
}

/// Runs a program to its end.
pub(crate) fn run(command: &mut Command) -> anyhow::Result<(Cost, ExitStatus)> {
    let before = children_cpu_ms()?;
    let began = Instant::now();
    let mut child = spawn(command)?;
    let mut memory = Memory::default();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        memory.look(child.id());
        std::thread::sleep(PERIOD);
    };
    let wall_ms = millis(began.elapsed());
    Ok((memory.cost(children_cpu_ms()? - before, wall_ms), status))
}

/// Runs a program until `reached` returns, then kills it.
pub(crate) fn run_until(command: &mut Command, reached: impl FnOnce()) -> anyhow::Result<Cost> {
    let before = children_cpu_ms()?;
    let began = Instant::now();
    let mut child = spawn(command)?;
    reached();
    let wall_ms = millis(began.elapsed());
    let mut memory = Memory::default();
    memory.look(child.id());
    child.kill()?;
    child.wait()?;
    Ok(memory.cost(children_cpu_ms()? - before, wall_ms))
}

fn spawn(command: &mut Command) -> anyhow::Result<Child> {
    let program = command.get_program().to_owned();
    command.spawn().with_context(|| format!("{} can't be started", program.display()))
}

/// Returns the processor time of all children that were waited for, in milliseconds.
pub(crate) fn children_cpu_ms() -> anyhow::Result<f64> {
    Ok(cpu_ms(&getrusage(UsageWho::RUSAGE_CHILDREN)?))
}

/// Returns the processor time of this process, in milliseconds.
pub(crate) fn own_cpu_ms() -> anyhow::Result<f64> {
    Ok(cpu_ms(&getrusage(UsageWho::RUSAGE_SELF)?))
}

#[expect(clippy::cast_precision_loss, reason = "microseconds of a run are far below 2^52")]
fn cpu_ms(usage: &Usage) -> f64 {
    (usage.user_time().num_microseconds() + usage.system_time().num_microseconds()) as f64 / 1000.0
}

/// Returns a duration in milliseconds.
pub(crate) fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

/// Peaks of memory, in KiB.
#[derive(Default)]
struct Memory {
    own: u64,
    tree: u64,
}

impl Memory {
    fn look(&mut self, pid: u32) {
        let own = status_kib(pid, "VmHWM:");
        let others: u64 = descendants(pid).iter().map(|pid| status_kib(*pid, "VmRSS:")).sum();
        let now = status_kib(pid, "VmRSS:");
        self.own = self.own.max(own);
        self.tree = self.tree.max(own.max(now) + others);
    }

    #[expect(clippy::cast_precision_loss, reason = "memory in KiB is far below 2^52")]
    fn cost(&self, cpu_ms: f64, wall_ms: f64) -> Cost {
        let mib = |kib: u64| kib as f64 / 1024.0;
        Cost { cpu_ms, wall_ms, own_mib: mib(self.own), tree_mib: mib(self.tree) }
    }
}

fn status_kib(pid: u32, field: &str) -> u64 {
    // A process that has just ended has no memory.
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(field));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or_default()
}

/// Returns all processes below one.
pub(crate) fn descendants(pid: u32) -> Vec<u32> {
    let mut found = Vec::new();
    let mut open = vec![pid];
    while let Some(pid) = open.pop() {
        let Ok(tasks) = fs::read_dir(format!("/proc/{pid}/task")) else { continue };
        for task in tasks.flatten() {
            let children = fs::read_to_string(task.path().join("children")).unwrap_or_default();
            let children = children.split_whitespace().filter_map(|pid| pid.parse::<u32>().ok());
            for child in children {
                found.push(child);
                open.push(child);
            }
        }
    }
    found
}
