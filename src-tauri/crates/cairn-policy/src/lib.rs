//! cairn-policy
