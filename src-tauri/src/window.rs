//! The one window: made, locked to its own pages, shown when it has something to show.
//!
//! What is drawn in it is `ui/`; what it may call is `capabilities/main.json` (security plan 3.12).

use std::time::Duration;

use tauri::webview::{NewWindowResponse, PageLoadEvent};
use tauri::{AppHandle, Manager, Url, WebviewWindow, WebviewWindowBuilder};
use tauri_plugin_window_state::StateFlags;

use crate::shell::Shell;

/// The window's label.
pub(crate) const MAIN: &str = "main";

/// How long the window waits for its first view before it is shown as it is: a blank window tells more
/// than none.
const PATIENCE: Duration = Duration::from_secs(3);

/// Runs before any script of a page (`window/before.js`).
const BEFORE: &str = include_str!("window/before.js");

/// Returns what is remembered of the window: not that it was hidden.
pub(crate) fn kept() -> StateFlags {
    StateFlags::SIZE | StateFlags::POSITION | StateFlags::MAXIMIZED | StateFlags::FULLSCREEN
}

/// Makes the window, hidden.
pub(crate) fn open(app: &AppHandle) -> tauri::Result<()> {
    let shell = app.state::<Shell>().inner().clone();
    let config = app.config().app.windows.iter().find(|window| window.label == MAIN);
    let config = config.ok_or(tauri::Error::WindowNotFound)?;
    WebviewWindowBuilder::from_config(app, config)?
        .data_directory(shell.root().join("webview"))
        .initialization_script(BEFORE)
        .on_navigation(is_own_page)
        .on_new_window(|_address, _features| NewWindowResponse::Deny)
        .on_download(|_webview, _event| false)
        .on_page_load(move |window, payload| match payload.event() {
            // Streams of a page that is gone have no one to talk to.
            PageLoadEvent::Started => shell.streams().end_all(),
            PageLoadEvent::Finished => show_at_last(&shell, window),
        })
        .build()?;
    Ok(())
}

/// Shows the window: its first view is drawn.
pub(crate) fn show(app: &AppHandle) {
    if let Some(window) = app.get_webview_window(MAIN)
        && !window.is_visible().unwrap_or(true)
    {
        // A window that can't be shown has been closed meanwhile.
        let _closed = window.show().and_then(|()| window.set_focus());
    }
}

/// Shows the window in front of others: Cairn was started again.
pub(crate) fn bring_forward(app: &AppHandle) {
    if let Some(window) = app.get_webview_window(MAIN) {
        let _closed =
            window.unminimize().and_then(|()| window.show()).and_then(|()| window.set_focus());
    }
}

fn show_at_last(shell: &Shell, window: WebviewWindow) {
    shell.streams().own(async move {
        tokio::time::sleep(PATIENCE).await;
        show(window.app_handle());
    });
}

/// Returns whether an address is of the app itself. The whole origin counts, never a prefix.
fn is_own_page(address: &Url) -> bool {
    let (scheme, host) = if cfg!(any(windows, target_os = "android")) {
        ("http", "tauri.localhost")
    } else {
        ("tauri", "localhost")
    };
    address.scheme() == scheme
        && address.host_str() == Some(host)
        && address.port().is_none()
        && address.username().is_empty()
        && address.password().is_none()
}

#[cfg(test)]
mod tests;
