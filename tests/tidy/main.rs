//! House rules that a compiler does not know: who may depend on whom, how long a file may be, what
//! must be there. It reads the tree and `cargo metadata`; it changes nothing.
//!
//! The rules themselves are explained in `docs/style.md` and `docs/architecture.md`.

mod arrows;
mod documents;
mod sources;
mod tree;
