//! The data root, the user's settings, providers, rules and secrets: read, check, write.
//!
//! All of it blocks; the engine calls it from threads that may. The files are plain text that the user owns: comments
//! and unknown keys stay, a broken file is kept aside, never silently replaced. It reads no environment of its own
//! and knows no model: the built-in script is added by the engine.
//!
//! Start at `config.rs`. Keys are in `secrets.rs`, the keychain of the OS in `keychain.rs`.

mod config;
mod edit;
mod error;
mod files;
mod keychain;
mod origin;
mod providers;
mod root;
mod rules;
mod secrets;
mod settings;

pub use config::Config;
pub use error::Error;
pub use root::data_root;

#[cfg(test)]
mod tests;
