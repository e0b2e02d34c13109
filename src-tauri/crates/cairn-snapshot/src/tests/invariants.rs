use std::collections::BTreeSet;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::atomic::AtomicUsize;

use cairn_protocol::RestoreOutcome;

use super::*;

fn tree_times(base: &Path) -> BTreeMap<PathBuf, (i64, i64, i64)> {
    let mut times = BTreeMap::new();
    let mut folders = vec![base.to_path_buf()];
    while let Some(dir) = folders.pop() {
        let meta = fs::metadata(&dir).expect("is there");
        times.insert(dir.clone(), (meta.mtime(), meta.mtime_nsec(), meta.ctime_nsec()));
        for entry in fs::read_dir(&dir).expect("lists").flatten() {
            let meta = entry.path().symlink_metadata().expect("is there");
            if meta.is_dir() {
                folders.push(entry.path());
            } else {
                times.insert(entry.path(), (meta.mtime(), meta.mtime_nsec(), meta.ctime_nsec()));
            }
        }
    }
    times
}

#[test]
fn i1_a_capture_writes_nothing_in_the_workspace() {
    let mut rig = Rig::new();
    rig.put(".git/config", "[core]\n");
    rig.put("a", "1\n");
    rig.put("d/b", "2\n");
    let before = tree_times(&rig.base());
    let turn = rig.begin();
    rig.end(&turn);
    assert_eq!(tree_times(&rig.base()), before);
}

#[test]
fn i2_a_restore_touches_only_its_plan() {
    let mut rig = Rig::new();
    rig.put("a", "1\n");
    rig.put("b", "1\n");
    let turn = rig.edits(&[("a", "2\n")]);
    rig.put("b", "user\n");
    rig.put("new/c", "user\n");
    let before = tree_times(&rig.base());
    let report = rig.restore(&turn, RestoreTarget::Before);
    assert_eq!(actions(&report), [("a", RestoreAction::TakenBack)]);
    let after = tree_times(&rig.base());
    let moved: BTreeSet<_> = after
        .iter()
        .filter(|(path, time)| before.get(*path) != Some(time))
        .map(|(path, _)| path)
        .collect();
    assert_eq!(moved, BTreeSet::from([&rig.base(), &rig.at("a")]));
}

#[test]
fn i2_a_stale_plan_is_refused() {
    let mut rig = Rig::new();
    rig.put("a", "1\n");
    let turn = rig.edits(&[("a", "2\n")]);
    let request = rig.request(&turn, RestoreTarget::Before);
    let plan = rig.snapshots().plan(&request).expect("plans");
    rig.put("a", "3\n");
    let result = rig.snapshots().restore(&request, &plan.token, Timestamp(0));
    assert!(matches!(result, Err(Error::Stale)));
    assert_eq!(rig.text("a").as_deref(), Some("3\n"));
}

#[test]
fn i3_what_is_overwritten_is_kept() {
    let mut rig = Rig::new();
    rig.put("a", "1\n");
    let turn = rig.edits(&[("a", "2\n")]);
    rig.put("a", "mine\n");
    let mut request = rig.request(&turn, RestoreTarget::Before);
    request.take_snapshot = vec!["a".to_owned()];
    let plan = rig.snapshots().plan(&request).expect("plans");
    rig.snapshots().restore(&request, &plan.token, Timestamp(1)).expect("restores");
    assert_eq!(rig.text("a").as_deref(), Some("1\n"));
    rig.reopen(Options::default());
    rig.bring_back();
    assert_eq!(rig.text("a").as_deref(), Some("mine\n"));
}

#[test]
fn i4_nothing_is_deleted_without_evidence() {
    let mut rig = Rig::new();
    rig.put(".gitignore", "out/\n*.log\n");
    rig.put("out/deep/x", "mine\n");
    rig.put("big", vec![0; 11 << 20]);
    // The agent lifts the rule, so that the files come into sight in its turn.
    let turn = rig.edits(&[(".gitignore", "\n"), ("a", "1\n")]);
    let report = rig.restore(&turn, RestoreTarget::Before);
    assert_eq!(rig.text("out/deep/x").as_deref(), Some("mine\n"));
    assert!(rig.at("big").exists());
    let touched: Vec<&str> = report.steps.iter().map(|step| step.path.as_str()).collect();
    assert_eq!(touched, [".gitignore", "a"]);
}

#[test]
fn i4_a_new_rule_does_not_make_files_look_deleted() {
    let mut rig = Rig::new();
    rig.put("out/x", "1\n");
    rig.put("out/y", "1\n");
    let turn = rig.shell(|rig| {
        rig.put(".gitignore", "out/\n");
        fs::remove_file(rig.at("out/y")).expect("removes");
    });
    let changes = rig.snapshots().changes(&rig.session, &turn).expect("is known");
    let changed: Vec<&str> = changes.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(changed, [".gitignore", "out/y"]);
    rig.restore(&turn, RestoreTarget::Before);
    assert_eq!(rig.text("out/y").as_deref(), Some("1\n"));
}

/// File operations that all fail from the n-th change on, as if the process were gone.
struct Killed {
    left: AtomicUsize,
}

impl Killed {
    fn spend(&self) -> io::Result<()> {
        let order = std::sync::atomic::Ordering::SeqCst;
        let spent = self.left.fetch_update(order, order, |left| left.checked_sub(1));
        spent.map(|_| ()).map_err(|_| io::Error::from_raw_os_error(libc::EIO))
    }
}

impl Files for Killed {
    fn open_dir(&self, root: BorrowedFd<'_>, path: &[u8]) -> io::Result<OwnedFd> {
        SystemFiles.open_dir(root, path)
    }
    fn list(&self, dir: BorrowedFd<'_>) -> io::Result<Vec<Vec<u8>>> {
        SystemFiles.list(dir)
    }
    fn stat(&self, dir: BorrowedFd<'_>, name: &[u8]) -> io::Result<Stat> {
        SystemFiles.stat(dir, name)
    }
    fn read(&self, dir: BorrowedFd<'_>, name: &[u8], limit: u64) -> io::Result<(Vec<u8>, Stat)> {
        SystemFiles.read(dir, name, limit)
    }
    fn read_link(&self, dir: BorrowedFd<'_>, name: &[u8]) -> io::Result<Vec<u8>> {
        SystemFiles.read_link(dir, name)
    }
    fn create(
        &self,
        dir: BorrowedFd<'_>,
        name: &[u8],
        content: &[u8],
        mode: u32,
    ) -> io::Result<()> {
        self.spend()?;
        SystemFiles.create(dir, name, content, mode)
    }
    fn append(&self, dir: BorrowedFd<'_>, name: &[u8], content: &[u8]) -> io::Result<()> {
        self.spend()?;
        SystemFiles.append(dir, name, content)
    }
    fn symlink(&self, dir: BorrowedFd<'_>, name: &[u8], target: &[u8]) -> io::Result<()> {
        self.spend()?;
        SystemFiles.symlink(dir, name, target)
    }
    fn mkdir(&self, dir: BorrowedFd<'_>, name: &[u8], mode: u32) -> io::Result<()> {
        self.spend()?;
        SystemFiles.mkdir(dir, name, mode)
    }
    fn chmod(&self, dir: BorrowedFd<'_>, name: &[u8], mode: u32) -> io::Result<()> {
        self.spend()?;
        SystemFiles.chmod(dir, name, mode)
    }
    fn chown(&self, dir: BorrowedFd<'_>, name: &[u8], uid: u32, gid: u32) -> io::Result<()> {
        self.spend()?;
        SystemFiles.chown(dir, name, uid, gid)
    }
    fn rename(
        &self,
        from: BorrowedFd<'_>,
        name: &[u8],
        to: BorrowedFd<'_>,
        new: &[u8],
    ) -> io::Result<()> {
        self.spend()?;
        SystemFiles.rename(from, name, to, new)
    }
    fn unlink(&self, dir: BorrowedFd<'_>, name: &[u8]) -> io::Result<()> {
        self.spend()?;
        SystemFiles.unlink(dir, name)
    }
    fn rmdir(&self, dir: BorrowedFd<'_>, name: &[u8]) -> io::Result<()> {
        self.spend()?;
        SystemFiles.rmdir(dir, name)
    }
    fn sync_file(&self, dir: BorrowedFd<'_>, name: &[u8]) -> io::Result<()> {
        self.spend()?;
        SystemFiles.sync_file(dir, name)
    }
    fn sync_dir(&self, dir: BorrowedFd<'_>) -> io::Result<()> {
        self.spend()?;
        SystemFiles.sync_dir(dir)
    }
    fn sync_all(&self, dir: BorrowedFd<'_>) -> io::Result<()> {
        self.spend()?;
        SystemFiles.sync_all(dir)
    }
}

#[test]
fn i5_a_restore_that_is_killed_anywhere_is_done_or_not_done() {
    let mut finished = 0;
    for place in 0..200 {
        let mut rig = Rig::new();
        rig.put("a", "1\n");
        rig.put("gone", "1\n");
        rig.put("x", "file\n");
        let start = rig.picture();
        let turn = rig.shell(|rig| {
            rig.put("a", "2\n");
            rig.put("new/deep/n", "2\n");
            fs::remove_file(rig.at("gone")).expect("removes");
            fs::remove_file(rig.at("x")).expect("removes");
            rig.put("x/inner", "2\n");
        });
        let end = rig.picture();
        let request = rig.request(&turn, RestoreTarget::Before);
        let killed = Arc::new(Killed { left: AtomicUsize::new(place) });
        rig.reopen(Options { files: Some(killed.clone()), ..Options::default() });
        let plan = rig.snapshots().plan(&request).expect("plans");
        let whole = rig.snapshots().restore(&request, &plan.token, Timestamp(1)).is_ok();
        let spare = killed.left.load(std::sync::atomic::Ordering::SeqCst) > 0;
        rig.reopen(Options::default());
        rig.snapshots().recover(Timestamp(2));
        let picture = rig.picture();
        let recorded = rig.snapshots().restores(&rig.session).expect("reads").len();
        if picture == start {
            assert_eq!(recorded, 1, "killed at {place}: done, but not recorded");
            finished += 1;
        } else {
            assert_eq!(picture, end, "killed at {place}: neither done nor not done");
            assert_eq!(recorded, 0, "killed at {place}: not done, but recorded");
        }
        if whole && spare {
            assert!(finished > 1, "recovery has finished at least one");
            return;
        }
    }
    panic!("the operations did not come to an end");
}

#[test]
fn i6_a_restore_can_be_undone_and_that_undo_too() {
    let mut rig = Rig::new();
    rig.put("a", "0\n");
    let first = rig.edits(&[("a", "1\n"), ("n/m", "1\n")]);
    let second = rig.edits(&[("a", "2\n")]);
    let end = rig.picture();
    rig.restore(&second, RestoreTarget::Before);
    let middle = rig.picture();
    rig.restore(&first, RestoreTarget::Before);
    assert_eq!(rig.text("a").as_deref(), Some("0\n"));
    assert!(!rig.at("n").exists());
    rig.reopen(Options::default());
    rig.bring_back();
    assert_eq!(rig.picture(), middle);
    let undo = rig.bring_back();
    assert_eq!(rig.picture(), end);
    let now = rig.now();
    rig.snapshots().bring_back(&rig.session, Some(&undo.restore_id), now).expect("redoes");
    assert_eq!(rig.picture(), middle);
    let turns = rig.snapshots().turns(&rig.session).expect("reads");
    let standing: Vec<_> = turns.iter().map(|turn| turn.standing).collect();
    assert_eq!(standing, [cairn_protocol::Standing::Active, cairn_protocol::Standing::RolledBack]);
}

#[test]
fn i7_what_is_not_covered_is_listed_before_and_after() {
    let mut rig = Rig::new();
    rig.put(".gitignore", "node_modules/\n");
    rig.put("node_modules/p", "1\n");
    fs::File::create(rig.at("sparse"))
        .and_then(|file| file.set_len(1 << 30))
        .expect("makes a sparse file");
    let turn = rig.shell(|rig| {
        rig.put("a", "1\n");
        rig.put("node_modules/q", "1\n");
        fs::OpenOptions::new()
            .append(true)
            .open(rig.at("sparse"))
            .and_then(|mut file| io::Write::write_all(&mut file, b"x"))
            .expect("appends");
    });
    let plan = rig.snapshots().plan(&rig.request(&turn, RestoreTarget::Before)).expect("plans");
    let listed: Vec<&str> = plan.not_covered.iter().map(|skipped| skipped.path.as_str()).collect();
    assert_eq!(listed, ["node_modules/", "sparse"]);
    let report = rig.restore(&turn, RestoreTarget::Before);
    assert_eq!((report.outcome, report.not_covered), (RestoreOutcome::Exact, plan.not_covered));
    assert!(rig.at("node_modules/q").exists());
}

#[test]
fn i8_a_broken_store_is_set_aside_and_said() {
    let mut rig = Rig::new();
    rig.put("a", "1\n");
    let turn = rig.edits(&[("a", "2\n")]);
    rig.snapshots = None;
    for entry in fs::read_dir(rig.store().join("git/objects/pack")).expect("lists").flatten() {
        fs::remove_file(entry.path()).expect("removes");
    }
    rig.reopen(Options::default());
    let request = rig.request(&turn, RestoreTarget::Before);
    assert!(matches!(rig.snapshots().plan(&request), Err(Error::Damaged(_))));
    let now = rig.now();
    let capture = rig.snapshots().begin_turn(&rig.session, &TurnId::new("t9"), 9, now);
    assert!(
        matches!(&capture.completeness, Completeness::Partly { reason, .. } if reason.contains("damaged"))
    );
    rig.edit(&TurnId::new("t9"), "a", |path| fs::write(path, "3\n").expect("writes"));
    rig.end(&TurnId::new("t9"));
    rig.restore(&TurnId::new("t9"), RestoreTarget::Before);
    assert_eq!(rig.text("a").as_deref(), Some("2\n"));
}

#[test]
fn i8_a_failed_capture_never_pretends() {
    let mut rig = Rig::new();
    rig.put("a", "1\n");
    rig.put("b", "1\n");
    let killed = Arc::new(Killed { left: AtomicUsize::new(0) });
    rig.reopen(Options { files: Some(killed.clone()), ..Options::default() });
    let now = rig.now();
    let turn = TurnId::new("t1");
    let capture = rig.snapshots().begin_turn(&rig.session, &turn, 1, now);
    assert!(matches!(capture.completeness, Completeness::NotProtected { .. }));
    assert_eq!(capture.snapshot, None);
    assert!(rig.snapshots().before_edit(&rig.session, &turn, &rig.at("a")).is_err());
    killed.left.store(1_000_000, std::sync::atomic::Ordering::SeqCst);
    rig.edit(&turn, "a", |path| fs::write(path, "2\n").expect("writes"));
    rig.put("b", "2\n");
    rig.end(&turn);
    let report = rig.restore(&turn, RestoreTarget::Before);
    assert_eq!(actions(&report), [("a", RestoreAction::TakenBack)]);
    assert_eq!(rig.text("b").as_deref(), Some("2\n"));
}
