//! Cases in which something goes wrong: a process dies, a store is damaged, others work beside.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use cairn_protocol::{Completeness, RestoreRequest, RestoreTarget, SessionId, TurnId};
use serde_json::Value;

use super::{World, now};
use crate::expect;
use crate::faults::Fault;
use crate::steps::{self, text};

/// Stops the file operations at each place in turn, opens again, and looks.
pub(super) fn kill_everywhere(case: &Value, fault: &Value) -> Result<(), String> {
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
    pub(super) fn start_faults(&mut self, faults: &[Value]) -> Result<Arc<AtomicBool>, String> {
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
                    fs::File::options()
                        .write(true)
                        .open(&path)
                        .and_then(|file| file.set_modified(old))
                        .expect("dates");
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
                            all.push(
                                snapshots
                                    .begin_turn(&session, &turn, round + 1, now())
                                    .completeness,
                            );
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
            let bad =
                captures.iter().find(|completeness| **completeness != Completeness::Protected);
            if silent || bad.is_some() {
                self.problems.push(format!("writer {writer}: {bad:?}"));
            }
            let turns = self.snapshots().turns(&SessionId::new(format!("crowd-{writer}")));
            if turns.map(|turns| turns.len()).ok() != Some(8) {
                self.problems.push(format!("writer {writer} has lost turns"));
            }
        }
    }

    pub(super) fn corrupt(&mut self, faults: &[Value]) -> Result<(), String> {
        for _ in faults.iter().filter(|fault| fault.get("corrupt").is_some()) {
            self.snapshots = None;
            let nul = |path: &Path| {
                let length = fs::metadata(path).expect("is there").len();
                fs::write(path, vec![0; usize::try_from(length).expect("small")]).expect("writes");
            };
            nul(&self.store().join("git/config"));
            for entry in fs::read_dir(self.store().join("git/refs/agent")).expect("lists").flatten()
            {
                nul(&entry.path());
            }
            self.reopen()?;
        }
        Ok(())
    }
}
