//! Rules about commands and tools: made from a command, matched against a call, shown literally.
//!
//! A rule is words, never a string pattern. An allow rule matches only commands that were taken apart with certainty;
//! a deny or ask rule also matches what a forgiving reader finds, so that doubt never loosens.

use cairn_protocol::RuleMatcher;

use crate::Error;
use crate::command::loose::{Candidate, SHELLS, WRAPPERS, program_name};
use crate::command::{ParsedCommand, parse_command};

mod grammar;
#[cfg(test)]
mod tests;

/// Programs that run code which their arguments or input name, beside shells and wrappers: a rule for one of them would
/// allow everything.
const INTERPRETERS: &[&str] = &[
    "python",
    "python2",
    "python3",
    "pypy",
    "pypy3",
    "ipython",
    "node",
    "nodejs",
    "deno",
    "bun",
    "ruby",
    "irb",
    "perl",
    "php",
    "lua",
    "luajit",
    "tclsh",
    "wish",
    "expect",
    "osascript",
    "awk",
    "gawk",
    "mawk",
    "nawk",
    "sed",
    "ed",
    "ex",
    "vi",
    "vim",
    "nvim",
    "emacs",
    "nano",
    "less",
    "more",
    "man",
    "java",
    "jshell",
    "groovy",
    "scala",
    "kotlin",
    "swift",
    "julia",
    "r",
    "rscript",
    "ghc",
    "runghc",
    "ocaml",
    "erl",
    "elixir",
    "iex",
    "guile",
    "racket",
    "sbcl",
    "clojure",
    "gdb",
    "lldb",
    "npx",
    "bunx",
    "pnpx",
    "uvx",
    "pipx",
    "dlx",
    "m4",
    "tmux",
    "screen",
    "at",
    "batch",
    "crontab",
    "make",
    "gmake",
    "ninja",
    "rake",
    "just",
    "git-shell",
    "sqlite3",
    "psql",
    "mysql",
    "ftp",
    "telnet",
    "nc",
    "ncat",
    "socat",
    "curl",
    "wget",
    "scp",
    "sftp",
    "rsync",
    "tar",
    "zip",
    "install",
    "ld.so",
    "wasmtime",
    "wine",
    "qemu",
    "mount",
    "kubectl",
    "helm",
    "ansible",
    "terraform",
    "vagrant",
];

/// Programs that destroy: never remembered.
const DESTROYERS: &[&str] = &[
    "rm",
    "rmdir",
    "unlink",
    "shred",
    "wipefs",
    "dd",
    "mkfs",
    "mke2fs",
    "mkswap",
    "fdisk",
    "parted",
    "truncate",
    "chmod",
    "chown",
    "chgrp",
    "chattr",
    "setfacl",
    "kill",
    "pkill",
    "killall",
    "mv",
    "cp",
    "ln",
    "tee",
    "shutdown",
    "reboot",
    "poweroff",
    "halt",
    "init",
    "systemctl",
    "launchctl",
    "service",
    "useradd",
    "usermod",
    "passwd",
    "visudo",
    "iptables",
    "nft",
    "rd",
    "del",
    "erase",
    "format",
    "diskpart",
    "reg",
    "cd",
    "pushd",
    "popd",
];

/// Programs whose first word names what they do, so that a rule holds that word too.
const WITH_SUBCOMMANDS: &[&str] = &[
    "git", "cargo", "go", "npm", "pnpm", "yarn", "pip", "pip3", "uv", "poetry", "dotnet", "mvn",
    "gradle", "gradlew", "bundle", "composer", "mix", "cabal", "stack", "zig", "rustup", "gh",
    "glab", "brew", "apt", "apt-get", "dnf", "pacman", "nix", "jj", "hg", "svn", "conda", "mamba",
    "flutter", "dart", "ng", "vue", "nx", "turbo", "lerna", "deno", "xtask",
];

/// Sub-commands that run what their further words or the network name.
const RUNNING_SUBCOMMANDS: &[(&str, &[&str])] = &[
    (
        "git",
        &[
            "bisect",
            "rebase",
            "submodule",
            "filter-branch",
            "config",
            "difftool",
            "mergetool",
            "daemon",
            "svn",
            "push",
            "reset",
            "clean",
            "gc",
            "reflog",
            "update-ref",
            "hook",
            "maintenance",
            "remote",
            "worktree",
            "credential",
        ],
    ),
    (
        "cargo",
        &["run", "r", "install", "publish", "login", "watch", "xtask", "script", "yank", "owner"],
    ),
    ("go", &["run", "generate", "install", "get", "tool", "env"]),
    (
        "npm",
        &[
            "exec", "x", "init", "create", "publish", "install", "i", "ci", "add", "config", "set",
            "login", "explore",
        ],
    ),
    ("pnpm", &["exec", "dlx", "create", "publish", "install", "i", "add", "config"]),
    ("yarn", &["exec", "dlx", "create", "publish", "install", "add", "config", "node"]),
    ("pip", &["install", "download", "config"]),
    ("pip3", &["install", "download", "config"]),
    ("uv", &["run", "tool", "pip", "publish", "python"]),
    ("poetry", &["run", "shell", "publish", "add", "install"]),
    ("bundle", &["exec", "install", "config"]),
    ("dotnet", &["run", "exec", "tool", "script", "nuget"]),
    ("nix", &["run", "shell", "develop", "build", "eval"]),
    ("gh", &["api", "auth", "alias", "extension", "secret", "ssh-key"]),
    ("zig", &["run", "cc", "c++"]),
    ("rustup", &["run", "default", "toolchain", "self"]),
    ("conda", &["run", "install"]),
    ("stack", &["exec", "runghc", "ghci", "script"]),
    ("cabal", &["run", "exec", "install", "repl"]),
    ("dart", &["run", "pub"]),
    ("deno", &["run", "eval", "repl", "task", "install", "compile"]),
    ("mix", &["run", "do", "cmd"]),
];

/// Other names of tools that models know; a rule for the tool holds for them too.
const TOOL_ALIASES: &[(&str, &str)] =
    &[("edit_file", "replace_in_file"), ("exec_command", "run_shell")];

/// Makes the rule that would allow a command and its like again: the program, and its first word where that names
/// what the program does (Z-50).
///
/// # Errors
/// When the command is not one plain command, or when its program can run any other program.
pub fn command_rule(text: &str) -> Result<RuleMatcher, Error> {
    let commands = match parse_command(text) {
        ParsedCommand::Plain(commands) => commands,
        ParsedCommand::NotPlain { reason } => return Err(Error::NotPlain { reason }),
    };
    let [words] = commands.as_slice() else {
        return Err(Error::NotPlain { reason: "it joins several commands".to_owned() });
    };
    refuse_programs(words)?;
    let program = program_name(&words[0]);
    let mut kept = vec![words[0].clone()];
    if WITH_SUBCOMMANDS.contains(&program.as_str()) {
        let subcommand = words.get(1).filter(|word| !word.is_empty() && !word.starts_with('-'));
        let Some(subcommand) = subcommand else {
            return Err(Error::RunsAnything { program: words[0].clone() });
        };
        kept.push(subcommand.clone());
        let script = matches!(program.as_str(), "npm" | "pnpm" | "yarn") && subcommand == "run";
        if script {
            let Some(name) = words.get(2).filter(|word| !word.starts_with('-')) else {
                return Err(Error::RunsAnything { program: format!("{program} run") });
            };
            kept.push(name.clone());
        }
    }
    let matcher = RuleMatcher::CommandPrefix { words: kept };
    if !allows(&matcher, words) {
        return Err(Error::NotPlain {
            reason: "one of its options can run or write something else".to_owned(),
        });
    }
    Ok(matcher)
}

fn refuse_programs(words: &[String]) -> Result<(), Error> {
    let program = program_name(&words[0]);
    let stem = program.trim_end_matches(|character: char| {
        character.is_ascii_digit() || character == '.' || character == '-'
    });
    let named = |list: &[&str]| list.contains(&program.as_str()) || list.contains(&stem);
    if named(SHELLS)
        || named(WRAPPERS)
        || named(INTERPRETERS)
        || named(DESTROYERS)
        || program.starts_with("mkfs")
    {
        return Err(Error::RunsAnything { program: words[0].clone() });
    }
    let runs = RUNNING_SUBCOMMANDS.iter().find(|(name, _)| *name == program);
    if let (Some((_, subcommands)), Some(word)) = (runs, words.get(1))
        && subcommands.contains(&word.as_str())
    {
        return Err(Error::RunsAnything { program: format!("{program} {word}") });
    }
    Ok(())
}

/// Returns the literal text of a matcher, as the user is shown it.
pub fn rule_text(matcher: &RuleMatcher) -> String {
    match matcher {
        RuleMatcher::CommandPrefix { words } => {
            let shown: Vec<String> = words.iter().map(|word| shell_word(word)).collect();
            crate::visible(&shown.join(" "))
        }
        RuleMatcher::Tool { name } => crate::visible(&format!("tool {name}")),
    }
}

/// Quotes a word where it would not stand for itself.
fn shell_word(word: &str) -> String {
    let plain =
        |character: char| character.is_ascii_alphanumeric() || "_@%+:,./-^=".contains(character);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Returns whether an allow rule covers one plain command: the first words are the rule's, and no further word is an option
/// through which the program would run or write something else.
pub(crate) fn allows(matcher: &RuleMatcher, words: &[String]) -> bool {
    let RuleMatcher::CommandPrefix { words: prefix } = matcher else { return false };
    !prefix.is_empty()
        && words.starts_with(prefix)
        && refuse_programs(words).is_ok()
        && grammar::accepts(words)
}

/// Returns whether a deny or ask rule covers a command that a text might run. Options before the rule's next word are skipped,
/// each with and without a value.
pub(crate) fn touches(matcher: &RuleMatcher, candidate: &Candidate) -> bool {
    let RuleMatcher::CommandPrefix { words: rule } = matcher else { return false };
    let (Some(program), Some(first)) = (rule.first(), candidate.words().first()) else {
        return false;
    };
    (program == first || program_name(program) == program_name(first))
        && follows(&rule[1..], &candidate.words()[1..])
}

fn follows(rule: &[String], words: &[String]) -> bool {
    let Some(next) = rule.first() else { return true };
    let Some(word) = words.first() else { return false };
    if next == word && follows(&rule[1..], &words[1..]) {
        return true;
    }
    if !word.starts_with('-') {
        return false;
    }
    follows(rule, &words[1..])
        || (words.len() > 1 && !words[1].starts_with('-') && follows(rule, &words[2..]))
}

/// Returns whether a rule about a tool covers a tool.
pub(crate) fn names_tool(matcher: &RuleMatcher, tool: &str) -> bool {
    let RuleMatcher::Tool { name } = matcher else { return false };
    canonical_tool(name) == canonical_tool(tool)
}

fn canonical_tool(name: &str) -> &str {
    TOOL_ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, tool)| tool)
}
