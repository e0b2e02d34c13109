//! Which options an allowed program may be given without asking again.
//!
//! For the programs named here it lists what is accepted; anything else asks. For all other programs it refuses the few
//! spellings by which build tools commonly take a program to run. An option that is missing here costs a question, not
//! safety.

/// The accepted words of one program or sub-command.
struct Grammar {
    /// The words that the command begins with.
    words: &'static [&'static str],
    /// Letters of short options that may stand alone or together, without values of their own.
    letters: &'static str,
    /// Letters of short options that take a value, joined or as the next word.
    valued: &'static str,
    /// Long options, without dashes; a value may follow after `=`.
    long: &'static [&'static str],
    /// Whether words that are not options are accepted.
    operands: Operands,
}

#[derive(PartialEq)]
enum Operands {
    Any,
    None,
}

const fn row(
    words: &'static [&'static str],
    letters: &'static str,
    valued: &'static str,
    long: &'static [&'static str],
    operands: Operands,
) -> Grammar {
    Grammar { words, letters, valued, long, operands }
}

/// Options of git's readers.
const GIT_DIFF: &[&str] = &[
    "stat",
    "numstat",
    "shortstat",
    "name-only",
    "name-status",
    "cached",
    "staged",
    "summary",
    "patch",
    "no-patch",
    "unified",
    "color",
    "no-color",
    "word-diff",
    "ignore-all-space",
    "ignore-space-change",
    "ignore-blank-lines",
    "diff-filter",
    "find-renames",
    "no-renames",
    "minimal",
    "patience",
    "histogram",
    "no-ext-diff",
    "no-textconv",
    "check",
    "quiet",
    "exit-code",
    "raw",
    "merge-base",
    "oneline",
    "graph",
    "decorate",
    "all",
    "since",
    "until",
    "after",
    "before",
    "author",
    "grep",
    "max-count",
    "format",
    "pretty",
    "abbrev-commit",
    "follow",
    "merges",
    "no-merges",
    "first-parent",
    "reverse",
    "date",
    "branches",
    "tags",
    "remotes",
    "show-signature",
    "no-decorate",
    "relative",
];

#[rustfmt::skip]
const GRAMMARS: &[Grammar] = &[
    row(&["ls"], "aAlhrtS1dFRgGonspiXUcCkmxqQLvBu", "IwT", &["all", "almost-all", "color", "human-readable", "recursive", "reverse", "size", "sort", "time", "classify", "directory", "group-directories-first", "inode"], Operands::Any),
    row(&["cat"], "AbeEnstTuv", "", &["number", "number-nonblank", "show-all", "squeeze-blank", "show-ends", "show-tabs"], Operands::Any),
    row(&["head"], "qvz0123456789", "nc", &["lines", "bytes", "quiet", "verbose"], Operands::Any),
    row(&["tail"], "qvz0123456789", "nc", &["lines", "bytes", "quiet", "verbose"], Operands::Any),
    row(&["wc"], "clmwL", "", &["lines", "words", "bytes", "chars", "max-line-length"], Operands::Any),
    row(&["pwd"], "LP", "", &[], Operands::None),
    row(&["echo"], "neE", "", &[], Operands::Any),
    row(&["true"], "", "", &[], Operands::None),
    row(&["false"], "", "", &[], Operands::None),
    row(&["grep"], "EFGPivwxcloLqsnHhrRabzZTuUyI0123456789", "eABCmdD", &["ignore-case", "invert-match", "word-regexp", "line-regexp", "count", "files-with-matches", "files-without-match", "line-number", "with-filename", "no-filename", "recursive", "include", "exclude", "exclude-dir", "after-context", "before-context", "context", "max-count", "only-matching", "color", "extended-regexp", "fixed-strings", "perl-regexp", "regexp", "quiet"], Operands::Any),
    row(&["rg"], "FisSvwxclLqnNHIhuUopa0.0123456789", "egtTABCmMjd", &["ignore-case", "smart-case", "case-sensitive", "fixed-strings", "word-regexp", "line-regexp", "count", "count-matches", "files", "files-with-matches", "files-without-match", "line-number", "no-line-number", "heading", "no-heading", "hidden", "no-ignore", "glob", "type", "type-not", "type-list", "context", "after-context", "before-context", "max-count", "max-depth", "max-columns", "only-matching", "color", "multiline", "json", "sort", "stats", "invert-match", "regexp", "quiet", "column", "vimgrep", "no-filename", "with-filename", "trim"], Operands::Any),
    row(&["sort"], "bdfghinMRrVsuczC", "ktS", &["reverse", "unique", "numeric-sort", "human-numeric-sort", "version-sort", "key", "field-separator", "ignore-case", "stable", "check"], Operands::Any),
    row(&["tree"], "adfpshugDFrtcUiAnCJX", "LIP", &["dirsfirst", "noreport", "prune", "gitignore", "du"], Operands::Any),
    row(&["git", "status"], "sbvuz", "", &["short", "branch", "porcelain", "long", "verbose", "untracked-files", "ignored", "show-stash", "ahead-behind", "no-ahead-behind", "column", "no-column", "renames", "no-renames"], Operands::Any),
    row(&["git", "diff"], "pbwzuMCRas0123456789", "USG", GIT_DIFF, Operands::Any),
    row(&["git", "log"], "pbwzuMCRasciEFP0123456789", "nUSGL", GIT_DIFF, Operands::Any),
    row(&["git", "show"], "pbwzuMCRascq0123456789", "nUSG", GIT_DIFF, Operands::Any),
    row(&["git", "blame"], "bcefFlnpstw", "LMC", &["porcelain", "line-porcelain", "show-name", "show-number", "show-email", "root", "since", "date"], Operands::Any),
    row(&["git", "branch"], "avrl", "", &["all", "list", "remotes", "verbose", "show-current", "contains", "merged", "no-merged", "sort", "format", "color", "no-color", "column", "no-column"], Operands::None),
    row(&["git", "grep"], "iIvwEFPGnlLchHaqWpr0123456789", "eABCm", &["ignore-case", "word-regexp", "invert-match", "line-number", "files-with-matches", "files-without-match", "count", "cached", "untracked", "extended-regexp", "fixed-strings", "perl-regexp", "and", "or", "not", "context", "after-context", "before-context", "max-depth", "color", "no-color", "heading", "break"], Operands::Any),
    row(&["git", "ls-files"], "cdmoiskutvz", "xX", &["cached", "deleted", "modified", "others", "ignored", "stage", "exclude-standard", "full-name", "unmerged", "killed", "directory", "eol"], Operands::Any),
    row(&["git", "rev-parse"], "q", "", &["short", "abbrev-ref", "show-toplevel", "git-dir", "verify", "is-inside-work-tree", "show-prefix", "symbolic-full-name", "all", "branches", "tags"], Operands::Any),
    row(&["git", "add"], "nvfiAu", "", &["dry-run", "verbose", "force", "all", "no-all", "update", "intent-to-add", "renormalize", "ignore-errors", "refresh"], Operands::Any),
    row(&["git", "commit"], "avqsn", "m", &["all", "message", "verbose", "quiet", "signoff", "dry-run", "allow-empty", "no-verify", "amend", "no-edit", "date", "author"], Operands::Any),
    row(&["git", "stash"], "uqka", "m", &["include-untracked", "keep-index", "message", "all", "quiet", "index"], Operands::Any),
    row(&["cargo"], "qvrhj0123456789", "pjF", &["all", "workspace", "all-targets", "all-features", "no-default-features", "features", "package", "exclude", "lib", "bin", "bins", "test", "tests", "example", "examples", "bench", "benches", "doc", "release", "profile", "locked", "offline", "frozen", "quiet", "verbose", "color", "message-format", "no-fail-fast", "no-run", "jobs", "no-deps", "check", "depth", "invert", "edges", "duplicates", "prefix", "nocapture", "test-threads", "show-output", "exact", "skip", "include-ignored", "ignored", "keep-going", "document-private-items", "format-version"], Operands::Any),
    row(&["go"], "vxnarcs", "", &[], Operands::Any),
    row(&["npm"], "ws", "w", &["silent", "workspace", "workspaces", "if-present", "json", "depth", "all", "long", "watch", "run", "coverage", "ci", "verbose", "bail", "reporter", "grep"], Operands::Any),
    row(&["pnpm"], "rs", "", &["silent", "recursive", "filter", "if-present", "json", "depth", "watch", "run", "coverage", "ci", "verbose", "bail", "reporter", "grep"], Operands::Any),
    row(&["yarn"], "s", "", &["silent", "json", "watch", "run", "coverage", "ci", "verbose", "bail", "reporter", "grep"], Operands::Any),
];

/// Long options of `go` with one dash that run nothing else.
const GO_OPTIONS: &[&str] = &[
    "v",
    "run",
    "count",
    "short",
    "race",
    "cover",
    "coverprofile",
    "bench",
    "benchmem",
    "benchtime",
    "timeout",
    "parallel",
    "json",
    "failfast",
    "list",
    "tags",
    "mod",
    "p",
    "x",
    "n",
    "a",
    "cpu",
    "shuffle",
    "skip",
    "m",
    "u",
    "f",
    "deps",
    "test",
    "fix",
];

/// What other programs are never given without asking: the usual spellings of "run this", "write there", "be configured by".
const REFUSED: &[&str] = &[
    "exec",
    "execute",
    "eval",
    "command",
    "cmd",
    "config",
    "conf",
    "rcfile",
    "init-file",
    "run",
    "runner",
    "pre",
    "preprocessor",
    "hook",
    "hooks",
    "shell",
    "script",
    "plugin",
    "plugins",
    "load",
    "require",
    "import",
    "output",
    "out",
    "outfile",
    "out-dir",
    "prefix",
    "pager",
    "editor",
    "to-command",
    "use-compress-program",
    "checkpoint-action",
    "rsh",
    "upload-pack",
    "receive-pack",
    "open-files-in-pager",
    "ext-diff",
    "textconv",
    "manifest-path",
    "target-dir",
    "directory",
    "cwd",
];

/// Returns whether every further word of a command is one that its program may be given without asking.
pub(super) fn accepts(words: &[String]) -> bool {
    let known = GRAMMARS.iter().find(|grammar| {
        grammar.words.len() <= words.len()
            && grammar.words.iter().zip(words).all(|(expected, word)| expected == word)
    });
    match known {
        Some(grammar) => grammar.accepts(&words[grammar.words.len()..]),
        None => words[1..].iter().all(|word| !is_refused(word)),
    }
}

fn is_refused(word: &str) -> bool {
    let Some(option) = word.strip_prefix('-') else { return false };
    let name = option
        .trim_start_matches('-')
        .split(['=', ':'])
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase();
    REFUSED.contains(&name.as_str()) || matches!(name.as_str(), "c" | "e" | "o" | "x")
}

impl Grammar {
    fn accepts(&self, rest: &[String]) -> bool {
        let mut rest = rest.iter();
        while let Some(word) = rest.next() {
            if word == "--" {
                return self.operands == Operands::Any;
            }
            if self.words == ["go"] && word.starts_with('-') {
                let name = word.trim_start_matches('-').split('=').next().unwrap_or_default();
                if !GO_OPTIONS.contains(&name) {
                    return false;
                }
                continue;
            }
            let accepted = if let Some(long) = word.strip_prefix("--") {
                self.long.contains(&long.split('=').next().unwrap_or_default())
            } else if let Some(letters) =
                word.strip_prefix('-').filter(|letters| !letters.is_empty())
            {
                self.accepts_letters(letters, &mut rest)
            } else {
                self.operands == Operands::Any
            };
            if !accepted {
                return false;
            }
        }
        true
    }

    /// Reads a cluster of short options. One that takes a value takes the rest of the word or the next word.
    fn accepts_letters<'w>(
        &self,
        letters: &str,
        rest: &mut impl Iterator<Item = &'w String>,
    ) -> bool {
        for (at, letter) in letters.char_indices() {
            if self.valued.contains(letter) {
                return at + letter.len_utf8() < letters.len() || rest.next().is_some();
            }
            if !self.letters.contains(letter) {
                return false;
            }
        }
        true
    }
}
