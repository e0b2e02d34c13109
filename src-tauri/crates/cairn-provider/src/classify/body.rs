//! Reads the error bodies that providers send: some ten JSON shapes, and web pages.

use serde_json::Value;

use super::text_of;

/// What a failed answer says.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct ErrorBody {
    /// For a person; the title for a web page.
    pub message: String,
    /// A code for programs, as text.
    pub code: Option<String>,
    /// The type, where there is one beside the code.
    pub kind: Option<String>,
    /// An HTTP status given inside the body.
    pub status: Option<u16>,
    /// A wait given inside the body, such as `34s`.
    pub retry_delay: Option<String>,
    /// Further codes, from a list of details.
    pub reasons: String,
    /// The body was JSON of a known shape.
    pub parsed: bool,
}

impl ErrorBody {
    /// Reads a body. It never fails: what is not understood is quoted.
    pub(crate) fn parse(text: &str) -> Self {
        let trimmed = text.trim();
        if let Ok(value) = serde_json::from_str::<Value>(trimmed)
            && let Some(body) = Self::from_value(&value, 0)
        {
            return body;
        }
        if trimmed.starts_with('<') {
            return Self { message: web_page_title(trimmed), ..Self::default() };
        }
        Self { message: trimmed.to_owned(), ..Self::default() }
    }

    fn from_value(value: &Value, depth: u8) -> Option<Self> {
        // A message can be JSON that holds a message; two steps were seen, four are enough.
        if depth > 4 {
            return None;
        }
        let object = match value {
            Value::Array(items) => return Self::from_value(items.first()?, depth + 1),
            Value::String(text) => {
                return Some(Self { message: text.clone(), parsed: true, ..Self::default() });
            }
            Value::Object(object) => object,
            _ => return None,
        };
        let get = |key: &str| object.get(key).filter(|value| !value.is_null());
        let inner = match get("error") {
            Some(error @ (Value::Object(_) | Value::Array(_))) => {
                Self::from_value(error, depth + 1)
            }
            Some(Value::String(text)) => {
                Some(Self { message: text.clone(), parsed: true, ..Self::default() })
            }
            _ => None,
        };
        let mut body = inner.unwrap_or_default();
        let message = ["message", "detail", "error_description", "msg", "status_msg"]
            .iter()
            .find_map(|key| get(key).and_then(detail_text));
        if body.message.is_empty() {
            body.message = message.unwrap_or_default();
        }
        if let Some(base) = get("base_resp").and_then(|base| Self::from_value(base, depth + 1))
            && body.message.is_empty()
        {
            body = base;
        }
        let code = get("code").or_else(|| get("status_code"));
        body.status = body.status.or_else(|| code.and_then(http_status));
        body.code = body
            .code
            .or_else(|| code.and_then(text_of))
            .or_else(|| get("status").and_then(text_of));
        body.kind = body.kind.or_else(|| get("type").and_then(text_of));
        body.retry_delay = body.retry_delay.or_else(|| retry_delay(get("details")?));
        for detail in get("details").and_then(Value::as_array).into_iter().flatten() {
            if let Some(reason) = detail.get("reason").and_then(text_of) {
                body.reasons.push_str(&reason);
                body.reasons.push(' ');
            }
        }
        body.unwrap_nested(get("metadata"), depth);
        if let Some(written) = get("failed_generation").and_then(text_of) {
            body.message = format!("{} (the model wrote: {written})", body.message);
        }
        body.parsed = !body.message.is_empty() || body.code.is_some() || body.kind.is_some();
        body.parsed.then_some(body)
    }

    /// Takes the upstream provider's words out of a gateway's wrapping.
    fn unwrap_nested(&mut self, metadata: Option<&Value>, depth: u8) {
        if let Ok(value @ Value::Object(_)) = serde_json::from_str::<Value>(&self.message)
            && let Some(inner) = Self::from_value(&value, depth + 1)
        {
            self.message = inner.message;
            self.code = self.code.take().or(inner.code);
            self.kind = self.kind.take().or(inner.kind);
        }
        let Some(metadata) = metadata else { return };
        let Some(raw) = metadata.get("raw") else { return };
        let raw = match raw {
            Value::String(text) => Self::parse_nested(text, depth),
            other => Self::from_value(other, depth + 1).map(|body| body.message),
        };
        if let Some(raw) = raw.filter(|raw| !raw.is_empty() && !self.message.contains(raw.as_str()))
        {
            let name = metadata.get("provider_name").and_then(text_of);
            let name = name.map_or_else(String::new, |name| format!("{name}: "));
            self.message = format!("{} ({name}{raw})", self.message);
        }
    }

    fn parse_nested(text: &str, depth: u8) -> Option<String> {
        match serde_json::from_str::<Value>(text) {
            Ok(value) => Self::from_value(&value, depth + 1).map(|body| body.message),
            Err(_) => Some(text.trim().to_owned()),
        }
    }

    /// Returns whether the code or the type is one of these, in lower case.
    pub(crate) fn has_code(&self, codes: &[&str]) -> bool {
        [&self.code, &self.kind]
            .into_iter()
            .flatten()
            .any(|code| codes.iter().any(|known| code.eq_ignore_ascii_case(known)))
    }

    /// Returns all texts in lower case on one line, to look for signs in.
    pub(crate) fn searchable(&self) -> String {
        let code = self.code.as_deref().unwrap_or_default();
        let kind = self.kind.as_deref().unwrap_or_default();
        let text = format!("{} {code} {kind} {}", self.message, self.reasons).to_lowercase();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

fn detail_text(value: &Value) -> Option<String> {
    if let Some(text) = text_of(value) {
        return Some(text);
    }
    let items = match value {
        Value::Array(items) => items.as_slice(),
        other => std::slice::from_ref(other),
    };
    let texts: Vec<String> = items
        .iter()
        .filter_map(|item| {
            let text = item.get("msg").or_else(|| item.get("message")).and_then(text_of)?;
            let place = item
                .get("loc")
                .and_then(Value::as_array)
                .map(|parts| parts.iter().filter_map(text_of).collect::<Vec<_>>().join("."));
            Some(place.map_or(text.clone(), |place| format!("{place}: {text}")))
        })
        .collect();
    (!texts.is_empty()).then(|| texts.join("; "))
}

fn http_status(value: &Value) -> Option<u16> {
    let number = value.as_u64().or_else(|| value.as_str()?.parse().ok())?;
    u16::try_from(number).ok().filter(|status| (400..600).contains(status))
}

fn retry_delay(details: &Value) -> Option<String> {
    details.as_array()?.iter().find_map(|detail| detail.get("retryDelay").and_then(text_of))
}

fn web_page_title(page: &str) -> String {
    let lower = page.to_ascii_lowercase();
    let title = lower.find("<title").and_then(|start| {
        let open = start + lower[start..].find('>')? + 1;
        let close = open + lower[open..].find("</title")?;
        Some(page[open..close].trim().to_owned())
    });
    match title.filter(|title| !title.is_empty()) {
        Some(title) => format!("a web page titled “{}”", unescape(&title)),
        None => "a web page without a title".to_owned(),
    }
}

fn unescape(text: &str) -> String {
    [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&nbsp;", " "),
        ("&amp;", "&"),
    ]
    .iter()
    .fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}
