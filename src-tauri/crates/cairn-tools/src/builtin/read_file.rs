//! `read_file`: lines of a text file, numbered (P-78).

use std::io::Read;
use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;
use cairn_protocol::{CallEffects, ToolClass};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use crate::counted::counted;
use crate::path::{describe, missing};
use crate::{
    Action, Cut, Done, Identity, Ordering, Plan, Run, Spec, TargetKind, Tool, ToolContext,
    arguments, place, resolve,
};

#[cfg(test)]
mod tests;

/// How much of a file is looked at.
const SCAN_LIMIT_BYTES: usize = 8 * 1024 * 1024;

/// Longer lines are cut: they are data, and one of them could fill the whole answer.
const LINE_LIMIT_CHARS: usize = 2000;

/// What the model reads of one call (P-75).
const OUTPUT_LIMIT_CHARS: usize = 64_000;

const DEFAULT_LINES: u32 = 2000;

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
struct Input {
    /// Path of the file, relative to the workspace or absolute.
    file_path: String,
    /// First line to return, counted from 1. Default 1.
    #[schemars(range(min = 1))]
    offset: Option<u32>,
    /// How many lines to return. Default 2000.
    #[schemars(range(min = 1))]
    limit: Option<u32>,
}

/// The tool.
pub(super) struct ReadFile {
    spec: Spec,
}

impl ReadFile {
    pub(super) fn new() -> Self {
        let spec = Spec {
            name: "read_file",
            aliases: &[],
            description: "Reads a text file and returns its lines, each with its number and a tab in front. Read a file before you change it. \
                For a long file, read parts with offset and limit.",
            class: ToolClass::Read,
            parameters: arguments::schema::<Input>(),
            timeout: Some(Duration::from_secs(30)),
            // The lines are fitted here; the notes need a little room more.
            max_output_chars: OUTPUT_LIMIT_CHARS,
            cut: Cut::Head,
        };
        Self { spec }
    }
}

impl Tool for ReadFile {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn prepare(&self, arguments: &str, ctx: &ToolContext) -> Result<Plan, String> {
        let input: Input =
            arguments::parse(arguments, &self.spec.parameters, &[("path", "file_path")])?;
        let target = resolve(ctx, &input.file_path)?;
        let requested = &input.file_path;
        match target.kind {
            TargetKind::File => {}
            TargetKind::Missing => return Err(missing(&target)),
            TargetKind::Folder => {
                return Err(format!(
                    "`{requested}` is a folder. Use list_files to see what is in it."
                ));
            }
            TargetKind::Other => return Err(format!("`{requested}` is not a regular file.")),
        }
        let shown = target.label();
        let effects = CallEffects {
            class: ToolClass::Read,
            title: format!("Read {shown}"),
            reads: vec![target.path.clone()],
            writes: Vec::new(),
            command: None,
        };
        let action = ReadLines {
            real: target.real,
            requested: input.file_path,
            offset: input.offset.unwrap_or(1) as usize,
            limit: input.limit.unwrap_or(DEFAULT_LINES) as usize,
        };
        Ok(Plan {
            effects,
            ordering: Ordering::Parallel,
            timeout: self.spec.timeout,
            action: Box::new(action),
        })
    }
}

struct ReadLines {
    real: PathBuf,
    requested: String,
    offset: usize,
    limit: usize,
}

#[async_trait]
impl Action for ReadLines {
    async fn run(self: Box<Self>, run: &Run<'_>) -> Done {
        let (ctx, stop) = (run.ctx.clone(), run.stop.clone());
        let read = tokio::task::spawn_blocking(move || self.read(&ctx, &stop)).await;
        match read {
            Ok(Ok(done)) => done,
            Ok(Err(text)) => Done::failed(text),
            Err(error) => Done::failed(format!("Reading broke: {error}.")),
        }
    }
}

impl ReadLines {
    fn read(&self, ctx: &ToolContext, stop: &CancellationToken) -> Result<Done, String> {
        let requested = &self.requested;
        let now = resolve(ctx, requested)?;
        if now.real != self.real {
            return Err(format!(
                "`{requested}` leads somewhere else than when the call was prepared. Try again."
            ));
        }
        let failed =
            |error: std::io::Error| format!("`{requested}` can't be read: {}.", describe(&error));
        let mut file = place::open(&self.real).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        let mut content = Vec::new();
        let mut piece = vec![0; 256 * 1024];
        while content.len() < SCAN_LIMIT_BYTES && !stop.is_cancelled() {
            let room = piece.len().min(SCAN_LIMIT_BYTES - content.len());
            match file.read(&mut piece[..room]) {
                Ok(0) => break,
                Ok(count) => content.extend_from_slice(&piece[..count]),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(failed(error)),
            }
        }
        let whole = file.read(&mut piece[..1]).map_err(failed)? == 0;
        if content.contains(&0) {
            return Err(format!(
                "`{requested}` is a binary file ({} bytes). Look at it with a command such as `file` or `xxd` through run_shell.",
                metadata.len()
            ));
        }
        let identity = Identity {
            bytes: metadata.len(),
            modified: metadata.modified().ok(),
            sha256: whole.then(|| place::sha256(&content)),
        };
        let done = self.lines(&content, whole)?;
        ctx.ledger.record(&self.real, identity);
        Ok(done)
    }

    fn lines(&self, content: &[u8], whole: bool) -> Result<Done, String> {
        let mut lines: Vec<&[u8]> = content.split(|&byte| byte == b'\n').collect();
        if lines.last().is_some_and(|line| line.is_empty()) {
            lines.pop();
        }
        if !whole {
            // The last line may go on beyond what was scanned.
            lines.pop();
        }
        let total = lines.len();
        let mut notes = Vec::new();
        if total == 0 && whole {
            return Ok(Done {
                text: "The file is empty.".to_owned(),
                ..Done::completed("", "empty")
            });
        }
        if self.offset > total {
            let known = if whole {
                "The file has"
            } else {
                "Of this large file, the first 8 MiB can be read; they have"
            };
            return Err(format!("There is no line {}. {known} {total} lines.", self.offset));
        }
        let (mut text, mut characters, mut shown, mut cut) = (String::new(), 0, 0, 0);
        for (index, line) in lines.iter().enumerate().skip(self.offset - 1).take(self.limit) {
            let line = String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line));
            let mut row = format!("{:>6}\t", index + 1);
            if line.chars().count() > LINE_LIMIT_CHARS {
                row.extend(line.chars().take(LINE_LIMIT_CHARS));
                cut += 1;
            } else {
                row.push_str(&line);
            }
            row.push('\n');
            let length = row.chars().count();
            if characters + length > OUTPUT_LIMIT_CHARS {
                break;
            }
            characters += length;
            text.push_str(&row);
            shown += 1;
        }
        let last = self.offset - 1 + shown;
        if last < total {
            notes.push(format!(
                "lines {}-{last} of {total}; continue with offset={}",
                self.offset,
                last + 1
            ));
        }
        if !whole {
            notes.push("the file is larger than 8 MiB; lines beyond that can be found with grep or a command".to_owned());
        }
        if cut > 0 {
            notes.push(format!(
                "{cut} lines are longer than {LINE_LIMIT_CHARS} characters and were cut"
            ));
        }
        if content.windows(2).any(|pair| pair == b"\r\n") {
            notes.push("the file uses CRLF line endings; text that replaces several lines must contain them".to_owned());
        }
        if std::str::from_utf8(content).is_err_and(|error| whole || error.error_len().is_some()) {
            notes.push(
                "the file is not valid UTF-8; bytes that are not are shown as \u{fffd}".to_owned(),
            );
        }
        Ok(Done { notes, ..Done::completed(text, counted(shown, "line")) })
    }
}
