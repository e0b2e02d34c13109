//! One record of the trace as a line of text, and back.
//!
//! A line is the JSON object of a message with three fields around it, in exactly this order:
//!
//! ```text
//! {"v":1,"seq":7,"timestamp":"…","type":"…","payload":{…},"c":"0a1b2c3d"}
//! ```
//!
//! - `v` is the version of the format, `seq` the place in the session from 1.
//! - `c` is always last: eight lower-case hex digits of the CRC-32C over **the line without the `c` field**, which
//!   is every byte before `,"c":"` followed by one `}`. The newline is not part of it.
//! - A line has at most 256 KiB with its newline. A message that needs more, or whose opaque provider data has line
//!   breaks in it, lies in `blobs/<sha256>` as the whole JSON object of the message, byte for byte, and its line
//!   names it: `{"v":1,"seq":7,"blob":"<sha256>","bytes":N,"timestamp":"…","type":"…","c":"…"}`.
//!
//! It neither reads nor writes files; see `trace.rs` and `lines.rs`.

use std::fmt::Write as _;
use std::ops::Range;

use cairn_protocol::{Body, Message};
use sha2::{Digest, Sha256};

use crate::Error;

/// The version of the format that this code writes.
pub(crate) const VERSION: u32 = 1;

/// The longest line, newline included (security plan 4.1).
pub(crate) const LINE_LIMIT_BYTES: usize = 256 * 1024;

/// Names of the envelope that belong to the line, not to the message.
const RESERVED: [&str; 5] = ["v", "seq", "c", "blob", "bytes"];

/// The length of `,"c":"0a1b2c3d"}`.
const SUFFIX_LEN: usize = 16;

/// How many record starts are looked for in a damaged line.
const PIECES_LIMIT: usize = 64;

/// A record that is ready to be written.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) seq: u64,
    /// The line with its newline.
    pub(crate) line: Vec<u8>,
    pub(crate) blob: Option<Blob>,
}

/// A message that is too long for a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Blob {
    pub(crate) sha256: String,
    pub(crate) bytes: Vec<u8>,
}

/// What a sound line says about itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) version: u32,
    pub(crate) seq: u64,
    /// Where the message's own fields begin.
    start: usize,
}

/// What is in a line.
#[derive(Debug)]
pub(crate) enum Content {
    Message(Box<Message>),
    Blob { sha256: String },
}

/// Makes the line, and the blob where one is needed.
pub(crate) fn encode(seq: u64, message: &Message) -> Result<Prepared, Error> {
    let json = if RESERVED.iter().any(|name| message.extra.envelope.contains_key(*name)) {
        let mut message = message.clone();
        message.extra.envelope.retain(|name, _| !RESERVED.contains(&name.as_str()));
        serde_json::to_vec(&message)
    } else {
        serde_json::to_vec(message)
    }
    .map_err(|error| Error::Invalid(format!("a message can't be written as JSON: {error}")))?;
    let mut line = format!("{{\"v\":{VERSION},\"seq\":{seq},").into_bytes();
    let whole = line.len() + json.len() + SUFFIX_LEN;
    if whole <= LINE_LIMIT_BYTES && !json.contains(&b'\n') && !json.contains(&b'\r') {
        line.reserve(json.len() + SUFFIX_LEN);
        line.extend_from_slice(&json[1..json.len() - 1]);
        seal(&mut line);
        return Ok(Prepared { seq, line, blob: None });
    }
    let sha256 = hex(&Sha256::digest(&json));
    let kind = match &message.body {
        Body::SessionMeta(_) => "session_meta",
        Body::ModelMsg(_) => "model_msg",
        Body::EventMsg(_) => "event_msg",
        Body::Unknown(unknown) => &unknown.kind,
    };
    let fields = format!(
        "\"blob\":\"{sha256}\",\"bytes\":{},\"timestamp\":\"{}\",\"type\":{}",
        json.len(),
        message.timestamp,
        serde_json::Value::from(kind)
    );
    line.extend_from_slice(fields.as_bytes());
    seal(&mut line);
    Ok(Prepared { seq, line, blob: Some(Blob { sha256, bytes: json }) })
}

fn seal(line: &mut Vec<u8>) {
    let sum = checksum(line);
    line.extend_from_slice(format!(",\"c\":\"{sum:08x}\"}}\n").as_bytes());
}

fn checksum(before_suffix: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(before_suffix), b"}")
}

/// Returns the hex digits of bytes, lower case.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Checks a line, given without its newline; `None` when it is not a sound record.
pub(crate) fn check(line: &[u8]) -> Option<Head> {
    let before = line.get(..line.len().checked_sub(SUFFIX_LEN)?)?;
    let digits = line[before.len()..].strip_prefix(b",\"c\":\"")?.strip_suffix(b"\"}")?;
    let (version, rest) = number(before.strip_prefix(b"{\"v\":")?)?;
    let (seq, rest) = number(rest.strip_prefix(b",\"seq\":")?)?;
    let rest = rest.strip_prefix(b",")?;
    let sum = u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    if seq == 0 || sum != checksum(before) {
        return None;
    }
    let start = before.len() - rest.len();
    Some(Head { version: u32::try_from(version).unwrap_or(u32::MAX), seq, start })
}

fn number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let count = bytes.iter().take_while(|b| b.is_ascii_digit()).count();
    let text = std::str::from_utf8(&bytes[..count]).ok()?;
    Some((text.parse().ok()?, &bytes[count..]))
}

/// Returns where sound records are in a damaged line: the halves of a write that was cut, records that lost the
/// newline between them, a record after a run of NUL.
pub(crate) fn pieces(line: &[u8]) -> Vec<Range<usize>> {
    const START: &[u8] = b"{\"v\":";
    let mut starts: Vec<usize> = line
        .windows(START.len())
        .enumerate()
        .filter(|(_, window)| *window == START)
        .map(|(at, _)| at)
        .take(PIECES_LIMIT)
        .collect();
    starts.push(line.len());
    let mut found = Vec::new();
    let mut from = 0;
    while from + 1 < starts.len() {
        let start = starts[from];
        let end = (from + 1..starts.len()).find(|to| check(&line[start..starts[*to]]).is_some());
        if let Some(to) = end {
            found.push(start..starts[to]);
        }
        from = end.unwrap_or(from + 1);
    }
    found
}

/// Reads the message of a sound line, or the name of the blob that holds it.
pub(crate) fn decode(line: &[u8]) -> Result<Content, serde_json::Error> {
    #[derive(serde::Deserialize)]
    struct Pointer {
        blob: String,
    }
    let Some(head) = check(line) else {
        return Err(serde::de::Error::custom("the checksum does not fit"));
    };
    let fields = &line[head.start..line.len() - SUFFIX_LEN];
    let mut json = Vec::with_capacity(fields.len() + 2);
    json.push(b'{');
    json.extend_from_slice(fields);
    json.push(b'}');
    if fields.starts_with(b"\"blob\":") {
        let pointer: Pointer = serde_json::from_slice(&json)?;
        return Ok(Content::Blob { sha256: pointer.blob });
    }
    Ok(Content::Message(Box::new(serde_json::from_slice(&json)?)))
}
