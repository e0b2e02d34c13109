use std::os::unix::fs::symlink;
use std::path::Path;

use proptest::prelude::*;
use serde_json::json;

use super::{TargetKind, resolve, shown_name};
use crate::testing::Bench;

#[track_caller]
fn check(bench: &Bench, requested: &str, expected: &Path, kind: TargetKind) {
    let target = resolve(&bench.ctx, requested).expect(requested);
    assert_eq!((target.real.as_path(), target.kind), (expected, kind), "{requested}");
    let inside = expected.strip_prefix(&bench.ctx.workspace).ok().map(|rest| {
        if rest.as_os_str().is_empty() { ".".to_owned() } else { rest.to_str().unwrap().to_owned() }
    });
    assert_eq!(target.path.relative, inside, "{requested}");
}

#[test]
fn z_45_real_paths() {
    let bench = Bench::new();
    bench.put("sub/file.txt", "x");
    bench.put("odd 'name'\nwith \"all\".txt", "x");
    let outside = bench.outside.clone();
    std::fs::write(outside.join("secret"), "x").unwrap();
    symlink(&outside, bench.path("out")).unwrap();
    symlink("sub/file.txt", bench.path("link")).unwrap();
    symlink(outside.join("created-by-tool"), bench.path("dangling")).unwrap();
    symlink("../outside/../work space/sub", bench.path("around")).unwrap();
    let file = bench.path("sub/file.txt");
    check(&bench, ".", &bench.ctx.workspace, TargetKind::Folder);
    check(&bench, "sub/file.txt", &file, TargetKind::File);
    check(&bench, "./sub/../sub//file.txt", &file, TargetKind::File);
    check(&bench, file.to_str().unwrap(), &file, TargetKind::File);
    check(&bench, "link", &file, TargetKind::File);
    check(&bench, "around/file.txt", &file, TargetKind::File);
    check(&bench, "new/deep/file", &bench.path("new/deep/file"), TargetKind::Missing);
    check(&bench, "new/../sub/file.txt", &file, TargetKind::File);
    check(&bench, "new/../../outside/secret", &outside.join("secret"), TargetKind::File);
    check(&bench, "out/secret", &outside.join("secret"), TargetKind::File);
    check(&bench, "out/new/x", &outside.join("new/x"), TargetKind::Missing);
    // `..` goes up from where the link led, not from where it stands.
    check(&bench, "out/../outside", &outside, TargetKind::Folder);
    check(&bench, "dangling", &outside.join("created-by-tool"), TargetKind::Missing);
    check(&bench, "../../../../../../../../../etc", Path::new("/etc"), TargetKind::Folder);
    let odd = "odd 'name'\nwith \"all\".txt";
    check(&bench, odd, &bench.path(odd), TargetKind::File);
    check(&bench, "~/x", &bench.ctx.home.clone().unwrap().join("x"), TargetKind::Missing);
}

#[test]
fn paths_that_lead_nowhere_are_said_so() {
    let bench = Bench::new();
    bench.put("file", "x");
    symlink("loop", bench.path("loop")).unwrap();
    let text = |requested: &str| resolve(&bench.ctx, requested).expect_err(requested);
    assert_eq!(text(""), "The path is empty.");
    assert_eq!(text("a\0b"), "The path contains a NUL character.");
    assert_eq!(text("loop"), "`loop` can't be resolved: it leads through too many links");
    assert_eq!(text("file/x"), "`file/x` can't be resolved: a part of it is a file, not a folder");
    assert!(text(&"n".repeat(300)).ends_with("a name in it is too long"));
    assert_eq!(text(&"n/".repeat(3000)), "The path is longer than 4096 bytes.");
}

#[test]
fn names_are_shown_on_one_line() {
    use std::os::unix::ffi::OsStrExt;
    let name = std::ffi::OsStr::from_bytes(b"a\nb\x1b[2J\xff\xe2\x80\xaec");
    assert_eq!(shown_name(name), "a\\nb\\u{1b}[2J\\xff\\u{202e}c");
}

#[tokio::test]
async fn a_name_that_is_not_utf_8_is_listed_and_its_neighbours_work() {
    use std::os::unix::ffi::OsStrExt;
    let bench = Bench::new();
    let name = std::ffi::OsStr::from_bytes(b"caf\xe9.txt");
    std::fs::write(bench.ctx.workspace.join(name), "x").unwrap();
    symlink(name, bench.path("link")).unwrap();
    assert_eq!(bench.text("list_files", json!({})).await, "caf\\xe9.txt\nlink -> caf\\xe9.txt\n");
    let refused = bench.refused("read_file", json!({ "file_path": "link" }));
    assert_eq!(refused, "The real path of `link` is not valid UTF-8. Use run_shell for it.");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// P06: what is said to be inside is inside, through any mix of links and `..`.
    #[test]
    fn what_resolves_inside_is_inside(
        parts in prop::collection::vec(prop_oneof![
            Just("..".to_owned()), Just(".".to_owned()), Just("sub".to_owned()), Just("out".to_owned()),
            Just("up".to_owned()), Just("self".to_owned()), "[a-c]{1,2}",
        ], 1..8)
    ) {
        let bench = Bench::new();
        bench.put("sub/a", "x");
        symlink(&bench.outside, bench.path("out")).unwrap();
        symlink("..", bench.path("sub/up")).unwrap();
        symlink(".", bench.path("self")).unwrap();
        let requested = parts.join("/");
        let Ok(target) = resolve(&bench.ctx, &requested) else { return Ok(()) };
        prop_assert_eq!(target.path.relative.is_some(), target.real.starts_with(&bench.ctx.workspace));
        // The kernel agrees, wherever the path leads to something.
        if let Ok(real) = bench.ctx.workspace.join(&requested).canonicalize() {
            prop_assert_eq!(real, target.real);
        } else {
            prop_assert_eq!(target.real.components().filter(|part| part.as_os_str() == "..").count(), 0);
        }
    }
}
