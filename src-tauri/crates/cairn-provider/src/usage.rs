//! Maps what Chat Completions servers say about tokens to one shape (P-53).
//!
//! It never adds two reports up: the caller passes the last one of a request.

use cairn_protocol::TokenUsage;
use serde_json::Value;

/// Reads a `usage` object. Returns nothing when it has no counts at all.
pub(crate) fn from_json(text: &str) -> Option<TokenUsage> {
    let value: Value = serde_json::from_str(text).ok()?;
    let count = |path: &str| value.pointer(path).and_then(number);
    let prompt = count("/prompt_tokens").or_else(|| count("/input_tokens"));
    let completion = count("/completion_tokens").or_else(|| count("/output_tokens"));
    if prompt.is_none() && completion.is_none() {
        return None;
    }
    let (prompt, completion) = (prompt.unwrap_or(0), completion.unwrap_or(0));
    let cached = count("/prompt_tokens_details/cached_tokens")
        .or_else(|| count("/input_tokens_details/cached_tokens"))
        .or_else(|| count("/prompt_cache_hit_tokens"))
        .or_else(|| count("/cached_tokens"))
        .unwrap_or(0);
    let reasoning = count("/completion_tokens_details/reasoning_tokens").unwrap_or(0);
    // xAI counts reasoning beside the completion, and only its total shows that.
    let beside = reasoning > 0 && count("/total_tokens") == Some(prompt + completion + reasoning);
    let output = if beside { completion + reasoning } else { completion };
    // Where more is cached than was prompted, the cached part was not counted in the prompt.
    let fresh = if cached > prompt { prompt } else { prompt - cached };
    Some(sum(cached, fresh, output))
}

/// Makes a usage of its three parts.
pub(crate) fn sum(cache_read: u64, cache_write: u64, output: u64) -> TokenUsage {
    let total = cache_read.saturating_add(cache_write).saturating_add(output);
    TokenUsage { cache_read, cache_write, output, total }
}

fn number(value: &Value) -> Option<u64> {
    // A float that is not a count saturates; a negative one becomes zero.
    value.as_u64().or_else(|| value.as_f64().map(|float| float as u64))
}

#[cfg(test)]
mod tests {
    use super::{from_json, sum};

    #[test]
    fn p53_maps_every_recorded_shape() {
        let cases = [
            (r#"{"prompt_tokens":10,"completion_tokens":3}"#, Some(sum(0, 10, 3))),
            (
                r#"{"prompt_tokens":339,"completion_tokens":83,"prompt_tokens_details":{"cached_tokens":320}}"#,
                Some(sum(320, 19, 83)),
            ),
            (
                r#"{"prompt_tokens":9,"completion_tokens":1,"prompt_cache_hit_tokens":4}"#,
                Some(sum(4, 5, 1)),
            ),
            (
                r#"{"prompt_tokens":466,"completion_tokens":68,"total_tokens":800,"completion_tokens_details":{"reasoning_tokens":266}}"#,
                Some(sum(0, 466, 334)),
            ),
            (
                r#"{"prompt_tokens":43,"completion_tokens":10,"total_tokens":53,"completion_tokens_details":{"reasoning_tokens":11}}"#,
                Some(sum(0, 43, 10)),
            ),
            (r#"{"prompt_tokens":5,"completion_tokens":1,"cached_tokens":8}"#, Some(sum(8, 5, 1))),
            (r#"{"prompt_tokens":null,"completion_tokens":-2.0}"#, Some(sum(0, 0, 0))),
            (r#"{"cost":1}"#, None),
            ("null", None),
        ];
        for (text, expected) in cases {
            assert_eq!(from_json(text), expected, "{text}");
        }
    }
}
