//! The ignore rules in force in a folder: `.gitignore` and `.cairnignore` of it and of the folders above it, and the
//! repository's own exclude file.
//!
//! The `ignore` crate decides; this only strings its matchers together. Rules outside the workspace and the user's
//! global ones do not count, so that a capture depends on nothing but the workspace.

use std::ffi::OsStr;
use std::hash::{DefaultHasher, Hasher};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

/// File names that hold rules, in rising order of rank.
pub(super) const RULE_FILES: [&[u8]; 2] = [b".gitignore", b".cairnignore"];

/// A rule file larger than this is not one.
pub(super) const RULE_FILE_LIMIT: u64 = 1024 * 1024;

/// The rules of a folder, with those above it.
#[derive(Default)]
pub(crate) struct Rules {
    parent: Option<Arc<Rules>>,
    matcher: Option<Gitignore>,
    /// Hash of all rules in force.
    pub(crate) fingerprint: u64,
}

impl Rules {
    /// Adds the rules of one file in `dir`.
    pub(crate) fn with_file(self: &Arc<Self>, dir: &[u8], content: &[u8]) -> Arc<Self> {
        let mut hasher = DefaultHasher::new();
        hasher.write_u64(self.fingerprint);
        hasher.write(dir);
        hasher.write(content);
        let mut builder = GitignoreBuilder::new(Path::new(OsStr::from_bytes(dir)));
        for line in content.split(|byte| *byte == b'\n') {
            // A line that is no pattern matches nothing, as in Git.
            if let Ok(line) = std::str::from_utf8(line) {
                let _ = builder.add_line(None, line.trim_end_matches('\r'));
            }
        }
        let matcher = builder.build().ok();
        Arc::new(Self { parent: Some(Arc::clone(self)), matcher, fingerprint: hasher.finish() })
    }

    /// Tells whether a path in this folder is ignored.
    pub(crate) fn ignore(&self, path: &[u8], is_dir: bool) -> bool {
        let path = Path::new(OsStr::from_bytes(path));
        let mut rules = Some(self);
        while let Some(here) = rules {
            match here.matcher.as_ref().map(|matcher| matcher.matched(path, is_dir)) {
                Some(Match::Ignore(_)) => return true,
                Some(Match::Whitelist(_)) => return false,
                _ => rules = here.parent.as_deref(),
            }
        }
        false
    }
}
