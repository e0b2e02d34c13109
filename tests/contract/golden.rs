//! Golden files: one line for each stored form, as it was first written. They may only grow; a line
//! that no longer reads, or is written otherwise, would break what users have on disk.

use std::collections::BTreeSet;
use std::path::PathBuf;

use cairn_protocol::{
    Body, EventMsg, Message, ModelMsg, ProviderEntry, RestoreRecord, Rule, Settings, TurnRecord,
};
use serde::{Serialize, de::DeserializeOwned};
use ts_rs::{Config, TS};

fn lines(name: &str) -> Vec<String> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures/golden").join(name);
    let text = std::fs::read_to_string(&path).expect("the golden file is there");
    text.lines().map(str::to_owned).collect()
}

#[track_caller]
fn check<T: Serialize + DeserializeOwned>(name: &str) {
    for line in lines(name) {
        let value: T = serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}\n{line}"));
        assert_eq!(serde_json::to_string(&value).expect("writes"), line);
    }
}

/// P-5 … P-21 and Cairn's own events.
#[test]
fn stored_messages_are_stable() {
    check::<Message>("message.jsonl");
}

#[test]
fn other_stored_values_are_stable() {
    check::<Settings>("settings.jsonl");
    check::<ProviderEntry>("provider_entry.jsonl");
    check::<Rule>("rule.jsonl");
    check::<TurnRecord>("turn_record.jsonl");
    check::<RestoreRecord>("restore_record.jsonl");
}

/// A new kind of message needs its line here before it is ever written.
#[test]
fn every_kind_of_message_has_a_line() {
    let mut seen = BTreeSet::new();
    for line in lines("message.jsonl") {
        let message: Message = serde_json::from_str(&line).expect("reads");
        assert!(message.extra == Default::default(), "a field is not known: {line}");
        assert!(!matches!(message.body, Body::Unknown(_)), "a type is not known: {line}");
        let value: serde_json::Value = serde_json::from_str(&line).expect("reads");
        seen.extend(value["payload"]["type"].as_str().map(str::to_owned));
    }
    let wanted: BTreeSet<String> = tags::<ModelMsg>().chain(tags::<EventMsg>()).collect();
    assert!(wanted.len() > 35, "{wanted:?}");
    assert_eq!(seen, wanted);
}

/// Returns the tags of an enum, read off its TypeScript form.
fn tags<T: TS>() -> impl Iterator<Item = String> {
    let text = T::inline(&Config::new());
    let tags: Vec<String> = text
        .split("\"type\": \"")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap_or_default().to_owned())
        .collect();
    tags.into_iter()
}
