//! Numbers of things in words that a person reads.

/// Returns the number with its word: `1 line`, `2 lines`. The plural ends in `s`, `es` after `ch`, `ies` for `y`.
pub(crate) fn counted(count: usize, word: &str) -> String {
    let plural = match count {
        1 => "",
        _ if word.ends_with("ch") => "es",
        _ => "s",
    };
    match word.strip_suffix('y') {
        Some(stem) if count != 1 => format!("{count} {stem}ies"),
        _ => format!("{count} {word}{plural}"),
    }
}

#[cfg(test)]
mod tests {
    use super::counted;

    #[test]
    fn one_thing_is_not_several() {
        let told =
            [(0, "line"), (1, "line"), (2, "line"), (1, "match"), (3, "match"), (2, "entry")];
        let told = told.map(|(count, word)| counted(count, word));
        assert_eq!(told, ["0 lines", "1 line", "2 lines", "1 match", "3 matches", "2 entries"]);
    }
}
