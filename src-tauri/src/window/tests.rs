use super::*;

#[cfg(not(windows))]
#[test]
fn only_the_whole_own_origin_may_be_shown() {
    let own = |address: &str| is_own_page(&Url::parse(address).expect("an address"));
    assert!(own("tauri://localhost/"));
    assert!(own("tauri://localhost/index.html?a#b"));
    for other in [
        "tauri://localhost.evil.example/",
        "tauri://localhost:81/",
        "tauri://user@localhost/",
        "https://localhost/",
        "http://tauri.localhost/",
        "about:blank",
        "data:text/html,hi",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "blob:tauri://localhost/1",
    ] {
        assert!(!own(other), "{other}");
    }
}
