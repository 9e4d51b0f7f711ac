//! Distinguishes a line of commands from a one-line program that begins with a name such as `cat`.

use crate::command_name::CommandName;

/// Binary operators: after `ls`, `cat` or `jq` and a space, they show that the name is a variable.
///
/// `grep @ mail.txt` is a search, so `grep` and `rg` are exempt.
const BINARY: &[&str] = &[
    "**",
    "*",
    "//",
    "/",
    "+",
    "-",
    "%",
    "@",
    "^",
    "??",
    "?",
    "if",
    "and",
    "or",
    "in",
    "is",
    "not",
    "instanceof",
    "as",
    "satisfies",
];

/// Whether code without a language is a line for [`evaluate`](crate::evaluate).
///
/// Such a line is a single line whose first word is `ls`, `cat`, `grep`, `rg` or `jq`. Not if the next text makes the
/// name a variable: `cat = 5`, `ls += [1]`, `ls()`, `grep.x`, `cat, dog = 1, 2`, `jq: int = 3`. Shell operators, as
/// in `ls; id`, count as a command line: evaluating it refuses them with a reason.
pub fn is_command(code: &str) -> bool {
    let line = code.trim_ascii();
    if line.contains(['\n', '\r']) {
        return false;
    }
    let end = line.find(|c: char| !c.is_ascii_lowercase()).unwrap_or(line.len());
    let (name, rest) = line.split_at(end);
    let Some(name) = CommandName::parse(name) else {
        return false;
    };
    if is_assigned(rest) {
        return false;
    }
    match rest.chars().next() {
        None | Some('|' | ';' | '&' | '<' | '>') => true,
        Some(' ' | '\t') => !is_used(name, rest.trim_start()),
        Some(_) => false,
    }
}

/// Whether an assignment, an annotation, a comparison or an unpacking follows the name.
fn is_assigned(rest: &str) -> bool {
    let next = rest.trim_start();
    let operator = next.trim_start_matches([
        '+', '-', '*', '/', '%', '@', '&', '|', '^', '<', '>', '?', '!', ':',
    ]);
    let taken = next.len() - operator.len();
    (taken <= 3 && operator.starts_with('=')) || next.starts_with([',', ':'])
}

/// Whether the name, followed by a space and this text, is a value in an expression.
fn is_used(name: CommandName, next: &str) -> bool {
    if next.starts_with('(') {
        return true;
    }
    if matches!(name, CommandName::Grep | CommandName::Rg) {
        return false;
    }
    BINARY.iter().any(|operator| {
        let after = next.strip_prefix(operator);
        after.is_some_and(|after| after.starts_with([' ', '\t']) && begins_value(after.trim_start()))
    })
}

fn begins_value(text: &str) -> bool {
    text.starts_with(|c: char| c == '_' || c.is_alphanumeric() || "\"'([{".contains(c))
}

#[cfg(test)]
mod tests;
