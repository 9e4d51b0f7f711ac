//! Replaces binary content in texts by short markers.
//!
//! Binary content is base64, bytes literals or unreadable characters.
//!
//! Each marker names the replaced content and the location of the whole text.

mod base64;

use std::borrow::Cow;

use serde_json::Value;
use types::numbers::grouped;

/// Shorter texts stay unchanged.
const LEAST: usize = 400;
/// A bytes literal with this many escapes counts as binary content.
const ESCAPES: usize = 64;
/// A text with this many unreadable characters counts as binary content.
const UNREADABLE: usize = 32;

/// A range that a marker replaces.
#[derive(Debug, PartialEq, Eq)]
struct Part {
    start: usize,
    end: usize,
    /// Description of the content, such as `base64 of image/png, 48,000 bytes`.
    what: String,
}

/// Replaces each binary part by a marker; `place` is the location of the whole text.
pub(crate) fn replace<'t>(text: &'t str, place: &str) -> Cow<'t, str> {
    if text.len() < LEAST {
        return Cow::Borrowed(text);
    }
    let parts = match unreadable(text) {
        Some(part) => vec![part],
        None => encoded(text),
    };
    if parts.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut out = String::new();
    let mut from = 0;
    for part in parts {
        out.push_str(&text[from..part.start]);
        out.push_str(&format!("[{}; {place}]", part.what));
        from = part.end;
    }
    out.push_str(&text[from..]);
    Cow::Owned(out)
}

/// Applies [`replace`] to every text in a value.
pub(crate) fn replace_in(value: &mut Value, place: &str) {
    match value {
        Value::String(text) => {
            if let Cow::Owned(replaced) = replace(text, place) {
                *text = replaced;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| replace_in(item, place)),
        Value::Object(fields) => fields.values_mut().for_each(|field| replace_in(field, place)),
        _ => {}
    }
}

/// Base64 and bytes literals, sorted and without overlaps.
fn encoded(text: &str) -> Vec<Part> {
    let mut parts = base64::runs(text);
    parts.extend(literals(text));
    parts.sort_by_key(|part| part.start);
    let mut end = 0;
    parts.retain(|part| {
        let is_apart = part.start >= end;
        if is_apart {
            end = part.end;
        }
        is_apart
    });
    parts
}

/// The range from the first unreadable character to the last, if there are at least [`UNREADABLE`].
fn unreadable(text: &str) -> Option<Part> {
    let is_unreadable =
        |c: char| c == char::REPLACEMENT_CHARACTER || (c < ' ' && !"\t\n\r\x08\x0c\x1b".contains(c));
    let count = text.chars().filter(|c| is_unreadable(*c)).count();
    if count < UNREADABLE {
        return None;
    }
    let start = text.find(is_unreadable)?;
    let last = text.rfind(is_unreadable)?;
    let end = last + text[last..].chars().next().map_or(0, char::len_utf8);
    let kind = sniffed_text(&text[text.floor_char_boundary(start.saturating_sub(8))..]);
    Some(Part {
        start,
        end,
        what: format!(
            "binary data{kind}, about {} bytes",
            grouped(text[start..end].chars().count())
        ),
    })
}

/// The kind of bytes that were printed as text, detected by the first characters that remain readable.
fn sniffed_text(text: &str) -> &'static str {
    let begins = |mark: &str| text.chars().take(16).collect::<String>().contains(mark);
    match () {
        () if begins("PNG") => " of image/png",
        () if begins("JFIF") => " of image/jpeg",
        () if begins("%PDF") => " of application/pdf",
        () if begins("PK\u{3}\u{4}") => " of application/zip",
        () => "",
    }
}

/// Bytes literals (`b'...'`) with many escapes.
fn literals(text: &str) -> Vec<Part> {
    let bytes = text.as_bytes();
    let mut parts = Vec::new();
    let mut at = 0;
    while let Some(found) = text.get(at..).and_then(|rest| rest.find('b')) {
        let start = at + found;
        at = start + 1;
        let quote = match bytes.get(start + 1) {
            Some(quote @ (b'\'' | b'"')) => *quote,
            _ => continue,
        };
        let (end, escapes) = literal(bytes, start + 2, quote);
        if escapes >= ESCAPES {
            // A text that only resembles a literal may have escapes without digits.
            let length = (end - start).saturating_sub(3 + 3 * escapes);
            parts.push(Part {
                start,
                end,
                what: format!("bytes, about {}", grouped(length)),
            });
            at = end;
        }
    }
    parts
}

/// The end of a literal (after its quote or at its line end), and its number of `\x` escapes.
fn literal(bytes: &[u8], from: usize, quote: u8) -> (usize, usize) {
    let mut at = from;
    let mut escapes = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => {
                escapes += usize::from(bytes.get(at + 1) == Some(&b'x'));
                at += 2;
            }
            b'\n' => return (at, escapes),
            byte if *byte == quote => return (at + 1, escapes),
            _ => at += 1,
        }
    }
    (bytes.len(), escapes)
}

#[cfg(test)]
mod tests;
