use proptest::prelude::*;

use super::*;

fn lookup(name: &str) -> Option<String> {
    match name {
        "HOME" => Some("/home/me".to_owned()),
        "ODD" => Some("a b ${HOME}".to_owned()),
        _ => None,
    }
}

#[track_caller]
fn check_expand(text: &str, expected: Result<&str, &str>) {
    let actual = expand(text, &lookup);
    assert_eq!(actual.as_deref().map_err(String::as_str), expected, "{text}");
}

/// Z-79.
#[test]
fn variables_are_filled_in_once() {
    check_expand("${HOME}/x and ${env:HOME}", Ok("/home/me/x and /home/me"));
    check_expand("${ODD}", Ok("a b ${HOME}"));
    check_expand("$HOME costs 5$", Ok("$HOME costs 5$"));
    check_expand("${NOPE}", Err("the variable `NOPE` is not set"));
    check_expand("${HOME", Err("a `${` is not closed"));
    check_expand("${a-b}", Err("`${a-b}` does not name a variable"));
}

#[track_caller]
fn check_split(line: &str, expected: &[&str]) {
    assert_eq!(split_words(line).unwrap(), expected, "{line}");
}

/// Z-79.
#[test]
fn a_command_line_is_split_like_a_shell_would() {
    check_split("npx -y  server", &["npx", "-y", "server"]);
    check_split(r#"run "a b" 'c "d' e\ f """#, &["run", "a b", "c \"d", "e f", ""]);
    check_split(r"C:\tools\run.exe --x", &[r"C:\tools\run.exe", "--x"]);
    check_split(r#""say \"hi\"""#, &["say \"hi\""]);
    check_split("  ", &[]);
    assert!(split_words("run 'a").is_err());
}

proptest! {
    /// What is quoted comes back as one word.
    #[test]
    fn quoting_and_splitting_are_inverse(words in prop::collection::vec("[^']{0,8}", 0..5)) {
        let line: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
        prop_assert_eq!(split_words(&line.join(" ")).unwrap(), words);
    }
}
