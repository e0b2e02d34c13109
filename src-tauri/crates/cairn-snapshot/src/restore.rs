//! Does what a plan says: safety first, then a synced journal, staged contents, checked edits, and a second look.
//!
//! There is no step that makes a folder look like a snapshot. The edits are in `restore/edits.rs`, the journal in
//! `restore/journal.rs`; what a crash leaves behind is settled by `recover.rs`.

pub(crate) mod edits;
pub(crate) mod journal;

use std::collections::BTreeMap;
use std::os::fd::AsFd;

use cairn_protocol::{
    RestoreAction, RestoreId, RestoreOutcome, RestoreReport, RestoreRequest, SessionId,
    SkippedPath, SnapshotId, Timestamp,
};
use git2::ObjectType;

use crate::error::{Error, Result};
use crate::inner::Inner;
use crate::item::{Item, Kind};
use crate::manifest::{EffectId, Recorded, RestoreChange, RestoreMeta};
use crate::names;
use crate::plan::{Plan, Planned};
use crate::tree;
use edits::Edit;
use journal::Job;

/// Space that a restore leaves free beyond what it writes, in bytes; on small disks a twentieth of them.
const SPARE_BYTES: u64 = 64 << 20;

impl Inner {
    pub(crate) fn restore(
        &mut self,
        request: &RestoreRequest,
        token: &str,
        now: Timestamp,
    ) -> Result<RestoreReport> {
        self.check_root()?;
        let _lock = self.lock()?;
        self.check_idle(&request.session_id)?;
        let plan = self.make_plan(request)?;
        if plan.token(request)? != token {
            return Err(Error::Stale);
        }
        let report = RestoreReport {
            restore_id: RestoreId::new(uuid::Uuid::now_v7().to_string()),
            session_id: request.session_id.clone(),
            turn_id: request.turn_id.clone(),
            target: Some(request.target),
            undoes: None,
            outcome: RestoreOutcome::Exact,
            steps: Vec::new(),
            not_covered: plan.not_covered.clone(),
            safety: SnapshotId::new(""),
            at: now,
        };
        self.run(plan, report, Sense::Away)
    }

    pub(crate) fn bring_back(
        &mut self,
        session: &SessionId,
        restore: Option<&RestoreId>,
        now: Timestamp,
    ) -> Result<RestoreReport> {
        self.check_root()?;
        let _lock = self.lock()?;
        self.check_idle(session)?;
        let damaged = self.damaged.clone();
        let record = self.load_session(session)?;
        let taken = record.taken_back();
        let mut held = record.restores.iter().map(|recorded| &recorded.meta).rev();
        let found = held.find(|meta| match restore {
            Some(id) => meta.report.restore_id == *id,
            None => meta.report.undoes.is_none() && !taken.contains_key(&meta.report.restore_id),
        });
        let Some(meta) = found.cloned() else {
            return Err(match damaged {
                Some(damage) => Error::Damaged(damage),
                None => Error::NotFound("a rollback that can be taken back".to_owned()),
            });
        };
        if taken.contains_key(&meta.report.restore_id) {
            return Err(Error::Invalid("this rollback was taken back already".to_owned()));
        }
        let plan = self.plan_bring_back(session, &meta)?;
        let report = RestoreReport {
            restore_id: RestoreId::new(uuid::Uuid::now_v7().to_string()),
            session_id: session.clone(),
            turn_id: meta.report.turn_id.clone(),
            target: None,
            undoes: Some(meta.report.restore_id.clone()),
            outcome: RestoreOutcome::Exact,
            steps: Vec::new(),
            not_covered: plan.not_covered.clone(),
            safety: SnapshotId::new(""),
            at: now,
        };
        // Taking back what rolled back makes effects stand again; taking that back rolls them back once more.
        let sense =
            if meta.sets.is_empty() && !meta.clears.is_empty() { Sense::Away } else { Sense::Back };
        self.run(plan, report, sense)
    }

    fn check_idle(&self, session: &SessionId) -> Result<()> {
        let here = self.open.iter().any(|open| open.session == *session);
        let elsewhere = || self.turns_elsewhere().iter().any(|open| open.session == *session);
        if here || elsewhere() { Err(Error::TurnInProgress) } else { Ok(()) }
    }

    fn run(
        &mut self,
        mut plan: Plan,
        report: RestoreReport,
        sense: Sense,
    ) -> Result<RestoreReport> {
        self.check_space(&plan)?;
        let id = report.restore_id.clone();
        let safety = self.keep_safe(&plan)?;
        let mut edits =
            plan.paths.iter().filter(|planned| planned.changes()).map(Edit::of).collect::<Vec<_>>();
        let sequence = self.load_session(&report.session_id)?.restores.len();
        let mut job = Job {
            id: id.as_str().to_owned(),
            meta: RestoreMeta {
                version: 1,
                sequence: u32::try_from(sequence).unwrap_or(u32::MAX),
                report,
                safety,
                changes: Vec::new(),
                sets: Vec::new(),
                clears: Vec::new(),
            },
            edits: Vec::new(),
        };
        job.meta.report.safety = SnapshotId::new(safety.to_string());
        fill(&mut job, &plan, &edits, sense);
        if edits.is_empty() {
            self.record_restore(&job)?;
            return Ok(job.meta.report);
        }
        self.write_journal(&job)?;
        let staged = match self.stage(&job.id, &edits) {
            Ok(staged) => staged,
            Err(error) => {
                self.end_journal();
                return Err(error);
            }
        };
        // What moved between the plan and now is the user's; it is left out and said.
        for edit in &mut edits {
            if !self.is_as_expected(edit) {
                demote(&mut plan, &edit.path, "you changed it just now");
            }
        }
        self.leave_out_kept(&mut plan, &mut edits);
        if let Err((error, done)) = self.carry_out(&mut edits, &staged) {
            self.unstage(&staged);
            let undone = self.undo_edits(&job.id, &done);
            if undone {
                self.end_journal();
            }
            return Err(error);
        }
        self.unstage(&staged);
        for edit in edits.iter().filter(|edit| edit.skipped.is_some()) {
            demote(&mut plan, &edit.path, edit.skipped.unwrap_or_default());
        }
        edits.retain(|edit| edit.skipped.is_none());
        let differences = self.verify(&edits);
        if !differences.is_empty() {
            job.meta.report.outcome = RestoreOutcome::Differences { paths: differences };
        }
        fill(&mut job, &plan, &edits, sense);
        self.settle(&edits);
        self.record_restore(&job)?;
        self.end_journal();
        Ok(job.meta.report)
    }

    /// Stores what will be overwritten or deleted, and what will be written, durably (I3).
    fn keep_safe(&mut self, plan: &Plan) -> Result<git2::Oid> {
        let mut safety = BTreeMap::new();
        for planned in plan.paths.iter().filter(|planned| planned.changes()) {
            if let Some(content) = planned.wanted.and_then(|item| plan.merged.get(&item.oid)) {
                self.objects.put(ObjectType::Blob, content)?;
            }
            let Some(item) = planned.item() else { continue };
            if item.kind == Kind::File && !self.objects.has_content(item.oid) {
                let content = self.content_now(&planned.path)?.ok_or(Error::Stale)?;
                if self.objects.put(ObjectType::Blob, &content)? != item.oid {
                    return Err(Error::Stale);
                }
            }
            if item.kind != Kind::Dir {
                safety.insert(planned.path.clone(), (item.git_mode(), item.oid));
            }
        }
        let tree = match tree::write_nested(&mut self.objects, &safety)? {
            Some(tree) => tree,
            None => tree::write(&mut self.objects, Vec::new())?,
        };
        self.objects.flush()?;
        Ok(tree)
    }

    fn check_space(&self, plan: &Plan) -> Result<()> {
        let bytes = |item: Option<Item>| item.map_or(0, |item| item.size);
        let changed = plan.paths.iter().filter(|planned| planned.changes());
        let needed: u64 =
            changed.map(|planned| bytes(planned.item()) + bytes(planned.wanted)).sum();
        if needed == 0 {
            return Ok(());
        }
        for dir in [self.store_dir.as_fd(), self.root.as_fd()] {
            let Ok(stat) = nix::sys::statvfs::fstatvfs(dir) else { continue };
            let unit = stat.fragment_size();
            let (free, all) = (stat.blocks_available() * unit, stat.blocks() * unit);
            if free < needed + SPARE_BYTES.min(all / 20) {
                return Err(Error::NoSpace(
                    "the rollback was not begun and nothing was touched".to_owned(),
                ));
            }
        }
        Ok(())
    }

    /// Takes out the edits whose path is kept after all, with those that depend on them.
    fn leave_out_kept(&self, plan: &mut Plan, edits: &mut Vec<Edit>) {
        self.resettle(plan);
        edits.retain(|edit| {
            plan.paths.iter().any(|planned| planned.path == edit.path && planned.changes())
        });
    }

    /// Reads every path again; returns what is not as it should be.
    fn verify(&mut self, edits: &[Edit]) -> Vec<SkippedPath> {
        let mut differences = Vec::new();
        for edit in edits {
            let now = self
                .read_path(&edit.path, None, false)
                .map(|entry| entry.and_then(|entry| entry.item()));
            let reason = match now {
                Ok(item) if item == edit.target => continue,
                Ok(_) => "it is not as it should be after the rollback".to_owned(),
                Err(error) => format!("it can't be read after the rollback: {error}"),
            };
            differences.push(SkippedPath { path: names::to_text(&edit.path), reason });
        }
        differences
    }

    /// Tells the stat cache and the running turns of other sessions that these paths changed.
    fn settle(&mut self, edits: &[Edit]) {
        for edit in edits {
            for open in &mut self.open {
                open.foreign.insert(edit.path.clone());
            }
        }
    }

    pub(crate) fn record_restore(&mut self, job: &Job) -> Result<()> {
        let session = job.meta.report.session_id.clone();
        let record = self.load_session(&session)?;
        record
            .restores
            .retain(|restore| restore.meta.report.restore_id != job.meta.report.restore_id);
        record.restores.push(Recorded::new(job.meta.clone()));
        let published = self.publish(&session);
        if published.is_err() {
            self.sessions.remove(&session);
        }
        published
    }
}

/// Whether a restore takes effects away or lets them stand again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sense {
    Away,
    Back,
}

fn demote(plan: &mut Plan, path: &[u8], note: &str) {
    if let Some(planned) = plan.paths.iter_mut().find(|planned| planned.path == path) {
        planned.keep(note);
    }
}

/// Writes into the record what the plan and the edits are now.
fn fill(job: &mut Job, plan: &Plan, edits: &[Edit], sense: Sense) {
    let settled = |planned: &&Planned| planned.action != RestoreAction::KeptYours;
    let effects: Vec<EffectId> =
        plan.paths.iter().filter(settled).flat_map(|planned| planned.effects.clone()).collect();
    match sense {
        Sense::Away => job.meta.sets = effects,
        Sense::Back => job.meta.clears = effects,
    }
    let change = |edit: &Edit| RestoreChange {
        path: edit.path.clone(),
        before: edit.expect,
        after: edit.target,
    };
    job.meta.changes = edits.iter().map(change).collect();
    job.meta.report.steps = plan.paths.iter().map(Planned::step).collect();
    job.edits = edits.to_vec();
}
