//! Finds the calls that a program's text shows: `mcp call` with literal words.
//!
//! Bash itself parses the program. This reader follows quotes, expansions, comments and here-documents only to
//! separate commands and words; anything else is unknown and not checked.

mod arguments;
mod scanner;

use types::{FoundCall, FoundCalls, MAX_FOUND_CALLS};

pub use arguments::is_name;

use arguments::arguments;
use scanner::{Scanner, SimpleCommand, Word};

/// The program's word for a call.
const PROGRAM: &str = "mcp";

/// Words before a command whose failure the program expects.
const CONDITIONS: [&str; 5] = ["if", "elif", "while", "until", "!"];
/// Other words that may stand before a command.
const BEFORE: [&str; 8] = ["then", "else", "do", "{", "time", "command", "builtin", "coproc"];

/// The calls in a program's text; none if the program redefines `mcp`.
pub fn find(code: &str) -> FoundCalls {
    let mut calls = Vec::new();
    let commands = Scanner::new(code).commands();
    if commands.iter().any(redefines) {
        return FoundCalls::default();
    }
    for command in &commands {
        calls.extend(call(command));
        if calls.len() > MAX_FOUND_CALLS {
            break;
        }
    }
    FoundCalls { calls }
}

/// Whether a program redefines `mcp`, for itself and for later programs of its session.
pub fn has_other_meaning(code: &str) -> bool {
    Scanner::new(code).commands().iter().any(redefines)
}

/// `mcp() …`, `function mcp …`, `alias mcp=…`, or another search path.
fn redefines(command: &SimpleCommand) -> bool {
    let texts: Vec<&str> = command.words.iter().map(|word| word.start.as_str()).collect();
    match texts.as_slice() {
        [PROGRAM] => command.is_before_parenthesis,
        ["function", PROGRAM, ..] => true,
        ["alias", rest @ ..] => rest.iter().any(|word| word.starts_with("mcp=")),
        words => words.iter().any(|word| word.starts_with("PATH=")),
    }
}

fn call(command: &SimpleCommand) -> Option<FoundCall> {
    let mut is_expected = command.is_before_or;
    let mut words = command.words.iter();
    loop {
        let word = words.next()?.literal()?;
        if word == PROGRAM {
            break;
        }
        if CONDITIONS.contains(&word) {
            is_expected = true;
        } else if !BEFORE.contains(&word) && !is_assignment(word) {
            return None;
        }
    }
    if words.next()?.literal()? != "call" {
        return None;
    }
    let mut rest: Vec<&Word> = words.collect();
    while rest.first().is_some_and(|word| word.literal() == Some("--raw")) {
        rest.remove(0);
    }
    let (name, given) = rest.split_first()?;
    let (server, tool) = name.literal()?.split_once('.')?;
    let (arguments, words) = arguments(given);
    Some(FoundCall {
        line: name.line,
        server: server.to_owned(),
        tool: tool.to_owned(),
        arguments,
        words,
        is_expected,
        is_dropped: false,
        is_used_early: false,
    })
}

fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map_or("", |(name, _)| name);
    let mut characters = name.chars();
    characters
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && characters.all(|other| other.is_ascii_alphanumeric() || other == '_')
}

#[cfg(test)]
mod tests;
