//! ZQ events as a pure projection of messages (Z-57 … Z-61).
