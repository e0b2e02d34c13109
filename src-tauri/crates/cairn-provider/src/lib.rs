//! cairn-provider
