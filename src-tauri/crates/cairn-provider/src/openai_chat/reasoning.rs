//! Takes the reasoning out of a delta: four field names, sometimes two with the same text.
//!
//! Also gathers `reasoning_details`, which go back to the provider unchanged and in order. Tags
//! inside the content are split in `think.rs`.

use cairn_protocol::{Fidelity, ModelRef};
use serde_json::{Map, Value};

use super::chunk::{Content, Delta};
use super::fidelity;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    Content,
    Reasoning,
    Text,
    Details,
    Tags,
}

impl Source {
    fn name(self) -> &'static str {
        match self {
            Self::Content => "reasoning_content",
            Self::Reasoning => "reasoning",
            Self::Text => "reasoning_text",
            Self::Details => "reasoning_details",
            Self::Tags => "think_tag",
        }
    }
}

/// The reasoning of one response.
pub(super) struct Reasoning {
    model: ModelRef,
    /// The first field that had a text. Its twins are not read.
    source: Option<Source>,
    details: Vec<Map<String, Value>>,
    /// How many of the details are in a complete message already.
    sent: usize,
    /// The text of the details of one delta.
    detail_text: String,
}

impl Reasoning {
    pub(super) fn new(model: ModelRef) -> Self {
        Self { model, source: None, details: Vec::new(), sent: 0, detail_text: String::new() }
    }

    pub(super) fn was_seen(&self) -> bool {
        self.source.is_some() || !self.details.is_empty()
    }

    pub(super) fn came_in_tags(&mut self) {
        self.source.get_or_insert(Source::Tags);
    }

    /// Returns whether there are details that no complete message carries yet.
    pub(super) fn has_unsent_details(&self) -> bool {
        self.details.len() > self.sent
    }

    /// Returns the reasoning in a delta, taken from one of its fields.
    pub(super) fn take<'d>(&'d mut self, delta: &'d Delta<'_>) -> Option<&'d str> {
        self.detail_text.clear();
        if let Some(raw) = delta.reasoning_details {
            self.add_details(raw.get());
        }
        let fields = [
            (Source::Content, &delta.reasoning_content),
            (Source::Reasoning, &delta.reasoning),
            (Source::Text, &delta.reasoning_text),
        ];
        if self.source.is_none() {
            self.source = fields
                .iter()
                .find(|(_, content)| !content.as_text().is_empty())
                .map(|(source, _)| *source)
                .or_else(|| (!self.detail_text.is_empty()).then_some(Source::Details));
        }
        let text = match self.source? {
            Source::Content => Content::as_text(&delta.reasoning_content),
            Source::Reasoning => delta.reasoning.as_text(),
            Source::Text => delta.reasoning_text.as_text(),
            Source::Details => &self.detail_text,
            Source::Tags => "",
        };
        (!text.is_empty()).then_some(text)
    }

    /// Returns the data for the thinking that closes now; its details count as sent.
    pub(super) fn fidelity(&mut self) -> Option<Fidelity> {
        let name = self.source.map(|source| format!("\"{}\"", source.name()));
        let unsent = &self.details[self.sent..];
        let details = (!unsent.is_empty()).then(|| serde_json::to_string(unsent).ok()).flatten();
        self.sent = self.details.len();
        let mut fields = Vec::new();
        if let Some(name) = &name {
            fields.push(("field", name.as_str()));
        }
        if let Some(details) = &details {
            fields.push(("details", details.as_str()));
        }
        if fields.is_empty() { None } else { fidelity::make(&self.model, &fields) }
    }

    /// Adds a list of details. A fragment of the entry before it, known by type, index and id, is
    /// joined to it.
    fn add_details(&mut self, json: &str) {
        let Ok(Value::Array(items)) = serde_json::from_str(json) else { return };
        for item in items {
            let Value::Object(item) = item else { continue };
            for key in ["text", "summary"] {
                if let Some(Value::String(text)) = item.get(key) {
                    self.detail_text.push_str(text);
                }
            }
            let same = |last: &Map<String, Value>| {
                last.get("type") == item.get("type")
                    && last.get("index") == item.get("index")
                    && item.get("id").is_none_or(|id| id.is_null() || last.get("id") == Some(id))
            };
            // What a complete message carries already does not change any more.
            match self.details[self.sent..].last_mut() {
                Some(last) if same(last) => join(last, item),
                _ => self.details.push(item),
            }
        }
    }
}

fn join(entry: &mut Map<String, Value>, fragment: Map<String, Value>) {
    for (key, value) in fragment {
        match (entry.get_mut(&key), value) {
            (_, Value::Null) => {}
            (Some(Value::String(whole)), Value::String(more))
                if matches!(key.as_str(), "text" | "summary" | "data") =>
            {
                whole.push_str(&more);
            }
            (_, value) => {
                entry.insert(key, value);
            }
        }
    }
}
