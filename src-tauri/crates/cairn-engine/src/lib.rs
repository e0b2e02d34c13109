//! Sessions as actors: the turn loop, what the model sees, approvals, capture of turns.
//!
//! It knows three boundaries: the human (the [`Session`] handle and its feed), the model
//! (`cairn-provider`) and the environment (`cairn-tools`). It knows no window, no vendor and no
//! command line; those are `cairn-desktop` and `cairn-cli`. Start reading at `engine.rs`, then
//! `session.rs` and `turn.rs`.

mod capture;
mod context;
mod doctor;
mod engine;
mod error;
mod feed;
mod models;
mod prompt;
mod recorder;
mod session;
mod task;
mod tour;
mod turn;

pub use doctor::{DoctorCheck, DoctorReport};
pub use engine::{
    ConnectionConsent, Engine, EngineOptions, ExtraProvider, KeyUse, PolicyCheck, PolicyQuestion,
};
pub use feed::Subscription;
pub use session::{Authority, Sent, Session};
pub use tour::TOUR_PROVIDER;

pub use cairn_config::data_root;
pub use cairn_exec::{TerminalOutput, TerminalSink, Terminals};
pub use cairn_policy::{command_rule, rule_text, visible};
