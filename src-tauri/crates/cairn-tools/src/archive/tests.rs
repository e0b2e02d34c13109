use std::os::unix::fs::PermissionsExt;

use super::{save, save_within};
use crate::output::Collected;

fn text(text: &str) -> Collected {
    let mut collected = Collected::default();
    collected.append(text);
    collected
}

#[test]
fn p_72_private_and_whole() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("scratchpad/truncated-tool-output");
    let path = save(&folder, "run_shell", &text("whole")).unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "whole");
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(std::fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
    assert!(path.to_str().unwrap().ends_with("-run_shell.log"));
}

#[test]
fn p_72_the_oldest_make_room() {
    let root = tempfile::tempdir().unwrap();
    let paths: Vec<_> = ["aaaa", "bbbb", "cccc", "dddd"]
        .iter()
        .map(|content| save_within(root.path(), "t", &text(content), 10).unwrap())
        .collect();
    let left: Vec<bool> = paths.iter().map(|path| path.exists()).collect();
    assert_eq!(left, [false, false, true, true]);
}

#[test]
fn p_72_a_failure_is_a_short_code() {
    let root = tempfile::tempdir().unwrap();
    let file = root.path().join("file");
    std::fs::write(&file, "").unwrap();
    let code = save(&file.join("x"), "t", &text("a")).unwrap_err();
    assert_eq!(code, "i/o error 20");
}
