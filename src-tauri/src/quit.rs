//! The end of the app: asked for when something runs, then orderly (P-250).
//!
//! Ending a turn and its processes is the engine's work. What a crash leaves is its recovery's.

use std::time::Duration;

use tauri::{AppHandle, Manager, RunEvent, WindowEvent};

use crate::dialogs::{Choice, Question};
use crate::shell::{Result, Shell, contain};
use crate::window::MAIN;

/// The most that the orderly end may take; what is left then dies with the process (P-250).
const PATIENCE: Duration = Duration::from_secs(5);

/// Handles what the event loop says: closing the window ends the app, in order.
pub(crate) fn on_event(app: &AppHandle, event: RunEvent) {
    match event {
        RunEvent::WindowEvent { label, event: WindowEvent::CloseRequested { api, .. }, .. }
            if label == MAIN =>
        {
            api.prevent_close();
            begin(app, Asked::ByTheUser);
        }
        RunEvent::ExitRequested { code: None, api, .. } => {
            api.prevent_exit();
            begin(app, Asked::ByTheUser);
        }
        _ => {}
    }
}

/// Ends the app in order when the system asks by a signal.
#[cfg(unix)]
pub(crate) fn on_signals(app: &AppHandle) {
    use tokio::signal::unix::{SignalKind, signal};

    let app = app.clone();
    app.state::<Shell>().inner().clone().streams().own(async move {
        let (Ok(mut terminate), Ok(mut interrupt), Ok(mut hang_up)) = (
            signal(SignalKind::terminate()),
            signal(SignalKind::interrupt()),
            signal(SignalKind::hangup()),
        ) else {
            return;
        };
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
            _ = hang_up.recv() => {}
        }
        begin(&app, Asked::BySignal);
    });
}

/// Elsewhere the system closes the window.
#[cfg(not(unix))]
pub(crate) fn on_signals(_app: &AppHandle) {}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Asked {
    ByTheUser,
    BySignal,
}

fn begin(app: &AppHandle, asked: Asked) {
    let shell = app.state::<Shell>().inner().clone();
    if !shell.begin_quitting() {
        return;
    }
    let app = app.clone();
    // Not owned by the streams, which it ends: it is the last task, and ends the process.
    let _last = tauri::async_runtime::spawn(async move {
        let ended = contain(end(app.clone(), shell, asked)).await;
        if let Err(error) = ended {
            eprintln!("cairn-desktop: {}", error.message);
            app.exit(1);
        }
    });
}

/// Asks when something runs, then ends the app in order.
async fn end(app: AppHandle, shell: Shell, asked: Asked) -> Result<()> {
    let engine = shell.opened();
    let working = engine.as_ref().is_some_and(cairn_engine::Engine::is_working);
    if working && asked == Asked::ByTheUser && !confirmed(&app, &shell).await {
        shell.stay();
        return Ok(());
    }
    if let Some(window) = app.get_webview_window(MAIN) {
        let _closed = window.hide();
    }
    if let Some(engine) = engine {
        // What does not end in time dies with the process.
        let _late = tokio::time::timeout(PATIENCE, engine.close()).await;
    }
    let _late = tokio::time::timeout(PATIENCE, shell.streams().close()).await;
    app.exit(0);
    Ok(())
}

async fn confirmed(app: &AppHandle, shell: &Shell) -> bool {
    let question = Question::confirm("Stop what is running?", "Stop and quit")
        .say("A turn is still running. Quitting stops the model and every command that it started.")
        .say("What it did so far stays, is recorded, and can be rolled back.");
    question.ask(app, shell).await == Choice::Second
}
