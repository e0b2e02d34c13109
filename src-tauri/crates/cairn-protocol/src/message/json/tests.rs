use super::*;
use serde_json::json;

const STAMP: &str = r#""timestamp":"2026-11-30T21:25:00.000Z""#;

fn line(rest: &str) -> String {
    format!("{{{STAMP},{rest}}}")
}

#[track_caller]
fn check_stable(rest: &str) -> Message {
    let text = line(rest);
    let message: Message = serde_json::from_str(&text).expect("reads");
    assert_eq!(serde_json::to_string(&message).unwrap(), text);
    assert_eq!(serde_json::from_slice::<Message>(text.as_bytes()).unwrap(), message);
    message
}

/// P-24: key order, spacing and number forms of opaque data survive.
#[test]
fn fidelity_keeps_its_bytes() {
    let message = check_stable(
        r#""type":"model_msg","payload":{"type":"thinking","role":"assistant","thinking":"","fidelity":{"b" : 1.50, "a":"\u00e9",  "n":12345678901234567890123},"stop_reason":"completed"}"#,
    );
    let Some(ModelMsg::Thinking(thinking)) = message.as_model() else { panic!("{message:?}") };
    let raw = thinking.fidelity.as_ref().unwrap().0.get();
    assert_eq!(raw, r#"{"b" : 1.50, "a":"\u00e9",  "n":12345678901234567890123}"#);
}

#[test]
fn a_parsed_value_reads_too() {
    let value = json!({
        "timestamp": "2026-11-30T21:25:00.000Z", "type": "model_msg",
        "payload": {"type": "text", "role": "user", "text": "hello", "fidelity": {"z": 1, "a": 2}},
    });
    let message: Message = serde_json::from_value(value).unwrap();
    let Some(ModelMsg::Text(text)) = message.as_model() else { panic!("{message:?}") };
    assert_eq!(text.fidelity.as_ref().unwrap().0.get(), r#"{"z":1,"a":2}"#);
}

/// P-5: what a newer version adds is kept.
#[test]
fn unknown_fields_are_kept_where_they_were() {
    let message = check_stable(
        r#""type":"model_msg","payload":{"type":"text","role":"user","text":"hi","fidelity":{"k":[1, 2]},"shape":{"x":1}},"origin":["child"],"tag":7"#,
    );
    assert_eq!(message.origin, [SessionId::from("child")]);
    assert_eq!(message.extra.envelope["tag"], 7);
    assert_eq!(message.extra.payload["shape"], json!({"x": 1}));
    check_stable(
        r#""type":"session_meta","payload":{"session_id":"s","provider":"p","model_id":"m","model_context_window":"unknown","system_prompt":"","agent_state":"/a","workspace":"/w","thinking_level":"high"}"#,
    );
}

#[test]
fn unknown_types_are_kept_as_text() {
    for rest in [
        r#""type":"future_msg","payload":{"a" : 1.0}"#,
        r#""type":"future_msg""#,
        r#""type":"model_msg","payload":{"type":"hologram","beam" : [1.0]}"#,
        r#""type":"event_msg","payload":{"type":"hologram","beam" : [1.0]},"origin":["c"]"#,
    ] {
        let message = check_stable(rest);
        assert!(matches!(message.body, Body::Unknown(_)), "{rest}");
    }
}

#[test]
fn the_fields_of_a_trace_line_are_not_part_of_the_message() {
    let body = r#""type":"event_msg","payload":{"type":"request_begin"}"#;
    let text = format!(r#"{{"v":1,"seq":7,{STAMP},{body},"c":"0011aabb"}}"#);
    let message: Message = serde_json::from_str(&text).unwrap();
    assert_eq!(serde_json::to_string(&message).unwrap(), line(body));
}

#[test]
fn a_known_type_must_have_its_fields() {
    for rest in [
        r#""payload":{"type":"text","role":"user","text":"x"}"#,
        r#""type":"model_msg""#,
        r#""type":"model_msg","payload":{"role":"user"}"#,
        r#""type":"model_msg","payload":{"type":"text","role":"user"}"#,
        r#""type":"event_msg","payload":{"type":"turn_end"}"#,
        r#""type":"session_meta","payload":[]"#,
    ] {
        assert!(serde_json::from_str::<Message>(&line(rest)).is_err(), "{rest}");
    }
}

#[test]
fn a_message_nests_in_a_stored_line() {
    let stored =
        crate::StoredMessage { seq: 3, message: Message::model(Timestamp(0), Text::user("hi")) };
    let text = serde_json::to_string(&stored).unwrap();
    assert_eq!(serde_json::from_str::<crate::StoredMessage>(&text).unwrap(), stored);

    #[derive(Serialize)]
    struct Line<'a> {
        seq: u64,
        #[serde(flatten)]
        message: &'a Message,
    }
    let text = serde_json::to_string(&Line { seq: 3, message: &stored.message }).unwrap();
    assert_eq!(serde_json::from_str::<Message>(&text).unwrap(), stored.message);
}
