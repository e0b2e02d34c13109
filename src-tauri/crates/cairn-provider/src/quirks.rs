//! What is different at which host, as data.
//!
//! Only hosts are known here, never model ids, which change monthly. An unknown host gets the
//! smallest request that works everywhere. Parameters that a server refuses are noted at run time
//! in `openai_chat.rs`.

use cairn_protocol::ThinkingLevel;
use reqwest::Url;
use serde_json::{Value, json};

/// How the depth of reasoning is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effort {
    /// Not at all.
    Unset,
    /// `reasoning_effort`.
    OpenAi,
    /// `thinking.type` and `reasoning_effort` of low, high and max.
    DeepSeek,
    /// `reasoning.effort`.
    OpenRouter,
    /// `thinking.type`.
    Toggle,
    /// `enable_thinking`.
    Qwen,
}

/// Which tool-call ids the server takes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IdForm {
    /// As they came.
    Any,
    /// Exactly nine letters and digits.
    Mistral,
    /// Forty characters at most.
    OpenAi,
}

/// The differences of one host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Quirks {
    pub effort: Effort,
    pub ids: IdForm,
    /// The output limit is called `max_completion_tokens`.
    pub completion_limit: bool,
    /// `stream_options` is not needed, and not sure to be accepted.
    pub usage_unasked: bool,
    /// `reasoning_content` must be there in each turn with tool calls, even empty.
    pub reasoning_always: bool,
    /// `<think>` text belongs back into the history.
    pub think_tags_back: bool,
    /// A delta may repeat all the text before it.
    pub cumulative: bool,
    /// A user message must not follow a tool message directly.
    pub assistant_after_tool: bool,
    /// Further top-level fields.
    pub extra: &'static [(&'static str, bool)],
}

const PLAIN: Quirks = Quirks {
    effort: Effort::Unset,
    ids: IdForm::Any,
    completion_limit: false,
    usage_unasked: false,
    reasoning_always: false,
    think_tags_back: false,
    cumulative: false,
    assistant_after_tool: false,
    extra: &[],
};

/// Returns the differences of the host of `url`.
pub(crate) fn of(url: &Url) -> Quirks {
    let host = url.host_str().unwrap_or_default().to_ascii_lowercase();
    let at = |domain: &str| {
        host.strip_suffix(domain).is_some_and(|head| head.is_empty() || head.ends_with('.'))
    };
    if at("openai.com") || at("openai.azure.com") {
        Quirks { effort: Effort::OpenAi, ids: IdForm::OpenAi, completion_limit: true, ..PLAIN }
    } else if at("deepseek.com") {
        Quirks { effort: Effort::DeepSeek, reasoning_always: true, ..PLAIN }
    } else if at("openrouter.ai") {
        Quirks { effort: Effort::OpenRouter, ..PLAIN }
    } else if at("mistral.ai") {
        Quirks { ids: IdForm::Mistral, usage_unasked: true, assistant_after_tool: true, ..PLAIN }
    } else if at("z.ai") || at("bigmodel.cn") {
        Quirks { effort: Effort::Toggle, extra: &[("tool_stream", true)], ..PLAIN }
    } else if at("moonshot.ai") || at("moonshot.cn") {
        Quirks { effort: Effort::Toggle, ..PLAIN }
    } else if at("minimax.io") || at("minimaxi.com") || at("minimax.chat") {
        Quirks {
            completion_limit: true,
            think_tags_back: true,
            cumulative: true,
            extra: &[("reasoning_split", true)],
            ..PLAIN
        }
    } else if at("aliyuncs.com") {
        Quirks { effort: Effort::Qwen, ..PLAIN }
    } else {
        PLAIN
    }
}

/// Returns whether a depth is one that not every reasoning model has.
pub(crate) fn is_deep(level: ThinkingLevel) -> bool {
    matches!(level, ThinkingLevel::Xhigh | ThinkingLevel::Max)
}

/// Returns the fields that ask for a depth of reasoning. The default depth is the provider's own,
/// so that models without reasoning are not asked for any.
pub(crate) fn effort_fields(effort: Effort, level: ThinkingLevel) -> Vec<(&'static str, Value)> {
    use ThinkingLevel as L;
    if level == L::Medium || effort == Effort::Unset {
        return Vec::new();
    }
    let name = match level {
        L::None => "none",
        L::Low => "low",
        L::Medium => "medium",
        L::High => "high",
        L::Xhigh | L::Max => "xhigh",
    };
    match effort {
        Effort::Unset => Vec::new(),
        Effort::OpenAi => vec![("reasoning_effort", json!(name))],
        Effort::DeepSeek => match level {
            L::None => vec![("thinking", json!({"type": "disabled"}))],
            L::Low => vec![("reasoning_effort", json!("low"))],
            L::Max => vec![("reasoning_effort", json!("max"))],
            _ => vec![("reasoning_effort", json!("high"))],
        },
        Effort::OpenRouter if level == L::None => vec![("reasoning", json!({"enabled": false}))],
        Effort::OpenRouter => vec![("reasoning", json!({"effort": name}))],
        Effort::Toggle if level == L::None => vec![("thinking", json!({"type": "disabled"}))],
        Effort::Toggle => vec![("thinking", json!({"type": "enabled"}))],
        Effort::Qwen => vec![("enable_thinking", json!(level != L::None))],
    }
}

#[cfg(test)]
mod tests {
    use reqwest::Url;

    use super::{Effort, PLAIN, of};

    #[test]
    fn a_host_is_known_by_its_whole_domain() {
        let quirks = |url: &str| of(&Url::parse(url).expect(url));
        assert_eq!(quirks("https://api.openai.com/v1").effort, Effort::OpenAi);
        assert_eq!(quirks("https://me.openai.azure.com/openai/v1").effort, Effort::OpenAi);
        assert_eq!(quirks("https://notopenai.com/v1"), PLAIN);
        assert_eq!(quirks("https://openai.com.example/v1"), PLAIN);
        assert_eq!(quirks("http://127.0.0.1:8080/v1"), PLAIN);
    }
}
