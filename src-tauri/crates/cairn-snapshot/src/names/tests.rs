use proptest::prelude::*;

use super::*;

#[test]
fn odd_bytes_have_one_text() {
    assert_eq!(to_text(b"caf\xe9.txt"), "caf\\xe9.txt");
    assert_eq!(to_text(b"a\\b"), "a\\\\b");
    assert_eq!(from_text("caf\\xe9.txt").as_deref(), Some(&b"caf\xe9.txt"[..]));
    assert_eq!(from_text("new\nline").as_deref(), Some(&b"new\nline"[..]));
}

#[test]
fn what_leaves_the_workspace_is_no_path() {
    for text in ["", "/etc", "a/../b", "..", "a//b", "./a", "a\\", "a\\q", "a\\x2", "nul\\x00"] {
        assert_eq!(from_text(text), None, "{text:?}");
    }
}

#[test]
fn folded_spellings_of_git_are_known() {
    for name in [&b".git"[..], b".GIT", b".Git", b"GIT~1", ".g\u{200c}it".as_bytes()] {
        assert!(is_git(name), "{name:?}");
    }
    for name in [&b".gitignore"[..], b"git", b".gi", b"git~2"] {
        assert!(!is_git(name), "{name:?}");
    }
}

proptest! {
    #[test]
    fn text_and_bytes_are_inverse(path in proptest::collection::vec(any::<u8>(), 1..40)) {
        prop_assume!(is_inside(&path));
        prop_assert_eq!(from_text(&to_text(&path)), Some(path));
    }
}
