//! The opaque data that a Chat Completions answer leaves in the transcript (P-24).
//!
//! Written once when the answer ends, read when it goes back. It names the provider and the model
//! that made it, because another one must not see it (D-1).

use cairn_protocol::{Fidelity, ModelRef};
use serde::Deserialize;
use serde_json::value::RawValue;

/// What is read back.
#[derive(Deserialize)]
pub(super) struct Kept<'a> {
    pub provider: String,
    pub model: String,
    /// The upstream name of the reasoning field, or `think_tag`.
    #[serde(default)]
    pub field: Option<String>,
    #[serde(borrow, default)]
    pub details: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub extra_content: Option<&'a RawValue>,
}

/// Writes the data of `model`: further fields with their JSON text.
pub(super) fn make(model: &ModelRef, fields: &[(&str, &str)]) -> Option<Fidelity> {
    let text = |text: &str| serde_json::Value::from(text).to_string();
    let mut json =
        format!("{{\"provider\":{},\"model\":{}", text(&model.provider), text(&model.model_id));
    for (name, value) in fields {
        json.push_str(&format!(",\"{name}\":{value}"));
    }
    json.push('}');
    RawValue::from_string(json).ok().map(Fidelity)
}

/// Reads data that was made by this provider; nothing when it was another's or is not ours.
pub(super) fn read<'a>(fidelity: Option<&'a Fidelity>, model: &ModelRef) -> Option<Kept<'a>> {
    let kept: Kept<'a> = serde_json::from_str(fidelity?.0.get()).ok()?;
    (kept.provider == model.provider).then_some(kept)
}
