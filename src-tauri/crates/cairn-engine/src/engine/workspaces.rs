//! Folders that the user picked, and the snapshot store of each.

use std::path::Path;
use std::sync::Arc;

use cairn_protocol::{
    AppEvent, ErrorCode, ErrorInfo, SessionActivity, SnapshotMode, WorkspaceId, WorkspaceSummary,
};
use cairn_snapshot::Snapshots;

use super::{Engine, Inner, blocking, lock, storage};
use crate::error::{Result, chain, invalid, not_found};
use crate::session::{Authority, Session};

impl Engine {
    /// Adds a folder that the user picked in a native dialog or typed on a command line.
    pub async fn add_workspace(&self, path: &Path) -> Result<WorkspaceSummary> {
        let path = path.to_path_buf();
        let (store, now, root) =
            (self.inner.store(), (self.inner.options.now)(), self.inner.root().to_path_buf());
        let added = blocking(move || {
            let real = std::fs::canonicalize(&path).map_err(|error| missing(&path, &error))?;
            if !real.is_dir() {
                let text = format!("{} is not a folder. Pick a folder.", path.display());
                return Err(ErrorInfo::new(ErrorCode::Invalid, text));
            }
            if std::fs::canonicalize(&root).is_ok_and(|root| real.starts_with(root)) {
                return Err(invalid("This folder holds Cairn's own data. Pick another one."));
            }
            store.add_workspace(&real, now).map_err(|error| storage(&error))
        })
        .await?;
        self.inner.announce_workspaces().await?;
        Ok(added)
    }

    /// Returns the known workspaces, last used first.
    pub async fn workspaces(&self) -> Result<Vec<WorkspaceSummary>> {
        self.inner.workspaces().await
    }

    /// Takes a workspace off the list. Its files, sessions and captures stay.
    pub async fn forget_workspace(&self, id: &WorkspaceId) -> Result<()> {
        let (store, wanted) = (self.inner.store(), id.clone());
        blocking(move || store.forget_workspace(&wanted).map_err(|error| storage(&error))).await?;
        self.inner.announce_workspaces().await
    }

    /// Makes a small sample folder and a session in it that is played by a script.
    pub async fn start_tour(&self) -> Result<Session> {
        let home = self.inner.options.home.clone().unwrap_or_else(std::env::temp_dir);
        let root = self.inner.root().to_path_buf();
        let folder = blocking(move || crate::tour::prepare(&root, &home)).await?;
        let workspace = self.add_workspace(&folder).await?;
        let model = crate::tour::model();
        self.create_session(&workspace.id, Some(model), None, Authority::Window).await
    }

    /// Returns whether any turn is running.
    pub fn is_working(&self) -> bool {
        let working = |activity: &SessionActivity| {
            matches!(activity, SessionActivity::Working { .. } | SessionActivity::NeedsYou { .. })
        };
        lock(&self.inner.activities).values().any(working)
    }
}

impl Inner {
    pub(crate) async fn workspaces(&self) -> Result<Vec<WorkspaceSummary>> {
        let store = self.store();
        blocking(move || Ok(store.workspaces())).await
    }

    pub(crate) async fn workspace(&self, id: &WorkspaceId) -> Result<WorkspaceSummary> {
        let (store, wanted) = (self.store(), id.clone());
        let found = blocking(move || Ok(store.workspace(&wanted))).await?;
        found.ok_or_else(|| not_found("workspace", id.as_str()))
    }

    async fn announce_workspaces(&self) -> Result<()> {
        let workspaces = self.workspaces().await?;
        let _nobody = self.events.send(AppEvent::Workspaces { workspaces });
        Ok(())
    }

    /// Checks that the folder is there and can be listed.
    pub(crate) async fn check_workspace(&self, workspace: &WorkspaceSummary) -> Result<()> {
        let path = workspace.path.clone();
        blocking(move || match std::fs::read_dir(&path) {
            Ok(_) => Ok(()),
            Err(error) => Err(missing(Path::new(&path), &error)),
        })
        .await
    }

    /// Returns the snapshot store of a workspace, or why there is none (I8).
    pub(crate) async fn snapshots(
        &self,
        workspace: &WorkspaceSummary,
    ) -> (Option<Arc<Snapshots>>, Option<String>) {
        let mode = self.options.snapshots.unwrap_or(self.settings().snapshots);
        if mode == SnapshotMode::Off {
            let text = "Captures are switched off in Settings: turns can't be rolled back.";
            return (None, Some(text.to_owned()));
        }
        let mut open = self.snapshots.lock().await;
        if let Some(snapshots) = open.get(&workspace.id) {
            return (Some(Arc::clone(snapshots)), None);
        }
        let folder = self.options.root.join("snapshots").join(workspace.id.as_str());
        let (path, now) = (workspace.path.clone(), (self.options.now)());
        let options = cairn_snapshot::Options {
            home: self.options.home.clone(),
            ..cairn_snapshot::Options::default()
        };
        let opened = blocking(move || {
            let snapshots =
                Snapshots::open(&folder, Path::new(&path), options).map_err(|error| {
                    ErrorInfo::new(
                        ErrorCode::Io,
                        format!("Turns can't be captured: {}.", chain(&error)),
                    )
                })?;
            snapshots.recover(now);
            Ok(Arc::new(snapshots))
        })
        .await;
        match opened {
            Ok(snapshots) => {
                open.insert(workspace.id.clone(), Arc::clone(&snapshots));
                (Some(snapshots), None)
            }
            Err(error) => (None, Some(error.message)),
        }
    }
}

fn missing(path: &Path, error: &std::io::Error) -> ErrorInfo {
    let text = match error.kind() {
        std::io::ErrorKind::NotFound => {
            format!(
                "The folder {} is not there. It may have been moved or deleted.",
                path.display()
            )
        }
        _ => format!("The folder {} can't be read: {error}.", path.display()),
    };
    ErrorInfo::new(ErrorCode::WorkspaceMissing, text)
}
