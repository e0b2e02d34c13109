//! A value that must not be shown, logged or stored: a provider key.
//!
//! It has no `Debug`, no `Display` and no `Serialize` on purpose, and is zeroed when dropped.

use serde::Deserialize;
use ts_rs::TS;
use zeroize::{Zeroize, ZeroizeOnDrop};

/// A secret text. It can be received from the window, but never sent to it.
#[derive(Clone, Zeroize, ZeroizeOnDrop, Deserialize, TS)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// Wraps a secret text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the secret itself. Call it only where the secret is sent or stored.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Returns whether the text is empty or only white space.
    pub fn is_blank(&self) -> bool {
        self.0.trim().is_empty()
    }
}
