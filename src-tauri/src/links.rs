//! Opens an address in the user's browser or mail program, after the user has seen it.
//!
//! Nothing that a model wrote is opened unseen, and no shell ever reads it (security plan 3.12).

use std::process::Stdio;

use cairn_protocol::{ErrorCode, ErrorInfo};
use tauri::Url;
use tokio::process::{Child, Command};

use crate::shell::Result;

/// The longest address that is opened, in bytes.
const LONGEST: usize = 4096;

/// An address that may be opened: of an allowed kind, written anew from its parts.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Link {
    address: String,
    place: String,
}

impl Link {
    /// Reads an address. Refuses all but `http`, `https` and `mailto`.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let refuse = |why: &str| {
            Err(ErrorInfo::new(ErrorCode::Invalid, format!("This address is not opened: {why}.")))
        };
        if text.len() > LONGEST {
            return refuse("it is too long");
        }
        if text.chars().any(char::is_control) {
            return refuse("it holds characters that can't be seen");
        }
        let Ok(url) = Url::parse(text.trim()) else { return refuse("it is not a whole address") };
        let place = match (url.scheme(), url.host_str()) {
            ("http" | "https", Some(host)) => host.to_owned(),
            ("mailto", _) => url.path().to_owned(),
            _ => return refuse("only web and mail addresses are"),
        };
        if !url.username().is_empty() || url.password().is_some() {
            return refuse("it holds a name or a password in front of the host");
        }
        let address = url.to_string();
        if !address.starts_with(|c: char| c.is_ascii_lowercase()) {
            return refuse("it does not begin as an address does");
        }
        Ok(Self { address, place })
    }

    /// Returns the host, or whom a mail goes to.
    pub(crate) fn place(&self) -> &str {
        &self.place
    }

    /// Returns the address as it is opened: ASCII, escaped.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Hands the address to the system. The program that was started ends as soon as the browser has it,
    /// or with the browser; whoever waits for it reaps it. Needs the runtime.
    pub(crate) fn open(&self) -> Result<Child> {
        let (program, arguments) = opener();
        let mut command = Command::new(program);
        command.args(arguments).arg(&self.address);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().map_err(|error| {
            let text = format!("The browser could not be started with {program}: {error}.");
            ErrorInfo::new(ErrorCode::Unsupported, text)
        })
    }
}

fn opener() -> (&'static str, &'static [&'static str]) {
    if cfg!(target_os = "macos") {
        ("/usr/bin/open", &[])
    } else if cfg!(windows) {
        ("rundll32.exe", &["url.dll,FileProtocolHandler"])
    } else {
        ("xdg-open", &[])
    }
}

#[cfg(test)]
mod tests;
