//! Figures: medians of runs, beside a reference and a goal, one JSON line each.
//!
//! How a run is measured is in `process.rs`; what the figures mean, in `docs/benchmarks.md`.

use serde::Serialize;
use serde_json::json;

/// A figure, as it is printed.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Figure {
    bench: &'static str,
    what: String,
    unit: &'static str,
    median: f64,
    low: f64,
    high: f64,
    runs: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    reference: Option<Reference>,
    #[serde(skip_serializing_if = "Option::is_none")]
    goal: Option<Goal>,
}

#[derive(Debug, Clone, Serialize)]
struct Reference {
    what: &'static str,
    median: f64,
    /// The figure divided by the reference.
    ratio: f64,
}

#[derive(Debug, Clone, Serialize)]
struct Goal {
    id: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    at_most: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ratio_at_most: Option<f64>,
    met: bool,
}

impl Figure {
    /// Makes a figure of the values of several runs.
    ///
    /// # Panics
    /// When there is no value.
    pub(crate) fn new(
        bench: &'static str,
        what: impl Into<String>,
        unit: &'static str,
        values: &[f64],
    ) -> Self {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (low, high) = (sorted[0], sorted[sorted.len() - 1]);
        Self {
            bench,
            what: what.into(),
            unit,
            median: round(median(values)),
            low: round(low),
            high: round(high),
            runs: values.len(),
            reference: None,
            goal: None,
        }
    }

    /// Adds what it is compared with, measured in the same run and in the same unit.
    pub(crate) fn against(mut self, what: &'static str, values: &[f64]) -> Self {
        let reference = median(values);
        let ratio = round(self.median / reference);
        self.reference = Some(Reference { what, median: round(reference), ratio });
        self
    }

    /// Adds a goal for the median.
    pub(crate) fn at_most(mut self, id: &'static str, limit: f64) -> Self {
        let met = self.median <= limit;
        self.goal = Some(Goal { id, at_most: Some(limit), ratio_at_most: None, met });
        self
    }

    /// Adds a goal for the ratio to the reference.
    pub(crate) fn ratio_at_most(mut self, id: &'static str, limit: f64) -> Self {
        let met = self.reference.as_ref().is_some_and(|reference| reference.ratio <= limit);
        self.goal = Some(Goal { id, at_most: None, ratio_at_most: Some(limit), met });
        self
    }

    /// Prints it as one line.
    pub(crate) fn print(&self) -> anyhow::Result<()> {
        println!("{}", serde_json::to_string(self)?);
        Ok(())
    }
}

/// Returns the middle value; of an even number the lower middle.
pub(crate) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[(sorted.len() - 1) / 2]
}

/// Returns each value less the other of the same run.
pub(crate) fn less(values: &[f64], others: &[f64]) -> Vec<f64> {
    let other = median(others);
    values.iter().map(|value| value - other).collect()
}

fn round(value: f64) -> f64 {
    let digits = if value.abs() < 10.0 { 1000.0 } else { 10.0 };
    (value * digits).round() / digits
}

/// Prints what the figures were measured on.
pub(crate) fn print_machine() -> anyhow::Result<()> {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let info = read("/proc/cpuinfo");
    let field = |name: &str| {
        let line = info.lines().find(|line| line.starts_with(name));
        line.and_then(|line| line.split(": ").nth(1)).unwrap_or("unknown").to_owned()
    };
    let cores = std::thread::available_parallelism()?.get();
    let memory = read("/proc/meminfo");
    let memory = memory.lines().next().unwrap_or_default().split_whitespace().nth(1);
    let memory: u64 = memory.and_then(|kib| kib.parse().ok()).unwrap_or_default();
    let line = json!({
        "machine": {
            "cpu": field("model name"),
            "cores": cores,
            "memoryMiB": memory / 1024,
            "kernel": read("/proc/sys/kernel/osrelease").trim(),
            "load": read("/proc/loadavg").split(' ').next(),
        },
        "profile": if cfg!(debug_assertions) { "debug" } else { "release" },
    });
    println!("{line}");
    Ok(())
}
