use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::time::Instant;

use cairn_protocol::{ChangeKind, ChangeSource, DiffContent};

use super::*;

fn sources(rig: &Rig, turn: &TurnId) -> Vec<(String, ChangeKind, ChangeSource)> {
    let changes = rig.snapshots().changes(&rig.session, turn).expect("is known");
    changes.files.into_iter().map(|file| (file.path, file.kind, file.source)).collect()
}

#[test]
fn agent_shell_and_user_are_told_apart() {
    let mut rig = Rig::new();
    rig.put("old", "1\n");
    let turn = rig.begin();
    rig.put("user-1", "u\n");
    rig.edit(&turn, "agent", |path| fs::write(path, "a\n").expect("writes"));
    rig.snapshots().before_command(&rig.session, &turn);
    rig.put("shell", "s\n");
    fs::remove_file(rig.at("old")).expect("removes");
    rig.snapshots().after_command(&rig.session, &turn);
    rig.put("user-2", "u\n");
    let capture = rig.end(&turn);
    let expected = [
        ("agent", ChangeKind::Created, ChangeSource::Agent),
        ("old", ChangeKind::Deleted, ChangeSource::Shell),
        ("shell", ChangeKind::Created, ChangeSource::Shell),
        ("user-1", ChangeKind::Created, ChangeSource::Outside),
        ("user-2", ChangeKind::Created, ChangeSource::Outside),
    ];
    assert_eq!(
        sources(&rig, &turn),
        expected.map(|(path, kind, source)| (path.to_owned(), kind, source))
    );
    assert_eq!(capture.changes.map(|summary| summary.files), Some(3));
    rig.restore(&turn, RestoreTarget::Before);
    assert!(rig.at("user-1").exists() && rig.at("user-2").exists() && rig.at("old").exists());
    assert!(!rig.at("agent").exists() && !rig.at("shell").exists());
}

#[test]
fn another_sessions_edit_is_outside() {
    let mut rig = Rig::new();
    rig.put("a", "1\n");
    rig.put("b", "1\n");
    let turn = rig.begin();
    let other = SessionId::new("s2");
    let theirs = TurnId::new("x1");
    rig.snapshots().begin_turn(&other, &theirs, 1, Timestamp(5));
    rig.snapshots().before_command(&rig.session, &turn);
    rig.put("a", "2\n");
    rig.snapshots().before_edit(&other, &theirs, &rig.at("b")).expect("is safe");
    rig.put("b", "2\n");
    rig.snapshots().after_edit(&other, &theirs, &rig.at("b")).expect("is noted");
    rig.snapshots().after_command(&rig.session, &turn);
    rig.end(&turn);
    rig.snapshots().end_turn(&other, &theirs, Timestamp(6));
    let list = sources(&rig, &turn);
    let of = |path: &str| list.iter().find(|(own, _, _)| own == path).map(|(_, _, source)| *source);
    assert_eq!((of("a"), of("b")), (Some(ChangeSource::Shell), Some(ChangeSource::Outside)));
}

#[test]
fn an_unchanged_workspace_stores_nothing_new() {
    let mut rig = Rig::new();
    rig.put("a", "1\n");
    rig.edits(&[("a", "2\n")]);
    let packs = || fs::read_dir(rig.store().join("git/objects/pack")).expect("lists").count();
    let before = packs();
    let now = Timestamp(1_000_000);
    let capture = rig.snapshots().begin_turn(&rig.session, &TurnId::new("t9"), 9, now);
    assert_eq!(packs(), before);
    let turns = rig.snapshots().turns(&rig.session).expect("reads");
    assert_eq!(turns[0].after, capture.snapshot);
}

#[test]
fn odd_names_and_modes_come_back() {
    let mut rig = Rig::new();
    let raw = |name: &[u8]| PathBuf::from(OsStr::from_bytes(name));
    let names: [&[u8]; 5] = [b"a b 'c' \"d\"", b"new\nline", b"caf\xe9", b"back\\slash", b"-rf"];
    for name in names {
        fs::write(rig.base().join(raw(name)), "1\n").expect("writes");
    }
    rig.put("ro/file", "1\n");
    set_mode(&rig.at("ro/file"), 0o444);
    set_mode(&rig.at("ro"), 0o555);
    fs::create_dir(rig.at("empty")).expect("makes a folder");
    set_mode(&rig.at("empty"), 0o700);
    let start = rig.picture();
    let turn = rig.shell(|rig| {
        for name in names {
            fs::remove_file(rig.base().join(raw(name))).expect("removes");
        }
        set_mode(&rig.at("ro"), 0o755);
        set_mode(&rig.at("ro/file"), 0o600);
        rig.put("ro/file", "2\n");
        set_mode(&rig.at("ro/file"), 0o444);
        set_mode(&rig.at("ro"), 0o555);
        fs::remove_dir(rig.at("empty")).expect("removes");
    });
    let end = rig.picture();
    rig.restore(&turn, RestoreTarget::Before);
    assert_eq!(rig.picture(), start);
    rig.bring_back();
    assert_eq!(rig.picture(), end);
}

#[test]
fn a_large_sparse_file_costs_nothing() {
    let mut rig = Rig::new();
    fs::File::create(rig.at("huge"))
        .and_then(|file| file.set_len(1 << 30))
        .expect("makes a sparse file");
    let started = Instant::now();
    let now = rig.now();
    let capture = rig.snapshots().begin_turn(&rig.session, &TurnId::new("t1"), 1, now);
    assert!(started.elapsed().as_secs() < 5, "it was read");
    assert!(matches!(capture.completeness, Completeness::Partly { skipped: 1, .. }));
    let edit = rig.snapshots().before_edit(&rig.session, &TurnId::new("t1"), &rig.at("huge"));
    assert!(matches!(edit, Err(Error::Invalid(reason)) if reason.contains("huge")));
}

#[test]
fn a_home_folder_is_covered_by_edit_tools_only() {
    let mut rig = Rig::new();
    rig.put("notes", "1\n");
    let home = Some(rig.base());
    rig.reopen(Options { home, ..Options::default() });
    let turn = rig.edits(&[("notes", "2\n"), ("new/file", "2\n")]);
    rig.restore(&turn, RestoreTarget::Before);
    assert_eq!(rig.text("notes").as_deref(), Some("1\n"));
    assert!(!rig.at("new/file").exists());
}

#[test]
fn a_crashed_turn_is_closed_and_can_be_taken_back() {
    let mut rig = Rig::new();
    rig.put("a", "1\n");
    rig.put("b/c", "1\n");
    let start = rig.picture();
    let turn = rig.begin();
    rig.edit(&turn, "a", |path| fs::write(path, "2\n").expect("writes"));
    rig.snapshots().before_command(&rig.session, &turn);
    fs::remove_dir_all(rig.at("b")).expect("removes");
    rig.put("d/e", "new\n");
    rig.reopen(Options::default());
    rig.snapshots().recover(Timestamp(9));
    let turns = rig.snapshots().turns(&rig.session).expect("reads");
    assert_eq!(
        turns.iter().map(|turn| turn.state).collect::<Vec<_>>(),
        [cairn_protocol::TurnState::Crashed]
    );
    rig.restore(&turn, RestoreTarget::Before);
    assert_eq!(rig.picture(), start);
}

#[test]
fn an_ignored_file_that_the_edit_tool_named_comes_back() {
    let mut rig = Rig::new();
    rig.put(".gitignore", "dist/\n");
    rig.put("dist/x", "1\n");
    let turn = rig.begin();
    rig.edit(&turn, "dist/x", |path| fs::write(path, "2\n").expect("writes"));
    rig.end(&turn);
    let second = rig.shell(|rig| fs::remove_file(rig.at("dist/x")).expect("removes"));
    rig.restore(&second, RestoreTarget::Before);
    assert_eq!(rig.text("dist/x").as_deref(), Some("2\n"));
    rig.restore(&turn, RestoreTarget::Before);
    assert_eq!(rig.text("dist/x").as_deref(), Some("1\n"));
}

#[test]
fn a_selection_takes_back_only_what_it_names() {
    let mut rig = Rig::new();
    rig.put("a", "1\n");
    rig.put("d/b", "1\n");
    let turn = rig.edits(&[("a", "2\n"), ("d/b", "2\n")]);
    let mut request = rig.request(&turn, RestoreTarget::Revert);
    request.paths = Some(vec!["d".to_owned()]);
    let plan = rig.snapshots().plan(&request).expect("plans");
    rig.snapshots().restore(&request, &plan.token, Timestamp(1)).expect("restores");
    assert_eq!((rig.text("a").as_deref(), rig.text("d/b").as_deref()), (Some("2\n"), Some("1\n")));
    let turns = rig.snapshots().turns(&rig.session).expect("reads");
    assert_eq!(turns[0].standing, cairn_protocol::Standing::Partly { rolled_back: 1 });
}

#[test]
fn links_and_moves_show_in_diffs() {
    let mut rig = Rig::new();
    rig.put("a", "content\n");
    std::os::unix::fs::symlink("v1", rig.at("l")).expect("links");
    let turn = rig.shell(|rig| {
        fs::rename(rig.at("a"), rig.at("b")).expect("renames");
        fs::remove_file(rig.at("l")).expect("removes");
        std::os::unix::fs::symlink("v2", rig.at("l")).expect("links");
    });
    let changes = rig.snapshots().changes(&rig.session, &turn).expect("is known");
    let moved = changes
        .files
        .iter()
        .find(|file| file.path == "b")
        .and_then(|file| file.renamed_from.clone());
    assert_eq!(moved.as_deref(), Some("a"));
    let diff = rig.snapshots().diff(&rig.session, &turn, "l", 0).expect("compares");
    assert_eq!(diff.old_mode.as_deref(), Some("120000"));
    assert!(matches!(diff.content, DiffContent::Text { hunks, .. } if hunks.len() == 1));
}

#[test]
fn the_store_is_a_repository_that_git_accepts() {
    let mut rig = Rig::new();
    rig.put("a", "1\n");
    rig.put("d/b", "1\n");
    rig.edits(&[("a", "2\n")]);
    rig.edits(&[("d/b", "2\n")]);
    let output = std::process::Command::new("git")
        .args(["fsck", "--full", "--strict"])
        .env("GIT_DIR", rig.store().join("git"))
        .output()
        .expect("git runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
