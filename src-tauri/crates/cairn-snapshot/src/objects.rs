//! The object store: a bare Git repository outside the workspace, and a vault for large files.
//!
//! Objects collect in memory and become one durable pack at [`Objects::flush`]. It never opens the user's repository,
//! reads no configuration but its own and starts no process. Which objects belong together is in `manifest.rs`.

use std::collections::HashSet;
use std::fs;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Once};

use git2::{
    ConfigLevel, ObjectType, OdbLookupFlags, Oid, Repository, RepositoryInitOptions,
    RepositoryOpenFlags,
};

use crate::error::{Error, Result};
use crate::files::Files;
use crate::pack::{Pack, Packed};

/// Blobs larger than this are files of their own, so that they are neither compressed nor held in a pack.
pub(crate) const VAULT_ABOVE: u64 = 8 * 1024 * 1024;

/// A pack is cut at this size to bound the memory of a first capture.
const CUT_PACK_AT: usize = 24 * 1024 * 1024;

const PACKS: &[u8] = b"git/objects/pack";

/// The objects of one store.
pub(crate) struct Objects {
    repository: Repository,
    files: Arc<dyn Files>,
    root: Arc<OwnedFd>,
    pack: Pack,
    written: Vec<String>,
    vaulted: HashSet<Oid>,
}

#[expect(
    unsafe_code,
    reason = "libgit2's search paths are process-wide; they are cleared before the first repository"
)]
fn prepare_library() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        git2::opts::strict_object_creation(false);
        for level in
            [ConfigLevel::ProgramData, ConfigLevel::System, ConfigLevel::XDG, ConfigLevel::Global]
        {
            // SAFETY: runs once, before this process opens a repository; no other crate of Cairn uses libgit2.
            if let Err(error) = unsafe { git2::opts::set_search_path(level, "") } {
                debug_assert!(false, "libgit2 refuses a search path: {error}");
            }
        }
    });
}

impl Objects {
    /// Opens or makes the repository `git` in the store folder.
    pub(crate) fn open(store: &Path, files: Arc<dyn Files>, root: Arc<OwnedFd>) -> Result<Self> {
        prepare_library();
        let path = store.join("git");
        if !path.join("HEAD").exists() {
            let mut options = RepositoryInitOptions::new();
            options.bare(true).external_template(false).no_reinit(false).initial_head("main");
            Repository::init_opts(&path, &options)?;
        }
        let flags = RepositoryOpenFlags::NO_SEARCH
            | RepositoryOpenFlags::BARE
            | RepositoryOpenFlags::NO_DOTGIT;
        let repository = Repository::open_ext(&path, flags, std::iter::empty::<PathBuf>())?;
        repository.config()?.snapshot()?.get_bool("core.bare")?;
        for folder in ["git/objects/pack", "git/refs/agent", "vault", "open", "stage"] {
            let folder = store.join(folder);
            fs::create_dir_all(&folder)
                .map_err(|error| Error::io(folder.display().to_string(), error))?;
        }
        Ok(Self {
            repository,
            files,
            root,
            pack: Pack::new(),
            written: Vec::new(),
            vaulted: HashSet::new(),
        })
    }

    /// Tells whether an object is in the store or on its way there.
    pub(crate) fn contains(&self, oid: Oid) -> bool {
        self.pack.contains(oid)
            || self.vaulted.contains(&oid)
            || self
                .repository
                .odb()
                .is_ok_and(|odb| odb.exists_ext(oid, OdbLookupFlags::NO_REFRESH))
    }

    /// Tells whether the content of an item is in the store, the vault included.
    pub(crate) fn has_content(&self, oid: Oid) -> bool {
        self.contains(oid)
            || self.vault_path(oid).exists()
            || self.repository.odb().is_ok_and(|odb| odb.exists(oid))
    }

    fn vault_path(&self, oid: Oid) -> PathBuf {
        self.repository
            .path()
            .parent()
            .unwrap_or(self.repository.path())
            .join("vault")
            .join(oid.to_string())
    }

    /// Adds an object that was compressed elsewhere.
    pub(crate) fn add(&mut self, object: &Packed) -> Result<()> {
        self.pack.add(object);
        if self.pack.len() >= CUT_PACK_AT { self.write_pack() } else { Ok(()) }
    }

    /// Adds an object, unless the store has it, and returns its id.
    pub(crate) fn put(&mut self, kind: ObjectType, content: &[u8]) -> Result<Oid> {
        let oid = hash(kind, content)?;
        if self.contains(oid) {
            return Ok(oid);
        }
        if kind == ObjectType::Blob && content.len() as u64 > VAULT_ABOVE {
            self.put_in_vault(oid, content)?;
        } else {
            self.add(&Packed::new(oid, kind, content))?;
        }
        Ok(oid)
    }

    /// Adds a large blob, durably.
    pub(crate) fn put_in_vault(&mut self, oid: Oid, content: &[u8]) -> Result<()> {
        if self.vaulted.contains(&oid) || self.vault_path(oid).exists() {
            return Ok(());
        }
        let name = oid.to_string();
        let temporary = format!("tmp_{name}");
        let work = || {
            let dir = self.files.open_dir(self.root.as_fd(), b"vault")?;
            let dir = dir.as_fd();
            if self.files.stat(dir, temporary.as_bytes()).is_ok() {
                self.files.unlink(dir, temporary.as_bytes())?;
            }
            let result = self
                .files
                .create(dir, temporary.as_bytes(), content, 0o600)
                .and_then(|()| self.files.sync_file(dir, temporary.as_bytes()))
                .and_then(|()| self.files.rename(dir, temporary.as_bytes(), dir, name.as_bytes()));
            if result.is_err() {
                // Best effort: what stays is removed at the next opening.
                let _ = self.files.unlink(dir, temporary.as_bytes());
            }
            result.and_then(|()| self.files.sync_dir(dir))
        };
        work().map_err(|error| Error::io("the snapshot store", error))?;
        self.vaulted.insert(oid);
        Ok(())
    }

    /// Reads an object; `None` when the store does not have it.
    pub(crate) fn read(&self, oid: Oid) -> Result<Option<Vec<u8>>> {
        if let Some(content) = self.pack.read(oid) {
            return Ok(Some(content));
        }
        match self.repository.odb()?.read(oid) {
            Ok(object) => Ok(Some(object.data().to_vec())),
            Err(error) if error.code() == git2::ErrorCode::NotFound => {
                match fs::read(self.vault_path(oid)) {
                    Ok(content) if hash(ObjectType::Blob, &content)? == oid => Ok(Some(content)),
                    Ok(_) => Err(Error::Damaged(format!(
                        "large file {oid} has other bytes than it should"
                    ))),
                    Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
                    Err(error) => Err(Error::io("the snapshot store", error)),
                }
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Makes everything that was added durable.
    pub(crate) fn flush(&mut self) -> Result<()> {
        self.write_pack()?;
        if self.written.is_empty() {
            return Ok(());
        }
        let work = || {
            let dir = self.files.open_dir(self.root.as_fd(), PACKS)?;
            for name in &self.written {
                self.files.sync_file(dir.as_fd(), format!("{name}.pack").as_bytes())?;
                self.files.sync_file(dir.as_fd(), format!("{name}.idx").as_bytes())?;
            }
            self.files.sync_dir(dir.as_fd())
        };
        work().map_err(|error| Error::io("the snapshot store", error))?;
        self.written.clear();
        Ok(())
    }

    fn write_pack(&mut self) -> Result<()> {
        if self.pack.is_empty() {
            return Ok(());
        }
        let finished = self.pack.finish();
        let work = || {
            let dir = self.files.open_dir(self.root.as_fd(), PACKS)?;
            let dir = dir.as_fd();
            let put = |ending: &str, content: &[u8]| {
                let name = format!("{}.{ending}", finished.name);
                let temporary = format!("tmp_{ending}_{}", uuid::Uuid::new_v4().simple());
                let result =
                    self.files.create(dir, temporary.as_bytes(), content, 0o400).and_then(|()| {
                        self.files.rename(dir, temporary.as_bytes(), dir, name.as_bytes())
                    });
                if result.is_err() {
                    // Best effort: what stays is removed at the next opening.
                    let _ = self.files.unlink(dir, temporary.as_bytes());
                }
                result
            };
            put("pack", &finished.pack)?;
            put("idx", &finished.index)
        };
        work().map_err(|error: std::io::Error| Error::io("the snapshot store", error))?;
        self.repository.odb()?.refresh()?;
        self.written.push(finished.name);
        self.pack = Pack::new();
        Ok(())
    }
}

/// Returns the id of an object. This is libgit2's SHA-1, which detects crafted collisions.
pub(crate) fn hash(kind: ObjectType, content: &[u8]) -> Result<Oid> {
    Ok(Oid::hash_object(kind, content)?)
}
