//! What is recorded of turns and restores: one manifest commit and one ref a session.
//!
//! Everything that the window shows can be read back from that commit alone. A turn's record never changes once it is
//! written; which of its effects still stand follows from the restores, see [`Session::standing`].

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::os::fd::AsFd;

use cairn_protocol::{
    ChangeSource, Completeness, RestoreId, RestoreReport, SessionId, SkippedPath, Timestamp,
    TurnId, TurnState,
};
use git2::{ObjectType, Oid};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::inner::Inner;
use crate::item::Item;
use crate::names;
use crate::objects::{Objects, hash};
use crate::state::Snap;
use crate::tree::{self, BLOB_MODE, TREE_MODE, TreeEntry};

const VERSION: u32 = 1;

/// One step of a path within a turn. The steps of a path follow each other without a gap.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Delta {
    pub(crate) pre: Option<Item>,
    pub(crate) post: Option<Item>,
    pub(crate) source: ChangeSource,
}

/// All that a turn did to one path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Effect {
    #[serde(with = "names::as_text")]
    pub(crate) path: Vec<u8>,
    pub(crate) deltas: Vec<Delta>,
    pub(crate) added: u32,
    pub(crate) removed: u32,
    pub(crate) binary: bool,
}

impl Effect {
    pub(crate) fn before(&self) -> Option<Item> {
        self.deltas.first().and_then(|delta| delta.pre)
    }

    pub(crate) fn after(&self) -> Option<Item> {
        self.deltas.last().and_then(|delta| delta.post)
    }

    /// Who is named for it: the agent before its commands before anybody else.
    pub(crate) fn source(&self) -> ChangeSource {
        let by = |source| self.deltas.iter().any(|delta| delta.source == source);
        if by(ChangeSource::Agent) {
            ChangeSource::Agent
        } else if by(ChangeSource::Shell) {
            ChangeSource::Shell
        } else {
            ChangeSource::Outside
        }
    }
}

/// The record of a turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct TurnMeta {
    pub(crate) version: u32,
    pub(crate) turn: TurnId,
    pub(crate) number: u32,
    pub(crate) state: TurnState,
    pub(crate) started: Timestamp,
    pub(crate) ended: Option<Timestamp>,
    pub(crate) before: Option<Snap>,
    pub(crate) after: Option<Snap>,
    pub(crate) completeness: Completeness,
    /// Sorted by path.
    pub(crate) effects: Vec<Effect>,
    /// What changed in the turn, or was there, and is not covered.
    pub(crate) skipped: Vec<SkippedPath>,
}

/// What a restore did to one path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RestoreChange {
    #[serde(with = "names::as_text")]
    pub(crate) path: Vec<u8>,
    pub(crate) before: Option<Item>,
    pub(crate) after: Option<Item>,
}

/// An effect: the path of a turn.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct EffectId {
    pub(crate) turn: TurnId,
    #[serde(with = "names::as_text")]
    pub(crate) path: Vec<u8>,
}

/// The record of a restore.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct RestoreMeta {
    pub(crate) version: u32,
    /// Position among the session's restores.
    pub(crate) sequence: u32,
    pub(crate) report: RestoreReport,
    #[serde(with = "crate::item::hex")]
    pub(crate) safety: Oid,
    pub(crate) changes: Vec<RestoreChange>,
    /// Effects that are rolled back by it.
    pub(crate) sets: Vec<EffectId>,
    /// Effects that stand again by it.
    pub(crate) clears: Vec<EffectId>,
}

pub(crate) struct Recorded<T> {
    pub(crate) meta: T,
    tree: Option<Oid>,
}

impl<T> Recorded<T> {
    pub(crate) fn new(meta: T) -> Self {
        Self { meta, tree: None }
    }
}

/// What is recorded of a session.
#[derive(Default)]
pub(crate) struct Session {
    pub(crate) turns: Vec<Recorded<TurnMeta>>,
    pub(crate) restores: Vec<Recorded<RestoreMeta>>,
    commit: Option<Oid>,
}

#[derive(Serialize, Deserialize)]
struct SessionLabel {
    version: u32,
    session: SessionId,
}

impl Session {
    pub(crate) fn turn(&self, turn: &TurnId) -> Option<&TurnMeta> {
        self.turns.iter().map(|turn| &turn.meta).find(|meta| meta.turn == *turn)
    }

    /// Returns which effects are rolled back at present, and by which restore.
    pub(crate) fn standing(&self) -> BTreeMap<EffectId, RestoreId> {
        let mut undone = BTreeMap::new();
        for restore in &self.restores {
            for effect in &restore.meta.sets {
                undone.insert(effect.clone(), restore.meta.report.restore_id.clone());
            }
            for effect in &restore.meta.clears {
                undone.remove(effect);
            }
        }
        undone
    }

    /// Returns, for each restore that does not hold any more, which one took it back.
    pub(crate) fn taken_back(&self) -> HashMap<RestoreId, RestoreId> {
        let mut taken: HashMap<RestoreId, RestoreId> = HashMap::new();
        for restore in &self.restores {
            if let Some(undoes) = &restore.meta.report.undoes {
                // Taking back a taking back makes the first one hold again.
                taken.retain(|_, by| by != undoes);
                taken.insert(undoes.clone(), restore.meta.report.restore_id.clone());
            }
        }
        taken
    }
}

fn ref_name(session: &SessionId) -> Result<String> {
    const DIGITS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    let oid = hash(ObjectType::Blob, session.as_str().as_bytes())?;
    Ok(oid
        .as_bytes()
        .iter()
        .take(12)
        .map(|byte| char::from(DIGITS[usize::from(byte & 31)]))
        .collect())
}

fn damaged(what: &str) -> Error {
    Error::Damaged(format!("{what} can't be read"))
}

impl Inner {
    fn read_ref(&self, name: &str) -> Result<Option<Oid>> {
        match fs::read(self.store.join("git/refs/agent").join(name)) {
            Ok(bytes) => {
                let text = std::str::from_utf8(&bytes).map_err(|_| damaged("a ref"))?;
                Ok(Some(Oid::from_str(text.trim_end()).map_err(|_| damaged("a ref"))?))
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::io("the snapshot store", error)),
        }
    }

    fn write_ref(&self, name: &str, oid: Oid) -> Result<()> {
        let temporary = format!("tmp_{}", uuid::Uuid::new_v4().simple());
        let temporary = temporary.as_bytes();
        let work = || {
            let dir = self.files.open_dir(self.store_dir.as_fd(), b"git/refs/agent")?;
            let dir = dir.as_fd();
            let made = self
                .files
                .create(dir, temporary, format!("{oid}\n").as_bytes(), 0o600)
                .and_then(|()| self.files.sync_file(dir, temporary))
                .and_then(|()| self.files.rename(dir, temporary, dir, name.as_bytes()));
            if made.is_err() {
                // Best effort: what stays is removed at the next opening.
                let _ = self.files.unlink(dir, temporary);
            }
            made.and_then(|()| self.files.sync_dir(dir))
        };
        work().map_err(|error| Error::io("the snapshot store", error))
    }

    /// Reads a session's record, unless the one in memory is current.
    pub(crate) fn load_session(&mut self, session: &SessionId) -> Result<&mut Session> {
        let commit = self.read_ref(&ref_name(session)?)?;
        let current = self.sessions.get(session).is_some_and(|known| known.commit == commit);
        if !current {
            let read = match commit {
                Some(commit) => read_session(&self.objects, commit)?.1,
                None => Session::default(),
            };
            self.sessions.insert(session.clone(), read);
        }
        self.sessions
            .get_mut(session)
            .ok_or_else(|| Error::Internal("a session went missing".into()))
    }

    /// Writes a session's record and everything that was added to the store before, durably.
    pub(crate) fn publish(&mut self, session: &SessionId) -> Result<()> {
        let Some(record) = self.sessions.get_mut(session) else { return Ok(()) };
        let objects = &mut self.objects;
        let mut turns = Vec::new();
        for turn in &mut record.turns {
            let oid = match turn.tree {
                Some(oid) => oid,
                None => write_turn(objects, &turn.meta)?,
            };
            turn.tree = Some(oid);
            turns.push(TreeEntry {
                name: names::component(turn.meta.turn.as_str()).into(),
                mode: TREE_MODE,
                oid,
            });
        }
        let mut restores = Vec::new();
        for restore in &mut record.restores {
            let oid = match restore.tree {
                Some(oid) => oid,
                None => write_restore(objects, &restore.meta)?,
            };
            restore.tree = Some(oid);
            let name = names::component(restore.meta.report.restore_id.as_str()).into();
            restores.push(TreeEntry { name, mode: TREE_MODE, oid });
        }
        let label = SessionLabel { version: VERSION, session: session.clone() };
        let entries = vec![
            TreeEntry {
                name: b"session".to_vec(),
                mode: BLOB_MODE,
                oid: put_json(objects, &label)?,
            },
            TreeEntry {
                name: b"turns".to_vec(),
                mode: TREE_MODE,
                oid: tree::write(objects, turns)?,
            },
            TreeEntry {
                name: b"restores".to_vec(),
                mode: TREE_MODE,
                oid: tree::write(objects, restores)?,
            },
        ];
        let tree = tree::write(objects, entries)?;
        let who = "Cairn <cairn@localhost> 0 +0000";
        let text = format!("tree {tree}\nauthor {who}\ncommitter {who}\n\nturns of a session\n");
        let commit = objects.put(ObjectType::Commit, text.as_bytes())?;
        objects.flush()?;
        self.write_ref(&ref_name(session)?, commit)?;
        if let Some(record) = self.sessions.get_mut(session) {
            record.commit = Some(commit);
        }
        Ok(())
    }

    /// Forgets all that is recorded of a session; its objects go when the store is tidied.
    pub(crate) fn remove_session(&mut self, session: &SessionId) -> Result<()> {
        self.sessions.remove(session);
        let name = ref_name(session)?;
        let work = || {
            let dir = self.files.open_dir(self.store_dir.as_fd(), b"git/refs/agent")?;
            match self.files.unlink(dir.as_fd(), name.as_bytes()) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
                other => other.and_then(|()| self.files.sync_dir(dir.as_fd())),
            }
        };
        work().map_err(|error| Error::io("the snapshot store", error))
    }

    /// Looks at the manifest of every session, to find out whether the store is whole. Their turns are read when asked
    /// for.
    pub(crate) fn check_sessions(&self) -> Result<()> {
        let folder = self.store.join("git/refs/agent");
        for entry in
            fs::read_dir(folder).map_err(|error| Error::io("the snapshot store", error))?.flatten()
        {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with("tmp_") {
                continue;
            }
            let commit = self.read_ref(&name)?.ok_or_else(|| damaged("a ref"))?;
            let label = member(&self.objects, manifest_tree(&self.objects, commit)?, b"session")?;
            read_json::<SessionLabel>(&self.objects, label)?;
        }
        Ok(())
    }
}

fn put_json(objects: &mut Objects, value: &impl Serialize) -> Result<Oid> {
    let bytes = serde_json::to_vec(value).map_err(|error| Error::Internal(error.to_string()))?;
    objects.put(ObjectType::Blob, &bytes)
}

fn contents(objects: &mut Objects, items: impl Iterator<Item = Option<Item>>) -> Result<Oid> {
    let oids: BTreeSet<Oid> =
        items.flatten().map(|item| item.oid).filter(|oid| !oid.is_zero()).collect();
    let entry =
        |oid: &Oid| TreeEntry { name: oid.to_string().into_bytes(), mode: BLOB_MODE, oid: *oid };
    tree::write(objects, oids.iter().map(entry).collect())
}

fn write_turn(objects: &mut Objects, meta: &TurnMeta) -> Result<Oid> {
    let mut entries =
        vec![TreeEntry { name: b"m".to_vec(), mode: BLOB_MODE, oid: put_json(objects, meta)? }];
    for (name, snap) in [("b", meta.before), ("a", meta.after)] {
        let Some(snap) = snap else { continue };
        for (ending, mode, oid) in [
            ("", TREE_MODE, snap.tree),
            ("i", TREE_MODE, snap.ignored),
            ("m", BLOB_MODE, snap.meta),
        ] {
            entries.push(TreeEntry { name: format!("{name}{ending}").into_bytes(), mode, oid });
        }
    }
    let items = meta
        .effects
        .iter()
        .flat_map(|effect| &effect.deltas)
        .flat_map(|delta| [delta.pre, delta.post]);
    let oid = contents(objects, items)?;
    entries.push(TreeEntry { name: b"x".to_vec(), mode: TREE_MODE, oid });
    tree::write(objects, entries)
}

fn write_restore(objects: &mut Objects, meta: &RestoreMeta) -> Result<Oid> {
    let items = meta.changes.iter().flat_map(|change| [change.before, change.after]);
    let x = contents(objects, items)?;
    let entries = vec![
        TreeEntry { name: b"m".to_vec(), mode: BLOB_MODE, oid: put_json(objects, meta)? },
        TreeEntry { name: b"b".to_vec(), mode: TREE_MODE, oid: meta.safety },
        TreeEntry { name: b"x".to_vec(), mode: TREE_MODE, oid: x },
    ];
    tree::write(objects, entries)
}

fn manifest_tree(objects: &Objects, commit: Oid) -> Result<Oid> {
    let bytes = objects.read(commit)?.ok_or_else(|| damaged("a manifest"))?;
    let text = std::str::from_utf8(&bytes).ok().and_then(|text| text.strip_prefix("tree "));
    let tree = text.and_then(|text| text.get(..40)).and_then(|text| Oid::from_str(text).ok());
    tree.ok_or_else(|| damaged("a manifest"))
}

fn read_session(objects: &Objects, commit: Oid) -> Result<(SessionId, Session)> {
    let tree = manifest_tree(objects, commit)?;
    let mut session = Session { commit: Some(commit), ..Session::default() };
    let mut label = None;
    for entry in tree::read(objects, tree)? {
        match entry.name.as_slice() {
            b"session" => label = Some(read_json::<SessionLabel>(objects, entry.oid)?.session),
            b"turns" => {
                for turn in tree::read(objects, entry.oid)? {
                    let meta = read_json(objects, member(objects, turn.oid, b"m")?)?;
                    session.turns.push(Recorded { meta, tree: Some(turn.oid) });
                }
            }
            b"restores" => {
                for restore in tree::read(objects, entry.oid)? {
                    let meta = read_json(objects, member(objects, restore.oid, b"m")?)?;
                    session.restores.push(Recorded { meta, tree: Some(restore.oid) });
                }
            }
            _ => {}
        }
    }
    session.turns.sort_by_key(|turn| (turn.meta.number, turn.meta.started));
    session.restores.sort_by_key(|restore| restore.meta.sequence);
    Ok((label.ok_or_else(|| damaged("a manifest"))?, session))
}

fn member(objects: &Objects, tree: Oid, name: &[u8]) -> Result<Oid> {
    let entries = tree::read(objects, tree)?;
    entries
        .into_iter()
        .find(|entry| entry.name == name)
        .map(|entry| entry.oid)
        .ok_or_else(|| damaged("a record"))
}

fn read_json<T: for<'de> Deserialize<'de>>(objects: &Objects, oid: Oid) -> Result<T> {
    let bytes = objects.read(oid)?.ok_or_else(|| damaged("a record"))?;
    serde_json::from_slice(&bytes).map_err(|error| Error::Damaged(error.to_string()))
}
