use super::*;

fn hunks(old: &str, new: &str, from: usize) -> (Vec<DiffHunk>, bool) {
    match compare(old.as_bytes(), new.as_bytes(), from) {
        DiffContent::Text { hunks, truncated } => (hunks, truncated),
        other => panic!("not text: {other:?}"),
    }
}

fn text(hunk: &DiffHunk) -> String {
    let mut out = format!("@@ -{} +{} @@ {}\n", hunk.old_start, hunk.new_start, hunk.heading);
    for line in &hunk.lines {
        let sign = match line.kind {
            LineKind::Context => ' ',
            LineKind::Added => '+',
            LineKind::Removed => '-',
        };
        out.push(sign);
        for run in &line.runs {
            if run.changed {
                out.push_str(&format!("[{}]", run.text))
            } else {
                out.push_str(&run.text)
            }
        }
        out.push_str(if line.no_newline { "\\\n" } else { "\n" });
    }
    out
}

#[test]
fn hunks_have_context_marks_and_a_heading() {
    let old = "fn main() {\n    a\n    b\n    c\n    let x = 1;\n    d\n}\n";
    let new = "fn main() {\n    a\n    b\n    c\n    let x = 2;\n    d\n}";
    let (hunks, truncated) = hunks(old, new, 0);
    assert!(!truncated);
    let shown: String = hunks.iter().map(text).collect();
    insta::assert_snapshot!(shown, @r"
    @@ -2 +2 @@ fn main() {
         a
         b
         c
    -    let x = [1];
    +    let x = [2];
         d
    -}
    +}\
    ");
}

#[test]
fn a_new_file_starts_at_nothing() {
    let (hunks, _) = hunks("", "a\nb\n", 0);
    assert_eq!((hunks.len(), hunks[0].old_start, hunks[0].new_start), (1, 0, 1));
    assert_eq!(hunks[0].lines.len(), 2);
}

#[test]
fn many_hunks_come_in_pages() {
    let old: String = (0..10_000).map(|line| format!("{line}\n")).collect();
    let new: String = (0..10_000)
        .map(|line| if line % 20 == 0 { format!("x{line}\n") } else { format!("{line}\n") })
        .collect();
    let (first, more) = hunks(&old, &new, 0);
    let (second, end) = hunks(&old, &new, first.len());
    assert_eq!((first.len(), more, second.len(), end), (400, true, 100, false));
}

#[test]
fn binary_content_is_not_compared() {
    assert!(matches!(compare(b"a\0b", b"c", 0), DiffContent::Binary { .. }));
    assert_eq!(line_counts(b"a\0", b""), None);
}
