use proptest::prelude::*;

use super::visible;

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(visible(text), expected);
}

/// Reads `visible` text back.
fn read_back(shown: &str) -> String {
    let mut text = String::new();
    let mut rest = shown;
    while let Some(at) = rest.find("\\u{") {
        text.push_str(&rest[..at]);
        let end = at + rest[at..].find('}').expect("closed");
        let code = u32::from_str_radix(&rest[at + 3..end], 16).expect("hex");
        text.push(char::from_u32(code).expect("a character"));
        rest = &rest[end + 1..];
    }
    text.push_str(rest);
    text
}

#[test]
fn plain_text_stays() {
    check("cargo test --workspace # ünïcode 中文", "cargo test --workspace # ünïcode 中文");
}

#[test]
fn security_3_7_escape_sequences_are_text() {
    check("echo ok\u{1b}[2K\u{1b}[1Arm", "echo ok\\u{1b}[2K\\u{1b}[1Arm");
    check("rm -rf build\rls", "rm -rf build\\u{d}ls");
    check("ls\n\nx", "ls\\u{a}\\u{a}x");
}

#[test]
fn security_3_7_bidi_zero_width_and_tags_are_text() {
    check("echo \u{202e} fr- mr", "echo \\u{202e} fr- mr");
    check("cu\u{200b}rl\u{e0020} x", "cu\\u{200b}rl\\u{e0020} x");
    check("a\u{a0}b\u{3000}c", "a\\u{a0}b\\u{3000}c");
}

#[test]
fn a_written_escape_differs_from_a_real_one() {
    check("printf '\\u{202e}'", "printf '\\u{5c}u{202e}'");
}

proptest! {
    #[test]
    fn what_is_shown_reads_back_to_what_runs(text in any::<String>()) {
        let shown = visible(&text);
        prop_assert!(!shown.chars().any(super::hides));
        prop_assert_eq!(read_back(&shown), text);
    }
}
