//! The one object behind the mutex: opening a store, setting a damaged one aside, and what all parts share.
//!
//! What is done with it is in `capture.rs`, `plan.rs`, `restore.rs` and `recover.rs`.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cairn_protocol::{Completeness, SessionId};

use crate::Options;
use crate::error::{Error, Result};
use crate::files::{Files, SystemFiles};
use crate::item::Entry;
use crate::lock::{self, StoreLock};
use crate::manifest::Session;
use crate::objects::Objects;
use crate::open_turn::OpenTurn;
use crate::scan::{Walk, scan};
use crate::state::{Observed, State};

/// Two changes this far apart have different times on local file systems: the kernel's tick is at most 10 ms.
const LOCAL_GRANULARITY: i64 = 12_000_000;

/// On network file systems and those with coarse times: FAT counts in 2 s.
const COARSE_GRANULARITY: i64 = 2_000_000_000;

/// Left-over temporary files of writers that died are removed when they are this old.
const LEFTOVER_AGE: Duration = Duration::from_secs(3600);

pub(crate) struct Inner {
    pub(crate) store: PathBuf,
    pub(crate) workspace: PathBuf,
    pub(crate) options: Options,
    pub(crate) files: Arc<dyn Files>,
    pub(crate) store_dir: Arc<OwnedFd>,
    pub(crate) root: OwnedFd,
    root_id: (u64, u64),
    store_id: (u64, u64),
    granularity: i64,
    pub(crate) objects: Objects,
    pub(crate) state: State,
    pub(crate) sessions: HashMap<SessionId, Session>,
    pub(crate) open: Vec<OpenTurn>,
    /// What edit tools touched, or what lost its cover, outside of what scans see; looked at one by one.
    pub(crate) carried: BTreeMap<Vec<u8>, Carried>,
    /// Why only edit tools are covered.
    pub(crate) edit_only: Option<String>,
    /// What happened to the store that was here before.
    pub(crate) damaged: Option<String>,
    pub(crate) damage_told: bool,
    pub(crate) last_scan: Duration,
}

/// A path that is known without scans.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Carried {
    pub(crate) entry: Option<Entry>,
    /// An edit tool named it, so it stays known in later turns.
    pub(crate) by_edit: bool,
}

fn open_folder(path: &Path) -> std::io::Result<OwnedFd> {
    fs::File::open(path).map(OwnedFd::from)
}

fn identity(path: &Path) -> std::io::Result<(u64, u64)> {
    fs::metadata(path).map(|meta| (meta.dev(), meta.ino()))
}

impl Inner {
    pub(crate) fn open(store: &Path, workspace: &Path, options: Options) -> Result<Self> {
        let store_error = |error| Error::io(store.display().to_string(), error);
        let missing = |_| Error::WorkspaceMissing(workspace.display().to_string());
        let workspace = workspace.canonicalize().map_err(missing)?;
        let root = open_folder(&workspace).map_err(missing)?;
        let root_id = identity(&workspace).map_err(missing)?;
        fs::DirBuilder::new().recursive(true).mode(0o700).create(store).map_err(store_error)?;
        fs::set_permissions(store, fs::Permissions::from_mode(0o700)).map_err(store_error)?;
        let store = store.canonicalize().map_err(store_error)?;
        let store_dir = Arc::new(open_folder(&store).map_err(store_error)?);
        let store_id = identity(&store).map_err(store_error)?;
        let files: Arc<dyn Files> = options.files.clone().unwrap_or_else(|| Arc::new(SystemFiles));
        let lock = lock::take(&store)?;
        let (objects, damaged) = open_objects(&store, &files, &store_dir)?;
        let edit_only = unsafe_root(&workspace, &store, options.home.as_deref());
        let mut inner = Self {
            granularity: granularity(root.as_fd()),
            state: State::default(),
            store,
            workspace,
            options,
            files,
            store_dir,
            root,
            root_id,
            store_id,
            objects,
            sessions: HashMap::new(),
            open: Vec::new(),
            carried: BTreeMap::new(),
            edit_only,
            damaged,
            damage_told: false,
            last_scan: Duration::MAX,
        };
        if inner.damaged.is_none()
            && let Err(Error::Damaged(reason)) = inner.check_sessions()
        {
            inner.set_aside(&reason)?;
        }
        inner.tidy();
        if inner.edit_only.is_none() {
            inner.state = State::load_cache(&inner.store);
        }
        drop(lock);
        Ok(inner)
    }

    /// Renames a damaged repository and begins a new one. The vault stays: its files prove themselves.
    pub(crate) fn set_aside(&mut self, reason: &str) -> Result<()> {
        let (objects, place) = replace_repository(&self.store, &self.files, &self.store_dir)?;
        self.objects = objects;
        self.damaged = Some(format!("{reason}; it was set aside as {place}"));
        self.damage_told = false;
        self.sessions.clear();
        self.state = State::default();
        Ok(())
    }

    pub(crate) fn store_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.store_dir.as_fd()
    }

    pub(crate) fn lock(&self) -> Result<StoreLock> {
        lock::take(&self.store)
    }

    /// Removes what writers that died have left, once it is too old to be anybody's.
    fn tidy(&self) {
        for folder in ["", "git/objects/pack", "git/refs/agent", "vault", "stage", "open"] {
            let Ok(list) = fs::read_dir(self.store.join(folder)) else { continue };
            for entry in list.flatten() {
                let old = entry
                    .metadata()
                    .and_then(|meta| meta.modified())
                    .is_ok_and(|time| time.elapsed().is_ok_and(|age| age > LEFTOVER_AGE));
                let name = entry.file_name();
                if old && name.to_string_lossy().starts_with("tmp_") {
                    // What can't be removed now is tried again at the next opening.
                    let _ = fs::remove_file(entry.path());
                }
            }
        }
    }

    /// Fails when the workspace is gone or another folder has taken its place.
    pub(crate) fn check_root(&self) -> Result<()> {
        let name = || self.workspace.display().to_string();
        match identity(&self.workspace) {
            Ok(id) if id == self.root_id => Ok(()),
            Ok(_) => Err(Error::WorkspaceReplaced(name())),
            Err(_) => Err(Error::WorkspaceMissing(name())),
        }
    }

    /// File-system time, in nanoseconds since 1970.
    pub(crate) fn file_time(&self) -> i64 {
        match &self.options.file_clock {
            Some(clock) => clock(),
            None => SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(0, |time| i64::try_from(time.as_nanos()).unwrap_or(i64::MAX)),
        }
    }

    /// Tells whether what was read of a file just now may change without a sign.
    pub(crate) fn is_racy(&self, youngest: i64) -> bool {
        youngest >= self.file_time() - self.granularity
    }

    /// Takes a turn on that another process began.
    pub(crate) fn adopt(&mut self, open: OpenTurn) {
        self.open.retain(|own| own.session != open.session);
        self.open.push(open);
    }

    /// Looks at the whole workspace.
    pub(crate) fn scan(&mut self) -> Result<Observed> {
        self.check_root()?;
        if self.edit_only.is_some() {
            return Ok(Observed::default());
        }
        let started = std::time::Instant::now();
        let walk = Walk {
            files: self.files.as_ref(),
            root: self.root.as_fd(),
            limits: &self.options.limits,
            progress: self.options.progress.as_ref(),
            cancel: self.options.cancel.as_deref(),
            store: self.store_id,
            now: self.file_time(),
            granularity: self.granularity,
        };
        let observed = scan(&walk, &mut self.state, &mut self.objects);
        self.last_scan = started.elapsed();
        observed
    }

    /// How much is covered at present.
    pub(crate) fn completeness(&mut self) -> Completeness {
        if let Some(damage) = self.damaged.as_ref().filter(|_| !self.damage_told) {
            let reason = format!(
                "earlier turns can't be rolled back: the snapshot store was damaged ({damage})"
            );
            self.damage_told = true;
            return Completeness::Partly { skipped: 0, reason };
        }
        if let Some(why) = &self.edit_only {
            let reason = format!("only edits by the agent's file tools are covered: {why}");
            return Completeness::Partly { skipped: 0, reason };
        }
        let left = self.state.left_out();
        match left.iter().next() {
            None => Completeness::Protected,
            Some((path, left_out)) => {
                let name = crate::names::to_text(path);
                let (count, why) = (left.len(), left_out.reason());
                let reason = match count {
                    1 => format!("{name} is not covered: {why}"),
                    _ => format!("{count} items are not covered, such as {name}: {why}"),
                };
                Completeness::Partly { skipped: u32::try_from(count).unwrap_or(u32::MAX), reason }
            }
        }
    }
}

fn open_objects(
    store: &Path,
    files: &Arc<dyn Files>,
    dir: &Arc<OwnedFd>,
) -> Result<(Objects, Option<String>)> {
    match Objects::open(store, Arc::clone(files), Arc::clone(dir)) {
        Ok(objects) => Ok((objects, None)),
        Err(Error::Damaged(reason)) => {
            let (objects, place) = replace_repository(store, files, dir)?;
            Ok((objects, Some(format!("{reason}; it was set aside as {place}"))))
        }
        Err(error) => Err(error),
    }
}

fn replace_repository(
    store: &Path,
    files: &Arc<dyn Files>,
    dir: &Arc<OwnedFd>,
) -> Result<(Objects, String)> {
    let place = format!("damaged-{}", uuid::Uuid::new_v4().simple());
    let error = |error| Error::io("the snapshot store", error);
    fs::rename(store.join("git"), store.join(&place)).map_err(error)?;
    for stale in ["stat", "restore.journal"] {
        match fs::rename(store.join(stale), store.join(&place).join(stale)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(Error::io("the snapshot store", error));
            }
            _ => {}
        }
    }
    Ok((Objects::open(store, Arc::clone(files), Arc::clone(dir))?, place))
}

/// Tells why a folder is too wide to be scanned: it is everybody's, or a whole home.
fn unsafe_root(workspace: &Path, store: &Path, home: Option<&Path>) -> Option<String> {
    if workspace.parent().is_none() {
        return Some("the workspace is the whole file system".to_owned());
    }
    if let Some(home) = home.and_then(|home| home.canonicalize().ok()) {
        if home == workspace || home.starts_with(workspace) {
            return Some("the workspace is your home folder, or holds it".to_owned());
        }
        let wide = ["Desktop", "Documents", "Downloads", "Library", "OneDrive"];
        if workspace.parent() == Some(home.as_path())
            && let Some(name) =
                wide.iter().find(|name| workspace.file_name() == Some(name.as_ref()))
        {
            return Some(format!("the workspace is your {name} folder"));
        }
    }
    store.starts_with(workspace).then(|| "the workspace holds Cairn's own data".to_owned())
}

fn granularity(root: std::os::fd::BorrowedFd<'_>) -> i64 {
    #[cfg(target_os = "linux")]
    {
        use nix::sys::statfs::{self, fstatfs};
        let local = [
            statfs::EXT4_SUPER_MAGIC,
            statfs::XFS_SUPER_MAGIC,
            statfs::BTRFS_SUPER_MAGIC,
            statfs::TMPFS_MAGIC,
            statfs::OVERLAYFS_SUPER_MAGIC,
        ];
        match fstatfs(root) {
            Ok(stat) if local.contains(&stat.filesystem_type()) => LOCAL_GRANULARITY,
            _ => COARSE_GRANULARITY,
        }
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = root;
        COARSE_GRANULARITY
    }
}
