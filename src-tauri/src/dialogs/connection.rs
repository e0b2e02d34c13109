//! What a native dialog says about a connection to a model: where content and key would go.
//!
//! It shows what the engine made of the draft, not the draft. When it is due is the engine's decision.

use cairn_engine::{ConnectionConsent, KeyUse};

use super::Question;

/// Asks whether content and key may go where this connection leads.
pub(crate) fn question(consent: &ConnectionConsent) -> Question {
    let mut question = Question::confirm("Connect this model?", "Connect")
        .fact("Address", &consent.base_url)
        .fact("Provider", &consent.name)
        .fact("Key", key(consent.key));
    if !consent.headers.is_empty() {
        let lines: Vec<String> = consent
            .headers
            .iter()
            .map(|(name, value)| {
                format!("{}: {}", cairn_engine::visible(name), cairn_engine::visible(value))
            })
            .collect();
        question = question.quote("Further headers", &lines.join("\n"));
    }
    question = question.say(
        "What you write, and the files of your folders that the agent reads, are sent to this address \
         when you use the model.",
    );
    if is_open_to_others(&consent.base_url) {
        question = question.say(
            "The connection is NOT ENCRYPTED: others on the way can read the key and all that is sent.",
        );
    }
    if let Some(file) = &consent.key_file {
        question = question
            .fact("The key is written to the file", &file.display().to_string())
            .say("No keychain works here. Every program that runs as you can read that file.");
    }
    question
}

fn key(key: KeyUse) -> &'static str {
    match key {
        KeyUse::None => {
            "none was typed; one that your environment holds for this vendor may be used"
        }
        KeyUse::Typed => "the one that was typed",
        KeyUse::Replaced => "the one that was typed; the stored one is lost",
        KeyUse::Stored => "the one that is stored for this address",
    }
}

/// Whether an address is plain http to another machine.
fn is_open_to_others(base_url: &str) -> bool {
    let Some(rest) = base_url.strip_prefix("http://") else { return false };
    let authority = rest.split('/').next().unwrap_or_default();
    let host = match authority.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    };
    let here = host.eq_ignore_ascii_case("localhost")
        || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
    !here
}

#[cfg(test)]
mod tests;
