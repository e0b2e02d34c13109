//! Reads the entries of a configuration file in each of its shapes (Z-79, P-141): a bare array,
//! `{"servers": [] or {}}` and `{"mcpServers": {}}`.
//!
//! It never fails as a whole: what can't be used is left out with a warning.

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use serde_json::{Map, Value};

use crate::expand::{expand, split_words};
use crate::{ServerEntry, ServerPermission, Transport};

/// The largest file that is read; a real one has a few KiB.
pub const FILE_LIMIT_BYTES: usize = 1024 * 1024;
/// The most servers that are read.
pub const SERVER_LIMIT: usize = 64;
/// Characters of a name, so that `mcp__<name>__<tool>` leaves room for the tool in 128.
const NAME_LIMIT: usize = 64;
/// Arguments, variables or headers of one server.
const LIST_LIMIT: usize = 256;
/// Bytes of one value after its variables were filled in.
const VALUE_LIMIT_BYTES: usize = 32 * 1024;
/// Connecting and listing (P-141).
const CONNECT_TIMEOUT_MS: u64 = 10_000;

/// What could not be used, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// The server, where one is concerned.
    pub server: Option<String>,
    /// What is wrong, in one sentence. Never shows a value.
    pub message: String,
}

type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Reads the entries of a file, in its order, with what was left out. `lookup` returns the value of
/// an environment variable. Entries that are switched off are returned too.
pub fn read_entries(text: &str, lookup: Lookup<'_>) -> (Vec<ServerEntry>, Vec<Warning>) {
    let mut entries = Vec::new();
    let mut warnings = Vec::new();
    let listed = match list(text) {
        Ok(listed) => listed,
        Err(message) => return (entries, vec![Warning { server: None, message }]),
    };
    let mut seen = HashSet::new();
    for (index, (name, value)) in listed.into_iter().enumerate() {
        if index == SERVER_LIMIT {
            let message = format!("only the first {SERVER_LIMIT} servers are read");
            warnings.push(Warning { server: None, message });
            break;
        }
        let read = checked_name(name.as_deref()).and_then(|name| {
            if !seen.insert(name.clone()) {
                return Err("there is an earlier server of this name".to_owned());
            }
            read_entry(name, &value, lookup)
        });
        match read {
            Ok(entry) => entries.push(entry),
            Err(message) => {
                let server = Some(name.unwrap_or_else(|| format!("entry {}", index + 1)));
                warnings.push(Warning { server, message });
            }
        }
    }
    (entries, warnings)
}

/// Puts entries of a second source behind those of a first; of two with one name the first wins,
/// with a warning. The agent's own come first, the workspace's second (Z-79).
pub fn merge(
    first: Vec<ServerEntry>,
    second: Vec<ServerEntry>,
) -> (Vec<ServerEntry>, Vec<Warning>) {
    let names: HashSet<String> = first.iter().map(|entry| entry.name.clone()).collect();
    let (hidden, added): (Vec<_>, Vec<_>) =
        second.into_iter().partition(|entry| names.contains(&entry.name));
    let warn = |entry: ServerEntry| Warning {
        server: Some(entry.name),
        message: "the agent has a server of this name, which is used instead".to_owned(),
    };
    let mut entries = first;
    entries.extend(added);
    (entries, hidden.into_iter().map(warn).collect())
}

/// Returns the entries with the names that they were given, if any.
fn list(text: &str) -> Result<Vec<(Option<String>, Value)>, String> {
    if text.len() > FILE_LIMIT_BYTES {
        return Err(format!("the file is larger than {} KiB", FILE_LIMIT_BYTES / 1024));
    }
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let value: Value =
        serde_json::from_str(text).map_err(|error| format!("the file is not JSON: {error}"))?;
    let inner = match value {
        Value::Object(mut object) => match object.remove("mcpServers") {
            Some(servers @ Value::Object(_)) => servers,
            Some(_) => return Err("`mcpServers` is not an object".to_owned()),
            None => object.remove("servers").ok_or("there is no list of servers")?,
        },
        other => other,
    };
    match inner {
        Value::Array(items) => Ok(items
            .into_iter()
            .map(|item| (item.get("name").and_then(Value::as_str).map(str::to_owned), item))
            .collect()),
        Value::Object(object) => {
            Ok(object.into_iter().map(|(name, item)| (Some(name), item)).collect())
        }
        _ => Err("the list of servers is neither an array nor an object".to_owned()),
    }
}

/// Checks a name (P-141).
fn checked_name(name: Option<&str>) -> Result<String, String> {
    let name = name.ok_or("it has no name")?;
    let fits = name.len() <= NAME_LIMIT
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    fits.then(|| name.to_owned()).ok_or_else(|| {
        format!("a name has at most {NAME_LIMIT} letters, digits, `_` and `-`, no sign first")
    })
}

fn read_entry(name: String, value: &Value, lookup: Lookup<'_>) -> Result<ServerEntry, String> {
    let object = value.as_object().ok_or("it is not an object")?;
    // One of the shapes nests the settings beside the name.
    let fields = Fields {
        object: object.get("config").and_then(Value::as_object).unwrap_or(object),
        lookup,
    };
    let switched = |name| object.get(name).or_else(|| fields.object.get(name));
    let enabled = switched("enabled") != Some(&Value::Bool(false))
        && switched("disabled") != Some(&Value::Bool(true));
    let permission = match fields.text("permission")?.as_deref() {
        None | Some("auto") => ServerPermission::Auto,
        Some("r") => ServerPermission::Read,
        Some("rw") => ServerPermission::ReadWrite,
        Some(_) => return Err("`permission` is `auto`, `r` or `rw`".to_owned()),
    };
    let connect_ms = fields.number("connectTimeoutMs")?.unwrap_or(CONNECT_TIMEOUT_MS);
    Ok(ServerEntry {
        name,
        transport: transport(&fields)?,
        enabled,
        connect_timeout: Duration::from_millis(connect_ms),
        timeout: fields.number("timeoutMs")?.map(Duration::from_millis),
        max_output_length: fields.number("maxOutputLength")?,
        permission,
    })
}

fn transport(fields: &Fields<'_>) -> Result<Transport, String> {
    let named = match fields.text("type")? {
        Some(kind) => Some(kind),
        None => fields.text("transport")?,
    };
    let has = |name: &str| fields.object.get(name).is_some_and(|value| !value.is_null());
    let kind = match named.as_deref() {
        Some(kind) => kind,
        None if has("builtin") => "builtin",
        None if has("url") => "http",
        None if has("command") => "stdio",
        None => return Err("it has neither `command` nor `url`".to_owned()),
    };
    match kind {
        "stdio" => stdio(fields),
        "http" | "streamable-http" | "streamableHttp" => {
            Ok(Transport::Http { url: fields.address()?, headers: fields.headers()? })
        }
        "sse" => Ok(Transport::Sse { url: fields.address()?, headers: fields.headers()? }),
        "builtin" => Err("built-in servers are not known here".to_owned()),
        _ => Err("its type is none of `stdio`, `http` and `sse`".to_owned()),
    }
}

fn stdio(fields: &Fields<'_>) -> Result<Transport, String> {
    let mut words = match fields.object.get("command") {
        Some(Value::String(line)) => split_words(line)?,
        Some(Value::Array(_)) => fields.texts("command")?,
        _ => return Err("`command` is a text or a list of texts".to_owned()),
    };
    words.extend(fields.texts("args")?);
    if words.len() > LIST_LIMIT {
        return Err(format!("it has more than {LIST_LIMIT} arguments"));
    }
    let words: Result<Vec<String>, String> = words.iter().map(|word| fields.fill(word)).collect();
    let mut words = words?.into_iter();
    let command = words.next().filter(|word| !word.is_empty()).ok_or("`command` is empty")?;
    let env = fields.map("env")?;
    if env.keys().any(|name| name.is_empty() || name.contains(['=', '\0'])) {
        return Err("a name in `env` is not one of a variable".to_owned());
    }
    let cwd = fields.text("cwd")?.map(|cwd| fields.fill(&cwd)).transpose()?;
    Ok(Transport::Stdio { command, args: words.collect(), env, cwd })
}

/// The settings of one entry, read with the right kind or an error that names the field.
struct Fields<'a> {
    object: &'a Map<String, Value>,
    lookup: Lookup<'a>,
}

impl Fields<'_> {
    fn text(&self, name: &str) -> Result<Option<String>, String> {
        match self.object.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(format!("`{name}` is not a text")),
        }
    }

    fn number(&self, name: &str) -> Result<Option<u64>, String> {
        match self.object.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => match value.as_u64().filter(|number| *number > 0) {
                Some(number) => Ok(Some(number)),
                None => Err(format!("`{name}` is not a whole number above 0")),
            },
        }
    }

    fn texts(&self, name: &str) -> Result<Vec<String>, String> {
        let wrong = || format!("`{name}` is not a list of texts");
        match self.object.get(name) {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(Value::Array(items)) => {
                let texts = items.iter().map(|item| item.as_str().map(str::to_owned));
                texts.collect::<Option<Vec<_>>>().ok_or_else(wrong)
            }
            Some(_) => Err(wrong()),
        }
    }

    fn map(&self, name: &str) -> Result<BTreeMap<String, String>, String> {
        let wrong = || format!("`{name}` is not an object of texts");
        let object = match self.object.get(name) {
            None | Some(Value::Null) => return Ok(BTreeMap::new()),
            Some(value) => value.as_object().ok_or_else(wrong)?,
        };
        if object.len() > LIST_LIMIT {
            return Err(format!("`{name}` has more than {LIST_LIMIT} fields"));
        }
        let filled = object
            .iter()
            .map(|(key, value)| Ok((key.clone(), self.fill(value.as_str().ok_or_else(wrong)?)?)));
        filled.collect()
    }

    fn headers(&self) -> Result<BTreeMap<String, String>, String> {
        let headers = self.map("headers")?;
        let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
        let bad = headers.iter().any(|(name, value)| {
            name.is_empty() || !name.chars().all(is_token) || value.contains(char::is_control)
        });
        if bad { Err("a header can't be sent as it is".to_owned()) } else { Ok(headers) }
    }

    fn address(&self) -> Result<String, String> {
        let url = self.fill(&self.text("url")?.ok_or("it has no `url`")?)?;
        let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
        let fits = rest.is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/'))
            && !url.contains(|c: char| c.is_control() || c == ' ');
        if fits { Ok(url) } else { Err("`url` is not an http or https address".to_owned()) }
    }

    fn fill(&self, text: &str) -> Result<String, String> {
        let value = expand(text, self.lookup)?;
        if value.len() > VALUE_LIMIT_BYTES {
            return Err(format!("a value is longer than {} KiB", VALUE_LIMIT_BYTES / 1024));
        }
        if value.contains('\0') {
            return Err("a value holds a NUL".to_owned());
        }
        Ok(value)
    }
}

#[cfg(test)]
mod tests;
