//! Folds partial messages into whole ones (P-12, P-14).
