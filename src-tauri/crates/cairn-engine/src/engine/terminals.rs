//! The user's own shells. What is typed in one runs with all the user's rights, so that the window can't
//! open the first one alone (D-6).

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use cairn_exec::Terminals;
use cairn_protocol::{ErrorCode, ErrorInfo, TerminalSize, TerminalSummary, WorkspaceId};

use super::{Engine, blocking};
use crate::error::{Result, chain};
use crate::session::Authority;

impl Engine {
    /// Returns the terminals of this process. They are opened by [`Self::open_terminal`].
    pub fn terminals(&self) -> Arc<Terminals> {
        Arc::clone(&self.inner.terminals)
    }

    /// Returns whether the user agreed to terminals in this run.
    pub fn terminals_agreed(&self) -> bool {
        self.inner.terminals_agreed.load(Ordering::Acquire)
    }

    /// Takes the user's agreement to terminals, for this run. The window's word is not enough.
    pub fn agree_to_terminals(&self, authority: Authority) -> Result<()> {
        authority.must_be_more_than_the_window("A terminal")?;
        self.inner.terminals_agreed.store(true, Ordering::Release);
        Ok(())
    }

    /// Opens a terminal in a workspace. Fails with `declined` until the user has agreed to terminals.
    pub async fn open_terminal(
        &self,
        workspace: &WorkspaceId,
        size: TerminalSize,
    ) -> Result<TerminalSummary> {
        if !self.terminals_agreed() {
            Authority::Window.must_be_more_than_the_window("The first terminal")?;
        }
        let workspace = self.inner.workspace(workspace).await?;
        self.inner.check_workspace(&workspace).await?;
        let (terminals, env) = (self.terminals(), self.inner.environment());
        blocking(move || {
            let folder = PathBuf::from(&workspace.path);
            terminals.open(&workspace.id, &folder, size, &env).map_err(|error| {
                let text = format!("No terminal could be opened: {}.", chain(&error));
                ErrorInfo::new(ErrorCode::Io, text)
            })
        })
        .await
    }
}
