mod captures;
mod invariants;
mod scripts;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use cairn_protocol::{RestoreAction, RestoreTarget};

use super::*;

/// A workspace with its store.
struct Rig {
    dir: tempfile::TempDir,
    snapshots: Option<Snapshots>,
    session: SessionId,
    clock: i64,
    turn: u32,
}

impl Rig {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("makes a folder");
        fs::create_dir(dir.path().join("ws")).expect("makes the workspace");
        let mut rig =
            Self { dir, snapshots: None, session: SessionId::new("s1"), clock: 0, turn: 0 };
        rig.reopen(Options::default());
        rig
    }

    /// Opens again. Attribution by repeated scans does not depend on how fast the machine is here.
    fn reopen(&mut self, options: Options) {
        let options = Options { cheap_scan: options.cheap_scan.or(Some(Duration::MAX)), ..options };
        self.snapshots = None;
        self.snapshots =
            Some(Snapshots::open(&self.store(), &self.base(), options).expect("opens"));
    }

    fn base(&self) -> PathBuf {
        self.dir.path().join("ws")
    }

    fn store(&self) -> PathBuf {
        self.dir.path().join("store")
    }

    fn at(&self, path: &str) -> PathBuf {
        self.base().join(path)
    }

    fn snapshots(&self) -> &Snapshots {
        self.snapshots.as_ref().expect("is open")
    }

    fn now(&mut self) -> Timestamp {
        self.clock += 1000;
        Timestamp(self.clock)
    }

    fn put(&self, path: &str, text: impl AsRef<[u8]>) {
        let place = self.at(path);
        fs::create_dir_all(place.parent().expect("has a folder")).expect("makes the folder");
        fs::write(place, text).expect("writes");
    }

    fn text(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.at(path)).ok()
    }

    fn begin(&mut self) -> TurnId {
        self.turn += 1;
        let turn = TurnId::new(format!("t{}", self.turn));
        let now = self.now();
        self.snapshots().begin_turn(&self.session, &turn, self.turn, now);
        turn
    }

    fn end(&mut self, turn: &TurnId) -> Capture {
        let now = self.now();
        self.snapshots().end_turn(&self.session, turn, now)
    }

    fn edit(&self, turn: &TurnId, path: &str, work: impl FnOnce(&Path)) {
        let place = self.at(path);
        self.snapshots()
            .before_edit(&self.session, turn, &place)
            .expect("the present state is safe");
        work(&place);
        self.snapshots().after_edit(&self.session, turn, &place).expect("is noted");
    }

    /// A turn in which the edit tool writes files.
    fn edits(&mut self, files: &[(&str, &str)]) -> TurnId {
        let turn = self.begin();
        for (path, text) in files {
            self.edit(&turn, path, |_| self.put(path, text));
        }
        self.end(&turn);
        turn
    }

    /// A turn in which a command does something.
    fn shell(&mut self, work: impl FnOnce(&Self)) -> TurnId {
        let turn = self.begin();
        self.snapshots().before_command(&self.session, &turn);
        work(self);
        self.snapshots().after_command(&self.session, &turn);
        self.end(&turn);
        turn
    }

    fn request(&self, turn: &TurnId, target: RestoreTarget) -> RestoreRequest {
        RestoreRequest {
            session_id: self.session.clone(),
            turn_id: turn.clone(),
            target,
            paths: None,
            take_snapshot: Vec::new(),
        }
    }

    fn restore(&mut self, turn: &TurnId, target: RestoreTarget) -> RestoreReport {
        let request = self.request(turn, target);
        let plan = self.snapshots().plan(&request).expect("plans");
        let now = self.now();
        self.snapshots().restore(&request, &plan.token, now).expect("restores")
    }

    fn bring_back(&mut self) -> RestoreReport {
        let now = self.now();
        self.snapshots().bring_back(&self.session, None, now).expect("brings back")
    }

    /// Kind, mode and content of everything in the workspace.
    fn picture(&self) -> BTreeMap<PathBuf, String> {
        let mut lines = BTreeMap::new();
        collect(&self.base(), &mut lines);
        lines
    }
}

fn collect(dir: &Path, lines: &mut BTreeMap<PathBuf, String>) {
    for entry in fs::read_dir(dir).expect("lists").flatten() {
        let path = entry.path();
        let meta = path.symlink_metadata().expect("is there");
        let content = if meta.is_file() {
            String::from_utf8_lossy(&fs::read(&path).expect("reads")).into_owned()
        } else if meta.is_symlink() {
            fs::read_link(&path).expect("reads").display().to_string()
        } else {
            String::new()
        };
        if meta.is_dir() {
            collect(&path, lines);
        }
        lines.insert(path, format!("{:o}\n{content}", meta.mode()));
    }
}

fn actions(report: &RestoreReport) -> Vec<(&str, RestoreAction)> {
    report.steps.iter().map(|step| (step.path.as_str(), step.action)).collect()
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("sets the mode");
}
