use std::collections::BTreeMap;
use std::path::PathBuf;

use cairn_protocol::WireApi;

use super::*;

fn consent(base_url: &str) -> ConnectionConsent {
    ConnectionConsent {
        name: "mine".to_owned(),
        api: WireApi::Chat,
        base_url: base_url.to_owned(),
        headers: BTreeMap::new(),
        new_address: true,
        key: KeyUse::Typed,
        key_file: None,
    }
}

/// D-6: the whole address is named, and a line break in it makes no line of ours.
#[test]
fn d6_the_dialog_names_where_content_and_key_go() {
    let shown = question(&consent("https://models.example.com/v1")).message;
    assert!(shown.starts_with("Address: https://models.example.com/v1\n"), "{shown}");
    let forged = question(&consent("https://a.example/\nKey: none")).message;
    assert_eq!(forged.lines().filter(|line| line.starts_with("Key: ")).count(), 1, "{forged}");
}

#[test]
fn d6_a_key_in_a_file_and_a_header_are_said() {
    let mut consent = consent("https://a.example");
    consent.key_file = Some(PathBuf::from("/home/me/.cairn/secrets.json"));
    consent.headers.insert("x-forward-to".to_owned(), "https://b.example".to_owned());
    let shown = question(&consent).message;
    assert!(shown.contains("/home/me/.cairn/secrets.json"), "{shown}");
    assert!(shown.contains("x-forward-to: https://b.example"), "{shown}");
}

#[test]
fn only_plain_http_to_another_machine_is_open_to_others() {
    for here in
        ["https://a.example", "http://127.0.0.1:80/v1", "http://localhost", "http://[::1]:1"]
    {
        assert!(!is_open_to_others(here), "{here}");
    }
    for open in ["http://a.example/v1", "http://localhost.evil.example", "http://192.168.1.2:8080"]
    {
        assert!(is_open_to_others(open), "{open}");
    }
}
