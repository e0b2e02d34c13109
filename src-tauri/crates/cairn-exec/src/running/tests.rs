use super::*;

#[track_caller]
fn check(output: &str, expected: Option<&str>) {
    assert_eq!(local_url(output.as_bytes()).as_deref(), expected, "in {output:?}");
}

#[test]
fn the_last_local_address_in_the_output_is_found_p88() {
    check(
        "  Local:   \u{1b}[36mhttp://localhost:5173/\u{1b}[39m\n",
        Some("http://localhost:5173/"),
    );
    check(
        "on http://127.0.0.1:8000.\nthen https://[::1]:8443/a?b=c, ok",
        Some("https://[::1]:8443/a?b=c"),
    );
    check("see https://example.com/localhost and http://localhost.evil.example/", None);
    check("http://localhost", Some("http://localhost"));
    check("nothing", None);
}
