//! cairn-snapshot
