//! What a walk does with one folder and with one name.
//!
//! Whether a name is unchanged is decided here: all of its stamp is equal, and the stamp is older than the moment at
//! which it was read by more than the file system's granularity.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use git2::ObjectType;

use super::rules::{RULE_FILE_LIMIT, RULE_FILES, Rules};
use super::{Found, Shared, Task, locked};
use crate::error::{Error, Result};
use crate::item::{Entry, Left, Stamp, Stat, StatKind, What};
use crate::names;
use crate::objects::{VAULT_ABOVE, hash};
use crate::pack::Packed;
use crate::state::Node;

/// How often a file that changes while it is read is read again.
const READS: usize = 3;

const NOTHING: Stamp = Stamp { mode: 0, size: 0, mtime: 0, ctime: 0, ino: 0 };

impl Shared<'_> {
    pub(super) fn folder(&self, task: Task) -> Result<Vec<Task>> {
        let files = self.walk.files;
        let opened = files.open_dir(self.walk.root, &task.dir);
        let listed = opened.and_then(|dir| files.list(dir.as_fd()).map(|names| (dir, names)));
        let (dir, mut list) = match listed {
            Ok(both) => both,
            Err(error) if task.dir.is_empty() => return Err(Error::io("the workspace", error)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(_) => {
                locked(&self.unreadable).push(task.dir);
                return Ok(Vec::new());
            }
        };
        list.sort_unstable();
        let rules = self.rules_of(&task, dir.as_fd(), &list);
        let old = self.state.node(&task.dir);
        let same_rules = old.is_some_and(|node| node.rules == rules.fingerprint);
        let mut node = Node { rules: rules.fingerprint, entries: Vec::with_capacity(list.len()) };
        let mut tasks = Vec::new();
        for name in list {
            let known = old.and_then(|node| node.get(&name));
            let path = names::join(&task.dir, &name);
            let Some(entry) =
                self.name(dir.as_fd(), &path, &name, known, same_rules.then_some(()), &rules)?
            else {
                continue;
            };
            if entry.what == What::Dir {
                let entered =
                    task.entered || known.is_some_and(|known| matches!(known.what, What::Left(_)));
                tasks.push(Task { dir: path, rules: Arc::clone(&rules), entered });
            }
            node.entries.push((name.into_boxed_slice(), entry));
        }
        self.count((node.entries.len() - tasks.len()) as u64)?;
        if old != Some(&node) {
            locked(&self.found).push(Found { dir: task.dir, node, entered: task.entered });
        }
        Ok(tasks)
    }

    fn rules_of(&self, task: &Task, dir: BorrowedFd<'_>, list: &[Vec<u8>]) -> Arc<Rules> {
        let mut rules = Arc::clone(&task.rules);
        for file in RULE_FILES {
            // A rule file that can't be read is itself listed as left out, and what it would have hidden is new to us,
            // not new (I4).
            if list.binary_search_by(|name| name.as_slice().cmp(file)).is_ok()
                && let Ok((content, _)) = self.walk.files.read(dir, file, RULE_FILE_LIMIT)
            {
                rules = rules.with_file(&task.dir, &content);
            }
        }
        rules
    }

    fn name(
        &self,
        dir: BorrowedFd<'_>,
        path: &[u8],
        name: &[u8],
        known: Option<&Entry>,
        same_rules: Option<()>,
        rules: &Rules,
    ) -> Result<Option<Entry>> {
        let plain = |stamp, what| Ok(Some(Entry { stamp, what, racy: false, ignored: false }));
        let stat = match self.walk.files.stat(dir, name) {
            Ok(stat) => stat,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(_) => return plain(NOTHING, What::Left(Left::Unreadable)),
        };
        if names::is_git(name) {
            return plain(NOTHING, What::Left(Left::Git));
        }
        let is_dir = stat.kind == StatKind::Dir;
        let ignored = match (known, same_rules) {
            (Some(Entry { what: What::Left(Left::IgnoredDir), .. }), Some(())) if is_dir => true,
            (Some(Entry { what: What::Dir, .. }), Some(())) if is_dir => false,
            (Some(entry), Some(()))
                if !is_dir && matches!(entry.what, What::File(_) | What::Link(_)) =>
            {
                entry.ignored
            }
            _ => rules.ignore(path, is_dir),
        };
        match stat.kind {
            StatKind::Dir if (stat.dev, stat.ino) == self.walk.store => {
                plain(NOTHING, What::Left(Left::Store))
            }
            StatKind::Dir if ignored => {
                // The time of an ignored folder tells that something was put in or taken out at its top.
                let stamp =
                    Stamp { mode: stat.mode, size: 0, mtime: stat.mtime, ctime: 0, ino: stat.ino };
                plain(stamp, What::Left(Left::IgnoredDir))
            }
            StatKind::Dir => plain(stat.stamp(), What::Dir),
            StatKind::Special => plain(stat.stamp(), What::Left(Left::Special)),
            StatKind::Link | StatKind::File => {
                self.content(dir, name, stat, known, ignored).map(Some)
            }
        }
    }

    fn is_racy(&self, stat: &Stat) -> bool {
        stat.youngest() >= self.walk.now - self.walk.granularity
    }

    fn content(
        &self,
        dir: BorrowedFd<'_>,
        name: &[u8],
        stat: Stat,
        known: Option<&Entry>,
        ignored: bool,
    ) -> Result<Entry> {
        if let Some(known) = known
            && known.stamp == stat.stamp()
            && !known.racy
            && stat.youngest() < self.distrust_from
            && !matches!(
                known.what,
                What::Dir | What::Left(Left::IgnoredFile | Left::OverBudget | Left::IgnoredDir)
            )
        {
            return Ok(Entry {
                ignored: ignored && !matches!(known.what, What::Left(_)),
                ..*known
            });
        }
        let left = |left| Entry {
            stamp: stat.stamp(),
            what: What::Left(left),
            racy: false,
            ignored: false,
        };
        if stat.kind == StatKind::Link {
            return self.link(dir, name, &stat, ignored);
        }
        if stat.size > self.walk.limits.scan_file_bytes {
            return Ok(left(Left::TooBig));
        }
        let counted = known.is_some_and(|known| known.ignored);
        if ignored && !counted && !self.take_ignored(stat.size) {
            return Ok(left(Left::IgnoredFile));
        }
        if ignored && stat.size > self.walk.limits.ignored_file_bytes {
            return Ok(left(Left::IgnoredFile));
        }
        for _ in 0..READS {
            match self.walk.files.read(dir, name, self.walk.limits.scan_file_bytes) {
                Ok((content, stat)) => {
                    let Some(what) = self.store(&content)? else {
                        return Ok(left(Left::OverBudget));
                    };
                    return Ok(Entry {
                        stamp: stat.stamp(),
                        what,
                        racy: self.is_racy(&stat),
                        ignored,
                    });
                }
                Err(error) if error.kind() == io::ErrorKind::InvalidData => {}
                Err(error) if error.raw_os_error() == Some(libc::EMFILE) => {
                    return Err(Error::io("the workspace", error));
                }
                Err(_) => break,
            }
        }
        Ok(left(Left::Unreadable))
    }

    fn link(&self, dir: BorrowedFd<'_>, name: &[u8], stat: &Stat, ignored: bool) -> Result<Entry> {
        let (what, racy) = match self.walk.files.read_link(dir, name) {
            Ok(target) => {
                let oid = locked(&self.objects).put(ObjectType::Blob, &target)?;
                (What::Link(oid), self.is_racy(stat))
            }
            Err(_) => {
                return Ok(Entry {
                    stamp: stat.stamp(),
                    what: What::Left(Left::Unreadable),
                    racy: false,
                    ignored: false,
                });
            }
        };
        Ok(Entry { stamp: stat.stamp(), what, racy, ignored })
    }

    fn take_ignored(&self, size: u64) -> bool {
        let limits = self.walk.limits;
        size <= limits.ignored_file_bytes
            && self.ignored_files.fetch_add(1, Ordering::Relaxed) < limits.ignored_files
            && self.ignored_bytes.fetch_add(size, Ordering::Relaxed) + size <= limits.ignored_bytes
    }

    /// Puts content into the store; `None` when this snapshot has taken all that one snapshot takes.
    fn store(&self, content: &[u8]) -> Result<Option<What>> {
        let oid = hash(ObjectType::Blob, content)?;
        if locked(&self.objects).contains(oid) {
            return Ok(Some(What::File(oid)));
        }
        let size = content.len() as u64;
        if self.new_bytes.fetch_add(size, Ordering::Relaxed) + size > self.walk.limits.new_bytes {
            return Ok(None);
        }
        if size > VAULT_ABOVE {
            locked(&self.objects).put_in_vault(oid, content)?;
        } else {
            // Compressed outside the lock, so that the threads work side by side.
            let packed = Packed::new(oid, ObjectType::Blob, content);
            locked(&self.objects).add(&packed)?;
        }
        Ok(Some(What::File(oid)))
    }
}
