//! The desktop shell: the only code that knows Tauri.
//!
//! It opens the engine and the window, passes commands and streams between them, and raises the
//! native dialogs that stand for the user's word (D-6). It decides nothing about sessions, files or
//! models; that is `cairn-engine`. Start reading at `shell.rs`, then `commands/`.

mod commands;
mod dialogs;
mod graphics;
mod links;
mod quit;
mod shell;
mod streams;
mod window;

use std::process::ExitCode;

use crate::shell::Shell;

/// Runs the app until its window is closed and everything in it has ended.
pub fn run() -> ExitCode {
    if let Some(failure) = graphics::restart_if_unsafe() {
        eprintln!("cairn-desktop: can't start again with safe graphics: {failure}");
    }
    match build() {
        Ok(app) => {
            app.run(quit::on_event);
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("cairn-desktop: {error}");
            ExitCode::FAILURE
        }
    }
}

fn build() -> tauri::Result<tauri::App> {
    let shell = Shell::new(shell::options());
    // The data is read while the window is being made.
    shell.open_early();
    let window_state = tauri_plugin_window_state::Builder::new()
        .with_filename(shell.root().join("window.json").to_string_lossy())
        .with_state_flags(window::kept())
        .build();
    let builder = tauri::Builder::default()
        // First, so that a second start ends before it has any effect.
        .plugin(
            tauri_plugin_single_instance::Builder::new()
                .dbus_id(shell::instance_name(shell.root()))
                .callback(|app, _arguments, _folder| window::bring_forward(app))
                .build(),
        )
        .plugin(tauri_plugin_dialog::init())
        .plugin(window_state)
        .manage(shell);
    commands::register(builder)
        .setup(|app| {
            window::open(app.handle())?;
            quit::on_signals(app.handle());
            Ok(())
        })
        .build(tauri::generate_context!())
}
