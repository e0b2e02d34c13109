//! Single lines after the last user text that name attached files (P-29). The bytes never enter the
//! conversation; who stores them is not said here.

/// A file that the user attached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attachment {
    /// How it is to be shown.
    pub kind: AttachmentKind,
    /// Its path, or for an image also its address.
    pub source: String,
}

/// How an attachment is to be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AttachmentKind {
    /// As a thumbnail.
    Image,
    /// As a file banner.
    File,
}

impl AttachmentKind {
    fn prefix(self) -> &'static str {
        match self {
            Self::Image => "[attached image: ",
            Self::File => "[attached file: ",
        }
    }
}

impl Attachment {
    /// Writes the line. Returns nothing when the source is empty or has a line break, which a
    /// single line can't carry; names in a session's scratch folder never do (P-126).
    pub fn line(&self) -> Option<String> {
        let fits = !self.source.is_empty() && !self.source.contains(['\n', '\r']);
        fits.then(|| format!("{}{}]", self.kind.prefix(), self.source))
    }

    fn read(line: &str) -> Option<Self> {
        let line = line.strip_suffix('\r').unwrap_or(line);
        [AttachmentKind::Image, AttachmentKind::File].into_iter().find_map(|kind| {
            let source = line.strip_prefix(kind.prefix())?.strip_suffix(']')?;
            (!source.is_empty()).then(|| Self { kind, source: source.to_owned() })
        })
    }
}

/// Lifts the attachment lines off the end of a text: returns the text before them and the
/// attachments in order. Such a line in the middle of a text stays text.
pub fn split_attachments(text: &str) -> (&str, Vec<Attachment>) {
    let mut rest = text;
    let mut attachments = Vec::new();
    loop {
        let trimmed = rest.strip_suffix('\n').unwrap_or(rest);
        let start = trimmed.rfind('\n').map_or(0, |position| position + 1);
        let Some(attachment) = Attachment::read(&trimmed[start..]) else { break };
        attachments.push(attachment);
        rest = &trimmed[..start];
        if rest.is_empty() {
            break;
        }
    }
    attachments.reverse();
    if attachments.is_empty() {
        return (text, attachments);
    }
    (rest.strip_suffix('\n').unwrap_or(rest), attachments)
}
