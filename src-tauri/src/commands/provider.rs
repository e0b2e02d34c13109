//! `provider`: connections to models. A key goes in and never comes out.
//!
//! Where content and keys go is agreed to in a native dialog, which shows what the engine says of the
//! connection (`dialogs/connection.rs`); what the user agreed to once is not asked again.

use cairn_engine::{Authority, Engine};
use cairn_protocol::{
    ConnectionTest, ErrorCode, ErrorInfo, KeySource, ProviderDraft, ProviderDraftParams,
    ProviderParams,
};
use tauri::plugin::{Builder, TauriPlugin};
use tauri::{AppHandle, State, Wry};

use crate::dialogs::{self, Choice, Question};
use crate::shell::{Result, Shell, contain};

/// Makes the resource.
pub(super) fn plugin() -> TauriPlugin<Wry> {
    Builder::new("provider").invoke_handler(tauri::generate_handler![test, save, delete]).build()
}

#[tauri::command]
async fn test(
    app: AppHandle,
    shell: State<'_, Shell>,
    params: ProviderDraftParams,
) -> Result<ConnectionTest> {
    let shell = shell.inner().clone();
    contain(async move {
        let engine = shell.engine().await?;
        agree(&app, &shell, &engine, &params.draft).await?;
        engine.test_provider(&params.draft).await
    })
    .await
}

#[tauri::command]
async fn save(
    app: AppHandle,
    shell: State<'_, Shell>,
    params: ProviderDraftParams,
) -> Result<KeySource> {
    let shell = shell.inner().clone();
    contain(async move {
        let engine = shell.engine().await?;
        agree(&app, &shell, &engine, &params.draft).await?;
        engine.save_provider(params.draft).await
    })
    .await
}

#[tauri::command]
async fn delete(app: AppHandle, shell: State<'_, Shell>, params: ProviderParams) -> Result<()> {
    let shell = shell.inner().clone();
    contain(async move {
        let engine = shell.engine().await?;
        let known = engine.providers().into_iter().find(|entry| entry.name == params.name);
        let Some(entry) = known else {
            let text = format!("There is no provider {}.", params.name);
            return Err(ErrorInfo::new(ErrorCode::NotFound, text));
        };
        let question = Question::confirm("Remove this provider?", "Remove")
            .fact("Provider", &entry.name)
            .fact("Address", &entry.base_url)
            .say(
                "Its key is deleted from where Cairn keeps it and has to be typed again to connect it \
                 again. Sessions that used it stay.",
            );
        if question.ask(&app, &shell).await != Choice::Second {
            return Err(ErrorInfo::new(ErrorCode::Declined, "The provider was not removed."));
        }
        engine.delete_provider(&params.name, Authority::NativeDialog).await
    })
    .await
}

/// Asks natively for what this connection would let happen that the user has not agreed to yet.
async fn agree(
    app: &AppHandle,
    shell: &Shell,
    engine: &Engine,
    draft: &ProviderDraft,
) -> Result<()> {
    let Some(consent) = engine.connection_consent(draft).await? else { return Ok(()) };
    if dialogs::connection::question(&consent).ask(app, shell).await != Choice::Second {
        let text = "Nothing was sent or stored: the connection was not agreed to.";
        return Err(ErrorInfo::new(ErrorCode::Declined, text));
    }
    engine.agree_to_connection(consent, Authority::NativeDialog)
}
