//! Plays one case against the real snapshot engine in mode shadow.
//!
//! What a case asks for and this can't do is an error that names it; `main.rs` knows which of those are expected.

mod faulty;
mod judge;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cairn_protocol::{
    RestoreAction, RestoreReport, RestoreRequest, RestoreTarget, SessionId, Timestamp, TurnId,
};
use cairn_snapshot::{Capture, Error, Options, Snapshots};
use serde_json::Value;

use crate::expect;
use crate::faults::{Fault, Faults};
use crate::steps::{self, text};

/// A point in time of the case; it only has to grow.
fn now() -> Timestamp {
    static LAST: AtomicI64 = AtomicI64::new(1_790_000_000_000);
    Timestamp(LAST.fetch_add(1000, Ordering::Relaxed))
}

pub(crate) struct World {
    pub(crate) dir: tempfile::TempDir,
    case: Value,
    faults: Faults,
    clock: Arc<AtomicI64>,
    snapshots: Option<Arc<Snapshots>>,
    others: Vec<Snapshots>,
    session: SessionId,
    captures: Vec<Capture>,
    reports: Vec<RestoreReport>,
    refused: Option<String>,
    restoring_since: SystemTime,
    problems: Vec<String>,
    before_restore: BTreeMap<String, String>,
    turns_seen: BTreeSet<u64>,
}

impl World {
    pub(crate) fn new(case: &Value) -> Self {
        let dir = tempfile::tempdir().expect("makes a folder");
        fs::create_dir(dir.path().join("ws")).expect("makes the workspace");
        Self {
            dir,
            case: case.clone(),
            faults: Faults::default(),
            clock: Arc::new(AtomicI64::new(0)),
            snapshots: None,
            others: Vec::new(),
            session: SessionId::new("session-1"),
            captures: Vec::new(),
            reports: Vec::new(),
            refused: None,
            restoring_since: UNIX_EPOCH,
            problems: Vec::new(),
            before_restore: BTreeMap::new(),
            turns_seen: BTreeSet::new(),
        }
    }

    pub(crate) fn base(&self) -> PathBuf {
        self.dir.path().join("ws")
    }

    fn store(&self) -> PathBuf {
        self.dir.path().join("store")
    }

    fn open(&self) -> Result<Snapshots, Error> {
        let inside = self.case["config"].get("workspace").and_then(Value::as_str).unwrap_or("");
        let is_home = self.case["config"].get("workspace_is").is_some();
        let shift = Arc::clone(&self.clock);
        let clock = move || {
            let time = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_nanos();
            i64::try_from(time).expect("before 2262")
                + shift.load(Ordering::Relaxed) * 1_000_000_000
        };
        let options = Options {
            home: is_home.then(|| self.base()),
            files: Some(Arc::new(self.faults.clone())),
            file_clock: Some(Arc::new(clock)),
            // Who changed a file must not depend on how fast the machine is.
            cheap_scan: Some(Duration::MAX),
            ..Options::default()
        };
        Snapshots::open(&self.store(), &self.base().join(inside), options)
    }

    fn snapshots(&self) -> Arc<Snapshots> {
        Arc::clone(self.snapshots.as_ref().expect("is open"))
    }

    /// Sets up and opens. The fault of a case that concerns the turns is set later.
    fn set_up(&mut self) -> Result<(), String> {
        let base = self.base();
        for step in self.case["setup"].as_array().expect("steps").clone() {
            if step["outside"] == true {
                fs::create_dir_all(self.dir.path().join("ext")).expect("makes the folder");
            }
            steps::run(&base, &step)?;
        }
        self.snapshots =
            Some(Arc::new(self.open().map_err(|error| format!("does not open: {error}"))?));
        Ok(())
    }

    /// Runs all agent and user steps in order.
    fn play(&mut self, faults: &[Value]) -> Result<(), String> {
        let mut events: Vec<(f64, Value, bool)> = Vec::new();
        for (list, agent) in [("agent_steps", true), ("user_steps", false)] {
            for event in self.case[list].as_array().expect("steps") {
                if event.get("when").is_none() {
                    events.push((event["at"].as_f64().expect("a time"), event.clone(), agent));
                }
            }
        }
        events.sort_by(|a, b| a.0.total_cmp(&b.0));
        let last_of = |events: &[(f64, Value, bool)], turn: &Value| {
            events
                .iter()
                .rposition(|(_, event, agent)| *agent && event["turn"] == *turn)
                .expect("has steps")
        };
        for index in 0..events.len() {
            let (_, event, agent) = events[index].clone();
            if !agent {
                self.user(&event)?;
                continue;
            }
            let number = event["turn"].as_u64().expect("a turn");
            let turn = TurnId::new(format!("turn-{number}"));
            if self.turns_seen.insert(number) {
                self.begin(&turn, number, faults);
            }
            let shell = event["via"] == "shell";
            self.agent(&turn, &event, shell)?;
            let crash =
                faults.iter().any(|fault| fault["kill_app"] == true && fault["turn"] == number);
            if crash {
                self.snapshots = None;
                self.reopen()?;
            } else if last_of(&events, &event["turn"]) == index {
                let capture = self.snapshots().end_turn(&self.session, &turn, now());
                self.captures.push(capture);
            }
        }
        Ok(())
    }

    pub(crate) fn reopen(&mut self) -> Result<(), String> {
        self.snapshots = None;
        self.others.clear();
        let opened = self.open().map_err(|error| format!("does not open again: {error}"))?;
        self.reports.extend(opened.recover(now()));
        self.snapshots = Some(Arc::new(opened));
        Ok(())
    }

    fn begin(&mut self, turn: &TurnId, number: u64, faults: &[Value]) {
        for fault in faults
            .iter()
            .filter(|fault| fault["turn"] == number && fault["when"] == "snapshot_before")
        {
            match fault["error"].as_str() {
                Some("publish_fails") => self.faults.set(Fault::Fail {
                    operation: "rename",
                    name: |name| name.starts_with(b"pack-"),
                    errno: libc::EIO,
                }),
                Some("ignore_engine_fails") => self.faults.set(Fault::Fail {
                    operation: "read",
                    name: |name| name == b".gitignore",
                    errno: libc::EIO,
                }),
                _ => {}
            }
        }
        let number = u32::try_from(number).expect("small");
        let capture = self.snapshots().begin_turn(&self.session, turn, number, now());
        self.captures.push(capture);
        if faults.iter().all(|fault| fault["when"] != "always") {
            self.faults.set(Fault::None);
        }
    }

    fn agent(&mut self, turn: &TurnId, event: &Value, shell: bool) -> Result<(), String> {
        let (snapshots, base) = (self.snapshots(), self.base());
        let session = self.session.clone();
        if shell {
            snapshots.before_command(&session, turn);
        }
        for step in event["steps"].as_array().expect("steps") {
            let paths: Vec<PathBuf> =
                steps::touched(step).iter().map(|path| steps::place(&base, path)).collect();
            if !shell {
                for path in &paths {
                    snapshots
                        .before_edit(&session, turn, path)
                        .map_err(|error| format!("before_edit: {error}"))?;
                }
            }
            steps::run(&base, step)?;
            self.shift_times(&paths);
            if !shell {
                for path in &paths {
                    snapshots
                        .after_edit(&session, turn, path)
                        .map_err(|error| format!("after_edit: {error}"))?;
                }
            }
        }
        let crash = self.case["faults"]
            .as_array()
            .is_some_and(|list| list.iter().any(|fault| fault["kill_app"] == true));
        if shell && !crash {
            snapshots.after_command(&session, turn);
        }
        Ok(())
    }

    /// With the clock set back, what is written has times before the present.
    fn shift_times(&self, paths: &[PathBuf]) {
        let shift = self.clock.load(Ordering::Relaxed);
        if shift != 0 {
            let time = SystemTime::now() - Duration::from_secs(shift.unsigned_abs());
            for path in paths {
                if let Ok(file) = fs::File::options().write(true).open(path) {
                    file.set_modified(time).expect("sets the time");
                }
            }
        }
    }

    fn user(&mut self, event: &Value) -> Result<(), String> {
        let base = self.base();
        let second = event["actor"] == "session2";
        let (session, turn) = (SessionId::new("session-2"), TurnId::new("other"));
        if second {
            self.snapshots().begin_turn(&session, &turn, 1, now());
        }
        for step in event["steps"].as_array().expect("steps") {
            match text(step, "op") {
                "clock_shift" => {
                    self.clock.store(step["seconds"].as_i64().expect("seconds"), Ordering::Relaxed)
                }
                "start_second_instance" => {
                    let other =
                        self.open().map_err(|error| format!("a second instance: {error}"))?;
                    other.recover(now());
                    self.others.push(other);
                }
                _ if second => {
                    let path = steps::place(&base, text(step, "path"));
                    let edit =
                        |result: Result<(), Error>| result.map_err(|error| error.to_string());
                    edit(self.snapshots().before_edit(&session, &turn, &path))?;
                    steps::run(&base, step)?;
                    edit(self.snapshots().after_edit(&session, &turn, &path))?;
                }
                _ => steps::run(&base, step)?,
            }
        }
        if second {
            self.snapshots().end_turn(&session, &turn, now());
        }
        Ok(())
    }

    fn users_at(&mut self, moment: &str) -> Result<(), String> {
        for event in self.case["user_steps"].as_array().expect("steps").clone() {
            if event["when"] == moment {
                self.user(&event)?;
            }
        }
        Ok(())
    }

    fn restore_all(&mut self) -> Result<(), String> {
        self.before_restore = expect::picture(&self.base());
        self.restoring_since = SystemTime::now();
        for (index, call) in
            self.case["restore"].as_array().expect("calls").clone().iter().enumerate()
        {
            let result = self.restore(call)?;
            match result {
                Ok(report) => self.reports.push(report),
                Err(error) => self.refused = Some(refusal(&error)),
            }
            self.users_at(&format!("after_restore:{}", index + 1))?;
        }
        Ok(())
    }

    fn restore(&mut self, call: &Value) -> Result<Result<RestoreReport, Error>, String> {
        let target = match text(call, "call") {
            "rewind_before" => RestoreTarget::Before,
            "revert_turn" | "revert_paths" => RestoreTarget::Revert,
            "undo_restore" => return Ok(self.snapshots().bring_back(&self.session, None, now())),
            "redo_restore" => {
                let records =
                    self.snapshots().restores(&self.session).map_err(|error| error.to_string())?;
                let holds = |record: &&cairn_protocol::RestoreRecord| {
                    record.report.undoes.is_some() && record.undone_by.is_none()
                };
                let Some(record) = records.iter().rev().find(holds) else {
                    return Err("nothing to redo".into());
                };
                return Ok(self.snapshots().bring_back(
                    &self.session,
                    Some(&record.report.restore_id),
                    now(),
                ));
            }
            other => return Err(format!("restore call `{other}`")),
        };
        let paths = call.get("paths").and_then(Value::as_array);
        let path = |path: &Value| path.as_str().expect("text").to_owned();
        let mut request = RestoreRequest {
            session_id: self.session.clone(),
            turn_id: TurnId::new(format!("turn-{}", call["turn"])),
            target,
            paths: paths.map(|list| list.iter().map(path).collect()),
            take_snapshot: Vec::new(),
        };
        let mut plan = match self.snapshots().plan(&request) {
            Ok(plan) => plan,
            Err(error) => return Ok(Err(error)),
        };
        if call["on_conflict"] == "take_snapshot" {
            let kept = plan.steps.iter().filter(|step| step.action == RestoreAction::KeptYours);
            request.take_snapshot = kept.map(|step| step.path.clone()).collect();
            plan = self.snapshots().plan(&request).map_err(|error| error.to_string())?;
        }
        self.users_at("between_preview_and_confirm")?;
        self.arm_restore();
        let result = self.snapshots().restore(&request, &plan.token, now());
        self.faults.set(Fault::None);
        Ok(result)
    }

    /// Sets what is to happen in the middle of the next restore.
    fn arm_restore(&self) {
        let staged = |name: &[u8]| {
            name.starts_with(b"tmp_")
                && !name.starts_with(b"tmp_pack")
                && !name.starts_with(b"tmp_idx")
        };
        for fault in self.case["faults"].as_array().into_iter().flatten() {
            let errno = match fault["error"].as_str() {
                Some("ENOSPC") => libc::ENOSPC,
                Some("EIO") => libc::EIO,
                _ => continue,
            };
            if fault["when"] == "restore_stage" {
                self.faults.set(Fault::Fail { operation: "create", name: staged, errno });
            }
        }
        for event in self.case["user_steps"].as_array().expect("steps") {
            if event["when"] == "after_stage_before_commit" {
                let (base, steps) =
                    (self.base(), event["steps"].as_array().expect("steps").clone());
                let call = move || {
                    steps.iter().for_each(|step| steps::run(&base, step).expect("a plain step"))
                };
                let call: Option<Box<dyn FnOnce() + Send>> = Some(Box::new(call));
                self.faults.set(Fault::After { operation: "sync_file", name: staged, call });
            }
        }
    }
}

fn refusal(error: &Error) -> String {
    match error {
        Error::Stale => "stale_preview",
        Error::NoSpace(_) => "no_space",
        Error::Io { .. } => "io",
        Error::Damaged(_) => "store_damaged",
        Error::WorkspaceReplaced(_) => "root_identity_changed",
        _ => return error.to_string(),
    }
    .to_owned()
}

/// Plays a case; an error says what came out otherwise, or what can't be played.
pub(crate) fn play(case: &Value) -> Result<(), String> {
    let faults: Vec<Value> = case["faults"].as_array().cloned().unwrap_or_default();
    if let Some(fault) = faults.iter().find(|fault| fault.get("kill_at").is_some()) {
        return faulty::kill_everywhere(case, fault);
    }
    let mut world = World::new(case);
    world.set_up()?;
    let running = world.start_faults(&faults)?;
    let before = expect::picture(&world.base());
    let head = world.git_state();
    let played = world.play(&faults);
    let played = played.and_then(|()| world.corrupt(&faults)).and_then(|()| {
        world.check_before_restore();
        world.restore_all()
    });
    running.store(true, Ordering::Relaxed);
    played?;
    world.judge(&before, &head);
    if world.problems.is_empty() { Ok(()) } else { Err(world.problems.join("; ")) }
}

/// Tells whether this process may read everything.
pub(crate) fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    fs::metadata("/proc/self").is_ok_and(|meta| meta.uid() == 0)
}
