use std::os::unix::fs::symlink;
use std::time::{Duration, Instant};

use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::{Bounded, Budget};
use crate::testing::Bench;

#[tokio::test]
async fn z_35_lines_files_and_counts() {
    let bench = Bench::new();
    bench.put("src/a.rs", "fn one() {}\nfn two() {}\n// end\n");
    bench.put("src/b.txt", "no Fn here\n");
    bench.put("target/c.rs", "fn ignored() {}\n");
    bench.put(".gitignore", "target\n");
    let output = bench.call("grep", json!({ "pattern": "fn \\w+" })).await;
    assert_eq!(output.output, "src/a.rs:1:fn one() {}\nsrc/a.rs:2:fn two() {}\n");
    assert_eq!(output.details.unwrap().summary.as_deref(), Some("2 matches in 1 file"));
    let text = |arguments| bench.text("grep", arguments);
    assert_eq!(
        text(json!({ "pattern": "fn", "mode": "files", "case_insensitive": true })).await,
        "src/a.rs\nsrc/b.txt\n"
    );
    assert_eq!(text(json!({ "pattern": "fn", "mode": "count" })).await, "src/a.rs: 2\n");
    assert_eq!(
        text(json!({ "pattern": "fn", "glob": "*.txt", "case_insensitive": true })).await,
        "src/b.txt:1:no Fn here\n"
    );
    assert_eq!(
        text(json!({ "pattern": "end", "path": "src/a.rs", "context": 1 })).await,
        "a.rs-2-fn two() {}\na.rs:3:// end\n"
    );
    assert_eq!(text(json!({ "pattern": "nowhere" })).await, "No matches.");
    // A file that is named is searched even where it is ignored.
    assert_eq!(
        text(json!({ "pattern": "fn", "path": "target/c.rs" })).await,
        "c.rs:1:fn ignored() {}\n"
    );
}

#[tokio::test]
async fn z_35_limits() {
    let bench = Bench::new();
    bench.put("a", "x\n".repeat(500));
    bench.put("long", format!("x{}\n", "y".repeat(10_000)));
    let text = bench.text("grep", json!({ "pattern": "x", "limit": 3 })).await;
    assert_eq!(
        text,
        "a:1:x\na:2:x\na:3:x\n[stopped at the limit of 3; narrow the pattern, path or glob]"
    );
    let text = bench.text("grep", json!({ "pattern": "x", "path": "long" })).await;
    assert!(text.ends_with("yyy [line cut]\n") && text.len() < 450, "{text}");
    let text = bench.refused("grep", json!({ "pattern": "(" }));
    assert!(text.starts_with("`pattern` is not a regular expression"), "{text}");
    assert_eq!(
        bench.refused("grep", json!({ "pattern": "x", "context": 6 })),
        "`context` must be at most 5, not 6."
    );
    assert!(
        bench
            .refused("grep", json!({ "pattern": "x", "glob": "{" }))
            .starts_with("`glob` is not a glob")
    );
}

#[test]
fn z_35_time_is_bounded_inside_of_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    std::fs::write(&path, "x").unwrap();
    let budget = Budget {
        deadline: Instant::now() - Duration::from_secs(1),
        stop: CancellationToken::new(),
    };
    let mut reader = Bounded { file: std::fs::File::open(&path).unwrap(), budget: &budget };
    assert!(std::io::Read::read(&mut reader, &mut [0; 4]).is_err());
}

#[tokio::test]
async fn path_017_links_binaries_pipes_and_secrets_are_left_out() {
    let bench = Bench::new();
    std::fs::write(bench.outside.join("x"), "CANARY").unwrap();
    symlink(&bench.outside, bench.path("out")).unwrap();
    symlink(bench.outside.join("x"), bench.path("file-link")).unwrap();
    bench.put("binary", b"CANARY\0");
    for name in ["server.pem", "id_rsa", ".env", "credentials.json", "keyrings/a"] {
        bench.put(name, "CANARY");
    }
    let pipe = bench.path("pipe");
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::from_bits_truncate(0o600)).unwrap();
    assert_eq!(bench.text("grep", json!({ "pattern": "CANARY" })).await, "No matches.");
    bench.put("real", "CANARY");
    assert_eq!(bench.text("grep", json!({ "pattern": "CANARY", "mode": "files" })).await, "real\n");
}
