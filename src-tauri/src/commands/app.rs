//! `cairn`: the state at the start, what happens outside sessions, links, the first view. The protocol
//! calls this resource `app`, a name that a plugin of Tauri has taken.

use cairn_protocol::{AppEvent, AppState, ErrorCode, ErrorInfo, OpenLinkParams};
use tauri::ipc::Channel;
use tauri::plugin::{Builder, TauriPlugin};
use tauri::{AppHandle, State, Wry};

use crate::dialogs::{Choice, Question};
use crate::links::Link;
use crate::shell::{Result, Shell, contain, contain_blocking};
use crate::window;

/// Makes the resource.
pub(super) fn plugin() -> TauriPlugin<Wry> {
    Builder::new("cairn")
        .invoke_handler(tauri::generate_handler![state, subscribe, open_link, ready])
        .build()
}

#[tauri::command]
async fn state(shell: State<'_, Shell>) -> Result<AppState> {
    let shell = shell.inner().clone();
    contain(async move { shell.engine().await?.state().await }).await
}

#[tauri::command]
async fn subscribe(shell: State<'_, Shell>, channel: Channel<Vec<AppEvent>>) -> Result<u32> {
    let shell = shell.inner().clone();
    contain(async move {
        let engine = shell.engine().await?;
        shell.streams().app(engine, channel)
    })
    .await
}

#[tauri::command]
async fn open_link(app: AppHandle, shell: State<'_, Shell>, params: OpenLinkParams) -> Result<()> {
    let shell = shell.inner().clone();
    contain(async move {
        let link = Link::parse(&params.url)?;
        let question = Question::confirm("Open this address outside Cairn?", "Open")
            .fact("It leads to", link.place())
            .quote("Address", link.address());
        if question.ask(&app, &shell).await != Choice::Second {
            return Err(ErrorInfo::new(ErrorCode::Declined, "The address was not opened."));
        }
        let mut opener = contain_blocking(move || link.open()).await?;
        shell.streams().own(async move {
            // How it ended changes nothing here; it only must not stay as a zombie.
            let _ended = opener.wait().await;
        });
        Ok(())
    })
    .await
}

#[tauri::command]
async fn ready(app: AppHandle, shell: State<'_, Shell>) -> Result<()> {
    let shell = shell.inner().clone();
    contain(async move {
        window::show(&app);
        // Tested after the first view, so that it delays nothing; the result comes as an event.
        let warming = shell.clone();
        shell.streams().own(async move {
            if let Ok(engine) = warming.engine().await {
                engine.sandbox().await;
            }
        });
        Ok(())
    })
    .await
}
