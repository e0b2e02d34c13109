//! Takes a shell text apart into plain commands, or says why that can't be done with certainty.
//!
//! Two independent readers must agree on every word: a strict lexer of our own (`lexer.rs`) and the tree-sitter
//! grammar. Whatever either does not understand is not plain, and what is not plain asks. The forgiving reader that
//! deny rules and the command policy use is `loose.rs`.

use std::ops::ControlFlow;

use tree_sitter::{Node, ParseOptions, ParseState, Parser, Tree};

mod lexer;
pub(crate) mod loose;
#[cfg(test)]
mod tests;

/// The longest text that is taken apart. The security plan (3.2) names 64 KiB.
const TEXT_LIMIT_BYTES: usize = 64 * 1024;

/// The most nodes of a tree. A text of ordinary commands has about one node for three bytes.
const NODE_LIMIT: usize = 40_000;

/// How often the parser may report progress before it is stopped: bounds its work where a clock may not be read. A text of
/// 64 KiB of plain words needs about a tenth of it.
const PROGRESS_LIMIT: u32 = 20_000;

/// A shell text, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ParsedCommand {
    /// Simple commands in order, joined by `&&`, `||`, `;`, `|` or a new line; every word is literal.
    Plain(Vec<Vec<String>>),
    /// Something that could run more than can be read off it.
    NotPlain {
        /// What it is, for a person.
        reason: String,
    },
}

/// Takes a shell text apart (security plan 3.2).
pub fn parse_command(text: &str) -> ParsedCommand {
    match plain(text) {
        Ok(commands) => ParsedCommand::Plain(commands),
        Err(reason) => ParsedCommand::NotPlain { reason },
    }
}

fn plain(text: &str) -> Result<Vec<Vec<String>>, String> {
    if text.len() > TEXT_LIMIT_BYTES {
        return Err("it is longer than 64 KiB".to_owned());
    }
    let commands = lexer::plain_commands(text)?;
    let tree = parse(text).ok_or("it is too complex to take apart")?;
    let seen = tree_commands(tree.root_node(), text)?;
    if seen != commands {
        return Err("it can be read in more than one way".to_owned());
    }
    Ok(commands)
}

/// Parses within the budget; returns nothing when that is spent.
///
/// The grammar's scanner hands characters to C functions that are only defined for bytes, and reads outside of their tables
/// for some beyond ASCII. It therefore sees a letter for each such byte: to the shell they are letters too, and the places of
/// all words stay the same. Control characters become blanks.
pub(crate) fn parse(text: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    parser
        .set_language(&tree_sitter_bash::LANGUAGE.into())
        .expect("the grammar is built for this version of tree-sitter");
    let bytes: Vec<u8> = text.bytes().map(seen_as).collect();
    let mut reports = 0_u32;
    let mut progress = |_: &ParseState| {
        reports += 1;
        if reports > PROGRESS_LIMIT { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let options = ParseOptions::new().progress_callback(&mut progress);
    parser.parse_with_options(&mut |at, _| bytes.get(at..).unwrap_or_default(), None, Some(options))
}

fn seen_as(byte: u8) -> u8 {
    match byte {
        0x80.. => b'x',
        b'\n' | b'\t' => byte,
        0..0x20 | 0x7f => b' ',
        _ => byte,
    }
}

/// Reads the simple commands off a tree; fails on the first node that is not on the list of plain ones.
fn tree_commands(root: Node<'_>, text: &str) -> Result<Vec<Vec<String>>, String> {
    let mut commands = Vec::new();
    let mut waiting = vec![root];
    let mut nodes = 0;
    while let Some(node) = waiting.pop() {
        nodes += 1;
        if nodes > NODE_LIMIT {
            return Err("it is too complex to take apart".to_owned());
        }
        if node.is_error() || node.is_missing() {
            return Err("its syntax is not understood".to_owned());
        }
        match node.kind() {
            "program" | "list" | "pipeline" => {
                let mut cursor = node.walk();
                let mut children: Vec<_> = node.children(&mut cursor).collect();
                children.reverse();
                waiting.append(&mut children);
            }
            "command" => commands.push(tree_words(node, text)?),
            "&&" | "||" | ";" | "|" | "\n" => {}
            other => return Err(format!("it contains {}", describe(other))),
        }
    }
    Ok(commands)
}

fn tree_words(command: Node<'_>, text: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut cursor = command.walk();
    for child in command.children(&mut cursor) {
        let child = if child.kind() == "command_name" {
            child.child(0).ok_or("its syntax is not understood")?
        } else {
            child
        };
        words.push(tree_word(child, text)?);
    }
    Ok(words)
}

fn tree_word(node: Node<'_>, text: &str) -> Result<String, String> {
    let source = &text[node.byte_range()];
    if node.has_error() {
        return Err("its syntax is not understood".to_owned());
    }
    match node.kind() {
        "word" | "number" => Ok(source.to_owned()),
        "raw_string" => Ok(unquoted(source, '\'')?.to_owned()),
        "string" => {
            let mut cursor = node.walk();
            for child in node.named_children(&mut cursor) {
                if child.kind() != "string_content" {
                    return Err(format!("it contains {}", describe(child.kind())));
                }
            }
            Ok(unquoted(source, '"')?.to_owned())
        }
        "concatenation" => {
            let mut cursor = node.walk();
            let mut word = String::new();
            for child in node.children(&mut cursor) {
                word.push_str(&tree_word(child, text)?);
            }
            Ok(word)
        }
        other => Err(format!("it contains {}", describe(other))),
    }
}

fn unquoted(source: &str, quote: char) -> Result<&str, String> {
    source
        .strip_prefix(quote)
        .and_then(|rest| rest.strip_suffix(quote))
        .ok_or_else(|| "a quote is not closed".to_owned())
}

/// Says in words what a node of the grammar is.
fn describe(kind: &str) -> String {
    match kind {
        "variable_assignment" | "variable_assignments" => "an assignment".to_owned(),
        "simple_expansion" | "expansion" => "a variable".to_owned(),
        "command_substitution" => "a command substitution".to_owned(),
        "process_substitution" => "a process substitution".to_owned(),
        "redirected_statement" | "file_redirect" => "a redirection".to_owned(),
        "heredoc_redirect" | "herestring_redirect" => "a here-document".to_owned(),
        "function_definition" => "a function".to_owned(),
        "declaration_command" | "unset_command" => "a declaration".to_owned(),
        "test_command" => "a test that is evaluated".to_owned(),
        "&" => "a background command".to_owned(),
        other => other.replace('_', " "),
    }
}
