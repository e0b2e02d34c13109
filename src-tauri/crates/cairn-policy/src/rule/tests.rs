use cairn_protocol::RuleMatcher;

use super::{allows, command_rule, rule_text, touches};
use crate::command::loose::candidates;
use crate::{ParsedCommand, parse_command};

fn prefix(text: &str) -> RuleMatcher {
    RuleMatcher::CommandPrefix { words: text.split(' ').map(str::to_owned).collect() }
}

#[track_caller]
fn check_rule(command: &str, expected: &str) {
    assert_eq!(
        command_rule(command).map(|rule| rule_text(&rule)),
        Ok(expected.to_owned()),
        "{command}"
    );
}

#[test]
fn z_50_a_rule_is_the_program_and_its_first_subcommand() {
    check_rule("git status --short", "git status");
    check_rule("npm test", "npm test");
    check_rule("npm run build --silent", "npm run build");
    check_rule("cargo test -p x --lib", "cargo test");
    check_rule("ls -la src", "ls");
    check_rule("pytest -q", "pytest");
    check_rule("./check.sh", "./check.sh");
}

#[test]
fn security_3_1_no_rule_for_what_runs_anything() {
    for command in [
        "bash -c ls",
        "sh x",
        "/bin/sh x",
        "python3 -c 'print(1)'",
        "python3.12 x.py",
        "node x",
        "env ls",
        "xargs ls",
        "sudo ls",
        "timeout 5 ls",
        "find . -name x",
        "rm x",
        "nohup ls",
        "npx x",
        "perl -e 1",
        "awk 1",
        "git",
        "git -C x status",
        "git push",
        "git config x y",
        "cargo run",
        "npm",
        "npm exec x",
        "npm run",
        "ssh host",
        "docker run x",
        "curl x",
        "make",
        "busybox ls",
        "cd x",
        "dd if=a",
        "mkfs.ext4 x",
        "sed -n 1p x",
        "tee x",
        "chmod 777 x",
        "a && b",
        "ls > x",
        "echo $(id)",
        "eval x",
        "sort -o x y",
        "git diff --output=x",
        "",
        "BASH.exe x",
        "kill 1",
    ] {
        assert!(command_rule(command).is_err(), "{command}");
    }
}

#[track_caller]
fn check_allows(rule: &str, command: &str, expected: bool) {
    let allowed = match parse_command(command) {
        ParsedCommand::Plain(commands) => commands.iter().all(|words| allows(&prefix(rule), words)),
        ParsedCommand::NotPlain { .. } => false,
    };
    assert_eq!(allowed, expected, "`{command}` under `{rule}`");
}

#[test]
fn z_50_words_match_whole() {
    check_allows("ls", "ls -la", true);
    check_allows("ls", "lsof", false);
    check_allows("git status", "git status -sb", true);
    check_allows("git status", "git stash", false);
    check_allows("git status", "'git status'", false);
    check_allows("git status", "./git status", false);
    check_allows("git status", "git --exec-path=. -C x status", false);
    check_allows("python3", "python3 -c x", false);
    check_allows("env", "env touch x", false);
}

#[test]
fn security_3_2_options_that_run_or_write_something_else_ask() {
    for (rule, command) in [
        ("sed", "sed -n '1e touch m' f"),
        ("find", "find . -exec touch m"),
        ("rg", "rg --pre ./evil.sh foo"),
        ("sort", "sort -o m f"),
        ("sort", "sort -um --output=m f"),
        ("tree", "tree -o m"),
        ("git grep", "git grep -O'touch m' foo"),
        ("git diff", "git diff --output=m"),
        ("git diff", "git diff --ext-diff"),
        ("git ls-remote", "git ls-remote --upload-pack=x y"),
        ("go test", "go test -exec 'touch m' ./..."),
        ("cargo test", "cargo test --config 'target.x.runner=\"./evil.sh\"'"),
        ("cargo test", "cargo test --manifest-path ../x/Cargo.toml"),
        ("npm test", "npm test --prefix /out"),
        ("git branch", "git branch -D main"),
        ("git branch", "git branch new"),
        ("rg", "rg -z x"),
        ("pytest", "pytest -c evil.ini"),
        ("tsc", "tsc --outFile x"),
        ("mytool", "mytool --config=x"),
    ] {
        check_allows(rule, command, false);
    }
    for (rule, command) in [
        ("rg", "rg -n 'foo bar' src"),
        ("head", "head -20"),
        ("git diff", "git diff --stat HEAD~1"),
        ("go test", "go test -v ./..."),
        ("cargo test", "cargo test --workspace -p x -- --nocapture"),
        ("git branch", "git branch -a"),
        ("npm test", "npm test"),
        ("sort", "sort -rn -k2 f"),
        ("git log", "git log --oneline -n 5"),
        ("pytest", "pytest -q tests/a.py"),
        ("git commit", "git commit -am 'x'"),
    ] {
        check_allows(rule, command, true);
    }
}

#[track_caller]
fn check_touches(rule: &str, command: &str, expected: bool) {
    let found = candidates(command).iter().any(|candidate| touches(&prefix(rule), candidate));
    assert_eq!(found, expected, "`{command}` under `{rule}`");
}

#[test]
fn a_deny_rule_reaches_what_a_command_hides() {
    for command in [
        "git push",
        "/usr/bin/git push --force",
        "git -C x push",
        "git --no-pager push",
        "sudo git push",
        "true; git push",
        "$(git push)",
        "bash -c 'git push'",
        "git 'pu'sh",
        "X=1 git push",
        "git push > log",
    ] {
        check_touches("git push", command, true);
    }
    for command in ["git pull", "git add push", "echo git push", "gitk push", "git"] {
        check_touches("git push", command, false);
    }
}

#[test]
fn a_rule_is_shown_literally() {
    assert_eq!(
        rule_text(&RuleMatcher::CommandPrefix { words: vec!["a b".to_owned(), "it's".to_owned()] }),
        r"'a b' 'it'\''s'"
    );
    assert_eq!(
        rule_text(&RuleMatcher::Tool { name: "write_file\u{202e}".to_owned() }),
        "tool write_file\\u{202e}"
    );
}
