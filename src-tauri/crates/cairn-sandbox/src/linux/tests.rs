use std::fs;
use std::path::PathBuf;

use super::*;

/// A program called `bwrap` with the given script, in a folder of its own.
fn stand_in(script: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bwrap");
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    (folder, path)
}

#[track_caller]
fn check_self_test_fails(script: &str, reason: &str) {
    let (_folder, bwrap) = stand_in(script);
    let error = selftest::run(&bwrap).expect_err("it does not confine");
    assert!(error.contains(reason), "{error}");
}

const RUN: &str = r#"while [ "$1" != -- ]; do shift; done; shift"#;

#[test]
fn a_program_that_only_runs_the_command_is_found_out_sbx026() {
    check_self_test_fails(&format!("{RUN}; exec \"$@\""), "can read a file outside");
}

#[test]
fn a_sandbox_that_lets_one_thing_through_is_found_out_sbx026() {
    let bwrap = |options: &str| format!("{RUN}; exec /usr/bin/bwrap {options} -- \"$@\"");
    let base = "--ro-bind / / --dev /dev --proc /proc --unshare-pid";
    check_self_test_fails(&bwrap(base), "can read a file outside");
    check_self_test_fails(&bwrap(&format!("--bind / / {base}")), "can read a file outside");
    // The real one, whose options are read after these, except that the last word is ours.
    let real = |extra: &str| {
        format!(
            "n=$2; shift 2; while [ \"$1\" != -- ]; do shift; done; shift\n\
             exec /usr/bin/bwrap --args \"$n\" {extra} -- \"$@\""
        )
    };
    check_self_test_fails(&real("--share-net"), "network");
}

#[test]
fn a_sandbox_that_does_not_start_says_why_p08() {
    check_self_test_fails(
        "echo 'bwrap: setting up uid map: Permission denied' >&2; exit 1",
        "AppArmor",
    );
    check_self_test_fails("exit 3", "fails without a message");
    let missing = selftest::run(Path::new("/missing/bwrap")).expect_err("there is none");
    assert!(missing.contains("does not start"), "{missing}");
}

#[test]
fn the_program_is_pinned_and_must_not_gain_rights_sbx024() {
    check_program(Path::new(BWRAP)).expect("bubblewrap must be installed for these tests");
    let missing = check_program(Path::new("/missing/bwrap")).expect_err("missing");
    assert!(missing.contains("Install the package `bubblewrap`"));
    let (_folder, path) = stand_in("exit 0");
    for (mode, reason) in
        [(0o4755, "setuid"), (0o2755, "setuid"), (0o777, "others"), (0o644, "not a program")]
    {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let error = check_program(&path).expect_err(reason);
        assert!(error.contains(reason), "{mode:o}: {error}");
    }
}

#[test]
fn versions_before_0_8_are_refused() {
    assert_eq!(version("bubblewrap 0.8.0"), Some((0, 8)));
    assert_eq!(version("bubblewrap 1.11.0-rc1"), Some((1, 11)));
    assert_eq!(version("sandbox 2"), None);
    let (_folder, old) = stand_in("echo bubblewrap 0.7.2");
    assert!(check_version(&old).expect_err("old").contains("too old"));
}

#[test]
fn the_real_sandbox_passes_its_self_test_quickly() {
    let mut times: Vec<_> = (0..5)
        .map(|_| {
            let start = std::time::Instant::now();
            let state = detect();
            assert!(state.enforced, "{}", state.reason);
            start.elapsed()
        })
        .collect();
    times.sort();
    println!("detect: {times:?}");
    assert!(times[0] < std::time::Duration::from_millis(300), "{times:?}");
}
