//! Decides what a rollback does with each path. Nothing is touched here.
//!
//! A plan has the paths of the turns' own effects and no other, however different the workspace is (I2). What is done
//! with it is in `restore.rs`; the rule for one path is in `merge.rs`, that for folders in `plan/folders.rs`.

mod folders;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use cairn_protocol::{
    ChangeSource, RestoreAction, RestorePlan, RestoreRequest, RestoreStep, RestoreTarget,
    SessionId, SkippedPath,
};
use git2::{ObjectType, Oid};
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::diff::line_counts;
use crate::error::{Error, Result};
use crate::inner::Inner;
use crate::item::{Entry, Item, Kind, What};
use crate::manifest::{Delta, EffectId, RestoreMeta};
use crate::merge::{Verdict, take_back};
use crate::names;
use crate::objects::hash;
use crate::open_turn::OpenTurn;

/// Lines are counted for paths with at most this many bytes on both sides together.
const COUNTED_BYTES: u64 = 1 << 20;

/// A step that is to be taken back, or passed over because somebody else made it.
#[derive(Debug, Clone)]
struct Step {
    delta: Delta,
    take: bool,
}

/// All that is to be taken back of one path, oldest first.
#[derive(Debug, Clone, Default)]
pub(crate) struct Chain {
    steps: Vec<Step>,
    effects: Vec<EffectId>,
}

/// What is decided for one path.
#[derive(Debug, Clone)]
pub(crate) struct Planned {
    pub(crate) path: Vec<u8>,
    pub(crate) now: Option<Entry>,
    pub(crate) wanted: Option<Item>,
    pub(crate) action: RestoreAction,
    pub(crate) note: Option<String>,
    pub(crate) effects: Vec<EffectId>,
    added: u32,
    removed: u32,
}

impl Planned {
    /// A folder that is missing and will be made.
    fn folder(path: Vec<u8>, folder: Item) -> Self {
        let action = RestoreAction::CreatedAgain;
        Self {
            path,
            now: None,
            wanted: Some(folder),
            action,
            note: None,
            effects: Vec::new(),
            added: 0,
            removed: 0,
        }
    }

    pub(crate) fn item(&self) -> Option<Item> {
        self.now.and_then(|entry| entry.item())
    }

    pub(crate) fn changes(&self) -> bool {
        !matches!(self.action, RestoreAction::KeptYours | RestoreAction::Unchanged)
    }

    fn decide(&mut self, wanted: Option<Item>, merged: bool) {
        self.wanted = wanted;
        self.action = match (self.item(), wanted) {
            (now, wanted) if now == wanted => RestoreAction::Unchanged,
            (_, None) => RestoreAction::Deleted,
            (None, _) => RestoreAction::CreatedAgain,
            _ if merged => RestoreAction::Merged,
            _ => RestoreAction::TakenBack,
        };
        if self.action == RestoreAction::Merged {
            self.note = Some("your later edit is kept".to_owned());
        }
    }

    pub(crate) fn keep(&mut self, note: impl Into<String>) {
        self.action = RestoreAction::KeptYours;
        self.wanted = self.item();
        self.note = Some(note.into());
        (self.added, self.removed) = (0, 0);
    }

    pub(crate) fn step(&self) -> RestoreStep {
        RestoreStep {
            path: names::to_text(&self.path),
            action: self.action,
            note: self.note.clone(),
            added: self.added,
            removed: self.removed,
        }
    }
}

/// A whole plan.
#[derive(Debug, Clone, Default)]
pub(crate) struct Plan {
    /// Sorted by path.
    pub(crate) paths: Vec<Planned>,
    pub(crate) not_covered: Vec<SkippedPath>,
    /// Contents that the store does not have yet.
    pub(crate) merged: HashMap<Oid, Vec<u8>>,
}

impl Plan {
    /// The hash by which a confirmation says what it confirms.
    pub(crate) fn token(&self, about: &impl Serialize) -> Result<String> {
        let lines: Vec<_> = self
            .paths
            .iter()
            .map(|planned| {
                (
                    names::to_text(&planned.path),
                    planned.item(),
                    planned.wanted,
                    planned.action,
                    &planned.note,
                )
            })
            .collect();
        let text = serde_json::to_vec(&(about, lines))
            .map_err(|error| Error::Internal(error.to_string()))?;
        Ok(Sha256::digest(&text).iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

impl Inner {
    pub(crate) fn plan(&mut self, request: &RestoreRequest) -> Result<RestorePlan> {
        self.check_root()?;
        let plan = self.make_plan(request)?;
        Ok(RestorePlan {
            request: request.clone(),
            token: plan.token(request)?,
            steps: plan.paths.iter().map(Planned::step).collect(),
            not_covered: plan.not_covered,
        })
    }

    /// Collects what a request is about and decides each path.
    pub(crate) fn make_plan(&mut self, request: &RestoreRequest) -> Result<Plan> {
        let paths = |list: &[String]| -> Result<BTreeSet<Vec<u8>>> {
            let path = |text: &String| {
                names::from_text(text)
                    .ok_or_else(|| Error::Invalid(format!("{text} is not a path of the workspace")))
            };
            list.iter().map(path).collect()
        };
        let selected = request.paths.as_deref().map(paths).transpose()?;
        let take_snapshot = paths(&request.take_snapshot)?;
        let open = self.open.iter().any(|open| open.is(&request.session_id, &request.turn_id));
        if open && request.target != RestoreTarget::After {
            return Err(Error::TurnInProgress);
        }
        // Fails when the turn is not known.
        self.turn_of(&request.session_id, &request.turn_id)?;
        let session = self.load_session(&request.session_id)?;
        let undone = session.standing();
        let at = session.turns.iter().position(|turn| turn.meta.turn == request.turn_id);
        let at = at.ok_or(Error::TurnInProgress)?;
        let range = match request.target {
            RestoreTarget::Before => at..session.turns.len(),
            RestoreTarget::After => at + 1..session.turns.len(),
            RestoreTarget::Revert => at..at + 1,
        };
        let mut chains: BTreeMap<Vec<u8>, Chain> = BTreeMap::new();
        let mut not_covered: BTreeMap<String, String> = BTreeMap::new();
        for turn in &session.turns[range] {
            for skipped in &turn.meta.skipped {
                not_covered.insert(skipped.path.clone(), skipped.reason.clone());
            }
            for effect in &turn.meta.effects {
                let id = EffectId { turn: turn.meta.turn.clone(), path: effect.path.clone() };
                let wanted =
                    selected.as_ref().is_none_or(|selected| is_selected(selected, &effect.path));
                let named =
                    selected.as_ref().is_some_and(|selected| selected.contains(&effect.path));
                let others = effect.source() == ChangeSource::Outside;
                if undone.contains_key(&id) || !wanted || (others && !named) {
                    continue;
                }
                let chain = chains.entry(effect.path.clone()).or_default();
                chain.effects.push(id);
                for delta in &effect.deltas {
                    let take = others || delta.source != ChangeSource::Outside;
                    chain.steps.push(Step { delta: delta.clone(), take });
                }
            }
        }
        let busy = self.busy_paths(&request.session_id);
        let mut plan = self.decide(chains, &take_snapshot, &busy)?;
        let skipped = |(path, reason)| SkippedPath { path, reason };
        plan.not_covered.extend(not_covered.into_iter().map(skipped));
        plan.not_covered.sort_by(|a, b| a.path.cmp(&b.path));
        plan.not_covered.dedup_by(|a, b| a.path == b.path);
        Ok(plan)
    }

    /// Collects what a restore did, to take it back.
    pub(crate) fn plan_bring_back(
        &mut self,
        session: &SessionId,
        restore: &RestoreMeta,
    ) -> Result<Plan> {
        let mut chains: BTreeMap<Vec<u8>, Chain> = BTreeMap::new();
        for change in &restore.changes {
            let delta =
                Delta { pre: change.before, post: change.after, source: ChangeSource::Agent };
            let of_path = |id: &&EffectId| id.path == change.path;
            let effects =
                restore.sets.iter().chain(&restore.clears).filter(of_path).cloned().collect();
            chains.insert(
                change.path.clone(),
                Chain { steps: vec![Step { delta, take: true }], effects },
            );
        }
        // What needed no change then needs none now, but its effects stand again.
        for id in restore.sets.iter().chain(&restore.clears) {
            let chain = chains.entry(id.path.clone()).or_default();
            if chain.steps.is_empty() && !chain.effects.contains(id) {
                chain.effects.push(id.clone());
            }
        }
        let busy = self.busy_paths(session);
        self.decide(chains, &BTreeSet::new(), &busy)
    }

    /// The paths that running turns of other sessions have changed so far.
    fn busy_paths(&self, session: &SessionId) -> BTreeSet<Vec<u8>> {
        let mut paths = BTreeSet::new();
        let own = self.open.iter().filter(|open| open.session != *session);
        for open in own {
            paths.extend(open.deltas.keys().cloned());
        }
        for open in self.turns_elsewhere() {
            paths.extend(open.deltas.into_keys());
        }
        paths
    }

    /// The turns that other processes run on this workspace.
    pub(crate) fn turns_elsewhere(&self) -> Vec<OpenTurn> {
        let Ok(list) = std::fs::read_dir(self.store.join("open")) else { return Vec::new() };
        let read = |path: std::path::PathBuf| OpenTurn::from_journal(&std::fs::read(path).ok()?);
        list.flatten()
            .map(|entry| entry.path())
            .filter(|path| OpenTurn::is_alive(path))
            .filter_map(read)
            .filter(|open| !self.open.iter().any(|own| own.is(&open.session, &open.turn)))
            .collect()
    }

    fn decide(
        &mut self,
        chains: BTreeMap<Vec<u8>, Chain>,
        take_snapshot: &BTreeSet<Vec<u8>>,
        busy: &BTreeSet<Vec<u8>>,
    ) -> Result<Plan> {
        let mut plan = Plan::default();
        for (path, chain) in chains {
            let planned = self.decide_path(path, &chain, take_snapshot, busy, &mut plan)?;
            plan.paths.push(planned);
        }
        self.settle_folders(&mut plan);
        self.add_way(&mut plan);
        for planned in &mut plan.paths {
            if planned.changes() {
                (planned.added, planned.removed) =
                    self.lines(planned.item(), planned.wanted, &plan.merged);
            }
        }
        Ok(plan)
    }

    /// Corrects a plan again after some of its paths were kept.
    pub(crate) fn resettle(&self, plan: &mut Plan) {
        self.settle_folders(plan);
    }

    fn decide_path(
        &mut self,
        path: Vec<u8>,
        chain: &Chain,
        take_snapshot: &BTreeSet<Vec<u8>>,
        busy: &BTreeSet<Vec<u8>>,
        plan: &mut Plan,
    ) -> Result<Planned> {
        let known = self.state.get(&path).copied();
        let read = self.read_path(&path, known.as_ref(), false);
        let now = read.as_ref().ok().copied().flatten();
        let mut planned = Planned {
            now,
            wanted: None,
            action: RestoreAction::Unchanged,
            note: None,
            effects: chain.effects.clone(),
            added: 0,
            removed: 0,
            path,
        };
        planned.wanted = planned.item();
        if chain.steps.is_empty() {
            return Ok(planned);
        }
        if let Err(error) = read {
            planned.keep(format!("it can't be read: {error}"));
            return Ok(planned);
        }
        if let Some(Entry { what: What::Left(left), .. }) = now {
            planned.keep(format!("what is there now can't be kept safe: {}", left.reason()));
            return Ok(planned);
        }
        if busy.contains(&planned.path) {
            planned.keep("a turn of another session is changing it");
            return Ok(planned);
        }
        let outcome = self.walk_back(chain, &planned, plan)?;
        let (wanted, merged) = match outcome {
            Ok(both) => both,
            Err(_) if take_snapshot.contains(&planned.path) => {
                let first = chain.steps.iter().find(|step| step.take);
                planned.note =
                    Some("your version is kept in the state before this rollback".to_owned());
                (first.and_then(|step| step.delta.pre), false)
            }
            Err(reason) => {
                planned.keep(reason);
                return Ok(planned);
            }
        };
        if let Some(item) = wanted.filter(|item| item.kind != Kind::Dir)
            && Some(item.oid) != planned.item().map(|item| item.oid)
            && !plan.merged.contains_key(&item.oid)
            && !self.objects.has_content(item.oid)
        {
            let reason = "its earlier content was not kept";
            plan.not_covered.push(SkippedPath {
                path: names::to_text(&planned.path),
                reason: reason.to_owned(),
            });
            planned.keep(reason);
            return Ok(planned);
        }
        planned.decide(wanted, merged);
        Ok(planned)
    }

    /// Takes the steps of a path back, the latest first; what others did between stays. The error is the reason of a
    /// conflict.
    fn walk_back(
        &mut self,
        chain: &Chain,
        planned: &Planned,
        plan: &mut Plan,
    ) -> Result<std::result::Result<(Option<Item>, bool), &'static str>> {
        let mut state = planned.item();
        let mut merged = false;
        let now = planned.item();
        let mut index = chain.steps.len();
        while index > 0 {
            index -= 1;
            if !chain.steps[index].take {
                continue;
            }
            let after = chain.steps[index].delta.post;
            let mut before = chain.steps[index].delta.pre;
            while index > 0
                && chain.steps[index - 1].take
                && chain.steps[index - 1].delta.post == before
            {
                index -= 1;
                before = chain.steps[index].delta.pre;
            }
            let mut read = |oid: Oid| -> Result<Option<Vec<u8>>> {
                if let Some(content) = plan.merged.get(&oid) {
                    return Ok(Some(content.clone()));
                }
                if now.is_some_and(|now| now.oid == oid)
                    && let Some(content) = self.content_now(&planned.path)?
                {
                    return Ok(Some(content));
                }
                self.objects.read(oid)
            };
            match take_back(before, after, state, &mut read)? {
                Verdict::Same => {}
                Verdict::Becomes(item) => state = item,
                Verdict::Merged { content, mode } => {
                    merged = true;
                    let oid = hash(ObjectType::Blob, &content)?;
                    state = Some(Item { kind: Kind::File, mode, size: content.len() as u64, oid });
                    plan.merged.insert(oid, content);
                }
                Verdict::Keep(reason) => return Ok(Err(reason)),
            }
        }
        Ok(Ok((state, merged)))
    }

    /// Reads the present bytes of a regular file.
    pub(crate) fn content_now(&self, path: &[u8]) -> Result<Option<Vec<u8>>> {
        use std::os::fd::AsFd;
        let (dir, name) = names::split(path);
        let limit = self.options.limits.edit_file_bytes;
        let read = || {
            let dir = self.files.open_dir(self.root.as_fd(), dir)?;
            self.files.read(dir.as_fd(), name, limit)
        };
        match read() {
            Ok((content, _)) => Ok(Some(content)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::io(names::to_text(path), error)),
        }
    }

    fn lines(
        &self,
        now: Option<Item>,
        wanted: Option<Item>,
        merged: &HashMap<Oid, Vec<u8>>,
    ) -> (u32, u32) {
        let file = |item: Option<Item>| item.filter(|item| item.kind != Kind::Dir);
        let (now, wanted) = (file(now), file(wanted));
        let size = |item: Option<Item>| item.map_or(0, |item| item.size);
        if size(now) + size(wanted) > COUNTED_BYTES {
            return (0, 0);
        }
        let read = |item: Option<Item>| match item {
            Some(item) => merged
                .get(&item.oid)
                .cloned()
                .or_else(|| self.objects.read(item.oid).ok().flatten()),
            None => Some(Vec::new()),
        };
        match (read(now), read(wanted)) {
            (Some(old), Some(new)) => line_counts(&old, &new).unwrap_or_default(),
            _ => (0, 0),
        }
    }
}

/// Tells whether a selection names a path, or a folder above it.
fn is_selected(selected: &BTreeSet<Vec<u8>>, path: &[u8]) -> bool {
    selected.contains(path) || selected.iter().any(|folder| names::is_below(path, folder))
}
