//! Masks YAML line by line.

use serde_json::Value;

use super::shown::{HIDDEN, Mask, comment};

pub(super) fn masked(mask: &Mask<'_>, text: &str) -> String {
    let mut lines = Lines {
        mask,
        below: None,
        quote: None,
    };
    text.split_inclusive('\n').map(|line| lines.line(line)).collect()
}

/// State of the scan.
struct Lines<'a> {
    mask: &'a Mask<'a>,
    /// Column of the key that owns the value; deeper lines continue the value.
    below: Option<usize>,
    /// The quote that closes a text over several lines.
    quote: Option<char>,
}

/// The parts of a line after its dashes.
struct Parts<'a> {
    /// The key with its colon.
    key: Option<&'a str>,
    /// Blanks before the value.
    blank: &'a str,
    value: &'a str,
    /// The comment with the blanks before it.
    comment: &'a str,
}

impl Lines<'_> {
    fn line(&mut self, line: &str) -> String {
        let bare = line.trim_end_matches(['\r', '\n']);
        let end = &line[bare.len()..];
        let mut start = bare.len() - bare.trim_start().len();
        let hidden = format!("{}{HIDDEN}{end}", &bare[..start]);
        if bare[start..].is_empty() {
            return line.to_owned();
        }
        if let Some(quote) = self.quote {
            if closing(bare, quote).is_some() {
                self.quote = None;
            }
            return hidden;
        }
        if self.below.is_some_and(|column| start > column) {
            return hidden;
        }
        self.below = None;
        let mut column = start;
        while bare[start..].starts_with("- ") {
            column = start;
            start += 2;
            start += bare[start..].len() - bare[start..].trim_start().len();
        }
        if bare[start..].starts_with('#') || matches!(&bare[start..], "-" | "---" | "...") {
            return format!("{}{}{end}", &bare[..start], comment(&bare[start..]));
        }
        let parts = Parts::of(&bare[start..]);
        if parts.key.is_some() {
            column = start;
        }
        if !parts.value.is_empty() {
            self.below = Some(column);
        }
        if let Some(quote) = parts.value.chars().next().filter(|c| matches!(c, '"' | '\''))
            && closing(&parts.value[1..], quote).is_none()
        {
            self.quote = Some(quote);
        }
        let key = parts.key.unwrap_or_default();
        let before = format!("{}{key}{}", &bare[..start], parts.blank);
        if self.is_plain(parts.value) {
            let blanks = parts.comment.len() - parts.comment.trim_start().len();
            let (blank, text) = parts.comment.split_at(blanks);
            return format!("{before}{}{blank}{}{end}", parts.value, comment(text));
        }
        format!("{before}{HIDDEN}{end}")
    }

    fn is_plain(&self, value: &str) -> bool {
        let is_block = value.starts_with(['|', '>']) && value.len() <= 3;
        let is_literal = matches!(value, "true" | "false" | "null" | "~" | "[]" | "{}");
        let is_json = serde_json::from_str::<Value>(value).is_ok_and(|value| self.is_shown(&value));
        is_block || is_literal || is_json || self.mask.is_shown(value)
    }

    fn is_shown(&self, value: &Value) -> bool {
        match value {
            Value::String(text) => self.mask.is_shown(text),
            Value::Number(number) => self.mask.is_shown(&number.to_string()),
            Value::Array(items) => items.iter().all(|item| self.is_shown(item)),
            Value::Object(members) => members.values().all(|value| self.is_shown(value)),
            Value::Null | Value::Bool(_) => true,
        }
    }
}

impl<'a> Parts<'a> {
    fn of(text: &'a str) -> Parts<'a> {
        let colon = match text.chars().next() {
            Some(quote @ ('"' | '\'')) => closing(&text[1..], quote)
                .map(|end| end + 2)
                .filter(|after| text[*after..].trim_start().starts_with(':'))
                .and_then(|after| Some(after + text[after..].find(':')?)),
            Some('{' | '[') => None,
            _ => {
                let before = &text[..text.find(" #").unwrap_or(text.len())];
                let found = before.find(": ").or_else(|| before.find(":\t"));
                found.or_else(|| before.trim_end().strip_suffix(':').map(str::len))
            }
        };
        let (key, rest) = match colon {
            Some(colon) => (Some(&text[..=colon]), &text[colon + 1..]),
            None => (None, text),
        };
        let inner = rest.trim_start();
        let blank = &rest[..rest.len() - inner.len()];
        if inner.starts_with('#') {
            return Parts {
                key,
                blank: "",
                value: "",
                comment: rest,
            };
        }
        let quoted = inner.chars().next().filter(|c| matches!(c, '"' | '\''));
        let literal = quoted.and_then(|quote| Some(closing(&inner[1..], quote)? + 2));
        let from = literal.unwrap_or(0);
        let end = match (quoted, literal) {
            (Some(_), None) => inner.len(),
            _ => inner[from..].find(" #").map_or(inner.len(), |end| from + end),
        };
        let value = inner[..end].trim_end();
        Parts {
            key,
            blank,
            value,
            comment: &inner[value.len()..],
        }
    }
}

/// The end of a quoted text.
fn closing(text: &str, quote: char) -> Option<usize> {
    let mut is_escaped = false;
    for (index, c) in text.char_indices() {
        if c == quote && !is_escaped {
            return Some(index);
        }
        is_escaped = quote == '"' && c == '\\' && !is_escaped;
    }
    None
}
