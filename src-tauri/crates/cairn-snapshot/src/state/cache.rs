//! The stat cache on disk: a log of folders, appended to by what changed and rewritten when it has grown too much.
//!
//! It is only a cache: a record that is torn or does not add up ends it there, and the next scan reads the files again.

use std::collections::HashMap;
use std::fs;
use std::os::fd::BorrowedFd;
use std::path::Path;

use git2::Oid;

use super::{Node, State};
use crate::error::{Error, Result};
use crate::files::Files;
use crate::item::{Entry, Left, Stamp, What};

const NAME: &[u8] = b"stat";
const MAGIC: &[u8; 8] = b"cstat\0\x02\n";
/// The log is rewritten when it is this many times the size it would have fresh.
const GROWTH: u64 = 3;

impl State {
    /// Reads the cache of a store; an unusable one is an empty state.
    pub(crate) fn load_cache(store: &Path) -> Self {
        let mut state = Self::default();
        let Ok(bytes) = fs::read(store.join("stat")) else { return state };
        let Some(mut rest) = bytes.strip_prefix(MAGIC.as_slice()) else { return state };
        let mut nodes: HashMap<Vec<u8>, Node> = HashMap::new();
        while let Some((body, next)) = record(rest) {
            rest = next;
            let Some((dir, node, probe)) = decode(body) else { break };
            state.probe = state.probe.max(probe);
            match node {
                Some(node) => drop(nodes.insert(dir, node)),
                None => drop(nodes.remove(&dir)),
            }
        }
        state.nodes = nodes;
        state
    }

    /// Saves what changed since the last time.
    pub(crate) fn save_cache(
        &mut self,
        store: &Path,
        files: &dyn Files,
        dir: BorrowedFd<'_>,
    ) -> Result<()> {
        if self.unsaved.is_empty() {
            return Ok(());
        }
        let size = fs::metadata(store.join("stat")).map_or(0, |meta| meta.len());
        let mut bytes = Vec::new();
        for dir in &self.unsaved {
            encode(dir, self.nodes.get(dir), self.probe, &mut bytes);
        }
        let live: u64 = if size > 1 << 20 { self.live_size() } else { size.min(1 << 20) };
        let rewrite = size == 0 || size + bytes.len() as u64 > (live * GROWTH).max(1 << 20);
        let work = || {
            if !rewrite {
                return files.append(dir, NAME, &bytes);
            }
            let mut all = MAGIC.to_vec();
            for (path, node) in &self.nodes {
                encode(path, Some(node), self.probe, &mut all);
            }
            let temporary = format!("tmp_stat_{}", uuid::Uuid::new_v4().simple());
            let made = files
                .create(dir, temporary.as_bytes(), &all, 0o600)
                .and_then(|()| files.rename(dir, temporary.as_bytes(), dir, NAME));
            if made.is_err() {
                // Best effort: what stays is removed at the next opening.
                let _ = files.unlink(dir, temporary.as_bytes());
            }
            made
        };
        work().map_err(|error| Error::io("the stat cache", error))?;
        self.unsaved.clear();
        Ok(())
    }

    fn live_size(&self) -> u64 {
        let entry = |(name, _): &(Box<[u8]>, Entry)| name.len() as u64 + 66;
        self.nodes
            .iter()
            .map(|(dir, node)| dir.len() as u64 + 40 + node.entries.iter().map(entry).sum::<u64>())
            .sum()
    }
}

fn record(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let length = u32::from_le_bytes(bytes.get(..4)?.try_into().ok()?) as usize;
    let crc = u32::from_le_bytes(bytes.get(4..8)?.try_into().ok()?);
    let body = bytes.get(8..8 + length)?;
    let mut check = flate2::Crc::new();
    check.update(body);
    (check.sum() == crc).then(|| (body, &bytes[8 + length..]))
}

fn encode(dir: &[u8], node: Option<&Node>, probe: i64, out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(&[0; 8]);
    put_bytes(dir, out);
    out.extend_from_slice(&probe.to_le_bytes());
    out.push(u8::from(node.is_some()));
    if let Some(node) = node {
        out.extend_from_slice(&node.rules.to_le_bytes());
        out.extend_from_slice(&(node.entries.len() as u32).to_le_bytes());
        for (name, entry) in &node.entries {
            put_bytes(name, out);
            let stamp = &entry.stamp;
            out.extend_from_slice(&stamp.mode.to_le_bytes());
            out.extend_from_slice(&stamp.size.to_le_bytes());
            out.extend_from_slice(&stamp.mtime.to_le_bytes());
            out.extend_from_slice(&stamp.ctime.to_le_bytes());
            out.extend_from_slice(&stamp.ino.to_le_bytes());
            let (code, oid) = match entry.what {
                What::File(oid) => (0, Some(oid)),
                What::Link(oid) => (1, Some(oid)),
                What::Dir => (2, None),
                What::Left(left) => (10 + left as u8, None),
            };
            out.push(code);
            out.push(u8::from(entry.racy) | (u8::from(entry.ignored) << 1));
            if let Some(oid) = oid {
                out.extend_from_slice(oid.as_bytes());
            }
        }
    }
    let length = (out.len() - start - 8) as u32;
    let mut crc = flate2::Crc::new();
    crc.update(&out[start + 8..]);
    out[start..start + 4].copy_from_slice(&length.to_le_bytes());
    out[start + 4..start + 8].copy_from_slice(&crc.sum().to_le_bytes());
}

fn put_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
    out.extend_from_slice(bytes);
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (head, tail) = self.0.split_at_checked(length)?;
        self.0 = tail;
        Some(head)
    }

    fn u32(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }

    fn u64(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    fn i64(&mut self) -> Option<i64> {
        Some(i64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    fn byte(&mut self) -> Option<u8> {
        Some(self.take(1)?[0])
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.u32()? as usize;
        self.take(length)
    }
}

fn decode(body: &[u8]) -> Option<(Vec<u8>, Option<Node>, i64)> {
    let mut reader = Reader(body);
    let dir = reader.bytes()?.to_vec();
    let probe = reader.i64()?;
    if reader.byte()? == 0 {
        return Some((dir, None, probe));
    }
    let mut node = Node { rules: reader.u64()?, entries: Vec::new() };
    for _ in 0..reader.u32()? {
        let name = reader.bytes()?.into();
        let stamp = Stamp {
            mode: reader.u32()?,
            size: reader.u64()?,
            mtime: reader.i64()?,
            ctime: reader.i64()?,
            ino: reader.u64()?,
        };
        let code = reader.byte()?;
        let flags = reader.byte()?;
        let what = match code {
            0 => What::File(Oid::from_bytes(reader.take(20)?).ok()?),
            1 => What::Link(Oid::from_bytes(reader.take(20)?).ok()?),
            2 => What::Dir,
            code => What::Left(left(code.checked_sub(10)?)?),
        };
        node.entries
            .push((name, Entry { stamp, what, racy: flags & 1 != 0, ignored: flags & 2 != 0 }));
    }
    Some((dir, Some(node), probe))
}

fn left(code: u8) -> Option<Left> {
    const ALL: [Left; 8] = [
        Left::IgnoredDir,
        Left::IgnoredFile,
        Left::TooBig,
        Left::Unreadable,
        Left::Special,
        Left::Git,
        Left::OverBudget,
        Left::Store,
    ];
    ALL.get(usize::from(code)).copied()
}
