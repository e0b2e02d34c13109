//! `list_files`: what is in a folder, as far as version control would see it (Z-32).

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;
use cairn_protocol::{CallEffects, ToolClass};
use ignore::WalkBuilder;
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use crate::counted::counted;
use crate::path::{missing, shown_name};
use crate::{
    Action, Cut, Done, Ordering, Plan, Run, Spec, TargetKind, Tool, ToolContext, arguments, resolve,
};

#[cfg(test)]
mod tests;

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
struct Input {
    /// Folder, relative to the workspace or absolute. Default `.`.
    path: Option<String>,
    /// How many levels to go down. Default 2.
    #[schemars(range(min = 1, max = 20))]
    depth: Option<u32>,
    /// The most entries to return. Default 500.
    #[schemars(range(min = 1, max = 5000))]
    limit: Option<u32>,
    /// Whether to list names that begin with a dot. Default false.
    include_hidden: Option<bool>,
}

/// The tool.
pub(super) struct ListFiles {
    spec: Spec,
}

impl ListFiles {
    pub(super) fn new() -> Self {
        let spec = Spec {
            name: "list_files",
            aliases: &["list_dir"],
            description: "Lists files and folders below a folder, sorted, folders with a trailing slash. What .gitignore names is left out.",
            class: ToolClass::Read,
            parameters: arguments::schema::<Input>(),
            timeout: Some(Duration::from_secs(30)),
            max_output_chars: 16_000,
            cut: Cut::Head,
        };
        Self { spec }
    }
}

impl Tool for ListFiles {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn prepare(&self, arguments: &str, ctx: &ToolContext) -> Result<Plan, String> {
        let input: Input = arguments::parse(arguments, &self.spec.parameters, &[])?;
        let requested = input.path.as_deref().unwrap_or(".");
        let target = resolve(ctx, requested)?;
        match target.kind {
            TargetKind::Folder => {}
            TargetKind::Missing => return Err(missing(&target)),
            TargetKind::File | TargetKind::Other => {
                return Err(format!(
                    "`{requested}` is not a folder. Use read_file to read a file."
                ));
            }
        }
        let shown = target.label();
        let effects = CallEffects {
            class: ToolClass::Read,
            title: format!("List {shown}"),
            reads: vec![target.path.clone()],
            writes: Vec::new(),
            command: None,
        };
        let action = Listing {
            root: target.real,
            depth: input.depth.unwrap_or(2) as usize,
            limit: input.limit.unwrap_or(500) as usize,
            hidden: input.include_hidden.unwrap_or_default(),
        };
        Ok(Plan {
            effects,
            ordering: Ordering::Parallel,
            timeout: self.spec.timeout,
            action: Box::new(action),
        })
    }
}

struct Listing {
    root: PathBuf,
    depth: usize,
    limit: usize,
    hidden: bool,
}

#[async_trait]
impl Action for Listing {
    async fn run(self: Box<Self>, run: &Run<'_>) -> Done {
        let stop = run.stop.clone();
        match tokio::task::spawn_blocking(move || self.list(&stop)).await {
            Ok(done) => done,
            Err(error) => Done::failed(format!("Listing broke: {error}.")),
        }
    }
}

impl Listing {
    fn list(&self, stop: &CancellationToken) -> Done {
        let walk = WalkBuilder::new(&self.root)
            .max_depth(Some(self.depth))
            .hidden(!self.hidden)
            .follow_links(false)
            .require_git(false)
            .git_global(false)
            .filter_entry(|entry| entry.file_name() != ".git" || entry.depth() == 0)
            .sort_by_file_name(Ord::cmp)
            .build();
        let (mut text, mut shown, mut more) = (String::new(), 0, false);
        let mut problems = Vec::new();
        for entry in walk {
            if stop.is_cancelled() {
                break;
            }
            let entry = match entry {
                Ok(entry) if entry.depth() == 0 => continue,
                Ok(entry) => entry,
                Err(error) => {
                    problems.push(error.to_string());
                    continue;
                }
            };
            if shown == self.limit {
                more = true;
                break;
            }
            let relative = entry.path().strip_prefix(&self.root).unwrap_or(entry.path());
            text.push_str(&shown_name(relative.as_os_str()));
            match entry.file_type() {
                Some(kind) if kind.is_dir() => text.push('/'),
                Some(kind) if kind.is_symlink() => {
                    let leads = fs::read_link(entry.path()).map(|to| shown_name(to.as_os_str()));
                    text.push_str(&format!(" -> {}", leads.unwrap_or_else(|_| "?".to_owned())));
                }
                _ => {}
            }
            text.push('\n');
            shown += 1;
        }
        let mut notes = Vec::new();
        if more {
            notes.push(format!(
                "there are more than {} entries; list a subfolder, or raise limit",
                self.limit
            ));
        }
        if let Some(first) = problems.first() {
            notes.push(format!("{} entries could not be read, first: {first}", problems.len()));
        }
        if text.is_empty() {
            text.push_str("The folder has no entries that are not hidden or ignored.\n");
        }
        Done { notes, ..Done::completed(text, counted(shown, "entry")) }
    }
}
