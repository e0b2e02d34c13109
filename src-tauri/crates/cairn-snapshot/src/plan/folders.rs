//! What a plan must not do because of the folders around a path.
//!
//! A folder goes only when nothing but the plan's own deletions is in it, and nothing is put where the way to it is
//! not made of folders.

use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::AsFd;

use cairn_protocol::RestoreAction;
use git2::Oid;

use super::{Plan, Planned};
use crate::inner::Inner;
use crate::item::{Item, Kind, StatKind};
use crate::names;

/// The mode of a folder that is made on the way to a path.
const FOLDER_MODE: u32 = 0o755;

fn is_dir(item: Option<Item>) -> bool {
    item.is_some_and(|item| item.kind == Kind::Dir)
}

impl Inner {
    /// Corrects a plan for the folders that its paths lie in.
    pub(super) fn settle_folders(&self, plan: &mut Plan) {
        let at: BTreeMap<Vec<u8>, usize> = plan
            .paths
            .iter()
            .enumerate()
            .map(|(index, planned)| (planned.path.clone(), index))
            .collect();
        // A step that is kept can block another one, which can block a third: at most one more in each round.
        for _ in 0..=plan.paths.len() {
            let before: Vec<RestoreAction> =
                plan.paths.iter().map(|planned| planned.action).collect();
            for index in (0..plan.paths.len()).rev() {
                self.settle_removal(plan, index, &at);
            }
            for index in 0..plan.paths.len() {
                self.settle_way(plan, index, &at);
            }
            if plan.paths.iter().map(|planned| planned.action).eq(before) {
                break;
            }
        }
    }

    /// A folder that is to go or to become something else must be empty then.
    fn settle_removal(&self, plan: &mut Plan, index: usize, at: &BTreeMap<Vec<u8>, usize>) {
        let planned = &plan.paths[index];
        if !planned.changes() || !is_dir(planned.item()) || is_dir(planned.wanted) {
            return;
        }
        let goes = |name: &Vec<u8>| {
            let child = at.get(&names::join(&planned.path, name)).map(|index| &plan.paths[*index]);
            child.is_some_and(|child| child.wanted.is_none())
        };
        let listed = self
            .files
            .open_dir(self.root.as_fd(), &planned.path)
            .and_then(|dir| self.files.list(dir.as_fd()));
        let empty = listed.is_ok_and(|list| list.iter().all(goes));
        if empty {
            return;
        }
        let planned = &mut plan.paths[index];
        if planned.wanted.is_none() {
            planned.wanted = planned.item();
            planned.action = RestoreAction::Unchanged;
            planned.note = Some("the folder stays: other things are in it".to_owned());
        } else {
            planned.keep("the folder that is there now holds other things");
        }
    }

    /// Whatever is put somewhere needs folders all the way.
    fn settle_way(&self, plan: &mut Plan, index: usize, at: &BTreeMap<Vec<u8>, usize>) {
        let planned = &plan.paths[index];
        if !planned.changes() || planned.wanted.is_none() {
            return;
        }
        let mut dir = names::split(&planned.path).0;
        let mut blocked = false;
        while !dir.is_empty() && !blocked {
            blocked = match at.get(dir).map(|index| &plan.paths[*index]) {
                Some(Planned { wanted: Some(item), .. }) => item.kind != Kind::Dir,
                // Missing folders are made on the way.
                Some(Planned { wanted: None, now: None, .. }) => false,
                Some(Planned { wanted: None, .. }) => true,
                None => self.is_in_the_way(dir),
            };
            dir = names::split(dir).0;
        }
        if blocked {
            plan.paths[index].keep("something that is not a folder is in the way");
        }
    }

    /// Puts the folders that are missing on the way into the plan, so that they go again when it is taken back.
    pub(super) fn add_way(&self, plan: &mut Plan) {
        let mut missing = BTreeSet::new();
        for planned in
            plan.paths.iter().filter(|planned| planned.changes() && planned.wanted.is_some())
        {
            let mut dir = names::split(&planned.path).0;
            while !dir.is_empty() && self.files.open_dir(self.root.as_fd(), dir).is_err() {
                missing.insert(dir.to_vec());
                dir = names::split(dir).0;
            }
        }
        let folder = Item { kind: Kind::Dir, mode: FOLDER_MODE, size: 0, oid: Oid::ZERO_SHA1 };
        for dir in missing {
            match plan.paths.binary_search_by(|planned| planned.path.cmp(&dir)) {
                Ok(at) if plan.paths[at].wanted.is_none() => {
                    plan.paths[at].wanted = Some(folder);
                    plan.paths[at].action = RestoreAction::CreatedAgain;
                }
                Ok(_) => {}
                Err(at) => plan.paths.insert(at, Planned::folder(dir, folder)),
            }
        }
    }

    fn is_in_the_way(&self, dir: &[u8]) -> bool {
        let (parent, name) = names::split(dir);
        let stat = self
            .files
            .open_dir(self.root.as_fd(), parent)
            .and_then(|parent| self.files.stat(parent.as_fd(), name));
        stat.is_ok_and(|stat| stat.kind != StatKind::Dir)
    }
}
