//! `grep`: searches file contents with ripgrep's engine, in process (Z-35).
//!
//! It follows no links, skips what `.gitignore` names, binary files, and files whose name says that they hold secrets. It is
//! bounded in time, matches and line length.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use cairn_protocol::{CallEffects, ToolClass};
use globset::{GlobBuilder, GlobMatcher};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};
use ignore::WalkBuilder;
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use crate::counted::counted;
use crate::path::{missing, shown_name};
use crate::{
    Action, Cut, Done, Ordering, Plan, Run, Spec, TargetKind, Tool, ToolContext, arguments, place,
    resolve,
};

#[cfg(test)]
mod tests;

/// How long a search may take (Z-35).
const TIME_LIMIT: Duration = Duration::from_secs(10);

/// A longer line is cut around nothing in particular: it is data.
const LINE_LIMIT_CHARS: usize = 400;

/// The longest line that is searched; a file with a longer one is skipped from there on.
const LINE_LIMIT_BYTES: usize = 8 * 1024 * 1024;

/// The largest compiled pattern.
const PATTERN_LIMIT_BYTES: usize = 10 * 1024 * 1024;

/// Names whose content is never found by searching; reading such a file asks the user.
const SECRET_NAMES: &[&str] = &[
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "credentials",
    "credentials.json",
    "secrets.json",
    "secrets.yaml",
    "secrets.yml",
    "secrets.toml",
    "shadow",
];
const SECRET_ENDINGS: &[&str] =
    &[".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".keychain-db"];
const SECRET_BEGINNINGS: &[&str] =
    &[".env", ".netrc", ".npmrc", ".pypirc", ".pgpass", ".git-credentials"];
const SECRET_FOLDERS: &[&str] = &[
    ".git",
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".docker",
    ".password-store",
    "keyrings",
    "keychains",
];

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
struct Input {
    /// Regular expression, as in Rust and ripgrep.
    pattern: String,
    /// File or folder, relative to the workspace or absolute. Default `.`.
    path: Option<String>,
    /// Only files that this glob matches, such as `*.rs` or `src/**/*.ts`.
    glob: Option<String>,
    /// Whether case does not matter. Default false.
    case_insensitive: Option<bool>,
    /// Lines around each match, 0 to 5. Default 0.
    #[schemars(range(max = 5))]
    context: Option<u32>,
    /// `content` returns lines, `files` names, `count` names with the number of matching lines. Default `content`.
    mode: Option<Mode>,
    /// The most matching lines, or files. Default 200.
    #[schemars(range(min = 1, max = 5000))]
    limit: Option<u32>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Mode {
    #[default]
    Content,
    Files,
    Count,
}

/// The tool.
pub(super) struct Grep {
    spec: Spec,
}

impl Grep {
    pub(super) fn new() -> Self {
        let spec = Spec {
            name: "grep",
            aliases: &[],
            description: "Searches the contents of files for a regular expression. What .gitignore names, hidden files and binary files are left out.",
            class: ToolClass::Read,
            parameters: arguments::schema::<Input>(),
            timeout: Some(Duration::from_secs(15)),
            max_output_chars: 16_000,
            cut: Cut::Head,
        };
        Self { spec }
    }
}

impl Tool for Grep {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn prepare(&self, arguments: &str, ctx: &ToolContext) -> Result<Plan, String> {
        let input: Input = arguments::parse(arguments, &self.spec.parameters, &[])?;
        if input.pattern.is_empty() {
            return Err("`pattern` is empty.".to_owned());
        }
        let matcher = RegexMatcherBuilder::new()
            .case_insensitive(input.case_insensitive.unwrap_or_default())
            .line_terminator(Some(b'\n'))
            .size_limit(PATTERN_LIMIT_BYTES)
            .dfa_size_limit(PATTERN_LIMIT_BYTES)
            .build(&input.pattern)
            .map_err(|error| {
                format!("`pattern` is not a regular expression for single lines: {error}")
            })?;
        let glob = input.glob.as_deref().map(glob).transpose()?;
        let requested = input.path.as_deref().unwrap_or(".");
        let target = resolve(ctx, requested)?;
        match target.kind {
            TargetKind::File | TargetKind::Folder => {}
            TargetKind::Missing => return Err(missing(&target)),
            TargetKind::Other => return Err(format!("`{requested}` is not a file or folder.")),
        }
        let shown = target.label();
        let pattern: String = input.pattern.chars().take(60).collect();
        let effects = CallEffects {
            class: ToolClass::Read,
            title: format!("Search {shown} for {}", shown_name(pattern.as_ref())),
            reads: vec![target.path.clone()],
            writes: Vec::new(),
            command: None,
        };
        let action = Search {
            matcher,
            glob,
            is_file: target.kind == TargetKind::File,
            root: target.real,
            context: input.context.unwrap_or_default() as usize,
            mode: input.mode.unwrap_or_default(),
            limit: input.limit.unwrap_or(200) as usize,
        };
        Ok(Plan {
            effects,
            ordering: Ordering::Parallel,
            timeout: self.spec.timeout,
            action: Box::new(action),
        })
    }
}

/// Compiles a glob; one without a slash matches names at any depth.
fn glob(text: &str) -> Result<GlobMatcher, String> {
    let anywhere = if text.contains('/') {
        text.trim_start_matches('/').to_owned()
    } else {
        format!("**/{text}")
    };
    let glob = GlobBuilder::new(&anywhere).literal_separator(true).build();
    glob.map(|glob| glob.compile_matcher())
        .map_err(|error| format!("`glob` is not a glob: {error}"))
}

struct Search {
    matcher: RegexMatcher,
    glob: Option<GlobMatcher>,
    is_file: bool,
    root: PathBuf,
    context: usize,
    mode: Mode,
    limit: usize,
}

#[async_trait]
impl Action for Search {
    async fn run(self: Box<Self>, run: &Run<'_>) -> Done {
        let stop = run.stop.clone();
        let deadline = Instant::now() + TIME_LIMIT;
        match tokio::task::spawn_blocking(move || self.search(&Budget { deadline, stop })).await {
            Ok(done) => done,
            Err(error) => Done::failed(format!("Searching broke: {error}.")),
        }
    }
}

/// When a search must end.
struct Budget {
    deadline: Instant,
    stop: CancellationToken,
}

impl Budget {
    fn is_spent(&self) -> bool {
        Instant::now() >= self.deadline || self.stop.is_cancelled()
    }
}

/// What was found so far.
#[derive(Default)]
struct Found {
    text: String,
    matches: usize,
    files: usize,
    full: bool,
    unread: usize,
}

impl Search {
    fn search(&self, budget: &Budget) -> Done {
        let mut found = Found::default();
        let mut searcher = SearcherBuilder::new()
            .line_number(true)
            .before_context(self.context)
            .after_context(self.context)
            .binary_detection(BinaryDetection::quit(0))
            .heap_limit(Some(LINE_LIMIT_BYTES))
            .build();
        if self.is_file {
            let name = self.root.file_name().map(PathBuf::from).unwrap_or_default();
            self.search_file(&mut searcher, &self.root, &name, budget, &mut found);
        } else {
            self.search_folder(&mut searcher, budget, &mut found);
        }
        self.done(found, budget)
    }

    fn search_folder(&self, searcher: &mut Searcher, budget: &Budget, found: &mut Found) {
        let walk = WalkBuilder::new(&self.root)
            .follow_links(false)
            .require_git(false)
            .git_global(false)
            .sort_by_file_path(Ord::cmp)
            .filter_entry(|entry| entry.depth() == 0 || !is_secret(entry.path()))
            .build();
        for entry in walk {
            if found.full || budget.is_spent() {
                return;
            }
            let entry = match entry {
                Ok(entry) => entry,
                Err(_) => {
                    found.unread += 1;
                    continue;
                }
            };
            if !entry.file_type().is_some_and(|kind| kind.is_file()) {
                continue;
            }
            let relative = entry.path().strip_prefix(&self.root).unwrap_or(entry.path());
            if self.glob.as_ref().is_none_or(|glob| glob.is_match(relative)) {
                self.search_file(searcher, entry.path(), relative, budget, found);
            }
        }
    }

    fn search_file(
        &self,
        searcher: &mut Searcher,
        path: &Path,
        shown: &Path,
        budget: &Budget,
        found: &mut Found,
    ) {
        let Ok(file) = place::open(path) else {
            found.unread += 1;
            return;
        };
        let name = shown_name(shown.as_os_str());
        let before = found.text.len();
        let mut lines =
            Lines { name: &name, mode: self.mode, limit: self.limit, found, in_file: 0 };
        let searched = searcher.search_reader(&self.matcher, Bounded { file, budget }, &mut lines);
        let in_file = lines.in_file;
        if searched.is_err() && !budget.is_spent() {
            found.unread += 1;
        }
        if in_file == 0 {
            found.text.truncate(before);
            return;
        }
        found.files += 1;
        match self.mode {
            Mode::Content => {}
            Mode::Files => found.text.push_str(&format!("{name}\n")),
            Mode::Count => found.text.push_str(&format!("{name}: {in_file}\n")),
        }
        if self.mode != Mode::Content && found.files == self.limit {
            found.full = true;
        }
    }

    fn done(&self, found: Found, budget: &Budget) -> Done {
        let mut notes = Vec::new();
        if found.full {
            notes.push(format!(
                "stopped at the limit of {}; narrow the pattern, path or glob",
                self.limit
            ));
        } else if Instant::now() >= budget.deadline {
            notes.push(
                "stopped after 10 s; not everything was searched. Narrow the path or glob"
                    .to_owned(),
            );
        }
        if found.unread > 0 {
            notes.push(format!("{} files or folders could not be searched whole", found.unread));
        }
        let summary = match self.mode {
            Mode::Content | Mode::Count => {
                format!("{} in {}", counted(found.matches, "match"), counted(found.files, "file"))
            }
            Mode::Files => counted(found.files, "file"),
        };
        let text = if found.text.is_empty() { "No matches.".to_owned() } else { found.text };
        Done { notes, ..Done::completed(text, summary) }
    }
}

/// Returns whether a name says that its content is secret.
fn is_secret(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    SECRET_NAMES.contains(&name.as_str())
        || SECRET_FOLDERS.contains(&name.as_str())
        || SECRET_ENDINGS.iter().any(|ending| name.ends_with(ending))
        || SECRET_BEGINNINGS
            .iter()
            .any(|beginning| name.starts_with(beginning) && !name.ends_with(".example"))
}

/// A file that reads as failed when the time is over.
struct Bounded<'b> {
    file: std::fs::File,
    budget: &'b Budget,
}

impl Read for Bounded<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.budget.is_spent() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.file.read(buffer)
    }
}

/// Takes the matches of one file.
struct Lines<'f> {
    name: &'f str,
    mode: Mode,
    limit: usize,
    found: &'f mut Found,
    in_file: usize,
}

impl Lines<'_> {
    fn push(&mut self, number: Option<u64>, mark: char, bytes: &[u8]) {
        let line = String::from_utf8_lossy(bytes);
        let line = line.trim_end_matches(['\n', '\r']);
        let number = number.unwrap_or_default();
        self.found.text.push_str(&format!("{}{mark}{number}{mark}", self.name));
        if line.chars().count() > LINE_LIMIT_CHARS {
            self.found.text.extend(line.chars().take(LINE_LIMIT_CHARS));
            self.found.text.push_str(" [line cut]");
        } else {
            self.found.text.push_str(line);
        }
        self.found.text.push('\n');
    }
}

impl Sink for Lines<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, matched: &SinkMatch<'_>) -> Result<bool, io::Error> {
        self.in_file += 1;
        self.found.matches += 1;
        match self.mode {
            Mode::Files => return Ok(false),
            Mode::Count => return Ok(true),
            Mode::Content => {}
        }
        let first = matched.line_number();
        for (index, line) in matched.lines().enumerate() {
            self.push(first.map(|number| number + index as u64), ':', line);
        }
        self.found.full = self.found.matches >= self.limit;
        Ok(!self.found.full)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> Result<bool, io::Error> {
        if self.mode == Mode::Content {
            self.push(context.line_number(), '-', context.bytes());
        }
        Ok(true)
    }

    fn context_break(&mut self, _: &Searcher) -> Result<bool, io::Error> {
        if self.mode == Mode::Content {
            self.found.text.push_str("--\n");
        }
        Ok(true)
    }
}
