//! `changes`: what turns did to files, and taking it back.

use cairn_protocol::{
    ChangesBringBackParams, ChangesDiffParams, ChangesListParams, ChangesPlanParams,
    ChangesRestoreParams, FileDiff, RestorePlan, RestoreReport, TurnChanges,
};
use tauri::plugin::{Builder, TauriPlugin};
use tauri::{State, Wry};

use crate::shell::{Result, Shell, contain};

/// Makes the resource.
pub(super) fn plugin() -> TauriPlugin<Wry> {
    Builder::new("changes")
        .invoke_handler(tauri::generate_handler![list, diff, plan, restore, bring_back])
        .build()
}

#[tauri::command]
async fn list(shell: State<'_, Shell>, params: ChangesListParams) -> Result<TurnChanges> {
    let shell = shell.inner().clone();
    contain(async move { shell.session(&params.session_id).await?.changes(params.turn_id).await })
        .await
}

#[tauri::command]
async fn diff(shell: State<'_, Shell>, params: ChangesDiffParams) -> Result<FileDiff> {
    let shell = shell.inner().clone();
    contain(async move {
        let session = shell.session(&params.session_id).await?;
        session.diff(params.turn_id, params.path, params.from_hunk).await
    })
    .await
}

#[tauri::command]
async fn plan(shell: State<'_, Shell>, params: ChangesPlanParams) -> Result<RestorePlan> {
    let shell = shell.inner().clone();
    contain(
        async move { shell.session(&params.request.session_id).await?.plan(params.request).await },
    )
    .await
}

#[tauri::command]
async fn restore(shell: State<'_, Shell>, params: ChangesRestoreParams) -> Result<RestoreReport> {
    let shell = shell.inner().clone();
    contain(async move {
        let session = shell.session(&params.request.session_id).await?;
        session.restore(params.request, params.token).await
    })
    .await
}

#[tauri::command]
async fn bring_back(
    shell: State<'_, Shell>,
    params: ChangesBringBackParams,
) -> Result<RestoreReport> {
    let shell = shell.inner().clone();
    contain(
        async move { shell.session(&params.session_id).await?.bring_back(params.restore_id).await },
    )
    .await
}
