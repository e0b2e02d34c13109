use proptest::prelude::*;

use super::TerminalText;

fn whole(bytes: &[u8]) -> String {
    let mut filter = TerminalText::default();
    let text = filter.push(bytes);
    text + &filter.end()
}

#[track_caller]
fn check(bytes: &[u8], expected: &str) {
    assert_eq!(whole(bytes), expected, "{:?}", String::from_utf8_lossy(bytes));
}

#[test]
fn escapes_are_stripped() {
    check(b"\x1b[1;31mred\x1b[0m plain", "red plain");
    check(b"\x1b]0;title\x07text \x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "text link");
    check(b"\x1bPq#0;1\x1b\\a\x1b(Bb\x1b=c\x1bMd", "abcd");
    check(b"a\x07b\x08c\x00d\x7fe", "abcde");
    check("a\u{9b}31mb".as_bytes(), "a31mb");
    check(b"\x1b[\nx", "\nx");
    check(b"end\x1b[31", "end");
}

#[test]
fn line_ends_and_progress_lines() {
    check(b"a\r\nb\r\n", "a\nb\n");
    check(b"10%\r20%\r30%\n", "10%\r20%\r30%\n");
    check(b"a\r\r\nb", "a\nb");
    check(b"tab\tstays\n", "tab\tstays\n");
}

#[test]
fn bytes_that_are_not_utf_8_become_replacement_characters() {
    check(b"a\xffb\xc3", "a\u{fffd}b\u{fffd}");
    check("grün 中".as_bytes(), "grün 中");
}

#[test]
fn an_endless_sequence_swallows_a_bounded_part() {
    let mut bytes = b"\x1b]0;".to_vec();
    bytes.extend(vec![b'x'; super::SEQUENCE_LIMIT_BYTES + 10]);
    assert!(whole(&bytes).len() >= 10);
}

proptest! {
    #[test]
    fn pieces_give_what_the_whole_gives(bytes in prop::collection::vec(any::<u8>(), 0..200), cut in 0usize..200) {
        let cut = cut.min(bytes.len());
        let mut filter = TerminalText::default();
        let mut text = filter.push(&bytes[..cut]);
        text.push_str(&filter.push(&bytes[cut..]));
        text.push_str(&filter.end());
        prop_assert_eq!(&text, &whole(&bytes));
        prop_assert!(!text.chars().any(|character| character.is_control() && !"\n\t\r".contains(character)));
    }
}
