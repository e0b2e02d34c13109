//! Decides what a failure is: the class that the engine acts on, and the words for the person (P-51).
//!
//! It reads every error body that providers were seen to send, and always keeps the provider's own
//! text. It does not decide whether to try again; `Outcome::permanent` says when it makes no sense.

use std::error::Error as _;
use std::time::Duration;

use cairn_protocol::{StopReason, Timestamp};
use reqwest::header::HeaderMap;
use serde_json::Value;

use crate::{Fault, Outcome};

mod body;
mod overflow;
mod retry;

pub(crate) use body::ErrorBody;

/// The longest text of a provider that goes into a message.
const QUOTE_CHARS: usize = 600;

/// Says what an HTTP answer other than a success means.
pub(crate) fn http(status: u16, headers: &HeaderMap, body: &str, now: Timestamp) -> Outcome {
    if (300..400).contains(&status) {
        return redirect(status, headers);
    }
    let parsed = ErrorBody::parse(body);
    let mut outcome = classify(Some(status), &parsed);
    if outcome.status != StopReason::Completed {
        outcome.retry_after = retry::hint(headers, &parsed, now);
    }
    if headers.get("x-should-retry").is_some_and(|value| value == "false") {
        outcome.permanent = true;
    }
    outcome
}

/// Says what an error object in the middle of a stream means.
pub(crate) fn in_stream(text: &str, now: Timestamp) -> Outcome {
    let parsed = ErrorBody::parse(text);
    let mut outcome = classify(parsed.status, &parsed);
    outcome.retry_after = retry::hint(&HeaderMap::new(), &parsed, now);
    outcome
}

/// Says what a success that is a web page means.
pub(crate) fn web_page(status: u16, body: &str) -> Outcome {
    let parsed = ErrorBody::parse(body);
    let message = format!(
        "The address answers with a web page, not with a model (HTTP {status}): {}. Check the \
         base URL; it often ends in /v1.",
        parsed.message
    );
    Outcome::new(StopReason::Failed, Some(message)).with_fault(Fault::BadRequest).permanent()
}

/// Says what a broken connection means.
pub(crate) fn transport(error: &reqwest::Error, place: &str) -> Outcome {
    let cause = innermost(error);
    if error.is_builder() {
        let message = format!("The request could not be made: {cause}");
        return Outcome::new(StopReason::Failed, Some(message))
            .with_fault(Fault::BadRequest)
            .permanent();
    }
    let message = if error.is_connect() {
        format!(
            "Can't connect to {place}: {cause}. Check that the server runs and the address is right."
        )
    } else if error.is_timeout() {
        format!("{place} did not answer in time: {cause}")
    } else {
        format!("The connection to {place} broke: {cause}")
    };
    Outcome::new(StopReason::Timeout, Some(message)).with_fault(Fault::Network)
}

/// Returns the first characters of a text of a provider, on one line.
pub(crate) fn quote(text: &str) -> String {
    let mut quoted: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((end, _)) = quoted.char_indices().nth(QUOTE_CHARS) {
        quoted.truncate(end);
        quoted.push('…');
    }
    quoted
}

fn innermost(error: &reqwest::Error) -> String {
    let mut cause = error.source();
    let mut text = None;
    while let Some(inner) = cause {
        text = Some(inner.to_string());
        cause = inner.source();
    }
    text.unwrap_or_else(|| error.to_string())
}

fn redirect(status: u16, headers: &HeaderMap) -> Outcome {
    let place =
        headers.get("location").and_then(|value| value.to_str().ok()).unwrap_or("elsewhere");
    let message = format!(
        "The server sends to another address (HTTP {status}): {}. Cairn does not follow, because \
         the key belongs to the address that you gave. If the new one is right, enter it as base URL.",
        quote(place)
    );
    Outcome::new(StopReason::Failed, Some(message)).with_fault(Fault::Redirect).permanent()
}

fn classify(status: Option<u16>, body: &ErrorBody) -> Outcome {
    let fault = fault(status, body);
    let code = match (status, body.code.as_deref()) {
        (Some(status), _) => format!(" (HTTP {status})"),
        (None, Some(code)) => format!(" ({code})"),
        (None, None) => String::new(),
    };
    let text =
        if body.message.is_empty() { "it gave no reason".to_owned() } else { quote(&body.message) };
    let message = format!("{}{code}: {text}", opening(fault));
    let outcome = Outcome::new(stop_reason(fault, status), Some(message)).with_fault(fault);
    if is_permanent(fault, status) { outcome.permanent() } else { outcome }
}

fn fault(status: Option<u16>, body: &ErrorBody) -> Fault {
    let text = body.searchable();
    let has = |needles: &[&str]| needles.iter().any(|needle| text.contains(needle));
    let code_is = |codes: &[&str]| body.has_code(codes);
    let throttled = status == Some(429)
        || has(&["rate limit", "rate_limit", "per minute", "too many requests", "throttling"]);
    if status == Some(401)
        || code_is(&["invalid_api_key", "authentication_error", "unauthorized", "api_key_invalid"])
        || (status != Some(404)
            && has(&["incorrect api key", "invalid api key", "api_key_invalid"]))
    {
        return Fault::Auth;
    }
    if !throttled && overflow::is_overflow(status, &text, body) {
        return Fault::ContextOverflow;
    }
    if status == Some(402)
        || code_is(&["insufficient_quota", "usage_not_included", "insufficient_balance"])
        || has(&["insufficient balance", "insufficient credits", "exceeded your current quota"])
    {
        return Fault::Quota;
    }
    if code_is(&["tool_use_failed"]) {
        return Fault::ToolGeneration;
    }
    // Faults of a local server's set-up come as 500, and waiting does not mend them.
    if has(&["--jinja", "mmproj", "does not support tools", "does not support image"]) {
        return Fault::BadRequest;
    }
    if code_is(&["model_not_found"]) || model_is_missing(status, &text) {
        return Fault::ModelNotFound;
    }
    if throttled {
        return Fault::RateLimit;
    }
    if code_is(&[
        "overloaded_error",
        "server_is_overloaded",
        "slow_down",
        "overloaded",
        "unavailable",
    ]) {
        return Fault::Overloaded;
    }
    match status {
        Some(403) => Fault::Forbidden,
        Some(408 | 425 | 500..=599) => Fault::Overloaded,
        _ => Fault::BadRequest,
    }
}

fn model_is_missing(status: Option<u16>, text: &str) -> bool {
    let says_so = text.contains("model")
        && [
            "not found",
            "not exist",
            "unknown model",
            "no such model",
            "not a valid model",
            "not_found",
            "invalid model",
        ]
        .iter()
        .any(|needle| text.contains(needle));
    matches!(status, Some(400 | 404 | 422)) && says_so
}

fn stop_reason(fault: Fault, status: Option<u16>) -> StopReason {
    match fault {
        Fault::Auth => StopReason::Auth,
        Fault::RateLimit | Fault::Overloaded | Fault::Network | Fault::Silence => {
            StopReason::Timeout
        }
        // P-51 counts every 5xx as passing, except where the text says otherwise.
        _ if status.is_some_and(|status| status == 408) => StopReason::Timeout,
        _ => StopReason::Failed,
    }
}

fn is_permanent(fault: Fault, status: Option<u16>) -> bool {
    match fault {
        Fault::Auth
        | Fault::Forbidden
        | Fault::ModelNotFound
        | Fault::Quota
        | Fault::ContextOverflow => true,
        // An error object without a status may be anything; the next try may go well.
        Fault::BadRequest => status.is_some(),
        _ => false,
    }
}

fn opening(fault: Fault) -> &'static str {
    match fault {
        Fault::Auth => "The provider refused the key",
        Fault::Forbidden => "The provider does not allow this",
        Fault::ModelNotFound => "The provider does not have this model",
        Fault::RateLimit => "The provider asks to slow down",
        Fault::Quota => "The provider's quota or credit is used up",
        Fault::ContextOverflow => "The conversation is longer than the model can read",
        Fault::Overloaded => "The provider can't answer now",
        Fault::ToolGeneration => "The provider refused the tool call that its model wrote",
        _ => "The provider refused the request",
    }
}

/// Reads a JSON value of any error shape for its text; shared by the parts of this module.
fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Reads a number of seconds with a fraction.
fn seconds(text: &str) -> Option<Duration> {
    let value: f64 = text.trim().parse().ok()?;
    Duration::try_from_secs_f64(value).ok()
}

#[cfg(test)]
mod tests;
