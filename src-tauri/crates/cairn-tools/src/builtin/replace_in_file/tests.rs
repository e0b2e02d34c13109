use cairn_protocol::{ChangeKind, StopReason};
use proptest::prelude::*;
use serde_json::json;

use super::{occurrences, replaced};
use crate::testing::Bench;

async fn read(bench: &Bench, name: &str) {
    let output = bench.call("read_file", json!({ "file_path": name })).await;
    assert_eq!(output.stop_reason, Some(StopReason::Completed), "{}", output.output);
}

#[tokio::test]
async fn p_79_one_exact_text() {
    let bench = Bench::new();
    bench.put("a.rs", "fn a() {}\nfn b() {}\n");
    read(&bench, "a.rs").await;
    let arguments = json!({ "file_path": "a.rs", "old_string": "fn b", "new_string": "fn c" });
    let prepared = bench.prepare("replace_in_file", arguments).unwrap();
    let write = prepared.effects.writes[0].clone();
    assert_eq!((write.kind, write.added, write.removed), (ChangeKind::Modified, 1, 1));
    assert_eq!(
        write.diff.unwrap(),
        "--- a/a.rs\n+++ b/a.rs\n@@ -1,2 +1,2 @@\n fn a() {}\n-fn b() {}\n+fn c() {}\n"
    );
    assert_eq!(prepared.effects.title, "Edit a.rs");
    let output = bench.run(prepared).await;
    assert_eq!(
        output.output,
        "Replaced 1 occurrence in `a.rs`.\n@@ -1,2 +1,2 @@\n fn a() {}\n-fn b() {}\n+fn c() {}\n"
    );
    assert_eq!(bench.get("a.rs"), "fn a() {}\nfn c() {}\n");
    assert_eq!(output.details.unwrap().summary.as_deref(), Some("+1 -1"));
    // Its own edit counts as read.
    let arguments = json!({ "path": "a.rs", "old_string": "fn ", "new_string": "pub fn ", "replace_all": true });
    let text = bench.text("edit_file", arguments).await;
    assert!(text.starts_with("Replaced 2 occurrences in `a.rs`."), "{text}");
}

#[tokio::test]
async fn p_79_why_it_does_not_match() {
    let bench = Bench::new();
    bench.put("a", "one\r\ntwo\r\n  three four\none\r\n");
    read(&bench, "a").await;
    let refused = |old: &str| {
        bench.refused(
            "replace_in_file",
            json!({ "file_path": "a", "old_string": old, "new_string": "x" }),
        )
    };
    assert_eq!(refused(""), "`old_string` is empty. To write a whole file, use write_file.");
    assert_eq!(refused("x"), "`old_string` and `new_string` are the same.");
    assert!(refused("one").starts_with("`old_string` occurs 2 times in `a`."));
    assert!(refused("one\ntwo").contains("with CRLF line endings"));
    assert!(refused("three  four").contains("with other white space"));
    assert!(
        refused("nothing").starts_with("`old_string` occurs 0 times in `a`. Read the file again")
    );
    bench.put("lf", "one\ntwo\n");
    read(&bench, "lf").await;
    let text = bench.refused(
        "replace_in_file",
        json!({ "file_path": "lf", "old_string": "one\r\ntwo", "new_string": "x" }),
    );
    assert!(text.contains("with LF line endings"), "{text}");
    let text = bench.refused(
        "replace_in_file",
        json!({ "file_path": "no", "old_string": "a", "new_string": "b" }),
    );
    assert!(text.starts_with("`no` does not exist."), "{text}");
}

#[tokio::test]
async fn z_31_never_on_what_was_not_read_or_has_changed() {
    let bench = Bench::new();
    bench.put("a", "one two");
    let arguments = json!({ "file_path": "a", "old_string": "one", "new_string": "1" });
    assert!(
        bench
            .refused("replace_in_file", arguments.clone())
            .contains("was not read in this session")
    );
    read(&bench, "a").await;
    bench.put("a", "one two three");
    assert!(
        bench.refused("replace_in_file", arguments.clone()).contains("was changed by someone else")
    );
    read(&bench, "a").await;
    let prepared = bench.prepare("replace_in_file", arguments.clone()).unwrap();
    bench.put("a", "one, the user's");
    let output = bench.run(prepared).await;
    assert!(
        output.output.contains("was changed since this change was prepared"),
        "{}",
        output.output
    );
    assert_eq!(bench.get("a"), "one, the user's");
    read(&bench, "a").await;
    std::fs::remove_file(bench.path("a")).unwrap();
    assert!(bench.refused("replace_in_file", arguments).contains("does not exist"));
}

#[tokio::test]
async fn g_9_two_edits_at_once_lose_nothing() {
    let bench = Bench::new();
    bench.put("a", "one two");
    read(&bench, "a").await;
    let edit = |old: &str| {
        bench
            .prepare(
                "replace_in_file",
                json!({ "file_path": "a", "old_string": old, "new_string": "x" }),
            )
            .unwrap()
    };
    let (one, two) = (edit("one"), edit("two"));
    let (one, two) = tokio::join!(bench.run(one), bench.run(two));
    let done = [&one, &two]
        .iter()
        .filter(|output| output.stop_reason == Some(StopReason::Completed))
        .count();
    // The second was made for a content that is no more: it says so, and the first stands.
    assert_eq!(done, 1, "{one:?}\n{two:?}");
    assert!(["x two", "one x"].contains(&bench.get("a").as_str()));
}

#[tokio::test]
async fn bytes_that_are_not_utf_8_stay() {
    let bench = Bench::new();
    bench.put("latin", b"caf\xe9 old\n\xff\n");
    read(&bench, "latin").await;
    let arguments = json!({ "file_path": "latin", "old_string": "old", "new_string": "new" });
    let output = bench.call("replace_in_file", arguments).await;
    assert_eq!(output.stop_reason, Some(StopReason::Completed), "{}", output.output);
    assert_eq!(std::fs::read(bench.path("latin")).unwrap(), b"caf\xe9 new\n\xff\n");
}

proptest! {
    #[test]
    fn replacing_and_replacing_back_gives_the_same(
        before in prop::collection::vec(any::<u8>(), 0..40), after in prop::collection::vec(any::<u8>(), 0..40),
        new in "[a-z\n]{1,6}",
    ) {
        // `old` occurs once: its marker is in neither side.
        let old = "\u{1}MARK\u{1}";
        let content = [before.as_slice(), old.as_bytes(), after.as_slice()].concat();
        prop_assume!(occurrences(&content, old.as_bytes()).len() == 1);
        let places = occurrences(&content, old.as_bytes());
        let changed = replaced(&content, &places, old.len(), new.as_bytes());
        let back = replaced(&changed, &places, new.len(), old.as_bytes());
        prop_assert_eq!(back, content);
    }

    #[test]
    fn every_occurrence_goes(pieces in prop::collection::vec("[b-z]{0,4}", 1..6)) {
        let content = pieces.join("aa");
        let places = occurrences(content.as_bytes(), b"aa");
        prop_assert_eq!(places.len(), pieces.len() - 1);
        let changed = replaced(content.as_bytes(), &places, 2, b"-");
        prop_assert_eq!(String::from_utf8(changed).unwrap(), pieces.join("-"));
    }
}
