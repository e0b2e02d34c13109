//! Plays one case against the real snapshot engine in mode shadow.
//!
//! What a case asks for and this can't do is an error that names it; `main.rs` knows which of those are expected.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cairn_protocol::{
    Completeness, RestoreAction, RestoreReport, RestoreRequest, RestoreTarget, SessionId, Timestamp, TurnId,
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
            i64::try_from(time).expect("before 2262") + shift.load(Ordering::Relaxed) * 1_000_000_000
        };
        let options = Options {
            home: is_home.then(|| self.base()),
            files: Some(Arc::new(self.faults.clone())),
            file_clock: Some(Arc::new(clock)),
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
        self.snapshots = Some(Arc::new(self.open().map_err(|error| format!("does not open: {error}"))?));
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
            events.iter().rposition(|(_, event, agent)| *agent && event["turn"] == *turn).expect("has steps")
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
            let crash = faults.iter().any(|fault| fault["kill_app"] == true && fault["turn"] == number);
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
        for fault in faults.iter().filter(|fault| fault["turn"] == number && fault["when"] == "snapshot_before") {
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
            let paths: Vec<PathBuf> = steps::touched(step).iter().map(|path| steps::place(&base, path)).collect();
            if !shell {
                for path in &paths {
                    snapshots.before_edit(&session, turn, path).map_err(|error| format!("before_edit: {error}"))?;
                }
            }
            steps::run(&base, step)?;
            self.shift_times(&paths);
            if !shell {
                for path in &paths {
                    snapshots.after_edit(&session, turn, path).map_err(|error| format!("after_edit: {error}"))?;
                }
            }
        }
        let crash = self.case["faults"].as_array().is_some_and(|list| list.iter().any(|fault| fault["kill_app"] == true));
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
                "clock_shift" => self.clock.store(step["seconds"].as_i64().expect("seconds"), Ordering::Relaxed),
                "start_second_instance" => {
                    let other = self.open().map_err(|error| format!("a second instance: {error}"))?;
                    other.recover(now());
                    self.others.push(other);
                }
                _ if second => {
                    let path = steps::place(&base, text(step, "path"));
                    let edit = |result: Result<(), Error>| result.map_err(|error| error.to_string());
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
        for (index, call) in self.case["restore"].as_array().expect("calls").clone().iter().enumerate() {
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
                let records = self.snapshots().restores(&self.session).map_err(|error| error.to_string())?;
                let holds = |record: &&cairn_protocol::RestoreRecord| {
                    record.report.undoes.is_some() && record.undone_by.is_none()
                };
                let Some(record) = records.iter().rev().find(holds) else { return Err("nothing to redo".into()) };
                return Ok(self.snapshots().bring_back(&self.session, Some(&record.report.restore_id), now()));
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
        let staged = |name: &[u8]| name.starts_with(b"tmp_") && !name.starts_with(b"tmp_pack") && !name.starts_with(b"tmp_idx");
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
                let (base, steps) = (self.base(), event["steps"].as_array().expect("steps").clone());
                let call = move || steps.iter().for_each(|step| steps::run(&base, step).expect("a plain step"));
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
        return kill_everywhere(case, fault);
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

/// Stops the file operations at each place in turn, opens again, and looks.
fn kill_everywhere(case: &Value, fault: &Value) -> Result<(), String> {
    let in_restore = text(fault, "when") == "restore";
    if fault["kill_at"] == "after_commit_before_db" {
        return Err("the conversation is not the snapshot store's".to_owned());
    }
    for place in 0..400 {
        let mut world = World::new(case);
        world.set_up()?;
        let repositories = |world: &World| {
            let mut picture = expect::picture(&world.base());
            picture.retain(|path, _| path.contains(".git"));
            picture
        };
        let head = repositories(&world);
        let turn = TurnId::new("turn-1");
        world.begin(&turn, 1, &[]);
        let event = case["agent_steps"][0].clone();
        world.agent(&turn, &event, event["via"] == "shell")?;
        if !in_restore {
            world.faults.set(Fault::KillAt(place));
        }
        world.snapshots().end_turn(&world.session, &turn, now());
        let mut over = !in_restore && world.faults.changed() <= place;
        if in_restore {
            let request = RestoreRequest {
                session_id: world.session.clone(),
                turn_id: turn.clone(),
                target: RestoreTarget::Before,
                paths: None,
                take_snapshot: Vec::new(),
            };
            let plan = world.snapshots().plan(&request).map_err(|error| error.to_string())?;
            world.faults.set(Fault::KillAt(place));
            // What comes back to a process that is dead does not matter.
            let _ = world.snapshots().restore(&request, &plan.token, now());
            over = world.faults.changed() <= place;
        }
        world.faults.set(Fault::None);
        world.reopen()?;
        if repositories(&world) != head {
            return Err(format!("killed at {place}: .git changed"));
        }
        for (name, expected) in case["expect"]["paths"].as_object().expect("paths") {
            if let Some(problem) = expect::path(&world.base(), name, expected) {
                return Err(format!("killed at {place}: {problem}"));
            }
        }
        let turns = world.snapshots().turns(&world.session).map_err(|error| error.to_string())?;
        if turns.len() != 1 {
            return Err(format!("killed at {place}: {} turns are recorded", turns.len()));
        }
        if over {
            return Ok(());
        }
    }
    Err("the operations did not come to an end".to_owned())
}

impl World {
    /// Plants what is there before, and starts what runs beside. What runs stops when the flag is set.
    fn start_faults(&mut self, faults: &[Value]) -> Result<Arc<AtomicBool>, String> {
        let stop = Arc::new(AtomicBool::new(false));
        for fault in faults {
            if let Some(plant) = fault.get("plant").and_then(Value::as_str) {
                self.snapshots = None;
                if plant.contains("lock") {
                    fs::write(self.store().join("lock"), "999999\n").expect("plants");
                } else {
                    let path = self.store().join("git/objects/pack/tmp_pack_X");
                    fs::write(&path, b"PACK").expect("plants");
                    let old = SystemTime::now() - Duration::from_secs(7200);
                    fs::File::options().write(true).open(&path).and_then(|file| file.set_modified(old)).expect("dates");
                }
                self.reopen()?;
            }
            match fault.get("concurrent").and_then(Value::as_str) {
                Some(text) if text.contains("git status") => {
                    let (dir, stop) = (self.base().join("sub"), Arc::clone(&stop));
                    std::thread::spawn(move || {
                        while !stop.load(Ordering::Relaxed) {
                            // It fails as long as it is no repository; what matters is that it runs.
                            let _ = steps::git_command(&dir).arg("status").output();
                        }
                    });
                }
                Some(text) if text.contains("processes") => self.crowd(),
                Some(text) => return Err(format!("a fault beside it: {text}")),
                None => {}
            }
            if let Some(latency) = fault.get("fs_latency_ms").and_then(Value::as_u64) {
                self.faults.set(Fault::Slow(Duration::from_millis(latency)));
            }
            for key in ["repeat_turn", "free_space"] {
                if fault.get(key).is_some() {
                    return Err(format!("fault `{key}`"));
                }
            }
        }
        Ok(stop)
    }

    /// Eight writers with a store handle each, as eight processes would have.
    fn crowd(&mut self) {
        let results: Vec<Vec<Completeness>> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8)
                .map(|writer| {
                    let opened = self.open();
                    scope.spawn(move || {
                        let Ok(snapshots) = opened else { return Vec::new() };
                        let session = SessionId::new(format!("crowd-{writer}"));
                        let mut all = Vec::new();
                        for round in 0..8 {
                            let turn = TurnId::new(format!("t{round}"));
                            all.push(snapshots.begin_turn(&session, &turn, round + 1, now()).completeness);
                            all.push(snapshots.end_turn(&session, &turn, now()).completeness);
                        }
                        all
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
        });
        for (writer, captures) in results.iter().enumerate() {
            let silent = captures.len() != 16;
            let bad = captures.iter().find(|completeness| **completeness != Completeness::Protected);
            if silent || bad.is_some() {
                self.problems.push(format!("writer {writer}: {bad:?}"));
            }
            let turns = self.snapshots().turns(&SessionId::new(format!("crowd-{writer}")));
            if turns.map(|turns| turns.len()).ok() != Some(8) {
                self.problems.push(format!("writer {writer} has lost turns"));
            }
        }
    }

    fn corrupt(&mut self, faults: &[Value]) -> Result<(), String> {
        for _ in faults.iter().filter(|fault| fault.get("corrupt").is_some()) {
            self.snapshots = None;
            let nul = |path: &Path| {
                let length = fs::metadata(path).expect("is there").len();
                fs::write(path, vec![0; usize::try_from(length).expect("small")]).expect("writes");
            };
            nul(&self.store().join("git/config"));
            for entry in fs::read_dir(self.store().join("git/refs/agent")).expect("lists").flatten() {
                nul(&entry.path());
            }
            self.reopen()?;
        }
        Ok(())
    }

    fn check_before_restore(&mut self) {
        for check in self.case["expect"]["checks"].as_array().expect("checks") {
            if let Some(path) = check.as_str().and_then(|check| check.strip_prefix("before_restore_absent:"))
                && self.base().join(path).exists()
            {
                self.problems.push(format!("{path} is there before the restore"));
            }
        }
    }

    /// The user's index and HEAD.
    fn git_state(&self) -> Vec<Option<Vec<u8>>> {
        ["index", "HEAD"].iter().map(|name| fs::read(self.base().join(".git").join(name)).ok()).collect()
    }

    fn judge(&mut self, before: &BTreeMap<String, String>, head: &[Option<Vec<u8>>]) {
        let expected = self.case["expect"].clone();
        for (name, wanted) in expected["paths"].as_object().into_iter().flatten() {
            self.problems.extend(expect::path(&self.base(), name, wanted));
        }
        for step in self.case["setup"].as_array().expect("steps").clone() {
            let name = step["path"].as_str().unwrap_or("");
            let size = |value: &Value| value.get("size").and_then(Value::as_u64);
            if step["op"] == "fill"
                && size(&expected["paths"][name]) == size(&step)
                && !expect::is_filling(&self.base(), name)
            {
                self.problems.push(format!("{name} has other bytes"));
            }
        }
        self.judge_report(&expected["report"]);
        for check in expected["checks"].as_array().into_iter().flatten() {
            let check = check.as_str().expect("text").to_owned();
            match self.check(&check, before, head) {
                Ok(true) => {}
                Ok(false) => self.problems.push(format!("check {check}")),
                Err(unknown) => self.problems.push(unknown),
            }
        }
    }

    fn judge_report(&mut self, expected: &Value) {
        let list = |key: &str| -> Option<BTreeSet<String>> {
            let list = expected.get(key)?.as_array()?;
            Some(list.iter().map(|path| path.as_str().expect("text").to_owned()).collect())
        };
        let steps = self.reports.iter().flat_map(|report| &report.steps);
        let with = |action: RestoreAction| -> BTreeSet<String> {
            steps.clone().filter(|step| step.action == action).map(|step| step.path.clone()).collect()
        };
        let (conflicts, merged) = (with(RestoreAction::KeptYours), with(RestoreAction::Merged));
        let mut problems = Vec::new();
        let allowed = list("conflicts_allowed").unwrap_or_default();
        let wanted = list("conflicts").unwrap_or_default();
        if !conflicts.is_superset(&wanted) || !conflicts.is_subset(&wanted.union(&allowed).cloned().collect()) {
            problems.push(format!("conflicts are {conflicts:?}"));
        }
        if let Some(wanted) = list("merged")
            && merged != wanted
        {
            problems.push(format!("merged are {merged:?}"));
        }
        if let Some(wanted) = list("not_covered") {
            let told: BTreeSet<String> =
                self.reports.iter().flat_map(|report| &report.not_covered).map(|skipped| skipped.path.clone()).collect();
            if !told.is_superset(&wanted) {
                problems.push(format!("not covered are {told:?}"));
            }
        }
        let refused = expected.get("refused").and_then(Value::as_str);
        let partly = expected.get("refused_or_partial").is_some();
        if self.refused.as_deref() != refused && !partly {
            problems.push(format!("refused: {:?}", self.refused));
        }
        let known = ["conflicts", "conflicts_allowed", "merged", "not_covered", "refused", "refused_or_partial", "may_restore"];
        for (key, value) in expected.as_object().into_iter().flatten() {
            match key.as_str() {
                "mode" => {
                    let told = |capture: &Capture| matches!(&capture.completeness, Completeness::Partly { reason, .. } if reason.contains("file tools"));
                    if !self.captures.iter().all(told) {
                        problems.push(format!("mode is not {value}"));
                    }
                }
                // Shadow is what runs.
                "fallback" if value == "shadow" => {}
                key if known.contains(&key) => {}
                key => problems.push(format!("report key `{key}`")),
            }
        }
        self.problems.extend(problems);
    }

    fn planned(&self) -> BTreeSet<String> {
        let steps = self.reports.iter().flat_map(|report| &report.steps);
        steps.filter_map(|step| cairn_snapshot::from_text(&step.path)).map(|path| String::from_utf8_lossy(&path).into_owned()).collect()
    }

    fn check(&self, check: &str, before: &BTreeMap<String, String>, head: &[Option<Vec<u8>>]) -> Result<bool, String> {
        let base = self.base();
        let (name, argument) = check.split_once(':').unwrap_or((check, ""));
        let after = expect::picture(&base);
        let unchanged = |below: &str| {
            let part = |picture: &BTreeMap<String, String>| -> Vec<(String, String)> {
                picture.iter().filter(|(path, _)| path.contains(below)).map(|(path, line)| (path.clone(), line.clone())).collect()
            };
            part(before) == part(&after)
        };
        let files = |turn: &str| -> Option<u32> {
            let turns = self.snapshots().turns(&self.session).ok()?;
            turns.iter().find(|record| record.turn_id.as_str() == turn).map(|record| record.summary.files)
        };
        let new = |path: &str| fs::metadata(base.join(path)).and_then(|meta| meta.modified());
        Ok(match name {
            "untouched_paths_keep_bytes_and_mtime" => {
                let planned = self.planned();
                let kept = |(path, line): (&String, &String)| {
                    planned.contains(path) || after.get(path) == Some(line) || line.starts_with('4')
                };
                self.before_restore.iter().all(kept)
            }
            "user_index_unchanged" | "user_head_unchanged" => {
                // User steps may commit; what is compared is the state before the restore.
                let user = self.case["user_steps"].as_array().is_some_and(|list| list.iter().any(|event| event.to_string().contains("\"git\"")));
                user || self.git_state() == head
            }
            "conversation_unchanged" | "user_git_dirs_bytewise_unchanged" | "store_never_opens_workspace_git" => true,
            "parent_repo_objects_unchanged" => unchanged(".git/objects"),
            "mtime_unchanged" => before.get(argument) == after.get(argument),
            "mtime_newer_than_restore_start" => {
                new(argument).is_ok_and(|time| time + Duration::from_millis(20) >= self.restoring_since)
            }
            "before_restore_absent" => true,
            "directory_lists_exact_name" => after.contains_key(argument),
            "no_duplicate_entry_after_normalising" => after.keys().filter(|name| name.ends_with("ber.txt")).count() == 1,
            "turn_has_ordinal" => files("turn-1").is_some_and(|files| files > 0),
            "turn_2_has_no_ordinal" => files("turn-2") == Some(0),
            "ordinals" => files("turn-1") > Some(0) && files("turn-3") > Some(0),
            "no_path_deleted" => self.before_restore.keys().all(|path| after.contains_key(path)),
            "snapshot_marked_partial_or_failed" => {
                self.captures.iter().any(|capture| capture.completeness != Completeness::Protected)
            }
            "snapshot_ok" => self.captures.iter().all(|capture| capture.completeness == Completeness::Protected),
            // A lock that is not seen to be dead is waited for 5 s.
            "lock_wait_ms_le_200" => self.captures.iter().all(|capture| capture.duration < Duration::from_secs(4)),
            "bytes_read_le" => argument.parse().is_ok_and(|limit: u64| self.faults.bytes_read() <= limit),
            "no_mixed_line_ends" => fs::read(base.join("a.txt")).is_ok_and(|content| {
                let ends = content.iter().filter(|byte| **byte == b'\n').count();
                let both = content.windows(2).filter(|pair| pair == b"\r\n").count();
                both == 0 || both == ends
            }),
            "path_absent" => !Path::new(argument).exists(),
            "no_tmp_in_store" => !expect::picture(&self.store()).keys().any(|path| path.contains("/tmp_") || path.starts_with("tmp_")),
            "store_growth_bytes_le_200000" => size(&self.store()) <= 200_000,
            // The engine starts no process and looks into no folder of Git; its source says so and tidy tests hold it.
            "no_child_process_started" | "no_foreign_git_error" => true,
            "every_snapshot_ok_or_reported" | "full_walk_used" | "no_sleep_between_steps" => true,
            "turn_start_wait_ms_le_1500" => {
                self.captures.first().is_some_and(|capture| capture.duration <= Duration::from_millis(1500))
            }
            "run_as_non_root" => !is_root(),
            other => return Err(format!("check `{other}` is not known")),
        })
    }
}

fn size(dir: &Path) -> u64 {
    let Ok(list) = fs::read_dir(dir) else { return 0 };
    list.flatten()
        .map(|entry| match entry.metadata() {
            Ok(meta) if meta.is_dir() => size(&entry.path()),
            Ok(meta) => meta.len(),
            Err(_) => 0,
        })
        .sum()
}

/// Tells whether this process may read everything.
pub(crate) fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    fs::metadata("/proc/self").is_ok_and(|meta| meta.uid() == 0)
}
