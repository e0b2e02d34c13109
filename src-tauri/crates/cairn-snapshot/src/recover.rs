//! After a crash: an interrupted restore is finished or undone, turns that were left open are closed.
//!
//! Each step looks at what is there and can itself be interrupted (I5).

use cairn_protocol::{RestoreOutcome, RestoreReport, SessionId, SkippedPath, Timestamp, TurnState};

use crate::error::Result;
use crate::inner::Inner;
use crate::names;
use crate::open_turn::OpenTurn;
use crate::restore::edits::Edit;
use crate::restore::journal::Job;
use crate::state::{Change, load};

impl Inner {
    pub(crate) fn recover(&mut self, now: Timestamp) -> Vec<RestoreReport> {
        let Ok(lock) = self.lock() else { return Vec::new() };
        let mut reports = Vec::new();
        match self.read_journal() {
            Some(job) => reports.extend(self.finish(job)),
            // A torn line was written before the first edit: nothing has happened.
            None => self.end_journal(),
        }
        drop(lock);
        for (session, open) in self.crashed_turns() {
            // What can't be closed now stays for the next opening.
            let _ = self.close_crashed(&session, open, now);
        }
        reports
    }

    /// Brings a restore to its end when any of its edits was made, else drops it.
    fn finish(&mut self, mut job: Job) -> Option<RestoreReport> {
        let mut pending: Vec<Edit> = Vec::new();
        let mut foreign: Vec<SkippedPath> = Vec::new();
        let mut made = 0;
        for edit in &job.edits {
            let now = self
                .read_path(&edit.path, None, false)
                .map(|entry| entry.and_then(|entry| entry.item()));
            match now {
                Ok(item) if item == edit.target => made += usize::from(edit.expect != edit.target),
                Ok(item) if item == edit.expect => pending.push(edit.clone()),
                // A name that a kind swap had removed and not yet put back.
                Ok(None) if edit.expect.is_some() && edit.target.is_some() => {
                    made += 1;
                    pending.push(Edit::from_nothing(edit));
                }
                _ => foreign.push(SkippedPath {
                    path: names::to_text(&edit.path),
                    reason:
                        "it was changed while a rollback was interrupted, and was left as it is"
                            .to_owned(),
                }),
            }
        }
        if made == 0 {
            self.drop_stage(&job);
            self.end_journal();
            return None;
        }
        let staged = self.stage(&job.id, &pending).ok()?;
        let result = self.carry_out(&mut pending, &staged);
        self.unstage(&staged);
        self.drop_stage(&job);
        if result.is_err() {
            return None;
        }
        for edit in pending.iter().filter(|edit| edit.skipped.is_some()) {
            let reason = edit.skipped.unwrap_or_default().to_owned();
            foreign.push(SkippedPath { path: names::to_text(&edit.path), reason });
        }
        let left = |path: &[u8]| foreign.iter().any(|skipped| skipped.path == names::to_text(path));
        job.meta.sets.retain(|effect| !left(&effect.path));
        job.meta.clears.retain(|effect| !left(&effect.path));
        job.meta.changes.retain(|change| !left(&change.path));
        if !foreign.is_empty() {
            job.meta.report.outcome = RestoreOutcome::Differences { paths: foreign };
        }
        self.record_restore(&job).ok()?;
        self.end_journal();
        Some(job.meta.report)
    }

    fn drop_stage(&mut self, job: &Job) {
        // An empty list stages nothing, and un-staging by the full count removes what an earlier process left.
        if let Ok(stage) = self.stage(&job.id, &[]) {
            self.unstage(&stage.with_count(job.edits.len()));
        }
    }

    fn crashed_turns(&self) -> Vec<(SessionId, OpenTurn)> {
        let Ok(list) = std::fs::read_dir(self.store.join("open")) else { return Vec::new() };
        let mut turns = Vec::new();
        for path in list.flatten().map(|entry| entry.path()) {
            if OpenTurn::is_alive(&path) {
                continue;
            }
            let open = std::fs::read(&path).ok().and_then(|bytes| OpenTurn::from_journal(&bytes));
            if let Some(open) = open {
                turns.push((open.session.clone(), open));
            }
        }
        turns
    }

    /// Compares the state before a turn, and what is known of the turn, with what is there now.
    fn close_crashed(
        &mut self,
        session: &SessionId,
        mut open: OpenTurn,
        now: Timestamp,
    ) -> Result<()> {
        let recorded = self.load_session(session)?.turn(&open.turn).is_some();
        if recorded {
            // It was recorded, and the crash came before its journal could go.
            return OpenTurn::end_journal(session, self.files.as_ref(), self.store_fd());
        }
        if let Some(before) = open.before {
            self.scan()?;
            let mut known = load(&self.objects, &before)?;
            for (path, deltas) in &open.deltas {
                match deltas.last().and_then(|delta| delta.post) {
                    Some(item) => drop(known.insert(path.clone(), item)),
                    None => drop(known.remove(path)),
                }
            }
            let mut changes = Vec::new();
            for (dir, node) in self.state.nodes() {
                for (name, entry) in &node.entries {
                    let path = names::join(dir, name);
                    let (pre, post) = (known.remove(&path), entry.item());
                    if pre != post && post.is_some() && (pre.is_some() || !open.was_left(&path)) {
                        changes.push(Change { path, pre, post, at: Some(entry.stamp.ctime) });
                    }
                }
            }
            for (path, item) in known {
                // What is not covered any more may be there still.
                let now = self.read_path(&path, None, true)?.and_then(|entry| entry.item());
                if now != Some(item) {
                    changes.push(Change { path, pre: Some(item), post: now, at: None });
                }
            }
            for change in changes {
                let source = open.attribute(&change);
                open.push(&change.path, change.pre, change.post, source);
            }
        }
        open.complete_sizes(&self.objects);
        self.adopt(open);
        let turn = self.open.last().map(|open| open.turn.clone());
        if let Some(turn) = turn {
            self.close_turn(session, &turn, now, TurnState::Crashed);
        }
        Ok(())
    }
}
