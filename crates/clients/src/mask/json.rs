//! Hides the values of JSON with comments.

use super::shown::{HIDDEN, Mask, comment};

pub(super) fn masked(mask: &Mask<'_>, text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(sign) = rest.chars().next() {
        let (length, shown) = if rest.starts_with("//") {
            let end = rest.find('\n').unwrap_or(rest.len());
            (end, comment(&rest[..end]))
        } else if rest.starts_with("/*") {
            let end = rest.find("*/").map_or(rest.len(), |end| end + 2);
            (end, block(&rest[..end]))
        } else if sign == '"' {
            let (literal, value) = quoted(rest);
            let after = rest[literal.len()..].trim_start();
            let is_shown = after.starts_with(':') || value.is_some_and(|value| mask.is_shown(&value));
            let shown = if is_shown { literal.to_owned() } else { hidden() };
            (literal.len(), shown)
        } else if sign == '-' || sign.is_ascii_digit() {
            let is_part = |c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.' | 'e' | 'E');
            let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
            let number = &rest[..end];
            let shown = if mask.is_shown(number) {
                number.to_owned()
            } else {
                hidden()
            };
            (end, shown)
        } else {
            (sign.len_utf8(), sign.to_string())
        };
        out.push_str(&shown);
        rest = &rest[length..];
    }
    out
}

fn hidden() -> String {
    format!("\"{HIDDEN}\"")
}

/// Masks a comment of several lines. Hides all lines after the first hidden part.
fn block(text: &str) -> String {
    let mut is_hidden = comment(&text.replace('\n', " ")).ends_with(HIDDEN);
    is_hidden &= text.contains('\n');
    let lines = text.split('\n').map(|line| {
        if is_hidden {
            HIDDEN.to_owned()
        } else {
            comment(line)
        }
    });
    lines.collect::<Vec<String>>().join("\n")
}

/// The literal at the start of a text, to its closing quote or line end, and its value.
fn quoted(text: &str) -> (&str, Option<String>) {
    let mut is_escaped = false;
    for (index, c) in text.char_indices().skip(1) {
        match c {
            '\n' => return (&text[..index], None),
            '"' if !is_escaped => {
                let literal = &text[..=index];
                return (literal, serde_json::from_str(literal).ok());
            }
            _ => is_escaped = c == '\\' && !is_escaped,
        }
    }
    (text, None)
}
