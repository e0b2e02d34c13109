//! cairn-exec
