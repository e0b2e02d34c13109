use proptest::prelude::*;

use super::*;

fn lookup(name: &str) -> Option<String> {
    (name == "KEY").then(|| "s3cret two".to_owned())
}

fn stdio(name: &str, words: &[&str]) -> ServerEntry {
    let args = words[1..].iter().map(|word| (*word).to_owned()).collect();
    let command = words[0].to_owned();
    ServerEntry {
        name: name.to_owned(),
        transport: Transport::Stdio { command, args, env: BTreeMap::new(), cwd: None },
        enabled: true,
        connect_timeout: Duration::from_secs(10),
        timeout: None,
        max_output_length: None,
        permission: ServerPermission::Auto,
    }
}

#[track_caller]
fn check(text: &str, expected: &[ServerEntry]) {
    let (entries, warnings) = read_entries(text, &lookup);
    assert_eq!(warnings, [], "{text}");
    assert!(entries == expected, "{entries:?} of {text}");
}

#[track_caller]
fn check_warning(entry: &str, expected: &str) {
    let text = format!(r#"{{"mcpServers": {{"s": {entry}, "good": {{"command": "x"}}}}}}"#);
    let (entries, warnings) = read_entries(&text, &lookup);
    assert_eq!(entries, [stdio("good", &["x"])], "the others stay");
    let messages: Vec<&str> = warnings.iter().map(|warning| warning.message.as_str()).collect();
    assert_eq!(messages, [expected], "{entry}");
    assert_eq!(warnings[0].server.as_deref(), Some("s"));
}

/// Z-79: all shapes say the same.
#[test]
fn every_shape_is_read() {
    let expected = [stdio("files", &["npx", "-y", "server"])];
    for text in [
        r#"[{"name": "files", "command": "npx -y server"}]"#,
        r#"{"servers": [{"name": "files", "command": ["npx", "-y", "server"]}]}"#,
        r#"{"servers": {"files": {"command": "npx", "args": ["-y", "server"]}}}"#,
        r#"{"mcpServers": {"files": {"command": "npx -y", "args": ["server"]}}}"#,
        r#"[{"name": "files", "config": {"transport": "stdio", "command": "npx -y server"}}]"#,
    ] {
        check(text, &expected);
    }
    check("", &[]);
    check(r#"{"servers": []}"#, &[]);
}

/// P-141: the kind is taken from what is there; the older one must be named.
#[test]
fn the_transport_is_inferred() {
    let kind = |entry: &str| {
        let (entries, warnings) =
            read_entries(&format!(r#"{{"servers":{{"s":{entry}}}}}"#), &lookup);
        assert_eq!(warnings, []);
        entries[0].transport.kind()
    };
    use cairn_protocol::McpTransport::{Http, Sse, Stdio};
    assert_eq!(kind(r#"{"command": "x"}"#), Stdio);
    assert_eq!(kind(r#"{"url": "https://h/mcp"}"#), Http);
    assert_eq!(kind(r#"{"url": "https://h/mcp", "command": "x"}"#), Http);
    assert_eq!(kind(r#"{"url": "https://h/sse", "type": "sse"}"#), Sse);
}

#[test]
fn every_setting_is_read() {
    let text = r#"{"servers": {"s": {
        "command": "run ${KEY}", "env": {"TOKEN": "${env:KEY}"}, "cwd": "/srv",
        "connectTimeoutMs": 500, "timeoutMs": 1000, "maxOutputLength": 9, "permission": "r",
        "disabled": true}}}"#;
    let env = BTreeMap::from([("TOKEN".to_owned(), "s3cret two".to_owned())]);
    let cwd = Some("/srv".to_owned());
    let args = vec!["s3cret two".to_owned()];
    check(
        text,
        &[ServerEntry {
            name: "s".to_owned(),
            transport: Transport::Stdio { command: "run".to_owned(), args, env, cwd },
            enabled: false,
            connect_timeout: Duration::from_millis(500),
            timeout: Some(Duration::from_secs(1)),
            max_output_length: Some(9),
            permission: ServerPermission::Read,
        }],
    );
}

/// P-146: a bad entry is left out and said; the others are used.
#[test]
fn a_bad_entry_is_a_warning() {
    check_warning("7", "it is not an object");
    check_warning("{}", "it has neither `command` nor `url`");
    check_warning(r#"{"command": ""}"#, "`command` is empty");
    check_warning(r#"{"command": "run 'a"}"#, "a quote is not closed");
    check_warning(r#"{"command": "x", "args": [1]}"#, "`args` is not a list of texts");
    check_warning(r#"{"command": "x", "env": {"A": 1}}"#, "`env` is not an object of texts");
    check_warning(
        r#"{"command": "x", "env": {"A=B": "1"}}"#,
        "a name in `env` is not one of a variable",
    );
    check_warning(r#"{"command": "x${NOPE}"}"#, "the variable `NOPE` is not set");
    check_warning(r#"{"url": "file:///etc/passwd"}"#, "`url` is not an http or https address");
    check_warning(
        r#"{"url": "https://h", "headers": {"a": "b\r\nc: d"}}"#,
        "a header can't be sent as it is",
    );
    check_warning(r#"{"type": "pipe"}"#, "its type is none of `stdio`, `http` and `sse`");
    check_warning(r#"{"builtin": "web"}"#, "built-in servers are not known here");
    check_warning(
        r#"{"command": "x", "timeoutMs": -1}"#,
        "`timeoutMs` is not a whole number above 0",
    );
    check_warning(
        r#"{"command": "x", "permission": "all"}"#,
        "`permission` is `auto`, `r` or `rw`",
    );
}

#[test]
fn names_are_checked_and_unique() {
    let text = r#"[{"command": "x"}, {"name": "-a", "command": "x"}, {"name": "a", "command": "x"},
        {"name": "a", "command": "y"}]"#;
    let (entries, warnings) = read_entries(text, &lookup);
    assert_eq!(entries, [stdio("a", &["x"])]);
    let servers: Vec<Option<&str>> = warnings.iter().map(|it| it.server.as_deref()).collect();
    assert_eq!(servers, [Some("entry 1"), Some("-a"), Some("a")]);
}

#[test]
fn limits_hold() {
    let many: Vec<String> =
        (0..=SERVER_LIMIT).map(|i| format!(r#"{{"name": "s{i}", "command": "x"}}"#)).collect();
    let (entries, warnings) = read_entries(&format!("[{}]", many.join(",")), &lookup);
    assert_eq!((entries.len(), warnings.len()), (SERVER_LIMIT, 1));
    let (entries, warnings) = read_entries(&" ".repeat(FILE_LIMIT_BYTES + 1), &lookup);
    assert_eq!((entries.len(), warnings.len()), (0, 1));
}

/// Z-79: the agent's own entry wins.
#[test]
fn of_two_sources_the_first_wins() {
    let (entries, warnings) =
        merge(vec![stdio("a", &["one"])], vec![stdio("a", &["two"]), stdio("b", &["x"])]);
    assert_eq!(entries, [stdio("a", &["one"]), stdio("b", &["x"])]);
    assert_eq!(warnings[0].server.as_deref(), Some("a"));
}

#[test]
fn a_filled_in_secret_is_not_printed() {
    let text = r#"{"servers": {"a": {"command": "x ${KEY}", "env": {"T": "${KEY}"}},
        "b": {"url": "https://h/${KEY}", "headers": {"authorization": "${KEY}"}}}}"#;
    let (entries, warnings) = read_entries(text, &|_| Some("s3cret".to_owned()));
    assert_eq!((entries.len(), warnings.len()), (2, 0));
    assert!(!format!("{entries:?}").contains("s3cret"), "{entries:?}");
}

proptest! {
    /// No text makes reading panic, and what is read is within its limits.
    #[test]
    fn reading_is_total(text in r#"(\{|\}|\[|\]|,|:|"servers"|"mcpServers"|"name"|"a"|"command"|"url"|1|null|true){0,20}"#) {
        let (entries, _) = read_entries(&text, &lookup);
        prop_assert!(entries.len() <= SERVER_LIMIT);
    }
}
