//! `terminal`: the user's own shells. Bytes go out raw and must be acknowledged (D-15).
//!
//! A message without bytes says that the shell ended. Merging and the limit of what is unacknowledged
//! are the work of `cairn-exec`.

use std::sync::Arc;

use cairn_engine::{Authority, TerminalOutput, Terminals};
use cairn_protocol::{
    ErrorCode, ErrorInfo, TerminalAckParams, TerminalOpenParams, TerminalParams,
    TerminalResizeParams, TerminalSummary, TerminalWriteParams,
};
use tauri::ipc::{Channel, InvokeResponseBody};
use tauri::plugin::{Builder, TauriPlugin};
use tauri::{AppHandle, State, Wry};

use crate::dialogs::{Choice, Question};
use crate::shell::{Result, Shell, contain, contain_blocking};

/// Makes the resource.
pub(super) fn plugin() -> TauriPlugin<Wry> {
    Builder::new("terminal")
        .invoke_handler(tauri::generate_handler![list, open, attach, write, ack, resize, close])
        .build()
}

#[tauri::command]
async fn list(shell: State<'_, Shell>) -> Result<Vec<TerminalSummary>> {
    with_terminals(&shell, |terminals| Ok(terminals.list())).await
}

#[tauri::command]
async fn open(
    app: AppHandle,
    shell: State<'_, Shell>,
    params: TerminalOpenParams,
) -> Result<TerminalSummary> {
    let shell = shell.inner().clone();
    contain(async move {
        let engine = shell.engine().await?;
        if !engine.terminals_agreed() {
            let question = Question::confirm("Open terminals in this window?", "Open").say(
                "What is typed in a terminal runs with all your rights: nothing confines it, and only \
                 what a turn changes can be rolled back. This is asked once each time Cairn starts.",
            );
            if question.ask(&app, &shell).await != Choice::Second {
                return Err(ErrorInfo::new(ErrorCode::Declined, "No terminal was opened."));
            }
            engine.agree_to_terminals(Authority::NativeDialog)?;
        }
        engine.open_terminal(&params.workspace_id, params.size).await
    })
    .await
}

#[tauri::command]
async fn attach(
    shell: State<'_, Shell>,
    params: TerminalParams,
    channel: Channel<InvokeResponseBody>,
) -> Result<()> {
    with_terminals(&shell, move |terminals| {
        let sink = move |output| {
            let bytes = match output {
                TerminalOutput::Bytes(bytes) => bytes,
                TerminalOutput::Exited { .. } => Vec::new(),
            };
            channel.send(InvokeResponseBody::Raw(bytes)).is_ok()
        };
        terminals.attach(&params.terminal_id, Box::new(sink)).map_err(gone)
    })
    .await
}

#[tauri::command]
async fn write(shell: State<'_, Shell>, params: TerminalWriteParams) -> Result<()> {
    let shell = shell.inner().clone();
    // The page sends one at a time, so that they come in order; queueing one takes no time.
    contain(async move {
        let terminals = shell.engine().await?.terminals();
        terminals.write(&params.terminal_id, params.data.as_bytes()).map_err(gone)
    })
    .await
}

#[tauri::command]
async fn ack(shell: State<'_, Shell>, params: TerminalAckParams) -> Result<()> {
    let terminals = shell.engine().await?.terminals();
    terminals.ack(&params.terminal_id, params.bytes);
    Ok(())
}

#[tauri::command]
async fn resize(shell: State<'_, Shell>, params: TerminalResizeParams) -> Result<()> {
    with_terminals(&shell, move |terminals| {
        terminals.resize(&params.terminal_id, params.size).map_err(gone)
    })
    .await
}

#[tauri::command]
async fn close(shell: State<'_, Shell>, params: TerminalParams) -> Result<()> {
    with_terminals(&shell, move |terminals| {
        terminals.close(&params.terminal_id);
        Ok(())
    })
    .await
}

async fn with_terminals<T: Send + 'static>(
    shell: &Shell,
    work: impl FnOnce(&Arc<Terminals>) -> Result<T> + Send + 'static,
) -> Result<T> {
    let terminals = shell.engine().await?.terminals();
    contain_blocking(move || work(&terminals)).await
}

fn gone(error: impl std::error::Error) -> ErrorInfo {
    failed("The terminal did not take this", &error, ErrorCode::NotFound)
}

fn failed(what: &str, error: &dyn std::error::Error, code: ErrorCode) -> ErrorInfo {
    let mut text = format!("{what}: {error}");
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(&format!(": {cause}"));
        source = cause.source();
    }
    text.push('.');
    ErrorInfo::new(code, text)
}
