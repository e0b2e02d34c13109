use std::os::unix::fs::symlink;

use serde_json::json;

use crate::testing::Bench;

#[tokio::test]
async fn z_32_ignored_and_hidden_names_are_left_out() {
    let bench = Bench::new();
    for name in ["src/main.rs", "src/deep/er/x", "target/debug/y", ".env", "b.txt", ".git/config"] {
        bench.put(name, "x");
    }
    bench.put(".gitignore", "target\n");
    symlink("/etc", bench.path("link")).unwrap();
    assert_eq!(
        bench.text("list_files", json!({})).await,
        "b.txt\nlink -> /etc\nsrc/\nsrc/deep/\nsrc/main.rs\n"
    );
    assert_eq!(
        bench.text("list_files", json!({ "include_hidden": true, "depth": 1 })).await,
        ".env\n.gitignore\nb.txt\nlink -> /etc\nsrc/\n"
    );
    assert_eq!(
        bench.text("list_files", json!({ "path": "src/deep", "depth": 5 })).await,
        "er/\ner/x\n"
    );
}

#[tokio::test]
async fn z_32_what_is_left_out_is_said() {
    let bench = Bench::new();
    for number in 0..20 {
        bench.put(&format!("f{number:02}"), "");
    }
    let text = bench.text("list_files", json!({ "limit": 3 })).await;
    assert_eq!(
        text,
        "f00\nf01\nf02\n[there are more than 3 entries; list a subfolder, or raise limit]"
    );
    bench.put("empty/.keep", "");
    let text = bench.text("list_files", json!({ "path": "empty" })).await;
    assert_eq!(text, "The folder has no entries that are not hidden or ignored.\n");
    let text = bench.refused("list_files", json!({ "path": "f00" }));
    assert_eq!(text, "`f00` is not a folder. Use read_file to read a file.");
}

#[tokio::test]
async fn names_can_not_forge_lines() {
    let bench = Bench::new();
    bench.put("a\nb/ \u{1b}[2J", "");
    assert_eq!(bench.text("list_files", json!({})).await, "a\\nb/\na\\nb/ \\u{1b}[2J\n");
}
