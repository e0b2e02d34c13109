//! The two conversions between the bytes of a path and [`RelativePath`], and the other spellings of names.
//!
//! A path is bytes with `/` and no leading slash. As text, bytes that are not UTF-8 are written `\xNN` and a back-slash
//! `\\`, so that every path has exactly one text and every such text exactly one path.

use cairn_protocol::RelativePath;

/// Returns the text of a path.
pub fn to_text(path: &[u8]) -> RelativePath {
    let mut text = String::with_capacity(path.len());
    for chunk in path.utf8_chunks() {
        for part in chunk.valid().split_inclusive('\\') {
            match part.strip_suffix('\\') {
                Some(head) => {
                    text.push_str(head);
                    text.push_str("\\\\");
                }
                None => text.push_str(part),
            }
        }
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02x}"));
        }
    }
    text
}

/// Returns the path of a text; `None` when the text is not of that form, is absolute, or would leave the workspace.
pub fn from_text(text: &str) -> Option<Vec<u8>> {
    let bytes = text.as_bytes();
    let mut path = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        if byte != b'\\' {
            path.push(byte);
            at += 1;
            continue;
        }
        match bytes.get(at + 1)? {
            b'\\' => {
                path.push(b'\\');
                at += 2;
            }
            b'x' => {
                let digits = text.get(at + 2..at + 4)?;
                path.push(u8::from_str_radix(digits, 16).ok()?);
                at += 4;
            }
            _ => return None,
        }
    }
    is_inside(&path).then_some(path)
}

/// Tells whether a path names something below the workspace.
pub(crate) fn is_inside(path: &[u8]) -> bool {
    !path.is_empty()
        && !path.contains(&0)
        && path.split(|byte| *byte == b'/').all(|part| !matches!(part, b"" | b"." | b".."))
}

/// Splits a path into its folder (empty for the workspace itself) and its name.
pub(crate) fn split(path: &[u8]) -> (&[u8], &[u8]) {
    match path.iter().rposition(|byte| *byte == b'/') {
        Some(at) => (&path[..at], &path[at + 1..]),
        None => (b"", path),
    }
}

/// Joins a folder (empty for the workspace itself) and a name.
pub(crate) fn join(dir: &[u8], name: &[u8]) -> Vec<u8> {
    let mut path = Vec::with_capacity(dir.len() + name.len() + 1);
    path.extend_from_slice(dir);
    if !dir.is_empty() {
        path.push(b'/');
    }
    path.extend_from_slice(name);
    path
}

/// Tells whether `path` lies below `dir`.
pub(crate) fn is_below(path: &[u8], dir: &[u8]) -> bool {
    dir.is_empty() || (path.len() > dir.len() && path.starts_with(dir) && path[dir.len()] == b'/')
}

/// Tells whether a name is a repository's own folder on some file system: `.git` in any case, its short name, and
/// spellings that HFS+ folds to it.
pub(crate) fn is_git(name: &[u8]) -> bool {
    if name.eq_ignore_ascii_case(b".git") || name.eq_ignore_ascii_case(b"git~1") {
        return true;
    }
    if name.is_ascii() {
        return false;
    }
    let Ok(text) = std::str::from_utf8(name) else { return false };
    let ignorable = |c: &char| !matches!(*c as u32, 0x200c..=0x200f | 0x202a..=0x202e | 0x206a..=0x206f | 0xfeff);
    text.chars().filter(ignorable).collect::<String>().eq_ignore_ascii_case(".git")
}

/// Returns a name for an id that is safe as a component of a file, ref or tree: the id itself when it is plain, else
/// its bytes in hex.
pub(crate) fn component(id: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    if !id.is_empty() && id.len() <= 100 && id.bytes().all(plain) {
        return id.to_owned();
    }
    let mut name = String::from("x.");
    for byte in id.bytes() {
        name.push_str(&format!("{byte:02x}"));
    }
    name
}

/// Writes paths in stored JSON as their text.
pub(crate) mod as_text {
    use serde::{Deserialize, Deserializer, Serializer, de};

    pub(crate) fn serialize<S: Serializer>(path: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&super::to_text(path))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<u8>, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        super::from_text(&text).ok_or_else(|| de::Error::custom("not a path inside the workspace"))
    }
}

#[cfg(test)]
mod tests;
