use super::Tally;

#[track_caller]
fn check(line: &str, passed: u64, failed: u64) {
    let mut tally = Tally::default();
    tally.read(line);
    assert_eq!(tally, Tally { passed, failed }, "{line}");
}

#[test]
fn cargo_and_vitest_summaries_are_counted_and_nothing_else_is() {
    check("test result: ok. 12 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out", 12, 0);
    check("test result: FAILED. 3 passed; 2 failed; 0 ignored", 3, 2);
    check("      Tests  1 failed | 41 passed (42)", 41, 1);
    check(
        "\u{1b}[2m      Tests \u{1b}[22m \u{1b}[1m\u{1b}[32m7 passed\u{1b}[39m\u{1b}[22m\u{1b}[90m (7)\u{1b}[39m",
        7,
        0,
    );
    check(" Test Files  3 passed (3)", 0, 0);
    check("5 passed in a sentence", 0, 0);
}
