use super::*;

#[test]
fn web_and_mail_addresses_are_written_anew() {
    let link = Link::parse("HTTPS://Example.COM/a b?q=\"x\"").expect("a web address");
    assert_eq!(link.address(), "https://example.com/a%20b?q=%22x%22");
    assert_eq!(link.place(), "example.com");
    let mail = Link::parse("mailto:someone@example.com").expect("a mail address");
    assert_eq!(mail.place(), "someone@example.com");
}

#[test]
fn a_host_in_another_script_is_shown_as_it_is_looked_up() {
    let link = Link::parse("https://ex\u{430}mple.com/").expect("a web address");
    assert!(link.place().starts_with("xn--"), "{}", link.place());
}

#[test]
fn everything_else_is_refused() {
    for text in [
        "file:///etc/passwd",
        "javascript:alert(1)",
        "data:text/html,hi",
        "vscode://open?x",
        "smb://host/share",
        "-https://example.com",
        "--version",
        "https://user:word@example.com/",
        "https://example.com\n.evil.example/",
        "https://exam\u{0}ple.com",
        "example.com",
        "",
    ] {
        assert_eq!(Link::parse(text).expect_err(text).code, ErrorCode::Invalid, "{text:?}");
    }
    assert!(Link::parse(&format!("https://example.com/{}", "a".repeat(LONGEST))).is_err());
}
