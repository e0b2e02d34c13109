//! The JSON form of a message, written by hand because serde's tagged enums pass values through a
//! buffer in which raw JSON text is lost, and a provider's opaque data must stay as it is (P-24).
//!
//! Reading never fails because something is new: unknown fields and unknown types are kept. It fails
//! when a known type lacks what it must have.

use std::borrow::Cow;
use std::fmt;

use serde::de::{self, DeserializeOwned, IgnoredAny, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserializer, Serializer};

use super::*;

/// Fields that the trace puts beside the envelope of a stored line: format version, place, checksum.
/// They belong to the line, not to the message.
const LINE_FIELDS: [&str; 3] = ["v", "seq", "c"];

impl Serialize for Message {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("timestamp", &self.timestamp)?;
        let extra = &self.extra.payload;
        match &self.body {
            Body::SessionMeta(meta) => {
                map.serialize_entry("type", "session_meta")?;
                map.serialize_entry("payload", &WithExtra { payload: meta, extra })?;
            }
            Body::ModelMsg(message) => {
                map.serialize_entry("type", "model_msg")?;
                map.serialize_entry("payload", &WithExtra { payload: message, extra })?;
            }
            Body::EventMsg(event) => {
                map.serialize_entry("type", "event_msg")?;
                map.serialize_entry("payload", event)?;
            }
            Body::Unknown(unknown) => {
                map.serialize_entry("type", &unknown.kind)?;
                if let Some(payload) = &unknown.payload {
                    map.serialize_entry("payload", payload)?;
                }
            }
        }
        if !self.origin.is_empty() {
            map.serialize_entry("origin", &self.origin)?;
        }
        for (key, value) in &self.extra.envelope {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

struct WithExtra<'a, T> {
    payload: &'a T,
    extra: &'a Map<String, Value>,
}

impl<T: Serialize> Serialize for WithExtra<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Both<'a, T> {
            #[serde(flatten)]
            payload: &'a T,
            #[serde(flatten)]
            extra: &'a Map<String, Value>,
        }
        if self.extra.is_empty() {
            self.payload.serialize(serializer)
        } else {
            Both { payload: self.payload, extra: self.extra }.serialize(serializer)
        }
    }
}

impl<'de> Deserialize<'de> for Message {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EnvelopeVisitor)
    }
}

struct EnvelopeVisitor;

impl<'de> Visitor<'de> for EnvelopeVisitor {
    type Value = Message;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Message, A::Error> {
        let mut timestamp = None;
        let mut kind: Option<String> = None;
        let mut payload: Option<Box<RawValue>> = None;
        let mut origin = Vec::new();
        let mut extra = Extra::default();
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "timestamp" => timestamp = Some(map.next_value()?),
                "type" => kind = Some(map.next_value()?),
                "payload" => payload = Some(map.next_value()?),
                "origin" => origin = map.next_value::<Option<_>>()?.unwrap_or_default(),
                name if LINE_FIELDS.contains(&name) => {
                    map.next_value::<IgnoredAny>()?;
                }
                _ => {
                    let value = map.next_value()?;
                    extra.envelope.insert(key, value);
                }
            }
        }
        let timestamp = timestamp.ok_or_else(|| de::Error::missing_field("timestamp"))?;
        let kind = kind.ok_or_else(|| de::Error::missing_field("type"))?;
        let body = read_body(kind, payload, &mut extra.payload).map_err(de::Error::custom)?;
        Ok(Message { timestamp, body, origin, extra })
    }
}

fn read_body(
    kind: String,
    payload: Option<Box<RawValue>>,
    extra: &mut Map<String, Value>,
) -> Result<Body, serde_json::Error> {
    let required = || payload.as_deref().ok_or_else(|| de::Error::missing_field("payload"));
    let body = match kind.as_str() {
        "session_meta" => {
            let raw = required()?;
            keep_unknown(serde_json::from_str(raw.get())?, SESSION_META, extra)?;
            Some(Body::SessionMeta(serde_json::from_str(raw.get())?))
        }
        "model_msg" => {
            let raw = required()?;
            let fields: Fields<'_> = serde_json::from_str(raw.get())?;
            match read_model(&fields.tag()?, raw)? {
                Some((message, known)) => {
                    keep_unknown(fields, known, extra)?;
                    Some(Body::ModelMsg(message))
                }
                None => None,
            }
        }
        "event_msg" => match serde_json::from_str(required()?.get())? {
            EventMsg::Unknown => None,
            event => Some(Body::EventMsg(event)),
        },
        _ => None,
    };
    Ok(body.unwrap_or(Body::Unknown(UnknownBody { kind, payload })))
}

impl<'de> Deserialize<'de> for ModelMsg {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        let read = || -> Result<Self, serde_json::Error> {
            let tag = serde_json::from_str::<Fields<'_>>(raw.get())?.tag()?;
            let known = read_model(&tag, &raw)?;
            known.map(|(message, _)| message).ok_or_else(|| {
                de::Error::custom(format_args!("unknown kind of model message `{tag}`"))
            })
        };
        read().map_err(de::Error::custom)
    }
}

type Known = &'static [&'static str];

// The fields of each payload; what is not listed is kept as unknown. `tests/contract` holds the
// lists against the types.
const SESSION_META: Known = &[
    "session_id",
    "provider",
    "model_id",
    "model_context_window",
    "system_prompt",
    "agent_state",
    "workspace",
    "source",
];
const TEXT: Known = &["role", "text", "sender", "fidelity", "stop_reason", "markers"];
const THINKING: Known = &["role", "thinking", "fidelity", "stop_reason"];
const INLINE_THINKING: Known = &["role", "data", "mime_type", "fidelity", "stop_reason"];
const TOOL_CALL: Known = &["role", "name", "arguments", "tool_call_id", "fidelity", "stop_reason"];
const TOOL_CALL_OUTPUT: Known =
    &["role", "output", "images", "tool_call_id", "stop_reason", "details"];
const IMAGE_URL: Known = &["role", "image_url"];
const INLINE_DATA: Known = &["role", "data", "mime_type", "fidelity"];
const PARTIAL_TEXT: Known = &["role", "event_type", "text", "stop_reason"];
const PARTIAL_THINKING: Known = &["role", "event_type", "thinking", "stop_reason"];
const PARTIAL_TOOL_CALL: Known =
    &["role", "event_type", "name", "arguments", "tool_call_id", "stop_reason"];
const PARTIAL_TOOL_CALL_OUTPUT: Known =
    &["role", "event_type", "output", "images", "tool_call_id", "stop_reason"];

fn read_model(tag: &str, raw: &RawValue) -> Result<Option<(ModelMsg, Known)>, serde_json::Error> {
    fn read<T: DeserializeOwned + Into<ModelMsg>>(
        raw: &RawValue,
        known: Known,
    ) -> Result<Option<(ModelMsg, Known)>, serde_json::Error> {
        Ok(Some((serde_json::from_str::<T>(raw.get())?.into(), known)))
    }
    match tag {
        "text" => read::<Text>(raw, TEXT),
        "thinking" => read::<Thinking>(raw, THINKING),
        "inline_thinking" => read::<InlineThinking>(raw, INLINE_THINKING),
        "tool_call" => read::<ToolCall>(raw, TOOL_CALL),
        "tool_call_output" => read::<ToolCallOutput>(raw, TOOL_CALL_OUTPUT),
        "image_url" => read::<ImageUrl>(raw, IMAGE_URL),
        "inline_data" => read::<InlineData>(raw, INLINE_DATA),
        "partial_text" => read::<PartialText>(raw, PARTIAL_TEXT),
        "partial_thinking" => read::<PartialThinking>(raw, PARTIAL_THINKING),
        "partial_tool_call" => read::<PartialToolCall>(raw, PARTIAL_TOOL_CALL),
        "partial_tool_call_output" => read::<PartialToolCallOutput>(raw, PARTIAL_TOOL_CALL_OUTPUT),
        _ => Ok(None),
    }
}

/// The fields of an object in one pass, values left as raw text.
struct Fields<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl Fields<'_> {
    fn tag(&self) -> Result<String, serde_json::Error> {
        let field = self.0.iter().find(|(key, _)| key == "type");
        let (_, raw) = field.ok_or_else(|| de::Error::missing_field("type"))?;
        serde_json::from_str(raw.get())
    }
}

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Key<'a>(#[serde(borrow)] Cow<'a, str>);
        struct FieldsVisitor;
        impl<'de> Visitor<'de> for FieldsVisitor {
            type Value = Fields<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a payload object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields<'de>, A::Error> {
                let mut fields = Vec::with_capacity(8);
                while let Some((Key(key), value)) = map.next_entry()? {
                    fields.push((key, value));
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(FieldsVisitor)
    }
}

fn keep_unknown(
    fields: Fields<'_>,
    known: Known,
    extra: &mut Map<String, Value>,
) -> Result<(), serde_json::Error> {
    for (key, raw) in fields.0 {
        if key != "type" && !known.contains(&&*key) {
            extra.insert(key.into_owned(), serde_json::from_str(raw.get())?);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
