//! Turns and their changes as the window shows them, from what is recorded.

use cairn_protocol::{
    ChangeKind, ChangeSource, ChangeSummary, ChangedFile, RestoreRecord, SessionId, SnapshotId,
    Standing, TurnChanges, TurnId, TurnRecord, TurnState,
};

use crate::diff::line_counts;
use crate::error::{Error, Result};
use crate::inner::Inner;
use crate::item::{Item, Kind};
use crate::manifest::{Effect, EffectId, Session, TurnMeta};
use crate::names;
use crate::objects::Objects;

/// Lines are counted for at most this many paths of a turn, and this many bytes: a counter is not worth a wait.
const COUNTED_PATHS: usize = 2000;
const COUNTED_BYTES: u64 = 32 << 20;

/// Counts the lines of each effect.
pub(crate) fn count(objects: &Objects, effects: &mut [Effect]) {
    let mut left = COUNTED_BYTES;
    for effect in effects.iter_mut().take(COUNTED_PATHS) {
        let size = |item: Option<Item>| item.map_or(0, |item| item.size);
        let bytes = size(effect.before()) + size(effect.after());
        if bytes > left {
            continue;
        }
        left -= bytes;
        let read = |item: Option<Item>| match item {
            Some(item) if item.kind != Kind::Dir => objects.read(item.oid).ok().flatten(),
            _ => Some(Vec::new()),
        };
        if let (Some(old), Some(new)) = (read(effect.before()), read(effect.after())) {
            match line_counts(&old, &new) {
                Some((added, removed)) => (effect.added, effect.removed) = (added, removed),
                None => effect.binary = true,
            }
        }
    }
}

/// Tells what happened to a path; `None` when nothing did.
pub(crate) fn kind(before: Option<Item>, after: Option<Item>) -> Option<ChangeKind> {
    match (before, after) {
        _ if before == after => None,
        (None, _) => Some(ChangeKind::Created),
        (_, None) => Some(ChangeKind::Deleted),
        (Some(old), Some(new)) if old.kind != new.kind => Some(ChangeKind::KindChanged),
        (Some(old), Some(new)) if old.oid == new.oid => Some(ChangeKind::ModeChanged),
        _ => Some(ChangeKind::Modified),
    }
}

/// The effects that are worth a line: a folder that came or went only with what is in it is not.
fn shown(meta: &TurnMeta) -> impl Iterator<Item = &Effect> {
    meta.effects.iter().enumerate().filter_map(|(index, effect)| {
        let dir = |item: Option<Item>| item.is_none_or(|item| item.kind == Kind::Dir);
        let only_dir = dir(effect.before())
            && dir(effect.after())
            && effect.before().is_some() != effect.after().is_some();
        // Sorted by bytes, what is below a folder need not follow it directly: `a`, `a-b`, `a/c`.
        let below = || {
            meta.effects[index + 1..].iter().take_while(|next| next.path.starts_with(&effect.path))
        };
        (!only_dir || !below().any(|next| names::is_below(&next.path, &effect.path)))
            .then_some(effect)
    })
}

/// Adds a turn up, without what others did meanwhile.
pub(crate) fn summary(meta: &TurnMeta) -> ChangeSummary {
    let mut summary = ChangeSummary::default();
    for effect in shown(meta).filter(|effect| effect.source() != ChangeSource::Outside) {
        summary.files += 1;
        summary.added += effect.added;
        summary.removed += effect.removed;
    }
    summary
}

fn id(meta: &TurnMeta, effect: &Effect) -> EffectId {
    EffectId { turn: meta.turn.clone(), path: effect.path.clone() }
}

fn record(meta: &TurnMeta, session: &Session) -> TurnRecord {
    let undone = session.standing();
    let own: Vec<&Effect> =
        shown(meta).filter(|effect| effect.source() != ChangeSource::Outside).collect();
    let rolled_back = own.iter().filter(|effect| undone.contains_key(&id(meta, effect))).count();
    let standing = match rolled_back {
        0 => Standing::Active,
        count if count == own.len() => Standing::RolledBack,
        count => Standing::Partly { rolled_back: u32::try_from(count).unwrap_or(u32::MAX) },
    };
    TurnRecord {
        turn_id: meta.turn.clone(),
        number: meta.number,
        before: meta.before.map(|snap| SnapshotId::new(snap.tree.to_string())),
        after: meta.after.map(|snap| SnapshotId::new(snap.tree.to_string())),
        state: meta.state,
        completeness: meta.completeness.clone(),
        summary: summary(meta),
        standing,
        started_at: meta.started,
        ended_at: meta.ended,
    }
}

fn changed_file(meta: &TurnMeta, effect: &Effect, session: &Session) -> Option<ChangedFile> {
    let (before, after) = (effect.before(), effect.after());
    let size =
        |item: Option<Item>| item.filter(|item| item.kind != Kind::Dir).map(|item| item.size);
    let moved = |old: Item| {
        let gone = |other: &&Effect| {
            other.after().is_none()
                && other.before().is_some_and(|before| before.same_content(&old))
        };
        meta.effects.iter().find(gone).map(|other| names::to_text(&other.path))
    };
    let new = after.filter(|item| item.kind == Kind::File && item.size > 0 && before.is_none());
    Some(ChangedFile {
        path: names::to_text(&effect.path),
        kind: kind(before, after)?,
        source: effect.source(),
        renamed_from: new.and_then(moved),
        added: effect.added,
        removed: effect.removed,
        binary: effect.binary,
        old_size: size(before),
        new_size: size(after),
        rolled_back: session.standing().contains_key(&id(meta, effect)),
    })
}

impl Inner {
    pub(crate) fn turns(&mut self, session: &SessionId) -> Result<Vec<TurnRecord>> {
        let open: Vec<TurnMeta> = self
            .open
            .iter()
            .filter(|open| open.session == *session)
            .map(|open| open.meta())
            .collect();
        let record_of = self.load_session(session)?;
        let all = record_of.turns.iter().map(|turn| &turn.meta).chain(&open);
        Ok(all.map(|meta| record(meta, record_of)).collect())
    }

    pub(crate) fn restores(&mut self, session: &SessionId) -> Result<Vec<RestoreRecord>> {
        let record = self.load_session(session)?;
        let taken = record.taken_back();
        let restore = |report: &cairn_protocol::RestoreReport| RestoreRecord {
            report: report.clone(),
            undone_by: taken.get(&report.restore_id).cloned(),
        };
        Ok(record.restores.iter().map(|recorded| restore(&recorded.meta.report)).collect())
    }

    /// Returns the record of a turn, an open one as far as it is known.
    pub(crate) fn turn_of(&mut self, session: &SessionId, turn: &TurnId) -> Result<TurnMeta> {
        if let Some(open) = self.open.iter().find(|open| open.is(session, turn)) {
            return Ok(open.meta());
        }
        let damaged = self.damaged.clone();
        match (self.load_session(session)?.turn(turn), damaged) {
            (Some(meta), _) => Ok(meta.clone()),
            (None, Some(damage)) => Err(Error::Damaged(damage)),
            (None, None) => Err(Error::NotFound(format!("turn {turn}"))),
        }
    }

    pub(crate) fn changes(&mut self, session: &SessionId, turn: &TurnId) -> Result<TurnChanges> {
        let mut meta = self.turn_of(session, turn)?;
        if meta.state == TurnState::Open {
            count(&self.objects, &mut meta.effects);
        }
        let record_of = self.load_session(session)?;
        Ok(TurnChanges {
            files: shown(&meta)
                .filter_map(|effect| changed_file(&meta, effect, record_of))
                .collect(),
            skipped: meta.skipped.clone(),
            turn: record(&meta, record_of),
        })
    }
}
