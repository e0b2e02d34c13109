//! `provider`: connections to models. A key goes in and never comes out.

use cairn_protocol::{ConnectionTest, KeySource, ProviderDraftParams, ProviderParams};
use tauri::plugin::{Builder, TauriPlugin};
use tauri::{State, Wry};

use crate::shell::{Result, Shell, contain};

/// Makes the resource.
pub(super) fn plugin() -> TauriPlugin<Wry> {
    Builder::new("provider").invoke_handler(tauri::generate_handler![test, save, delete]).build()
}

#[tauri::command]
async fn test(shell: State<'_, Shell>, params: ProviderDraftParams) -> Result<ConnectionTest> {
    let shell = shell.inner().clone();
    contain(async move { shell.engine().await?.test_provider(&params.draft).await }).await
}

#[tauri::command]
async fn save(shell: State<'_, Shell>, params: ProviderDraftParams) -> Result<KeySource> {
    let shell = shell.inner().clone();
    contain(async move { shell.engine().await?.save_provider(params.draft).await }).await
}

#[tauri::command]
async fn delete(shell: State<'_, Shell>, params: ProviderParams) -> Result<()> {
    let shell = shell.inner().clone();
    contain(async move { shell.engine().await?.delete_provider(&params.name).await }).await
}
