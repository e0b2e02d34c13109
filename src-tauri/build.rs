//! Makes one permission of every command, so that a capability file decides what a window may call.
//!
//! The list of commands is `src/commands/table.rs`; the grants are in `capabilities/`.

use tauri_build::{Attributes, InlinedPlugin};

include!("src/commands/table.rs");

fn main() {
    println!("cargo:rerun-if-changed=src-tauri/build.rs");
    println!("cargo:rerun-if-changed=src-tauri/capabilities");
    println!("cargo:rerun-if-changed=src-tauri/src/commands/table.rs");
    // The window's files are embedded; without this a new build of them would not be noticed.
    println!("cargo:rerun-if-changed=ui/dist");
    let mut attributes =
        Attributes::new().capabilities_path_pattern("src-tauri/capabilities/*.json");
    for (resource, verbs) in COMMANDS {
        attributes = attributes.plugin(resource, InlinedPlugin::new().commands(verbs));
    }
    tauri_build::try_build(attributes).expect("the configuration and the capabilities are valid");
}
