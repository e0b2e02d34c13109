//! Turns complete messages into the `messages` list of a Chat Completions request.
//!
//! The list is append-only: what was rendered once is kept as bytes and never written again, so a
//! long history costs little and the provider's prompt cache sees the same prefix each time. The
//! fields around the list are in `request.rs`.

use std::sync::Arc;

use cairn_protocol::{
    Body, Fidelity, Message, ModelMsg, ModelRef, Role, StopReason, ToolCall, ToolCallOutput,
};
use serde::Serialize;
use serde_json::value::RawValue;

use super::fidelity;
use crate::ids;
use crate::quirks::{IdForm, Quirks};

/// Stands in for the result of a call that has none: every provider refuses a call without one.
const NO_RESULT: &str = "[the call did not run: the turn was stopped]";
/// Stands in for the result of a call whose arguments were cut off.
const CUT_CALL: &str = "[the call did not run: it was cut off before it was complete]";
const NO_IMAGE: &str = "[an image is left out here, because this model does not read images]";

/// How messages are rendered for one target.
pub(super) struct Rules {
    pub model: ModelRef,
    pub vision: bool,
    pub quirks: Quirks,
}

/// The rendered part of a history that can't change any more.
#[derive(Default)]
pub(super) struct Prefix {
    /// The messages that `bytes` covers, to know them again.
    covered: Vec<Arc<Message>>,
    bytes: Vec<u8>,
    after_tool: bool,
}

/// The messages of one side, until the other side speaks.
#[derive(Default)]
struct Segment<'a> {
    reasoning: Vec<(&'a str, Option<&'a Fidelity>)>,
    texts: Vec<&'a str>,
    calls: Vec<&'a ToolCall>,
    outputs: Vec<&'a ToolCallOutput>,
    /// Parts of the user's side, in order.
    parts: Vec<UserPart<'a>>,
    is_user: bool,
    is_empty: bool,
}

enum UserPart<'a> {
    Text(&'a str),
    Image(std::borrow::Cow<'a, str>),
}

impl Prefix {
    /// Renders a history behind the system prompt and returns the list's content, without the
    /// brackets. Keeps what can't change for the next time.
    pub(super) fn render(&mut self, history: &[Arc<Message>], rules: &Rules) -> Vec<u8> {
        let known = self.covered.len() <= history.len()
            && self.covered.iter().zip(history).all(|(known, given)| Arc::ptr_eq(known, given));
        if !known {
            *self = Self::default();
        }
        let mut writer =
            Writer { bytes: std::mem::take(&mut self.bytes), after_tool: self.after_tool, rules };
        let mut segment = Segment::new();
        let mut images = Vec::new();
        let mut kept = (writer.bytes.len(), self.after_tool);
        for (at, message) in history.iter().enumerate().skip(self.covered.len()) {
            let Body::ModelMsg(model_message) = &message.body else { continue };
            if segment.ends_before(model_message) {
                images = writer.segment(segment, images);
                segment = Segment::new();
                if images.is_empty() {
                    kept = (writer.bytes.len(), writer.after_tool);
                    self.covered.extend_from_slice(&history[self.covered.len()..at]);
                }
            }
            segment.take(model_message);
        }
        let images = writer.segment(segment, images);
        if !images.is_empty() {
            let mut rest = Segment::new();
            rest.is_user = true;
            rest.is_empty = false;
            writer.segment(rest, images);
        }
        let rendered = writer.bytes;
        self.bytes = rendered[..kept.0].to_vec();
        self.after_tool = kept.1;
        rendered
    }
}

impl<'a> Segment<'a> {
    fn new() -> Self {
        Self { is_empty: true, ..Self::default() }
    }

    /// Returns whether `message` belongs to the next segment.
    fn ends_before(&self, message: &ModelMsg) -> bool {
        if self.is_empty {
            return false;
        }
        match message {
            ModelMsg::Text(text) if text.role == Role::User => !self.is_user,
            ModelMsg::ImageUrl(_) => !self.is_user,
            ModelMsg::InlineData(data) if data.role == Role::User => !self.is_user,
            ModelMsg::ToolCallOutput(_) => self.is_user,
            ModelMsg::Text(_) | ModelMsg::Thinking(_) | ModelMsg::ToolCall(_) => {
                self.is_user || !self.outputs.is_empty()
            }
            _ => false,
        }
    }

    fn take(&mut self, message: &'a ModelMsg) {
        match message {
            ModelMsg::Text(text) if text.role == Role::User => {
                self.is_user = true;
                self.parts.push(UserPart::Text(&text.text));
            }
            ModelMsg::Text(text) => self.texts.push(&text.text),
            ModelMsg::Thinking(thinking) => {
                self.reasoning.push((&thinking.thinking, thinking.fidelity.as_ref()));
            }
            ModelMsg::ToolCall(call) => self.calls.push(call),
            ModelMsg::ToolCallOutput(output) => self.outputs.push(output),
            ModelMsg::ImageUrl(image) => {
                self.is_user = true;
                self.parts.push(UserPart::Image(image.image_url.as_str().into()));
            }
            ModelMsg::InlineData(data) if data.role == Role::User => {
                self.is_user = true;
                if data.mime_type.starts_with("image/") {
                    let url = format!("data:{};base64,{}", data.mime_type, data.data);
                    self.parts.push(UserPart::Image(url.into()));
                } else {
                    self.parts.push(UserPart::Text("[data that is not an image is left out here]"));
                }
            }
            _ => return,
        }
        self.is_empty = false;
    }
}

struct Writer<'r> {
    bytes: Vec<u8>,
    after_tool: bool,
    rules: &'r Rules,
}

#[derive(Serialize)]
struct AssistantMessage<'a> {
    role: &'static str,
    content: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_details: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<WireCall<'a>>,
}

#[derive(Serialize)]
struct WireCall<'a> {
    id: String,
    r#type: &'static str,
    function: WireFunction<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extra_content: Option<&'a RawValue>,
}

#[derive(Serialize)]
struct WireFunction<'a> {
    name: &'a str,
    arguments: &'a str,
}

#[derive(Serialize)]
struct ToolMessage<'a> {
    role: &'static str,
    tool_call_id: String,
    content: &'a str,
}

#[derive(Serialize)]
struct PlainMessage<'a> {
    role: &'static str,
    content: &'a str,
}

#[derive(Serialize)]
struct PartsMessage<'a> {
    role: &'static str,
    content: Vec<WirePart<'a>>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum WirePart<'a> {
    Text { text: std::borrow::Cow<'a, str> },
    ImageUrl { image_url: WireImage<'a> },
}

#[derive(Serialize)]
struct WireImage<'a> {
    url: &'a str,
}

impl Writer<'_> {
    /// Renders a segment. Returns the images of its tool results, which go into the next user
    /// message: not every server takes them in a tool message.
    fn segment<'a>(&mut self, segment: Segment<'a>, images: Vec<&'a str>) -> Vec<&'a str> {
        if segment.is_empty {
            return images;
        }
        if segment.is_user {
            self.user(&segment.parts, &images);
            return Vec::new();
        }
        if !images.is_empty() {
            self.user(&[], &images);
        }
        self.assistant(&segment);
        self.outputs(&segment);
        segment.outputs.iter().flat_map(|output| output.images.iter().map(String::as_str)).collect()
    }

    fn user(&mut self, parts: &[UserPart<'_>], images: &[&str]) {
        if self.after_tool && self.rules.quirks.assistant_after_tool {
            self.put(&PlainMessage { role: "assistant", content: "Understood." });
        }
        self.after_tool = false;
        let pictures =
            !images.is_empty() || parts.iter().any(|part| matches!(part, UserPart::Image(_)));
        if !pictures || !self.rules.vision {
            let mut texts: Vec<&str> = images.iter().map(|_| NO_IMAGE).collect();
            texts.extend(parts.iter().map(|part| match part {
                UserPart::Text(text) => text,
                UserPart::Image(_) => NO_IMAGE,
            }));
            let text = texts.join("\n\n");
            self.put(&PlainMessage { role: "user", content: &clean(&text) });
            return;
        }
        let mut content = Vec::new();
        if !images.is_empty() {
            content.push(WirePart::Text { text: "Images from the tool results above:".into() });
        }
        content
            .extend(images.iter().map(|url| WirePart::ImageUrl { image_url: WireImage { url } }));
        content.extend(parts.iter().map(|part| match part {
            UserPart::Text(text) => WirePart::Text { text: clean(text) },
            UserPart::Image(url) => WirePart::ImageUrl { image_url: WireImage { url } },
        }));
        self.put(&PartsMessage { role: "user", content });
    }

    fn assistant(&mut self, segment: &Segment<'_>) {
        let kept: Vec<_> = segment
            .reasoning
            .iter()
            .map(|(text, fidelity)| (*text, fidelity::read(*fidelity, &self.rules.model)))
            .collect();
        let of_field = |field: &str| {
            let texts = kept.iter().filter_map(|(text, kept)| {
                (kept.as_ref()?.field.as_deref() == Some(field)).then_some(*text)
            });
            texts.collect::<String>()
        };
        let mut text = segment.texts.concat();
        if self.rules.quirks.think_tags_back {
            let thought = of_field("think_tag");
            if !thought.is_empty() {
                text = format!("<think>\n{thought}\n</think>\n\n{text}");
            }
        }
        // Only turns with calls need it; an answer's reasoning is ignored or refused.
        let reasoning = Some(of_field("reasoning_content")).filter(|reasoning| {
            !segment.calls.is_empty()
                && (!reasoning.is_empty() || self.rules.quirks.reasoning_always)
        });
        let details = kept.iter().filter_map(|(_, kept)| {
            let kept = kept.as_ref().filter(|kept| kept.model == self.rules.model.model_id)?;
            kept.details
        });
        let tool_calls: Vec<_> = segment.calls.iter().map(|call| self.call(call)).collect();
        let text = clean(&text);
        let message = AssistantMessage {
            role: "assistant",
            content: (!text.is_empty()).then_some(&*text),
            reasoning_content: reasoning.map(|text| clean(&text).into_owned()),
            reasoning_details: joined_lists(details),
            tool_calls,
        };
        // A turn with neither content nor calls is refused by several servers.
        if message.content.is_some() || !message.tool_calls.is_empty() {
            self.put(&message);
            self.after_tool = false;
        }
    }

    fn call<'a>(&self, call: &'a ToolCall) -> WireCall<'a> {
        let whole = serde_json::from_str::<serde::de::IgnoredAny>(&call.arguments).is_ok();
        let kept = fidelity::read(call.fidelity.as_ref(), &self.rules.model)
            .filter(|kept| kept.model == self.rules.model.model_id);
        WireCall {
            id: self.id(call.tool_call_id.as_str()),
            r#type: "function",
            // Half JSON makes some servers refuse the whole request.
            function: WireFunction {
                name: &call.name,
                arguments: if whole { &call.arguments } else { "{}" },
            },
            extra_content: kept.and_then(|kept| kept.extra_content),
        }
    }

    /// Renders one result for each call, in the order of the calls.
    fn outputs(&mut self, segment: &Segment<'_>) {
        for call in &segment.calls {
            let output = segment.outputs.iter().find(|o| o.tool_call_id == call.tool_call_id);
            let cut = !matches!(call.stop_reason, None | Some(StopReason::Completed));
            let content =
                output.map_or(if cut { CUT_CALL } else { NO_RESULT }, |output| &output.output);
            let tool_call_id = self.id(call.tool_call_id.as_str());
            self.put(&ToolMessage { role: "tool", tool_call_id, content: &clean(content) });
            self.after_tool = true;
        }
    }

    /// Returns the id in a form that the server takes.
    fn id(&self, id: &str) -> String {
        let id = ids::upstream(id);
        match self.rules.quirks.ids {
            IdForm::Mistral
                if id.len() != 9 || !id.bytes().all(|byte| byte.is_ascii_alphanumeric()) =>
            {
                short_id(id)
            }
            IdForm::OpenAi if id.len() > 40 => format!("call_{}", short_id(id)),
            _ => id.to_owned(),
        }
    }

    fn put(&mut self, message: &impl Serialize) {
        if !self.bytes.is_empty() {
            self.bytes.push(b',');
        }
        serde_json::to_writer(&mut self.bytes, message)
            .expect("texts and lists of texts always serialise into memory");
    }
}

/// Removes NUL, which makes several servers refuse the request.
fn clean(text: &str) -> std::borrow::Cow<'_, str> {
    if text.contains('\0') { text.replace('\0', "").into() } else { text.into() }
}

/// Returns nine letters and digits that stand for an id: FNV-1a, always the same for one id.
fn short_id(id: &str) -> String {
    const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in id.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    (0..9)
        .map(|_| {
            let digit = DIGITS[(hash % 36) as usize];
            hash /= 36;
            char::from(digit)
        })
        .collect()
}

/// Joins JSON lists into one, byte for byte.
fn joined_lists<'a>(lists: impl Iterator<Item = &'a RawValue>) -> Option<Box<RawValue>> {
    let items: Vec<&str> = lists
        .filter_map(|list| Some(list.get().trim().strip_prefix('[')?.strip_suffix(']')?.trim()))
        .filter(|items| !items.is_empty())
        .collect();
    if items.is_empty() {
        return None;
    }
    RawValue::from_string(format!("[{}]", items.join(","))).ok()
}
