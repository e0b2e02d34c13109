//! WebDriver over plain HTTP, as much of it as the tests need.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

/// A session with the page.
pub(super) struct Driver {
    port: u16,
    session: String,
}

impl Driver {
    /// Starts the app under the driver.
    #[track_caller]
    pub(super) fn open(port: u16, binary: &Path) -> Self {
        let options = json!({"binary": binary, "args": []});
        let wanted =
            json!({"capabilities": {"alwaysMatch": {"webkitgtk:browserOptions": options}}});
        let opened = request(port, "POST", "/session", Some(&wanted));
        let opened = opened.unwrap_or_else(|error| panic!("no session with the app: {error}"));
        let session = opened["sessionId"].as_str().expect("a session has an id").to_owned();
        Self { port, session }
    }

    /// Calls a command of the session.
    pub(super) fn post(&self, command: &str, body: &Value) -> Result<Value, String> {
        let path = format!("/session/{}/{command}", self.session);
        request(self.port, "POST", &path, Some(body))
    }
}

fn request(port: u16, method: &str, path: &str, body: Option<&Value>) -> Result<Value, String> {
    let told = |error: std::io::Error| error.to_string();
    let mut stream = TcpStream::connect(("127.0.0.1", port)).map_err(told)?;
    stream.set_read_timeout(Some(Duration::from_secs(120))).map_err(told)?;
    let body = body.map(Value::to_string).unwrap_or_default();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).map_err(told)?;
    stream.write_all(body.as_bytes()).map_err(told)?;
    let (ok, answer) = read_answer(&mut stream)?;
    let value: Value = serde_json::from_slice(&answer).map_err(|error| error.to_string())?;
    let value = value["value"].clone();
    // What a script returns may look like an error; the status tells.
    if ok {
        return Ok(value);
    }
    let part = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
    Err(format!("{}: {}", part("error"), part("message")))
}

/// Reads whether it went well, and the body by its length: the driver keeps the connection open whatever it was told.
fn read_answer(stream: &mut TcpStream) -> Result<(bool, Vec<u8>), String> {
    let mut bytes = Vec::new();
    let mut chunk = [0_u8; 64 * 1024];
    loop {
        if let Some(body) = whole_body(&bytes) {
            return Ok((bytes.starts_with(b"HTTP/1.1 200"), body));
        }
        match stream.read(&mut chunk).map_err(|error| error.to_string())? {
            0 => return Err("the driver closed the connection".to_owned()),
            read => bytes.extend_from_slice(&chunk[..read]),
        }
    }
}

fn whole_body(bytes: &[u8]) -> Option<Vec<u8>> {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:"))?;
    let length: usize = length.trim().parse().ok()?;
    let body = &bytes[end + 4..];
    (body.len() >= length).then(|| body[..length].to_vec())
}
