//! The shape of a Chat Completions chunk, read leniently and mostly without copying.
//!
//! Unknown fields are skipped. A field of a wrong type counts as absent, because servers send
//! `null`, numbers and lists where texts belong. What the parts mean is in `decode.rs`.

use std::borrow::Cow;
use std::fmt;

use serde::de::{self, Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// One event of the stream, or a whole answer that was not streamed.
#[derive(Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Chunk<'a> {
    #[serde(borrow)]
    pub choices: FirstChoice<'a>,
    #[serde(borrow)]
    pub usage: Option<&'a RawValue>,
    #[serde(borrow)]
    pub error: Option<&'a RawValue>,
    #[serde(borrow)]
    pub x_groq: Option<&'a RawValue>,
    #[serde(borrow)]
    pub object: Str<'a>,
    #[serde(borrow)]
    pub base_resp: Option<&'a RawValue>,
    #[serde(borrow)]
    pub message: Option<&'a RawValue>,
    #[serde(borrow)]
    pub detail: Option<&'a RawValue>,
}

/// The choice with index 0 or without an index; others are not asked for and not read.
#[derive(Default)]
pub(super) struct FirstChoice<'a> {
    /// The `choices` field had a list, empty or not.
    pub listed: bool,
    pub choice: Option<Choice<'a>>,
}

#[derive(Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Choice<'a> {
    #[serde(borrow)]
    pub index: Option<&'a RawValue>,
    #[serde(borrow)]
    pub delta: Option<Delta<'a>>,
    /// The whole answer when it was not streamed; some send it beside every delta.
    #[serde(borrow)]
    pub message: Option<&'a RawValue>,
    #[serde(borrow)]
    pub finish_reason: Str<'a>,
    #[serde(borrow)]
    pub usage: Option<&'a RawValue>,
}

#[derive(Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Delta<'a> {
    #[serde(borrow)]
    pub content: Content<'a>,
    #[serde(borrow)]
    pub reasoning_content: Content<'a>,
    #[serde(borrow)]
    pub reasoning: Content<'a>,
    #[serde(borrow)]
    pub reasoning_text: Content<'a>,
    #[serde(borrow)]
    pub reasoning_details: Option<&'a RawValue>,
    #[serde(borrow)]
    pub refusal: Str<'a>,
    #[serde(borrow)]
    pub tool_calls: Option<Vec<ToolDelta<'a>>>,
    #[serde(borrow)]
    pub function_call: Option<FunctionDelta<'a>>,
}

#[derive(Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct ToolDelta<'a> {
    #[serde(borrow)]
    pub index: Option<&'a RawValue>,
    #[serde(borrow)]
    pub id: Str<'a>,
    #[serde(borrow)]
    pub function: Option<FunctionDelta<'a>>,
    #[serde(borrow)]
    pub extra_content: Option<&'a RawValue>,
}

#[derive(Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct FunctionDelta<'a> {
    #[serde(borrow)]
    pub name: Str<'a>,
    #[serde(borrow)]
    pub arguments: Option<&'a RawValue>,
}

/// A text, or nothing.
#[derive(Default)]
pub(super) struct Str<'a>(pub Cow<'a, str>);

/// A text, or a list of parts.
#[derive(Default)]
pub(super) enum Content<'a> {
    #[default]
    Nothing,
    Text(Cow<'a, str>),
    Parts(Vec<Part<'a>>),
}

#[derive(Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Part<'a> {
    #[serde(rename = "type", borrow)]
    pub kind: Str<'a>,
    #[serde(borrow)]
    pub text: Str<'a>,
    #[serde(borrow)]
    pub thinking: Content<'a>,
}

impl Str<'_> {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Content<'_> {
    /// Returns the text where it is one, else an empty one.
    pub(super) fn as_text(&self) -> &str {
        match self {
            Content::Text(text) => text,
            _ => "",
        }
    }
}

/// Reads an index that may be a number, a number in quotes, or absent.
pub(super) fn index(raw: Option<&RawValue>) -> Option<u64> {
    raw?.get().trim_matches('"').parse().ok()
}

/// Reads arguments: a JSON text in quotes, or an object in its place.
pub(super) fn arguments(raw: Option<&RawValue>) -> Cow<'_, str> {
    let Some(raw) = raw else { return Cow::Borrowed("") };
    match raw.get().as_bytes().first() {
        Some(b'"') => match serde_json::from_str::<Str<'_>>(raw.get()) {
            Ok(text) => text.0,
            Err(_) => Cow::Borrowed(""),
        },
        Some(b'{') => Cow::Borrowed(raw.get()),
        _ => Cow::Borrowed(""),
    }
}

struct LenientVisitor;

impl<'de> Visitor<'de> for LenientVisitor {
    type Value = Content<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text, a list of parts, or nothing")
    }

    fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Content::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Content::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_string<E: de::Error>(self, text: String) -> Result<Self::Value, E> {
        Ok(Content::Text(Cow::Owned(text)))
    }

    fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
        Ok(Content::Nothing)
    }

    fn visit_bool<E: de::Error>(self, _: bool) -> Result<Self::Value, E> {
        Ok(Content::Nothing)
    }

    fn visit_i64<E: de::Error>(self, _: i64) -> Result<Self::Value, E> {
        Ok(Content::Nothing)
    }

    fn visit_u64<E: de::Error>(self, _: u64) -> Result<Self::Value, E> {
        Ok(Content::Nothing)
    }

    fn visit_f64<E: de::Error>(self, _: f64) -> Result<Self::Value, E> {
        Ok(Content::Nothing)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut parts = Vec::new();
        while let Some(PartOrText(part)) = items.next_element()? {
            parts.push(part);
        }
        Ok(Content::Parts(parts))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Content::Nothing)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Content<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LenientVisitor)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Str<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match Content::deserialize(deserializer)? {
            Content::Text(text) => Self(text),
            _ => Self::default(),
        })
    }
}

/// A part of a list: an object, or a bare text in its place.
struct PartOrText<'a>(Part<'a>);

impl<'de: 'a, 'a> Deserialize<'de> for PartOrText<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&'de RawValue>::deserialize(deserializer)?;
        let text = raw.get();
        Ok(Self(if text.starts_with('{') {
            serde_json::from_str(text).map_err(de::Error::custom)?
        } else {
            let text = serde_json::from_str(text).map_err(de::Error::custom)?;
            Part { text, ..Part::default() }
        }))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for FirstChoice<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ChoicesVisitor;

        impl<'de> Visitor<'de> for ChoicesVisitor {
            type Value = FirstChoice<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of choices or null")
            }

            fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
                Ok(FirstChoice::default())
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
                let mut first = None;
                while let Some(choice) = items.next_element::<Option<Choice<'de>>>()? {
                    let Some(choice) = choice else { continue };
                    if first.is_none() && index(choice.index).unwrap_or(0) == 0 {
                        first = Some(choice);
                    }
                }
                Ok(FirstChoice { listed: true, choice: first })
            }
        }

        deserializer.deserialize_any(ChoicesVisitor)
    }
}
