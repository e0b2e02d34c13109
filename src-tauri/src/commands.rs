//! The commands that the window may call: one plugin a resource, one function a verb (D-15).
//!
//! A command takes one `params` of `cairn-protocol`, asks the engine, and passes the answer on. What
//! may be called is listed in `commands/table.rs` and granted in `capabilities/main.json`; this file
//! registers it.

mod app;
mod approval;
mod changes;
mod provider;
mod session;
mod settings;
mod terminal;
mod workspace;

use tauri::{Builder, Wry};

/// Adds every resource.
pub(crate) fn register(builder: Builder<Wry>) -> Builder<Wry> {
    builder
        .plugin(app::plugin())
        .plugin(workspace::plugin())
        .plugin(session::plugin())
        .plugin(approval::plugin())
        .plugin(changes::plugin())
        .plugin(terminal::plugin())
        .plugin(provider::plugin())
        .plugin(settings::plugin())
}

#[cfg(test)]
mod tests;
