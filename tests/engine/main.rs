//! Scenarios through the engine's front door: real engine, store, tools, policy and captures, in a temporary
//! folder. Only the model is played, by a script.
//!
//! What a window or a command line makes of it is in `tests/desktop` and `tests/cli`.

mod approvals;
mod attacks;
mod authority;
mod broken_models;
mod faults;
mod place;
mod sessions;
mod turns;
