//! Estimates tokens where the provider did not say, and clamps the output limit (P-55).
//!
//! A rough count on purpose: it needs no vocabulary, and it only has to be on the safe side.

use cairn_protocol::{Body, Message, ModelMsg};

/// What one image counts for.
const IMAGE_TOKENS: u64 = 1600;
/// Left free between the prompt and the end of the window.
const MARGIN_TOKENS: u64 = 1024;
/// The clamp never goes below this.
const FLOOR_TOKENS: u64 = 512;
/// A window below this is taken for a wrong setting, and the clamp is off.
const SMALLEST_WINDOW: u64 = 4096;

/// Returns about how many tokens a text has: a quarter of its ASCII bytes, and one per other scalar.
pub(crate) fn of_text(text: &str) -> u64 {
    let (mut ascii, mut other) = (0u64, 0u64);
    for byte in text.bytes() {
        if byte < 0x80 {
            ascii += 1;
        } else if byte >= 0xC0 {
            other += 1;
        }
    }
    ascii.div_ceil(4) + other
}

/// Returns about how many tokens a complete model message has.
pub(crate) fn of_message(message: &Message) -> u64 {
    let Body::ModelMsg(message) = &message.body else { return 0 };
    match message {
        ModelMsg::Text(text) => of_text(&text.text),
        ModelMsg::Thinking(thinking) => of_text(&thinking.thinking),
        ModelMsg::ToolCall(call) => of_text(&call.name) + of_text(&call.arguments),
        ModelMsg::ToolCallOutput(output) => {
            of_text(&output.output) + IMAGE_TOKENS * output.images.len() as u64
        }
        ModelMsg::ImageUrl(_) | ModelMsg::InlineData(_) => IMAGE_TOKENS,
        _ => 0,
    }
}

/// Returns the output limit to send: what is configured, or less when the window leaves less.
pub(crate) fn output_limit(
    configured: Option<u64>,
    window: Option<u64>,
    input_estimate: u64,
) -> Option<u64> {
    let configured = configured?;
    match window {
        Some(window) if window >= SMALLEST_WINDOW => {
            let left = window.saturating_sub(input_estimate).saturating_sub(MARGIN_TOKENS);
            Some(configured.min(left.max(FLOOR_TOKENS)))
        }
        _ => Some(configured),
    }
}

#[cfg(test)]
mod tests {
    use super::{of_text, output_limit};

    #[test]
    fn p55_counts_a_quarter_of_ascii_and_each_other_scalar() {
        assert_eq!(of_text(""), 0);
        assert_eq!(of_text("abcde"), 2);
        assert_eq!(of_text("積み石"), 3);
        assert_eq!(of_text("abcd🪨"), 2);
    }

    #[test]
    fn p55_clamps_the_output() {
        assert_eq!(output_limit(None, Some(8192), 0), None);
        assert_eq!(output_limit(Some(4000), None, 100_000), Some(4000));
        assert_eq!(output_limit(Some(4000), Some(4000), 100_000), Some(4000));
        assert_eq!(output_limit(Some(4000), Some(8192), 100), Some(4000));
        assert_eq!(output_limit(Some(8000), Some(8192), 2000), Some(5168));
        assert_eq!(output_limit(Some(8000), Some(8192), 9000), Some(512));
    }
}
