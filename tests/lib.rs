//! Shared test support.

#[path = "support/model_server.rs"]
pub mod model_server;

#[path = "support/raw_server.rs"]
pub mod raw_server;

#[path = "support/desktop.rs"]
pub mod desktop;
