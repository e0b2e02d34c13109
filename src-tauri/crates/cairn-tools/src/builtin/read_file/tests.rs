use std::os::unix::fs::symlink;

use cairn_protocol::StopReason;
use serde_json::json;

use crate::testing::Bench;

#[tokio::test]
async fn p_78_lines_have_numbers() {
    let bench = Bench::new();
    bench.put("a.txt", "one\n\ttwo\n\nfour");
    let output = bench.call("read_file", json!({ "file_path": "a.txt" })).await;
    assert_eq!(output.output, "     1\tone\n     2\t\ttwo\n     3\t\n     4\tfour\n");
    assert_eq!(output.details.unwrap().summary.as_deref(), Some("4 lines"));
    assert_eq!(
        bench.text("read_file", json!({ "path": "a.txt", "offset": 2, "limit": 1 })).await,
        "     2\t\ttwo\n[lines 2-2 of 4; continue with offset=3]"
    );
    bench.put("empty", "");
    assert_eq!(
        bench.text("read_file", json!({ "file_path": "empty" })).await,
        "The file is empty."
    );
}

#[tokio::test]
async fn p_78_notes() {
    let bench = Bench::new();
    bench.put("crlf", "a\r\nb\r\n");
    let text = bench.text("read_file", json!({ "file_path": "crlf" })).await;
    assert!(text.starts_with("     1\ta\n     2\tb\n[the file uses CRLF"), "{text}");
    bench.put("latin", b"caf\xe9\n");
    let text = bench.text("read_file", json!({ "file_path": "latin" })).await;
    assert!(text.starts_with("     1\tcaf\u{fffd}\n[the file is not valid UTF-8"), "{text}");
    bench.put("long", format!("{}\nshort\n", "x".repeat(5000)));
    let text = bench.text("read_file", json!({ "file_path": "long" })).await;
    assert!(text.contains("\n     2\tshort\n[1 lines are longer than 2000"), "{text}");
    assert_eq!(text.lines().next().unwrap().len(), 2007);
}

#[tokio::test]
async fn p_75_the_answer_ends_at_a_line_and_says_how_to_go_on() {
    let bench = Bench::new();
    let line = "y".repeat(990);
    bench.put("big", format!("{line}\n").repeat(200));
    let output = bench.call("read_file", json!({ "file_path": "big" })).await;
    assert!(output.output.ends_with("[lines 1-64 of 200; continue with offset=65]"));
    assert_eq!(output.details.unwrap().archive, None);
}

#[tokio::test]
async fn p_78_what_is_missing_is_explained() {
    let bench = Bench::new();
    bench.put("src/main.rs", "");
    bench.put("src/lib.rs", "");
    let text = bench.refused("read_file", json!({ "file_path": "src/mian.rs" }));
    let folder = bench.path("src");
    let expected = format!(
        "`src/mian.rs` does not exist. The deepest folder that exists is `{}`; closest entries: `main.rs`, `lib.rs`.",
        folder.display()
    );
    assert_eq!(text, expected);
    let text = bench.refused("read_file", json!({ "file_path": "src" }));
    assert_eq!(text, "`src` is a folder. Use list_files to see what is in it.");
    let output = bench.call("read_file", json!({ "file_path": "src/main.rs", "offset": 5 })).await;
    assert_eq!(output.output, "The file is empty.");
}

#[tokio::test]
async fn binary_files_pipes_and_huge_files_end_in_words() {
    let bench = Bench::new();
    bench.put("binary", b"\x7fELF\0\0");
    let output = bench.call("read_file", json!({ "file_path": "binary" })).await;
    assert_eq!(output.stop_reason, Some(StopReason::Failed));
    assert!(output.output.starts_with("`binary` is a binary file (6 bytes)."), "{}", output.output);
    let pipe = bench.path("pipe");
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::from_bits_truncate(0o600)).unwrap();
    assert_eq!(
        bench.refused("read_file", json!({ "file_path": "pipe" })),
        "`pipe` is not a regular file."
    );
    // A sparse file of 10 GiB that begins with text.
    let huge = std::fs::File::create(bench.path("huge")).unwrap();
    std::io::Write::write_all(&mut &huge, "line\n".repeat(2_000_000).as_bytes()).unwrap();
    huge.set_len(10 * 1024 * 1024 * 1024).unwrap();
    let text = bench.text("read_file", json!({ "file_path": "huge", "limit": 2 })).await;
    assert!(text.starts_with("     1\tline\n     2\tline\n[lines 1-2 of 1677721; continue with offset=3]\n[the file is larger than 8 MiB"), "{text}");
    let text = bench.text("read_file", json!({ "file_path": "huge", "offset": 2_000_000 })).await;
    assert!(text.contains("the first 8 MiB can be read"), "{text}");
}

#[tokio::test]
async fn what_was_prepared_is_what_is_read() {
    let bench = Bench::new();
    bench.put("a", "mine");
    std::fs::write(bench.outside.join("secret"), "secret").unwrap();
    let prepared = bench.prepare("read_file", json!({ "file_path": "a" })).unwrap();
    std::fs::remove_file(bench.path("a")).unwrap();
    symlink(bench.outside.join("secret"), bench.path("a")).unwrap();
    let output = bench.run(prepared).await;
    assert_eq!(output.stop_reason, Some(StopReason::Failed));
    assert!(output.output.contains("leads somewhere else"), "{}", output.output);
    bench.put("b", "x");
    let prepared = bench.prepare("read_file", json!({ "file_path": "b" })).unwrap();
    std::fs::remove_file(bench.path("b")).unwrap();
    let output = bench.run(prepared).await;
    assert_eq!(output.output, "`b` can't be read: it does not exist.");
}
