//! The contract: what crosses to the window is what the window was built for, and what was stored
//! once can be read for ever.

mod golden;
mod typescript;
