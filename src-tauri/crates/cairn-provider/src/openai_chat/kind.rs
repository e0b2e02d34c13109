//! Tells a stream from a whole answer and from a web page.

use bytes::Bytes;
use reqwest::header::{CONTENT_TYPE, HeaderMap};

/// What the body of a success is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Unknown,
    Stream,
    /// JSON that was not streamed.
    Whole,
    /// A web page.
    Page,
}

impl Kind {
    /// Takes what the header says, where that can be trusted.
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let kind = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("");
        let kind = kind.to_ascii_lowercase();
        if kind.starts_with("text/html") { Self::Page } else { Self::Unknown }
    }

    /// Looks at the first bytes: some servers give every answer the wrong type.
    pub(super) fn sniff(self, bytes: &Bytes) -> Self {
        if self != Self::Unknown {
            return self;
        }
        let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        match bytes.iter().find(|byte| !byte.is_ascii_whitespace()) {
            Some(b'{' | b'[') => Self::Whole,
            Some(b'<') => Self::Page,
            Some(_) => Self::Stream,
            None => Self::Unknown,
        }
    }
}
