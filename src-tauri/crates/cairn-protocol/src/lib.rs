//! Every value that crosses a window, process or disk boundary: data only.
//!
//! It has no I/O, no clock and no randomness; whoever makes a value passes the time and the id in.
//! A stored tag is never renamed or reused. What the engine does with these values is in
//! `cairn-engine`; how they are stored is in `cairn-store`.
//!
//! Numbers such as P-5 and Z-44 name requirements of the functional specification.

mod aggregate;
mod approval;
mod changes;
mod error;
mod event;
mod ids;
mod ipc;
pub mod marker;
mod message;
mod model;
mod policy;
mod projection;
mod sandbox;
mod secret;
mod session;
mod settings;
mod terminal;
mod timestamp;
mod tool;
pub mod typescript;

pub use aggregate::*;
pub use approval::*;
pub use changes::*;
pub use error::*;
pub use event::*;
pub use ids::*;
pub use ipc::*;
pub use message::*;
pub use model::*;
pub use policy::*;
pub use projection::*;
pub use sandbox::*;
pub use secret::*;
pub use session::*;
pub use settings::*;
pub use terminal::*;
pub use timestamp::*;
pub use tool::*;
