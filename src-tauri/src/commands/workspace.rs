//! `workspace`: folders. A new one comes from the native dialog, never from the page.

use cairn_protocol::{SessionView, WorkspaceParams, WorkspaceSummary};
use tauri::plugin::{Builder, TauriPlugin};
use tauri::{AppHandle, State, Wry};

use crate::dialogs;
use crate::shell::{Result, Shell, contain};

/// Makes the resource.
pub(super) fn plugin() -> TauriPlugin<Wry> {
    Builder::new("workspace")
        .invoke_handler(tauri::generate_handler![pick, forget, start_tour])
        .build()
}

#[tauri::command]
async fn pick(app: AppHandle, shell: State<'_, Shell>) -> Result<Option<WorkspaceSummary>> {
    let shell = shell.inner().clone();
    contain(async move {
        let engine = shell.engine().await?;
        match dialogs::pick_folder(&app, &shell).await {
            Some(folder) => engine.add_workspace(&folder).await.map(Some),
            None => Ok(None),
        }
    })
    .await
}

#[tauri::command]
async fn forget(shell: State<'_, Shell>, params: WorkspaceParams) -> Result<()> {
    let shell = shell.inner().clone();
    contain(async move { shell.engine().await?.forget_workspace(&params.workspace_id).await }).await
}

#[tauri::command]
async fn start_tour(shell: State<'_, Shell>) -> Result<SessionView> {
    let shell = shell.inner().clone();
    contain(async move { shell.engine().await?.start_tour().await?.view().await }).await
}
