//! The forgiving reader: finds every command that a text might run, for deny rules and the command policy.
//!
//! It has no size limit and never fails. It errs towards finding too much: a wrapper's every rest is a candidate, the
//! payload of `sh -c` is read as text. What a program computes at run time it can't see, and says so nowhere: the
//! sandbox is the boundary.

use std::rc::Rc;

use super::parse;

/// How deep payloads inside payloads are followed; deeper, every word counts as a program.
const PAYLOAD_DEPTH: u8 = 6;

/// How much text is read in all, payloads again at each level. A text that would need more is built to be slow; then every word
/// of it counts as a program.
const WORK_LIMIT_BYTES: usize = 8 * 1024 * 1024;

/// Programs that run what their further words name.
pub(crate) const WRAPPERS: &[&str] = &[
    "sudo",
    "doas",
    "env",
    "xargs",
    "nohup",
    "nice",
    "ionice",
    "timeout",
    "time",
    "command",
    "builtin",
    "exec",
    "stdbuf",
    "setsid",
    "chroot",
    "unshare",
    "nsenter",
    "strace",
    "ltrace",
    "gdb",
    "watch",
    "busybox",
    "toybox",
    "find",
    "fd",
    "parallel",
    "flock",
    "runuser",
    "su",
    "taskset",
    "chrt",
    "script",
    "proot",
    "fakeroot",
    "eatmydata",
    "caffeinate",
    "systemd-run",
    "pkexec",
    "ssh",
    "docker",
    "podman",
    "entr",
    "winpty",
    "start",
    "call",
    "coproc",
    "not",
    "setarch",
    "linux32",
    "linux64",
    "rlwrap",
    "unbuffer",
    "dbus-run-session",
    "xvfb-run",
    "firejail",
    "bwrap",
    "catchsegv",
];

/// Programs that read a command text.
pub(crate) const SHELLS: &[&str] = &[
    "sh",
    "bash",
    "dash",
    "zsh",
    "ksh",
    "mksh",
    "ash",
    "fish",
    "csh",
    "tcsh",
    "rbash",
    "yash",
    "nu",
    "elvish",
    "eval",
    "cmd",
    "powershell",
    "pwsh",
    "source",
    ".",
    "trap",
];

/// Words that stand before a command.
const LEADING: &[&str] = &[
    "if", "then", "else", "elif", "while", "until", "do", "!", "{", "}", "time", "function",
    "coproc",
];

/// A command that a text might run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Candidate {
    line: Rc<Line>,
    from: usize,
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Line {
    words: Vec<String>,
    targets: Vec<String>,
}

impl Candidate {
    /// Its words, unquoted as far as that can be known; the first is the program.
    pub(crate) fn words(&self) -> &[String] {
        self.line.words.get(self.from..).unwrap_or_default()
    }

    /// The files that its output is redirected to.
    pub(crate) fn targets(&self) -> &[String] {
        &self.line.targets
    }
}

/// Returns every command that a text might run.
pub(crate) fn candidates(text: &str) -> Vec<Candidate> {
    let mut search = Search { found: Vec::new(), left: WORK_LIMIT_BYTES.max(text.len()) };
    let mut complete = search.collect(text, 0);
    // Bodies of here-documents are read above as if they were commands; the grammar's reading adds nothing to it.
    let suits = text.len() <= super::TEXT_LIMIT_BYTES && !text.contains("<<");
    if let Some(tree) = suits.then(|| parse(text)).flatten() {
        let mut waiting = vec![tree.root_node()];
        let mut nodes = 0;
        while let Some(node) = waiting.pop() {
            nodes += 1;
            if nodes > super::NODE_LIMIT || !complete {
                break;
            }
            if node.kind() == "command" {
                complete = search.collect(&text[node.byte_range()], 1);
            }
            let mut cursor = node.walk();
            waiting.extend(node.named_children(&mut cursor));
        }
    }
    if !complete {
        search.every_word(text);
    }
    search.found
}

/// Returns the last part of a program's path, folded, without `.exe`.
pub(crate) fn program_name(word: &str) -> String {
    let name = word.rsplit(['/', '\\']).next().unwrap_or_default().to_ascii_lowercase();
    name.strip_suffix(".exe").map(str::to_owned).unwrap_or(name)
}

struct Search {
    found: Vec<Candidate>,
    left: usize,
}

impl Search {
    /// Adds the commands of a text and of the payloads in it; returns whether the budget sufficed.
    fn collect(&mut self, text: &str, depth: u8) -> bool {
        if depth > PAYLOAD_DEPTH {
            return false;
        }
        let Some(left) = self.left.checked_sub(text.len()) else { return false };
        self.left = left;
        let mut reader = Reader::default();
        reader.read(text);
        let inner = std::mem::take(&mut reader.inner);
        inner.iter().all(|inner| self.collect(inner, depth + 1))
            && reader.lines.into_iter().all(|line| self.unwrap(Rc::new(line), depth))
    }

    /// Adds a command and whatever it wraps.
    fn unwrap(&mut self, line: Rc<Line>, depth: u8) -> bool {
        let leads = |word: &&String| LEADING.contains(&word.as_str()) || is_assignment(word);
        let from = line.words.iter().take_while(leads).count();
        self.found.push(Candidate { line: line.clone(), from });
        let words = &line.words[from..];
        let Some(first) = words.first() else { return true };
        let is_shell = |word: &String| SHELLS.contains(&program_name(word).as_str());
        if !is_shell(first) && !WRAPPERS.contains(&program_name(first).as_str()) {
            return true;
        }
        self.found.extend(
            (from + 1..line.words.len()).map(|from| Candidate { line: line.clone(), from }),
        );
        // Shells further on are found inside the first one's payload.
        let payload = words.iter().position(is_shell).map(|shell| words[shell + 1..].join(" "));
        payload.is_none_or(|payload| self.collect(&payload, depth + 1))
            && words[1..]
                .iter()
                .all(|word| !word.contains(char::is_whitespace) || self.collect(word, depth + 1))
    }

    /// Adds every word of a text as the program of a command.
    fn every_word(&mut self, text: &str) {
        for part in text.split([';', '|', '&', '\n', '(', ')', '`']) {
            let bare: String =
                part.chars().filter(|character| !"'\"\\".contains(*character)).collect();
            let words: Vec<String> = bare.split_whitespace().map(str::to_owned).collect();
            let line = Rc::new(Line { words, targets: Vec::new() });
            self.found
                .extend((0..line.words.len()).map(|from| Candidate { line: line.clone(), from }));
        }
    }
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && name.chars().all(|character| character == '_' || character.is_ascii_alphanumeric())
    })
}

#[derive(Default)]
struct Reader {
    lines: Vec<Line>,
    /// Texts inside double quotes that hold a substitution.
    inner: Vec<String>,
    current: Line,
    word: Option<String>,
    redirect: bool,
}

impl Reader {
    fn read(&mut self, text: &str) {
        let text = text.replace("${IFS}", " ").replace("$IFS", " ");
        let mut rest = text.chars().peekable();
        while let Some(character) = rest.next() {
            match character {
                '\\' => match rest.next() {
                    Some('\n') | None => {}
                    Some(next) => self.push(next),
                },
                '\'' => self.single(&mut rest),
                '"' => self.double(&mut rest),
                '$' if rest.peek() == Some(&'\'') => {
                    rest.next();
                    self.ansi(&mut rest);
                }
                '$' if rest.peek() == Some(&'"') => {}
                '#' if self.word.is_none() => while rest.next_if(|&next| next != '\n').is_some() {},
                '>' => {
                    if self
                        .word
                        .as_ref()
                        .is_some_and(|word| word.chars().all(|digit| digit.is_ascii_digit()))
                    {
                        self.word = None;
                    }
                    self.end_word();
                    while rest.next_if(|&next| matches!(next, '>' | '|' | '&')).is_some() {}
                    self.redirect = true;
                }
                '&' if rest.peek() == Some(&'>') => self.end_word(),
                ';' | '|' | '&' | '\n' | '\r' | '(' | ')' | '`' => self.end_command(),
                other if other.is_whitespace() => self.end_word(),
                '<' => self.end_word(),
                other => self.push(other),
            }
        }
        self.end_command();
    }

    fn push(&mut self, character: char) {
        self.word.get_or_insert_default().push(character);
    }

    fn single(&mut self, rest: &mut impl Iterator<Item = char>) {
        self.word.get_or_insert_default();
        for character in rest.take_while(|&character| character != '\'') {
            self.push(character);
        }
    }

    fn double(&mut self, rest: &mut impl Iterator<Item = char>) {
        self.word.get_or_insert_default();
        let mut inner = String::new();
        let mut runs = false;
        while let Some(character) = rest.next() {
            match character {
                '"' => break,
                '\\' => match rest.next() {
                    Some(next @ ('"' | '\\' | '$' | '`')) => inner.push(next),
                    Some('\n') | None => {}
                    Some(next) => {
                        inner.push('\\');
                        inner.push(next);
                    }
                },
                other => {
                    runs |= other == '$' || other == '`';
                    inner.push(other);
                }
            }
        }
        for character in inner.chars() {
            self.push(character);
        }
        if runs {
            self.inner.push(inner);
        }
    }

    /// Reads `$'…'`, with the escapes that can spell a letter.
    fn ansi(&mut self, rest: &mut std::iter::Peekable<std::str::Chars<'_>>) {
        self.word.get_or_insert_default();
        while let Some(character) = rest.next() {
            match character {
                '\'' => return,
                '\\' => {
                    let (radix, width) = match rest.peek() {
                        Some('x') => (16, 2),
                        Some('u') => (16, 4),
                        Some('U') => (16, 8),
                        Some('0'..='7') => (8, 3),
                        _ => {
                            if let Some(next) = rest.next() {
                                self.push(next);
                            }
                            continue;
                        }
                    };
                    if radix == 16 {
                        rest.next();
                    }
                    let mut value = 0_u32;
                    for _ in 0..width {
                        let Some(digit) = rest.next_if(|next| next.is_digit(radix)) else { break };
                        value =
                            value.wrapping_mul(radix) + digit.to_digit(radix).unwrap_or_default();
                    }
                    self.push(char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER));
                }
                other => self.push(other),
            }
        }
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        if std::mem::take(&mut self.redirect) {
            self.current.targets.push(word);
        } else {
            self.current.words.push(word);
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        self.redirect = false;
        let command = std::mem::take(&mut self.current);
        if command != Line::default() {
            self.lines.push(command);
        }
    }
}
