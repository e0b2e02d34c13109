//! Counts tests from the runners' own summaries while their output goes to the terminal.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use crate::Outcome;

/// Tests so far.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
}

impl Tally {
    /// Takes in one line of output: cargo's `test result:` or vitest's `Tests`.
    pub(crate) fn read(&mut self, line: &str) {
        let plain = without_colours(line);
        let plain = plain.trim();
        let Some(summary) =
            plain.strip_prefix("test result:").or_else(|| plain.strip_prefix("Tests "))
        else {
            return;
        };
        let words: Vec<&str> =
            summary.split([' ', ';', '|', '.']).filter(|word| !word.is_empty()).collect();
        for pair in words.windows(2) {
            let Ok(number) = pair[0].parse::<u64>() else { continue };
            match pair[1] {
                "passed" => self.passed += number,
                "failed" => self.failed += number,
                _ => {}
            }
        }
    }
}

/// Runs a command and counts what it reports.
pub(crate) fn counted(command: &mut Command, tally: &mut Tally) -> Outcome {
    let name = command.get_program().to_string_lossy().into_owned();
    let child = command.stdout(Stdio::piped()).spawn();
    let mut child = child.map_err(|error| format!("{name} can't be started: {error}"))?;
    if let Some(output) = child.stdout.take() {
        for line in BufReader::new(output).split(b'\n') {
            let line =
                line.map_err(|error| format!("the output of {name} can't be read: {error}"))?;
            let line = String::from_utf8_lossy(&line);
            let written = writeln!(std::io::stdout(), "{line}");
            written.map_err(|error| format!("the terminal can't be written: {error}"))?;
            tally.read(&line);
        }
    }
    let status = child.wait().map_err(|error| format!("{name} was lost: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{name} failed: {status}")) }
}

fn without_colours(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(start) = rest.find('\u{1b}') {
        plain.push_str(&rest[..start]);
        let tail = &rest[start..];
        rest = tail.find('m').map_or("", |end| &tail[end + 1..]);
    }
    plain.push_str(rest);
    plain
}

#[cfg(test)]
mod tests;
