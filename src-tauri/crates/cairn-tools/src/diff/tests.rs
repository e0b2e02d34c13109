use super::{DIFF_LIMIT_BYTES, compare, line_count};

#[test]
fn a_diff_is_unified_with_three_lines_of_context() {
    let old: String = (1..=9).map(|line| format!("{line}\n")).collect();
    let new = old.replace("5\n", "five\n");
    let difference = compare("a.txt", Some(old.as_bytes()), new.as_bytes());
    insta::assert_snapshot!(difference.unified.unwrap(), @r"
    --- a/a.txt
    +++ b/a.txt
    @@ -2,7 +2,7 @@
     2
     3
     4
    -5
    +five
     6
     7
     8
    ");
    assert_eq!((difference.added, difference.removed), (1, 1));
}

#[test]
fn a_new_file_comes_from_nothing() {
    let difference = compare("a", None, b"one\ntwo");
    let diff = difference.unified.unwrap();
    assert!(diff.starts_with("--- /dev/null\n+++ b/a\n@@ -0,0 +1,2 @@\n+one\n+two\n"), "{diff}");
    assert_eq!((difference.added, difference.removed), (2, 0));
}

#[test]
fn what_is_not_text_is_counted() {
    let difference = compare("a", Some(b"\xff\n"), b"a\nb\n");
    assert_eq!((difference.unified, difference.added, difference.removed), (None, 2, 1));
    assert_eq!(compare("a", Some(b"a\0b"), b"x").unified, None);
}

#[test]
fn a_long_diff_is_cut_with_a_note() {
    let new = "some line\n".repeat(100_000);
    let difference = compare("a", None, new.as_bytes());
    let diff = difference.unified.unwrap();
    assert!(diff.len() < DIFF_LIMIT_BYTES + 100);
    assert!(diff.ends_with("bytes that are not shown here.\n"));
    assert_eq!(difference.added, 100_000);
}

#[test]
fn lines_are_counted() {
    assert_eq!(
        [line_count(b""), line_count(b"a"), line_count(b"a\n"), line_count(b"a\nb")],
        [0, 1, 1, 2]
    );
}
