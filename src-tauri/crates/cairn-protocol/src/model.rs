//! Providers and models as data. The wires are in `cairn-provider`, the table in `cairn-config`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::Secret;

/// A model's identity: both halves, always (P-56).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, TS)]
pub struct ModelRef {
    /// The provider's name in the table.
    pub provider: String,
    /// The model's id at that provider.
    pub model_id: String,
}

/// How a provider is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum WireApi {
    /// OpenAI Chat Completions, and all that are compatible with it.
    Chat,
    /// OpenAI Responses.
    Responses,
    /// Anthropic Messages.
    Anthropic,
    /// Google Gemini.
    Gemini,
    /// The built-in script: no model, no network.
    Script,
}

/// One provider of the table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ProviderEntry {
    /// Its name; unique, letters, digits, `.`, `_` and `-`.
    pub name: String,
    /// How it is spoken to.
    pub api: WireApi,
    /// Without the endpoint's own path: `https://host/v1`. Empty for a script.
    pub base_url: String,
    /// Further request headers.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// Its models.
    #[serde(default)]
    pub models: Vec<ModelEntry>,
    /// Where its key is.
    #[serde(default)]
    pub key: KeySource,
}

/// Where a provider's key is kept (D-9). Never the key itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum KeySource {
    /// It needs none.
    #[default]
    None,
    /// In the keychain of the OS.
    Keychain,
    /// For this run of the app only.
    Memory,
    /// In a file that only the user can read; by the user's explicit choice.
    File,
    /// In an environment variable.
    Env {
        /// The variable.
        variable: String,
    },
}

/// One model of a provider (P-57).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ModelEntry {
    /// The id at the provider.
    pub model_id: String,
    /// How it is shown; the id when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub display_name: Option<String>,
    /// Tokens, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub context_window: Option<u64>,
    /// The most tokens in one answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub max_tokens: Option<u64>,
    /// Whether it reads images.
    #[serde(default)]
    pub vision: bool,
}

/// A connection that is being set up; the key goes in and never comes out.
#[derive(Clone, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ProviderDraft {
    /// The name.
    pub name: String,
    /// How it is spoken to.
    pub api: WireApi,
    /// The address.
    pub base_url: String,
    /// The model to use.
    pub model_id: String,
    /// Tokens, where the user knows it.
    #[serde(default)]
    #[ts(optional)]
    pub context_window: Option<u64>,
    /// Further headers.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// The key; absent keeps the stored one.
    #[serde(default)]
    #[ts(optional)]
    pub key: Option<Secret>,
    /// Where to keep the key when the OS keychain does not work.
    #[serde(default)]
    pub fallback: KeyFallback,
}

/// What to do with a key when there is no OS keychain (D-9).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum KeyFallback {
    /// Keep it for this run only.
    #[default]
    Memory,
    /// Keep it in a file of mode 0600; the user chose so.
    File,
}

/// What a live test of a connection showed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ConnectionTest {
    /// One line per thing tried, in order.
    pub checks: Vec<ConnectionCheck>,
    /// Model ids that the endpoint lists; empty when it does not.
    pub models: Vec<String>,
    /// Time to the first token.
    pub latency_ms: Option<u64>,
}

/// One thing tried in a live test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ConnectionCheck {
    /// What was tried, such as `Answers as a stream`.
    pub name: String,
    /// How it went.
    pub outcome: CheckOutcome,
    /// What was seen, and what to do when it failed.
    pub detail: String,
}

/// How a check went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum CheckOutcome {
    /// It works.
    Ok,
    /// It works less well than it could.
    Warning,
    /// It does not work.
    Failed,
    /// It was not tried, because an earlier one failed.
    Skipped,
}

/// How deep a model reasons (P-60).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ThinkingLevel {
    /// Not at all.
    None,
    /// A little.
    Low,
    /// The default.
    #[default]
    Medium,
    /// Much.
    High,
    /// Very much.
    Xhigh,
    /// As much as it can.
    Max,
}
