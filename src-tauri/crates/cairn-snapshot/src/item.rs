//! What can be at a path: the identity that is stored and compared, and the stamp that tells whether it moved.
//!
//! Content is elsewhere, see `objects.rs`.

use git2::Oid;
use serde::{Deserialize, Serialize};

/// What kind of thing is covered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    File,
    Link,
    Dir,
}

/// The identity of what is at a path. Two items are equal exactly when a user could not tell them apart.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Item {
    pub(crate) kind: Kind,
    /// Permission bits; 0 for a link.
    pub(crate) mode: u32,
    /// Bytes of content; 0 for a folder.
    pub(crate) size: u64,
    /// The blob of the content or of the link's target; zero for a folder.
    #[serde(with = "hex")]
    pub(crate) oid: Oid,
}

impl PartialEq for Item {
    // The size follows from the content, and is not known of a state that was read back from trees.
    fn eq(&self, other: &Self) -> bool {
        (self.kind, self.mode, self.oid) == (other.kind, other.mode, other.oid)
    }
}

impl Eq for Item {}

impl Item {
    /// The mode in a Git tree.
    pub(crate) fn git_mode(&self) -> u32 {
        match self.kind {
            Kind::File if self.mode & 0o100 != 0 => 0o100_755,
            Kind::File => 0o100_644,
            Kind::Link => 0o120_000,
            Kind::Dir => 0o040_000,
        }
    }

    /// Tells whether content and kind are equal, whatever the mode.
    pub(crate) fn same_content(&self, other: &Self) -> bool {
        self.kind == other.kind && self.oid == other.oid
    }
}

/// Reads and writes object ids as hex.
pub(crate) mod hex {
    use git2::Oid;
    use serde::{Deserialize, Deserializer, Serializer, de};

    pub(crate) fn serialize<S: Serializer>(oid: &Oid, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(oid)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Oid, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        Oid::from_str(&text).map_err(de::Error::custom)
    }
}

/// What `lstat` says of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    /// What it is.
    pub kind: StatKind,
    /// Permission bits, set-id and sticky bits included.
    pub mode: u32,
    /// Bytes.
    pub size: u64,
    /// Last change of content, in nanoseconds since 1970.
    pub mtime: i64,
    /// Last change of anything, in nanoseconds since 1970.
    pub ctime: i64,
    /// File number.
    pub ino: u64,
    /// Device number.
    pub dev: u64,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
}

/// What kind of file `lstat` found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StatKind {
    /// A regular file.
    File,
    /// A folder.
    Dir,
    /// A symbolic link.
    Link,
    /// A pipe, socket or device.
    Special,
}

/// The part of [`Stat`] that is compared to find out whether a path moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) mode: u32,
    pub(crate) size: u64,
    pub(crate) mtime: i64,
    pub(crate) ctime: i64,
    pub(crate) ino: u64,
}

impl Stat {
    pub(crate) fn stamp(&self) -> Stamp {
        // A folder's size and times move with its names, which are compared one by one.
        match self.kind {
            StatKind::Dir => Stamp { mode: self.mode, size: 0, mtime: 0, ctime: 0, ino: self.ino },
            _ => Stamp {
                mode: self.mode,
                size: self.size,
                mtime: self.mtime,
                ctime: self.ctime,
                ino: self.ino,
            },
        }
    }

    pub(crate) fn youngest(&self) -> i64 {
        self.mtime.max(self.ctime)
    }
}

/// Why something that was seen is not covered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Left {
    IgnoredDir,
    IgnoredFile,
    TooBig,
    Unreadable,
    Special,
    Git,
    OverBudget,
    /// The folder holds the store itself.
    Store,
}

impl Left {
    /// The reason, for a person.
    pub(crate) fn reason(self) -> &'static str {
        match self {
            Self::IgnoredDir => "an ignored folder",
            Self::IgnoredFile => "ignored, and over the limit for ignored files",
            Self::TooBig => "larger than 10 MiB",
            Self::Unreadable => "it can't be read",
            Self::Special => "a pipe, socket or device",
            Self::Git => "a repository's own data",
            Self::OverBudget => "more new data than one snapshot takes",
            Self::Store => "Cairn's own data",
        }
    }

    /// Whether the rules cover it on purpose not at all, so that it does not make a capture partial.
    pub(crate) fn by_rule(self) -> bool {
        matches!(self, Self::IgnoredDir | Self::Git | Self::Store)
    }
}

/// What a capture knows of a name in a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) stamp: Stamp,
    pub(crate) what: What,
    /// It was changed so shortly before it was read that an equal stamp proves nothing.
    pub(crate) racy: bool,
    /// An ignore rule names it; it is kept in a tree of its own.
    pub(crate) ignored: bool,
}

/// What a name is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    File(Oid),
    Link(Oid),
    Dir,
    Left(Left),
}

impl Entry {
    /// The identity, when it is covered.
    pub(crate) fn item(&self) -> Option<Item> {
        match self.what {
            What::File(oid) => {
                Some(Item { kind: Kind::File, mode: self.stamp.mode, size: self.stamp.size, oid })
            }
            What::Link(oid) => Some(Item { kind: Kind::Link, mode: 0, size: self.stamp.size, oid }),
            What::Dir => {
                Some(Item { kind: Kind::Dir, mode: self.stamp.mode, size: 0, oid: Oid::ZERO_SHA1 })
            }
            What::Left(_) => None,
        }
    }
}
