//! The executable of the desktop app.
//!
//! It holds nothing but the start; everything is in the library `cairn_shell`, where tests reach it.

#![cfg_attr(not(debug_assertions), windows_subsystem = "windows")]

use std::process::ExitCode;

fn main() -> ExitCode {
    cairn_shell::run()
}
