use proptest::prelude::*;

use super::loose::candidates;
use super::{ParsedCommand, parse_command};

#[track_caller]
fn check_plain(text: &str, expected: &[&[&str]]) {
    let expected: Vec<Vec<String>> = expected
        .iter()
        .map(|words| words.iter().map(|word| (*word).to_owned()).collect())
        .collect();
    assert_eq!(parse_command(text), ParsedCommand::Plain(expected), "{text:?}");
}

#[track_caller]
fn check_not_plain(text: &str) {
    assert!(
        matches!(parse_command(text), ParsedCommand::NotPlain { .. }),
        "{text:?} gave {:?}",
        parse_command(text)
    );
}

#[test]
fn security_3_2_literal_words_are_plain() {
    check_plain("git status", &[&["git", "status"]]);
    check_plain("  ls   -la\t src ", &[&["ls", "-la", "src"]]);
    check_plain(
        "rg -n \"foo bar\" src | head -20",
        &[&["rg", "-n", "foo bar", "src"], &["head", "-20"]],
    );
    check_plain("ls && git diff --stat", &[&["ls"], &["git", "diff", "--stat"]]);
    check_plain("a || b; c", &[&["a"], &["b"], &["c"]]);
    check_plain("git status\nls", &[&["git", "status"], &["ls"]]);
    check_plain("echo 'a $b `c` \\'", &[&["echo", "a $b `c` \\"]]);
    check_plain("git commit -m \"fix: it's done\"", &[&["git", "commit", "-m", "fix: it's done"]]);
    check_plain("git diff HEAD~1 a^b", &[&["git", "diff", "HEAD~1", "a^b"]]);
    check_plain("echo a'b'\"c\"d", &[&["echo", "abcd"]]);
    check_plain("cargo test --features=x,y", &[&["cargo", "test", "--features=x,y"]]);
    check_plain("echo ''", &[&["echo", ""]]);
    check_plain("echo grün", &[&["echo", "grün"]]);
    check_plain("make -j4", &[&["make", "-j4"]]);
}

#[test]
fn security_3_2_everything_else_is_not() {
    for text in [
        // Expansions, transforms and substitutions.
        "echo $HOME",
        "echo ${x@P}",
        "echo \"$x\"",
        "echo \"$(touch m)\"",
        "echo `id`",
        "cat <(touch m)",
        "echo $((1+1))",
        "echo ~",
        "echo ~/x",
        "echo a=~/x",
        "echo *",
        "echo a?b",
        "echo [ab]",
        "echo {a,b}",
        "{touch,m}",
        "echo $'a'",
        "echo $\"a\"",
        // Redirections and here-documents.
        "echo x > f",
        "echo x >> f",
        "echo x >| f",
        "echo x &> f",
        "cat < f",
        "ls 2>/dev/null",
        "cat <<EOF\n$(touch m)\nEOF",
        "cat <<< x",
        "cmd > f <<< x",
        // Jobs, groups, functions, assignments.
        "git status & touch m",
        "sleep 1 &",
        "(ls)",
        "{ ls; }",
        "f() { ls; }",
        "x=1",
        "X=1 ls",
        "GIT_PAGER='touch m' git -p log",
        "a |& b",
        "! ls",
        "if true; then ls; fi",
        "for x in a; do ls; done",
        "while true; do ls; done",
        "case a in a) ls;; esac",
        // Builtins that evaluate.
        "eval ls",
        "source x",
        ". x",
        "trap ls EXIT",
        "export A=b; git diff",
        "declare -x a",
        "let a=1",
        "test -v 'a[$(touch m)]'",
        "[ -v a ]",
        "[[ a -eq b ]]",
        "printf -v x y",
        "command ls",
        "builtin ls",
        "exec ls",
        "set -x",
        "read x",
        "time ls",
        // Characters that are not what they seem.
        "git status #\rtouch m",
        "git\u{200b} status",
        "ɡit status",
        "ls \u{1b}[2J",
        "ls\u{0}",
        "gi\\t status",
        "ls \\\n-la",
        "ls # comment",
        "'git status'",
        "'' ls",
        // Not whole.
        "echo 'abc && touch m",
        "echo \"abc",
        "ls &&",
        "&& ls",
        "| ls",
        "ls |",
        "ls ;; ls",
        "; ls",
        "",
        "   ",
        "\n",
        "ls && && ls",
    ] {
        check_not_plain(text);
    }
}

#[test]
fn security_3_2_the_budget_ends_in_a_question() {
    check_not_plain(&format!("echo {}", "a ".repeat(40_000)));
    check_not_plain(&"(".repeat(20_000));
    check_not_plain(&"$(".repeat(20_000));
    check_plain(&"true; ".repeat(60), &[&["true"][..]; 60]);
    let long = format!("echo {}", "word ".repeat(10_000));
    assert!(matches!(parse_command(&long), ParsedCommand::Plain(_)));
}

#[track_caller]
fn check_found(text: &str, words: &[&str]) {
    let found = candidates(text);
    let shown: String = text.chars().take(80).collect();
    assert!(
        found.iter().any(|candidate| candidate.words() == words),
        "{shown:?} gave {} candidates",
        found.len()
    );
}

#[test]
fn the_forgiving_reader_finds_what_may_run() {
    check_found("a; b c | d", &["b", "c"]);
    check_found("sudo -u x git push", &["git", "push"]);
    check_found("bash -lc 'cd x && git push'", &["git", "push"]);
    check_found("bash -c \"sh -c 'git push'\"", &["git", "push"]);
    check_found("echo \"$(git push)\"", &["git", "push"]);
    check_found("x=$(git push)", &["git", "push"]);
    check_found("X=1 git push", &["git", "push"]);
    check_found("if true; then git push; fi", &["git", "push"]);
    check_found("$'g\\x69t' push", &["git", "push"]);
    check_found("g\\it 'pu''sh'", &["git", "push"]);
    check_found("git${IFS}push", &["git", "push"]);
    check_found("find . -exec git push \\;", &["git", "push", ";"]);
    check_found("eval git push", &["git", "push"]);
}

#[test]
fn texts_that_are_built_to_be_slow_are_still_read() {
    check_found(&format!("sudo {}git push", "sh ".repeat(20_000)), &["git", "push"]);
    check_found(
        &format!("{}git push{}", "$(a; ".repeat(15_000), ")".repeat(15_000)),
        &["git", "push"],
    );
    check_found(&format!("{}git push", "sudo ".repeat(20_000)), &["git", "push"]);
    let mut nested = "git push".to_owned();
    for _ in 0..9 {
        nested = format!("sh -c '{}'", nested.replace('\'', r"'\''"));
    }
    check_found(&nested, &["git", "push"]);
}

proptest! {
    /// P03: whatever the text, a plain command holds the characters that are written and no others.
    #[test]
    fn plain_words_are_what_is_written(text in "[a-z '\";|&$`\\\\(){}<>*~#=!\n-]{0,40}") {
        if let ParsedCommand::Plain(commands) = parse_command(&text) {
            let bare = |text: &str| text.chars().filter(|character| !" '\";|&\n".contains(*character)).collect::<String>();
            let words: String = commands.concat().concat();
            prop_assert_eq!(bare(&words), bare(&text));
        }
    }

    /// Some characters beyond ASCII once made the grammar's scanner read outside of its tables.
    #[test]
    fn no_character_breaks_the_grammar(text in "(<<\"?EOF|[${}(`\"' a\n]|\\PC|[\u{80}-\u{10ffff}]){0,30}") {
        let _ = super::parse(&text);
    }

    #[test]
    fn quoting_keeps_every_word(words in prop::collection::vec("[a-zA-Z0-9 $`;|&<>*()!#~=\\\\\"-]{1,8}", 1..5)) {
        let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
        let text = format!("echo {}", quoted.join(" "));
        let mut expected = vec!["echo".to_owned()];
        expected.extend(words);
        prop_assert_eq!(parse_command(&text), ParsedCommand::Plain(vec![expected]));
    }

    #[test]
    fn no_text_breaks_the_readers(text in any::<String>()) {
        let _ = parse_command(&text);
        let _ = candidates(&text);
    }
}
