//! Marker blocks inside message text (P-26 … P-31).
