//! The stored form of a record.

use proptest::prelude::*;
use serde_json::value::RawValue;

use super::*;
use crate::line::{self, Content, LINE_LIMIT_BYTES};

fn line_text(seq: u64, message: &Message) -> String {
    let prepared = line::encode(seq, message).unwrap();
    String::from_utf8(prepared.line).unwrap()
}

fn read_back(line: &str) -> Message {
    match line::decode(line.trim_end().as_bytes()).unwrap() {
        Content::Message(message) => *message,
        Content::Blob { sha256 } => panic!("the message is in the blob {sha256}"),
    }
}

#[test]
fn the_stored_form_of_version_1_is_this() {
    let event = Message::event(NOW, EventMsg::RequestBegin {});
    let lines = [line_text(1, &meta()), line_text(2, &user("hällo\n\"x\"")), line_text(3, &event)];
    insta::assert_snapshot!(lines.concat(), @r###"
    {"v":1,"seq":1,"timestamp":"2026-11-30T00:53:20.000Z","type":"session_meta","payload":{"session_id":"session-2026-11-30-21-25-00-0a1b2c3d","provider":"local","model_id":"m-1","model_context_window":8000,"system_prompt":"Be brief.","agent_state":"/a","workspace":"/w"},"c":"5dbc8659"}
    {"v":1,"seq":2,"timestamp":"2026-11-30T00:53:20.000Z","type":"model_msg","payload":{"type":"text","role":"user","text":"hällo\n\"x\""},"c":"89d79aa2"}
    {"v":1,"seq":3,"timestamp":"2026-11-30T00:53:20.000Z","type":"event_msg","payload":{"type":"request_begin"},"c":"598eb8e3"}
    "###);
}

#[test]
fn the_checksum_is_over_the_line_without_its_c_field() {
    let text = line_text(7, &user("x"));
    let (before, sum) = text.trim_end().rsplit_once(",\"c\":\"").unwrap();
    let expected = crc32c::crc32c(format!("{before}}}").as_bytes());
    assert_eq!(sum, format!("{expected:08x}\"}}"));
}

#[test]
fn opaque_data_comes_back_byte_for_byte_p24() {
    let raw = r#"{"b": 1.50,  "a":"é","v":1,"seq":9,"c":"0"}"#;
    let fidelity = |raw: &str| Some(Fidelity(RawValue::from_string(raw.to_owned()).unwrap()));
    let message = Message::model(NOW, Text { fidelity: fidelity(raw), ..Text::user("x") });
    let text = line_text(1, &message);
    assert!(text.contains(raw));
    assert_eq!(read_back(&text), message);
    // With line breaks it can't be a line, so it is a blob.
    let broken =
        Message::model(NOW, Text { fidelity: fidelity("{\n\"a\": 1}"), ..Text::user("x") });
    let prepared = line::encode(1, &broken).unwrap();
    assert_eq!(prepared.line.iter().filter(|b| **b == b'\n').count(), 1);
    assert!(String::from_utf8(prepared.blob.unwrap().bytes).unwrap().contains("{\n\"a\": 1}"));
}

#[test]
fn names_of_the_line_can_not_be_forged_by_unknown_fields() {
    let mut message = user("x");
    for name in ["v", "seq", "c", "blob", "kept"] {
        message.extra.envelope.insert(name.to_owned(), 1.into());
    }
    let back = read_back(&line_text(5, &message));
    assert_eq!(back.extra.envelope.keys().collect::<Vec<_>>(), ["kept"]);
}

#[test]
fn no_line_is_longer_than_256_kib() {
    for length in [LINE_LIMIT_BYTES - 400, LINE_LIMIT_BYTES - 100, LINE_LIMIT_BYTES, 1_000_000] {
        let message = user("x".repeat(length));
        let prepared = line::encode(1, &message).unwrap();
        assert!(prepared.line.len() <= LINE_LIMIT_BYTES);
        assert_eq!(prepared.blob.is_some(), length > LINE_LIMIT_BYTES - 200);
    }
}

proptest! {
    #[test]
    fn every_text_comes_back(text in ".*", seq in 1_u64..) {
        let message = user(text);
        let line = line_text(seq, &message);
        prop_assert_eq!(line::check(line.trim_end().as_bytes()).map(|head| head.seq), Some(seq));
        prop_assert_eq!(read_back(&line), message);
    }

    #[test]
    fn any_changed_byte_is_noticed(text in ".{0,40}", at in any::<prop::sample::Index>(), to in any::<u8>()) {
        let mut line = line_text(1, &user(text)).trim_end().as_bytes().to_vec();
        let at = at.index(line.len());
        prop_assume!(line[at] != to);
        line[at] = to;
        // The digits of the checksum may be written in capitals; nothing else may differ.
        let same = line::check(&line).is_some();
        prop_assert!(!same || at >= line.len() - 10);
    }

    #[test]
    fn rubbish_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = (line::check(&bytes), line::pieces(&bytes), line::decode(&bytes).is_ok());
    }
}
