//! The strict reader: accepts only words whose value is what is written, and four ways to join commands.
//!
//! It is a list of what is understood, not of what is dangerous: a character that is not named here makes the text not
//! plain.

/// Builtins and reserved words that evaluate text, change how later commands are read, or run what they are given.
const EVALUATING: &[&str] = &[
    "eval",
    "source",
    ".",
    "trap",
    "exec",
    "export",
    "declare",
    "typeset",
    "local",
    "readonly",
    "let",
    "set",
    "unset",
    "shopt",
    "alias",
    "unalias",
    "enable",
    "hash",
    "bind",
    "complete",
    "compgen",
    "compopt",
    "read",
    "mapfile",
    "readarray",
    "getopts",
    "test",
    "[",
    "[[",
    "((",
    "command",
    "builtin",
    "coproc",
    "time",
    "if",
    "then",
    "else",
    "elif",
    "fi",
    "for",
    "while",
    "until",
    "do",
    "done",
    "case",
    "esac",
    "select",
    "function",
    "in",
    "{",
    "}",
    "!",
    "caller",
    "fc",
    "history",
    "wait",
    "umask",
    "ulimit",
    "suspend",
    "logout",
    "return",
    "break",
    "continue",
];

/// Splits a text into simple commands of literal words.
pub(super) fn plain_commands(text: &str) -> Result<Vec<Vec<String>>, String> {
    let mut reader = Reader {
        rest: text.chars().peekable(),
        commands: Vec::new(),
        words: Vec::new(),
        word: None,
    };
    reader.read()?;
    if reader.commands.is_empty() {
        return Err("there is no command".to_owned());
    }
    for words in &reader.commands {
        check_program(words)?;
    }
    Ok(reader.commands)
}

struct Reader<'t> {
    rest: std::iter::Peekable<std::str::Chars<'t>>,
    commands: Vec<Vec<String>>,
    words: Vec<String>,
    word: Option<String>,
}

impl Reader<'_> {
    fn read(&mut self) -> Result<(), String> {
        // Whether a command must follow: after `&&`, `||` and `|`.
        let mut open = false;
        while let Some(character) = self.rest.next() {
            match character {
                ' ' | '\t' => self.end_word(),
                '\n' => {
                    if !self.end_command() && open {
                        return Err("a command is missing after an operator".to_owned());
                    }
                    open = false;
                }
                ';' => {
                    if !self.end_command() {
                        return Err("a command is missing before `;`".to_owned());
                    }
                    open = false;
                }
                '|' | '&' => {
                    let doubled = self.rest.next_if_eq(&character).is_some();
                    if character == '&' && !doubled {
                        return Err("it contains a background command".to_owned());
                    }
                    if !self.end_command() {
                        return Err("a command is missing before an operator".to_owned());
                    }
                    open = true;
                }
                '\'' => self.single_quoted()?,
                '"' => self.double_quoted()?,
                other => self.bare(other)?,
            }
            if self.word.is_some() {
                open = false;
            }
        }
        if !self.end_command() && open {
            return Err("a command is missing after an operator".to_owned());
        }
        Ok(())
    }

    fn bare(&mut self, character: char) -> Result<(), String> {
        let previous = self.word.as_ref().map(|word| word.chars().next_back());
        match character {
            'A'..='Z'
            | 'a'..='z'
            | '0'..='9'
            | '_'
            | '@'
            | '%'
            | '+'
            | ':'
            | ','
            | '.'
            | '/'
            | '-'
            | '^' => {}
            '=' if !self.words.is_empty() => {}
            '=' => return Err("it contains an assignment".to_owned()),
            '~' if matches!(previous, Some(Some(before)) if before != '=' && before != ':') => {}
            '#' if previous.is_some() => {}
            '#' => return Err("it contains a comment".to_owned()),
            '$' => return Err("it contains an expansion".to_owned()),
            '`' => return Err("it contains a command substitution".to_owned()),
            '\\' => return Err("it contains a backslash outside of quotes".to_owned()),
            '<' | '>' => return Err("it contains a redirection".to_owned()),
            '(' | ')' => return Err("it contains a subshell or a function".to_owned()),
            '*' | '?' | '[' | ']' | '{' | '}' | '~' | '!' => {
                return Err(format!("it contains a pattern or expansion (`{character}`)"));
            }
            other if other.is_control() => return Err("it contains a control character".to_owned()),
            other if other.is_alphanumeric() => {}
            other => return Err(format!("it contains {}", crate::visible(&other.to_string()))),
        }
        self.word.get_or_insert_default().push(character);
        Ok(())
    }

    fn single_quoted(&mut self) -> Result<(), String> {
        self.word.get_or_insert_default();
        loop {
            match self.rest.next() {
                Some('\'') => return Ok(()),
                other => self.quoted(other)?,
            }
        }
    }

    fn double_quoted(&mut self) -> Result<(), String> {
        self.word.get_or_insert_default();
        loop {
            match self.rest.next() {
                Some('"') => return Ok(()),
                Some('$') => return Err("it contains an expansion".to_owned()),
                Some('`') => return Err("it contains a command substitution".to_owned()),
                Some('\\') => return Err("it contains a backslash in double quotes".to_owned()),
                other => self.quoted(other)?,
            }
        }
    }

    fn quoted(&mut self, character: Option<char>) -> Result<(), String> {
        let Some(character) = character else { return Err("a quote is not closed".to_owned()) };
        if character.is_control() && character != '\n' && character != '\t' {
            return Err("it contains a control character".to_owned());
        }
        self.word.get_or_insert_default().push(character);
        Ok(())
    }

    fn end_word(&mut self) {
        if let Some(word) = self.word.take() {
            self.words.push(word);
        }
    }

    /// Ends a command; returns whether there was one.
    fn end_command(&mut self) -> bool {
        self.end_word();
        if self.words.is_empty() {
            return false;
        }
        self.commands.push(std::mem::take(&mut self.words));
        true
    }
}

/// Checks that the first word names a program, and nothing that evaluates its arguments.
fn check_program(words: &[String]) -> Result<(), String> {
    let program = words[0].as_str();
    if program.is_empty() || program.contains(char::is_whitespace) {
        return Err("the program's name is empty or contains blanks".to_owned());
    }
    if !program.is_ascii() {
        return Err("the program's name has letters that are not ASCII".to_owned());
    }
    if EVALUATING.contains(&program) {
        return Err(format!("`{program}` evaluates its arguments or changes the shell"));
    }
    if program == "printf" && words.iter().skip(1).any(|word| word.starts_with("-v")) {
        return Err("`printf -v` evaluates its argument".to_owned());
    }
    Ok(())
}
