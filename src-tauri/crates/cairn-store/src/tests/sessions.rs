//! Records, the index, workspaces.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use super::*;

fn ids(store: &Store) -> Vec<String> {
    store.sessions().into_iter().map(|record| record.id.0).collect()
}

fn many(root: &Path, count: u32) -> Arc<Store> {
    let store = open(root);
    for number in 0..count {
        let id = SessionId::new(format!("session-{number:03}"));
        let last_active_at = Timestamp(NOW.0 + i64::from(number));
        store.create_session(SessionRecord { last_active_at, ..record(&id) }).unwrap();
    }
    store
}

#[test]
fn a_start_opens_no_session_file_g16() {
    let root = memory_dir();
    drop(many(root.path(), 500));
    let disk = TestDisk::new();
    let store = open_on(&disk, root.path());
    let before = disk.opened.load(Ordering::SeqCst);
    let sessions = ids(&store);
    assert_eq!((sessions.len(), sessions[0].as_str()), (500, "session-499"));
    assert_eq!(disk.opened.load(Ordering::SeqCst) - before, 0);
}

#[test]
fn an_index_that_is_deleted_damaged_or_newer_is_rebuilt_p184() {
    type Damage = (&'static str, fn(&Path));
    let damages: [Damage; 3] = [
        ("deleted", |path| fs::remove_file(path).unwrap()),
        ("damaged", |path| fs::write(path, vec![b'x'; 20_000]).unwrap()),
        ("newer", |path| {
            let connection = rusqlite::Connection::open(path).unwrap();
            connection.pragma_update(None, "user_version", 99).unwrap();
        }),
    ];
    for (what, damage) in damages {
        let root = TempDir::new().unwrap();
        drop(many(root.path(), 3));
        let index = root.path().join("index.sqlite");
        for side in ["-wal", "-shm"] {
            let _ = fs::remove_file(root.path().join(format!("index.sqlite{side}")));
        }
        damage(&index);
        let (store, problems) = Store::open(root.path(), NOW).unwrap();
        assert_eq!(ids(&store).len(), 3, "{what}");
        assert!(!problems.iter().any(|problem| problem.contains("index")), "{what}: {problems:?}");
        let aside = root.path().join(format!("index.sqlite.aside-{}", NOW.0));
        assert_eq!(aside.is_file(), what != "deleted", "{what}");
        // And it is an index again.
        let disk = TestDisk::new();
        let store = open_on(&disk, root.path());
        let before = disk.opened.load(Ordering::SeqCst);
        assert_eq!(ids(&store).len(), 3);
        assert_eq!(disk.opened.load(Ordering::SeqCst), before, "{what}");
    }
}

#[test]
fn what_another_process_did_is_seen_at_once() {
    let root = TempDir::new().unwrap();
    let (one, two) = (open(root.path()), open(root.path()));
    let id = session_id();
    one.create_session(record(&id)).unwrap();
    assert_eq!(ids(&two), [id.as_str()]);
    two.save_session(&SessionRecord { title: "New".to_owned(), ..record(&id) }).unwrap();
    assert_eq!(one.sessions()[0].title, "New");
    two.delete_session(&id).unwrap();
    assert_eq!(ids(&one), [""; 0]);
    assert!(!one.session_dir(&id).exists());
}

#[test]
fn a_lost_or_damaged_state_is_made_again_from_the_trace() {
    for damaged in [false, true] {
        let root = TempDir::new().unwrap();
        let store = with_session(root.path());
        let (mut trace, _) = store.open_trace(&session_id()).unwrap();
        let begin = EventMsg::TurnBegin {
            turn_id: TurnId::new("t"),
            number: 4,
            mode: Mode::Auto,
            model: ModelRef { provider: "p".to_owned(), model_id: "m".to_owned() },
            input: "Fix it".to_owned(),
        };
        let later = Timestamp(NOW.0 + 5);
        for message in [meta(), Message::event(NOW, begin), user("Fix it\nnow")] {
            trace.append(&message, SyncClass::C).unwrap();
        }
        let mode = EventMsg::ModeChange { mode: Mode::Plan };
        trace.append(&Message::event(later, mode), SyncClass::A).unwrap();
        let state = store.session_dir(&session_id()).join("state.json");
        if damaged {
            fs::write(&state, "{\"v\":1").unwrap()
        } else {
            fs::remove_file(&state).unwrap()
        }
        let expected = SessionRecord {
            title: "Fix it".to_owned(),
            model: Some(ModelRef { provider: "p".to_owned(), model_id: "m".to_owned() }),
            mode: Mode::Plan,
            last_active_at: later,
            turns: 4,
            workspace_id: crate::workspaces::id_of("/w"),
            ..record(&session_id())
        };
        assert_eq!(store.sessions(), std::slice::from_ref(&expected));
        assert_eq!(store.session(&session_id()), Some(expected));
        assert_eq!(store.take_problems().len(), usize::from(damaged));
        let aside = state.with_extension(format!("json.damaged-{}", NOW.0));
        assert_eq!(aside.is_file(), damaged);
    }
}

#[test]
fn fields_of_another_version_stay_in_the_state_and_a_newer_format_is_not_changed() {
    let root = TempDir::new().unwrap();
    let store = with_session(root.path());
    let state = store.session_dir(&session_id()).join("state.json");
    let text = fs::read_to_string(&state).unwrap();
    fs::write(&state, text.replacen("\"v\": 1,", "\"v\": 1, \"pinned\": true,", 1)).unwrap();
    store.save_session(&record(&session_id())).unwrap();
    let kept = fs::read_to_string(&state).unwrap();
    assert!(kept.contains("\"pinned\": true"), "{kept}");
    let newer = kept.replacen("\"v\": 1,", "\"v\": 2,", 1);
    fs::write(&state, &newer).unwrap();
    assert!(matches!(store.save_session(&record(&session_id())), Err(Error::Newer { .. })));
    assert_eq!(fs::read_to_string(&state).unwrap(), newer);
}

#[test]
fn the_stored_form_of_a_record_is_this() {
    let root = TempDir::new().unwrap();
    let store = with_session(root.path());
    let state = store.session_dir(&session_id()).join("state.json");
    insta::assert_snapshot!(fs::read_to_string(state).unwrap(), @r#"
    {
      "v": 1,
      "id": "session-2026-11-30-21-25-00-0a1b2c3d",
      "workspaceId": "ws-1",
      "title": "Title",
      "titleSource": "auto",
      "mode": "interactive",
      "createdAt": "2026-11-30T00:53:20.000Z",
      "lastActiveAt": "2026-11-30T00:53:20.000Z",
      "turns": 0,
      "usage": {
        "cache_read": 0,
        "cache_write": 0,
        "output": 0,
        "total": 0
      },
      "rules": [],
      "grantedDirs": [],
      "queue": []
    }
    "#);
}

#[test]
fn ids_that_could_leave_their_folder_are_refused() {
    let root = TempDir::new().unwrap();
    let store = open(root.path());
    for bad in ["", "..", "a/b", "A", "a.b", "-a", "a\0", &"a".repeat(101)] {
        let id = SessionId::new(bad);
        assert!(matches!(store.create_session(record(&id)), Err(Error::Invalid(_))), "{bad:?}");
        assert!(store.open_trace(&id).is_err() && store.delete_session(&id).is_err());
    }
    assert!(matches!(store.open_trace(&session_id()), Err(Error::NotFound { .. })));
}

#[test]
fn a_session_is_not_made_twice_and_a_half_made_one_can_be_made() {
    let root = TempDir::new().unwrap();
    let store = open(root.path());
    fs::create_dir_all(store.session_dir(&session_id()).join("scratchpad")).unwrap();
    assert_eq!(ids(&store), [""; 0]);
    let files = store.create_session(record(&session_id())).unwrap();
    assert!(files.scratchpad.is_dir());
    assert!(store.create_session(record(&session_id())).is_err());
}

#[test]
fn everything_is_for_the_user_only() {
    let root = TempDir::new().unwrap();
    let home = root.path().join("data");
    let store = with_session(&home);
    fill(&store, 1);
    store.add_workspace(root.path(), NOW).unwrap();
    let mut stack = vec![home];
    while let Some(path) = stack.pop() {
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        // The registry's lock has no content, and its folder is closed.
        assert!(mode & 0o077 == 0 || path.ends_with("workspaces.lock"), "{path:?} {mode:o}");
        if path.is_dir() {
            stack.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        }
    }
}

#[test]
fn a_root_that_others_can_read_is_told() {
    let root = TempDir::new().unwrap();
    fs::set_permissions(root.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let (_, problems) = Store::open(root.path(), NOW).unwrap();
    assert!(problems[0].contains("chmod 700"), "{problems:?}");
}

#[test]
fn workspaces_are_listed_last_used_first_and_found_again() {
    let root = TempDir::new().unwrap();
    let (a, b) = (root.path().join("a b"), root.path().join("b\"\n"));
    fs::create_dir(&a).unwrap();
    fs::create_dir(&b).unwrap();
    let data = root.path().join("data");
    let store = open(&data);
    let first = store.add_workspace(&a, NOW).unwrap();
    let second = store.add_workspace(&b, Timestamp(NOW.0 + 1)).unwrap();
    assert_eq!(store.add_workspace(&a.join("../a b"), Timestamp(NOW.0 + 2)).unwrap().id, first.id);
    let other = open(&data);
    let names: Vec<String> = other.workspaces().into_iter().map(|found| found.name).collect();
    assert_eq!(names, ["a b", "b\"\n"]);
    fs::remove_dir(&b).unwrap();
    assert!(!other.workspace(&second.id).unwrap().present);
    other.forget_workspace(&second.id).unwrap();
    assert_eq!(store.workspace(&second.id), None);
    assert!(matches!(store.add_workspace(&b, NOW), Err(Error::NotFound { .. })));
    fs::write(&b, "").unwrap();
    assert!(matches!(store.add_workspace(&b, NOW), Err(Error::Invalid(_))));
}

#[test]
fn a_damaged_list_of_workspaces_is_told_and_kept() {
    let root = TempDir::new().unwrap();
    fs::write(root.path().join("workspaces.json"), "{").unwrap();
    let (store, problems) = Store::open(root.path(), NOW).unwrap();
    assert!(problems.iter().any(|problem| problem.contains("damaged")), "{problems:?}");
    store.add_workspace(root.path(), NOW).unwrap();
    let aside = root.path().join(format!("workspaces.json.damaged-{}", NOW.0));
    assert_eq!(fs::read_to_string(aside).unwrap(), "{");
}

#[test]
fn many_threads_keep_one_list_of_workspaces() {
    let root = TempDir::new().unwrap();
    let data = root.path().join("data");
    std::thread::scope(|scope| {
        for number in 0..8 {
            let folder = root.path().join(format!("w{number}"));
            fs::create_dir(&folder).unwrap();
            let data = &data;
            scope.spawn(move || open(data).add_workspace(&folder, NOW).unwrap());
        }
    });
    assert_eq!(open(&data).workspaces().len(), 8);
}
