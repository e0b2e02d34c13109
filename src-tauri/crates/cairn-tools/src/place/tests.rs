use std::os::unix::fs::{PermissionsExt, symlink};

use super::leftovers::temporary_name;
use super::{Expected, PlaceError, open, remove_leftovers, replace, sha256};

fn names(folder: &std::path::Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn p_79_atomic_and_with_the_mode_kept() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path().canonicalize().unwrap();
    let file = root.join("run.sh");
    std::fs::write(&file, "old").unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o751)).unwrap();
    let twin = root.join("twin");
    std::fs::hard_link(&file, &twin).unwrap();
    replace(&file, b"new", &Expected::Content(sha256(b"old"))).unwrap();
    assert_eq!(std::fs::read(&file).unwrap(), b"new");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o7777, 0o751);
    // A hard link elsewhere is not written through.
    assert_eq!(std::fs::read(&twin).unwrap(), b"old");
    assert_eq!(names(&root), ["run.sh", "twin"]);
}

#[test]
fn what_is_not_as_expected_stays() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path().canonicalize().unwrap();
    let file = root.join("a");
    std::fs::write(&file, "theirs").unwrap();
    for expected in [Expected::Nothing, Expected::Content(sha256(b"other"))] {
        assert!(matches!(replace(&file, b"ours", &expected), Err(PlaceError::Changed)));
    }
    let gone = root.join("gone");
    let expected = Expected::Content(sha256(b"x"));
    assert!(matches!(replace(&gone, b"ours", &expected), Err(PlaceError::Changed)));
    assert_eq!(std::fs::read(&file).unwrap(), b"theirs");
    assert_eq!(names(&root), ["a"]);
}

#[test]
fn p06_no_link_is_followed_on_the_way() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path().canonicalize().unwrap();
    let outside = root.join("outside");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("secret"), "secret").unwrap();
    std::fs::create_dir(root.join("w")).unwrap();
    symlink(&outside, root.join("w/folder")).unwrap();
    symlink(outside.join("new"), root.join("w/file")).unwrap();
    assert!(replace(&root.join("w/folder/x"), b"x", &Expected::Nothing).is_err());
    assert!(replace(&root.join("w/folder/deep/x"), b"x", &Expected::Nothing).is_err());
    assert!(matches!(
        replace(&root.join("w/file"), b"x", &Expected::Nothing),
        Err(PlaceError::Changed)
    ));
    assert!(open(&root.join("w/folder/secret")).is_err());
    symlink(outside.join("secret"), root.join("w/alias")).unwrap();
    assert!(open(&root.join("w/alias")).is_err());
    assert_eq!(names(&outside), ["secret"]);
}

#[test]
fn p_80_missing_folders_are_made() {
    let root = tempfile::tempdir().unwrap();
    let file = root.path().canonicalize().unwrap().join("a/b c/d\n'e'");
    replace(&file, b"", &Expected::Nothing).unwrap();
    assert_eq!(std::fs::read(&file).unwrap(), b"");
}

#[test]
fn a_pipe_is_not_waited_for() {
    let root = tempfile::tempdir().unwrap();
    let pipe = root.path().canonicalize().unwrap().join("pipe");
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::from_bits_truncate(0o600)).unwrap();
    assert_eq!(open(&pipe).unwrap_err().to_string(), "it is not a regular file");
}

/// Promise 5: what a writer that died has left goes; what is being written, and what only looks like it, stays.
#[test]
fn leftovers_of_dead_writers_are_removed() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path().canonicalize().unwrap();
    let (left, held) = (root.join(temporary_name()), root.join(temporary_name()));
    std::fs::write(&left, "half").unwrap();
    let writer = std::fs::File::create(&held).unwrap();
    super::leftovers::hold(&writer);
    std::fs::write(root.join(".cairn-mine.tmp"), "mine").unwrap();
    symlink(root.join("nowhere"), root.join(temporary_name())).unwrap();
    remove_leftovers(&root).unwrap();
    assert!(!left.exists() && held.exists() && root.join(".cairn-mine.tmp").exists());
    assert_eq!(names(&root).len(), 3);
    drop(writer);
    remove_leftovers(&root).unwrap();
    assert!(!held.exists());
    remove_leftovers(&root.join("not there")).unwrap();
}
