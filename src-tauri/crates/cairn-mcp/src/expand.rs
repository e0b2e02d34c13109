//! Variables in values and words in a command line. Words are split first, so that what a variable
//! holds is never split.

/// Fills in `${NAME}` and `${env:NAME}`, once: what a variable holds is not looked at again. A `$`
/// without a brace stays as it is. Fails with a sentence that does not show the value.
pub(crate) fn expand(
    text: &str,
    lookup: &dyn Fn(&str) -> Option<String>,
) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        out.push_str(&rest[..start]);
        let inner = &rest[start + 2..];
        let Some(end) = inner.find('}') else {
            return Err("a `${` is not closed".to_owned());
        };
        let name = inner[..end].strip_prefix("env:").unwrap_or(&inner[..end]);
        if !is_variable(name) {
            return Err(format!("`${{{name}}}` does not name a variable"));
        }
        out.push_str(&lookup(name).ok_or_else(|| format!("the variable `{name}` is not set"))?);
        rest = &inner[end + 1..];
    }
    out.push_str(rest);
    Ok(out)
}

fn is_variable(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Splits a command line into words as a shell would, with both kinds of quotes. A back-slash
/// escapes white space, a quote or itself, and stays before anything else, so that Windows paths
/// survive. Nothing else is special: no variables, no patterns, no operators.
pub(crate) fn split_words(line: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => {
                let escaped = chars.next_if(|next| {
                    matches!(next, '"' | '\\')
                        || (quote.is_none() && (next.is_whitespace() || *next == '\''))
                });
                word.get_or_insert_default().push(escaped.unwrap_or('\\'));
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    if quote.is_some() {
        return Err("a quote is not closed".to_owned());
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests;
