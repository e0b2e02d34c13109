//! The HTTP client of one provider: where it may go and what it may carry.
//!
//! It follows no redirect, keeps no cookie, and uses no proxy for an address of this machine, so
//! that the key reaches the configured origin only. What is sent is in `openai_chat/request.rs`.

use std::net::IpAddr;
use std::sync::Once;
use std::time::Duration;

use reqwest::Url;
use reqwest::header::{
    ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue,
};

use crate::{Error, ModelTarget};

/// How long a connection may take to be made (`security.md`, bounds).
pub(crate) const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);

/// Headers that frame a request; a setting must not touch them.
const FRAMING: [&str; 8] = [
    "host",
    "content-length",
    "content-type",
    "content-encoding",
    "transfer-encoding",
    "connection",
    "te",
    "upgrade",
];

/// Reads the base URL as the user typed it and returns it without a closing slash. An address
/// without a path gets `/v1`, and the path of the endpoint itself may be there already.
pub(crate) fn base_url(typed: &str) -> Result<Url, Error> {
    let typed = typed.trim();
    if typed.is_empty() {
        return Err(Error::Invalid("the address is missing, such as https://host/v1".to_owned()));
    }
    let mut url = Url::parse(typed)
        .map_err(|error| Error::Invalid(format!("the address {typed:?} is wrong: {error}")))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(Error::Invalid(format!(
            "the address {typed:?} must begin with https:// or http://"
        )));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(Error::Invalid(
            "the address contains a user name or password; give the key in its own field"
                .to_owned(),
        ));
    }
    url.set_fragment(None);
    let path = url.path().trim_end_matches('/');
    let path = path.strip_suffix("/chat/completions").unwrap_or(path);
    let path = if path.is_empty() { "/v1".to_owned() } else { path.to_owned() };
    url.set_path(&path);
    Ok(url)
}

/// Returns the address of an endpoint under the base, such as `chat/completions`.
pub(crate) fn endpoint(base: &Url, path: &str) -> Url {
    let mut url = base.clone();
    url.set_path(&format!("{}/{path}", base.path().trim_end_matches('/')));
    url
}

/// Returns whether the address is this machine.
pub(crate) fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host.eq_ignore_ascii_case("localhost")
        || host.to_ascii_lowercase().ends_with(".localhost")
        || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Makes the client for one origin.
pub(crate) fn client(url: &Url, connect_timeout: Duration) -> Result<reqwest::Client, Error> {
    static TLS: Once = Once::new();
    TLS.call_once(|| {
        // An error means that the program chose a provider before; that one serves as well.
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
    let mut builder = reqwest::Client::builder()
        .user_agent(concat!("Cairn/", env!("CARGO_PKG_VERSION")))
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(connect_timeout)
        .referer(false);
    if is_loopback(url) {
        builder = builder.no_proxy();
    }
    if url.scheme() == "http" {
        // No TLS can happen here, so the system's certificates need not be read: some 10 ms.
        builder = builder.tls_certs_only([]);
    }
    builder.build().map_err(|error| Error::Client(Box::new(error)))
}

/// Returns the headers of every request to the target.
pub(crate) fn headers(target: &ModelTarget) -> Result<HeaderMap, Error> {
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream, application/json"));
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    // A compressed stream is held back until the compressor's window is full.
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    for (name, value) in &target.headers {
        let header = HeaderName::from_bytes(name.trim().as_bytes())
            .map_err(|_| Error::Invalid(format!("the header name {name:?} is wrong")))?;
        if FRAMING.contains(&header.as_str()) {
            return Err(Error::Invalid(format!("the header {name} can't be set")));
        }
        let mut value = HeaderValue::from_str(value.trim()).map_err(|_| {
            Error::Invalid(format!(
                "the value of the header {name} has characters that can't be sent"
            ))
        })?;
        value.set_sensitive(true);
        headers.insert(header, value);
    }
    if let Some(key) = target.key.as_ref().filter(|key| !key.is_blank()) {
        let mut value =
            HeaderValue::from_str(&format!("Bearer {}", key.expose().trim())).map_err(|_| {
                Error::Invalid(
                    "the key has characters that can't be sent; paste it again".to_owned(),
                )
            })?;
        value.set_sensitive(true);
        headers.insert(AUTHORIZATION, value);
    }
    Ok(headers)
}

#[cfg(test)]
mod tests {
    use super::{base_url, endpoint, is_loopback};

    #[test]
    fn every_typed_form_leads_to_the_endpoint() {
        for (typed, expected) in [
            ("http://localhost:11434", "http://localhost:11434/v1/chat/completions"),
            ("http://localhost:11434/", "http://localhost:11434/v1/chat/completions"),
            ("https://a.example/v1", "https://a.example/v1/chat/completions"),
            ("https://a.example/v1/", "https://a.example/v1/chat/completions"),
            (" https://a.example/v1/chat/completions ", "https://a.example/v1/chat/completions"),
            ("https://a.example/api/paas/v4", "https://a.example/api/paas/v4/chat/completions"),
            (
                "https://a.example/x?api-version=2",
                "https://a.example/x/chat/completions?api-version=2",
            ),
        ] {
            let base = base_url(typed).expect(typed);
            assert_eq!(endpoint(&base, "chat/completions").as_str(), expected);
        }
    }

    #[test]
    fn a_wrong_address_is_refused() {
        for typed in ["", "localhost:11434", "ftp://a.example", "https://key@a.example/v1"] {
            assert!(base_url(typed).is_err(), "{typed}");
        }
    }

    #[test]
    fn loopback_is_recognised() {
        for (url, expected) in [
            ("http://127.0.0.1:1/v1", true),
            ("http://127.9.9.9/v1", true),
            ("http://[::1]:1/v1", true),
            ("http://LOCALHOST/v1", true),
            ("http://x.localhost/v1", true),
            ("http://localhost.example/v1", false),
            ("http://10.0.0.1/v1", false),
        ] {
            assert_eq!(is_loopback(&base_url(url).expect(url)), expected, "{url}");
        }
    }
}
