//! The address of a provider, and the one origin that its key may be sent to.
//!
//! A small reader of http addresses that refuses whatever is unusual; it never resolves names.

/// Returns the origin of a base address in lower case, without a default port; an error says what is wrong.
pub(crate) fn origin(base_url: &str) -> Result<String, String> {
    let refuse = |why: &str| Err(format!("the address `{}` {why}", base_url.escape_debug()));
    if base_url.chars().any(|c| c.is_control() || c.is_whitespace() || c == '\\') {
        return refuse("has a space or a control character in it");
    }
    if base_url.contains(['?', '#']) {
        return refuse("must end with its path, without `?` and `#`");
    }
    let Some((scheme, rest)) = base_url.split_once("://") else {
        return refuse("must begin with `https://` or `http://`");
    };
    let scheme = scheme.to_ascii_lowercase();
    let default_port = match scheme.as_str() {
        "https" => ":443",
        "http" => ":80",
        _ => return refuse("must begin with `https://` or `http://`"),
    };
    let authority = rest.split('/').next().unwrap_or_default().to_ascii_lowercase();
    if authority.contains('@') {
        return refuse("must not hold a user name or a key");
    }
    let host = authority.strip_suffix(default_port).unwrap_or(&authority);
    let (name, port) = split_port(host);
    if name.is_empty() || port.is_some_and(|port| port.parse::<u16>().is_err()) {
        return refuse("has no valid host and port");
    }
    Ok(format!("{scheme}://{host}"))
}

/// Splits `host:port`; an IPv6 address stays in its brackets.
fn split_port(authority: &str) -> (&str, Option<&str>) {
    let after_brackets = authority.rfind(']').map_or(0, |at| at + 1);
    match authority[after_brackets..].find(':') {
        Some(at) => {
            let at = after_brackets + at;
            (&authority[..at], Some(&authority[at + 1..]))
        }
        None => (authority, None),
    }
}

/// The environment variable that may stand in for a blank key, by the vendor's own host only (P-58). A key of the
/// environment is never sent to a host that is not its vendor's.
pub(crate) fn vendor_variable(origin: &str) -> Option<&'static str> {
    let variable = match origin.strip_prefix("https://")? {
        "api.deepseek.com" => "DEEPSEEK_API_KEY",
        "api.anthropic.com" => "ANTHROPIC_API_KEY",
        "api.openai.com" => "OPENAI_API_KEY",
        "generativelanguage.googleapis.com" => "GEMINI_API_KEY",
        "api.z.ai" | "open.bigmodel.cn" => "ZAI_API_KEY",
        "api.moonshot.cn" | "api.moonshot.ai" => "MOONSHOT_API_KEY",
        "api.minimax.io" | "api.minimaxi.com" => "MINIMAX_API_KEY",
        _ => return None,
    };
    Some(variable)
}
