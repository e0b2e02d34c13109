//! cairn-mcp
