//! Reads an event stream by the WHATWG rules, on bytes.
//!
//! Chunks may be split anywhere: in a code point, between CR and LF, in a field name. It knows no
//! JSON and no provider; what an event means is decided in `openai_chat/decode.rs`. Source of the
//! rules: HTML Living Standard, section 9.2.6, read 2026-11-30.

use std::ops::ControlFlow;

/// The longest line. A provider that sends more is broken or hostile.
pub(crate) const LINE_LIMIT_BYTES: usize = 8 * 1024 * 1024;

/// One dispatched event.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Event<'a> {
    /// The `event:` field; empty when there was none.
    pub name: &'a str,
    /// The `data:` lines, joined by LF.
    pub data: &'a [u8],
    /// The stream ended without the blank line that closes an event.
    pub at_end: bool,
}

/// A line is longer than [`LINE_LIMIT_BYTES`].
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LineTooLong;

/// The state between two chunks. It keeps one partial line and one open event.
#[derive(Default)]
pub(crate) struct Reader {
    /// The beginning of a line whose end has not come yet.
    line: Vec<u8>,
    fields: Fields,
    /// The last byte was a CR that ended a line: a LF right after it belongs to it.
    after_cr: bool,
    past_first_line: bool,
}

#[derive(Default)]
struct Fields {
    data: Vec<u8>,
    has_data: bool,
    name: String,
}

impl Reader {
    /// Takes the next bytes and hands each complete event to `on_event`. Stops reading when that
    /// breaks; the rest of `bytes` is then lost.
    pub(crate) fn push(
        &mut self,
        mut bytes: &[u8],
        mut on_event: impl FnMut(Event<'_>) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, LineTooLong> {
        if self.after_cr && !bytes.is_empty() {
            self.after_cr = false;
            bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
        }
        while let Some(end) = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            if self.line.len() + end > LINE_LIMIT_BYTES {
                return Err(LineTooLong);
            }
            let flow = if self.line.is_empty() {
                self.end_line(&bytes[..end], &mut on_event)
            } else {
                let mut line = std::mem::take(&mut self.line);
                line.extend_from_slice(&bytes[..end]);
                let flow = self.end_line(&line, &mut on_event);
                line.clear();
                self.line = line;
                flow
            };
            let rest = &bytes[end + 1..];
            bytes = match (bytes[end], rest.first()) {
                (b'\r', Some(b'\n')) => &rest[1..],
                (b'\r', None) => {
                    self.after_cr = true;
                    rest
                }
                _ => rest,
            };
            if flow.is_break() {
                return Ok(flow);
            }
        }
        if self.line.len() + bytes.len() > LINE_LIMIT_BYTES {
            return Err(LineTooLong);
        }
        self.line.extend_from_slice(bytes);
        Ok(ControlFlow::Continue(()))
    }

    /// Ends the stream: an event without its closing blank line is handed out too.
    pub(crate) fn finish(&mut self, mut on_event: impl FnMut(Event<'_>)) {
        let line = std::mem::take(&mut self.line);
        if !line.is_empty() {
            self.field(&line);
        }
        if self.fields.has_data {
            let data = &self.fields.data;
            on_event(Event { name: &self.fields.name, data, at_end: true });
            self.fields.clear();
        }
    }

    fn end_line(
        &mut self,
        line: &[u8],
        on_event: &mut impl FnMut(Event<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        if !line.is_empty() {
            self.field(line);
            return ControlFlow::Continue(());
        }
        self.past_first_line = true;
        let flow = if self.fields.has_data {
            let data = &self.fields.data;
            on_event(Event { name: &self.fields.name, data, at_end: false })
        } else {
            ControlFlow::Continue(())
        };
        self.fields.clear();
        flow
    }

    fn field(&mut self, mut line: &[u8]) {
        if !self.past_first_line {
            self.past_first_line = true;
            line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
        }
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let (name, value) = line.split_at(colon);
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match name {
            b"data" => {
                if self.fields.has_data {
                    self.fields.data.push(b'\n');
                }
                self.fields.data.extend_from_slice(value);
                self.fields.has_data = true;
            }
            b"event" => {
                self.fields.name.clear();
                self.fields.name.push_str(&String::from_utf8_lossy(value));
            }
            // A comment has an empty name; `id`, `retry` and unknown fields mean nothing here.
            _ => {}
        }
    }
}

impl Fields {
    fn clear(&mut self) {
        self.data.clear();
        self.has_data = false;
        self.name.clear();
    }
}

#[cfg(test)]
mod tests;
