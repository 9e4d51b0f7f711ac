//! Finds base64 in text: long runs of base64 letters with many distinct letters, unbroken or in lines of equal length.

use ::base64::Engine as _;
use ::base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use types::numbers::grouped;

use super::{LEAST, Part};

/// Line lengths at which encoders wrap base64.
const LINES: std::ops::RangeInclusive<usize> = 60..=80;
/// Minimum number of distinct letters; encoded random bytes have at least as many. Long words, hashes and gene
/// sequences have fewer.
const LETTERS: u32 = 24;
/// Letters decoded to detect the media type.
const HEAD: usize = 64;
/// Maximum length of a `data:...;base64,` prefix, in bytes.
const MOST_PREFIX: usize = 120;

/// Magic bytes and their media types.
const KINDS: [(&[u8], &str); 15] = [
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"BM", "image/bmp"),
    (b"%PDF-", "application/pdf"),
    (b"PK\x03\x04", "application/zip"),
    (b"\x1f\x8b", "application/gzip"),
    (b"ID3", "audio/mpeg"),
    (b"OggS", "audio/ogg"),
    (b"fLaC", "audio/flac"),
    (b"\x1aE\xdf\xa3", "video/webm"),
    (b"\x7fELF", "application/x-executable"),
    (b"SQLite format 3\0", "application/vnd.sqlite3"),
    (b"<svg", "image/svg+xml"),
    (b"wOF2", "font/woff2"),
];

/// Every run, in text order.
pub(super) fn runs(text: &str) -> Vec<Part> {
    let bytes = text.as_bytes();
    let mut parts = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if !is_letter(bytes[at]) {
            at += 1;
            continue;
        }
        let end = end_of(bytes, at);
        if end - at < *LINES.start() {
            at = end;
            continue;
        }
        let (end, letters) = match wrapped(bytes, at, end) {
            Some(end) => (
                end,
                bytes[at..end].iter().copied().filter(|b| is_letter(*b)).collect(),
            ),
            None => (end, bytes[at..end].to_vec()),
        };
        if let Some(what) = described(text, at, &letters) {
            let padding = bytes[end..]
                .iter()
                .take(2)
                .take_while(|byte| **byte == b'=')
                .count();
            parts.push(Part {
                start: at - prefix(text, at).map_or(0, str::len),
                end: end + padding,
                what,
            });
        }
        at = end;
    }
    parts
}

fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_')
}

fn end_of(bytes: &[u8], from: usize) -> usize {
    let rest = bytes[from..].iter();
    from + rest.take_while(|byte| is_letter(**byte)).count()
}

/// The end of a block of equal lines; the last line may be shorter. `None` for fewer than two lines.
fn wrapped(bytes: &[u8], start: usize, end: usize) -> Option<usize> {
    let length = end - start;
    if !LINES.contains(&length) {
        return None;
    }
    let (mut end, mut lines) = (end, 1);
    loop {
        let gap = match bytes.get(end..) {
            Some([b'\r', b'\n', ..]) => 2,
            Some([b'\n', ..]) => 1,
            _ => break,
        };
        let next = end_of(bytes, end + gap);
        let has = next - end - gap;
        if has == 0 || has > length {
            break;
        }
        end = next;
        lines += 1;
        if has < length {
            break;
        }
    }
    (lines > 4).then_some(end)
}

/// Describes a run of letters; `None` if it is not base64.
fn described(text: &str, start: usize, letters: &[u8]) -> Option<String> {
    if letters.len() < LEAST || letters.len() % 4 == 1 {
        return None;
    }
    let prefix = prefix(text, start);
    let head = decoded(&letters[..HEAD.min(letters.len())]);
    let kind = prefix
        .and_then(media_type)
        .or_else(|| sniffed(&head?).map(str::to_owned));
    if kind.is_none() && prefix.is_none() && !is_mixed(letters) {
        return None;
    }
    let of = kind.map_or(String::new(), |kind| format!(" of {kind}"));
    Some(format!("base64{of}, {} bytes", grouped(letters.len() * 3 / 4)))
}

fn decoded(letters: &[u8]) -> Option<Vec<u8>> {
    STANDARD_NO_PAD
        .decode(letters)
        .or_else(|_| URL_SAFE_NO_PAD.decode(letters))
        .ok()
}

fn sniffed(head: &[u8]) -> Option<&'static str> {
    if let [b'R', b'I', b'F', b'F', _, _, _, _, kind @ ..] = head {
        return match kind {
            [b'W', b'A', b'V', b'E', ..] => Some("audio/wav"),
            [b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
            _ => None,
        };
    }
    let found = KINDS.iter().find(|(mark, _)| head.starts_with(mark));
    found.map(|(_, kind)| *kind)
}

/// Whether letters look random: lower case, upper case, digits, and many distinct letters.
fn is_mixed(letters: &[u8]) -> bool {
    let seen = letters.iter().fold(0u128, |seen, byte| seen | 1 << (byte & 127));
    let any = |range: std::ops::RangeInclusive<u8>| range.into_iter().any(|byte| seen >> byte & 1 == 1);
    any(b'a'..=b'z') && any(b'A'..=b'Z') && any(b'0'..=b'9') && seen.count_ones() >= LETTERS
}

/// A `data:...;base64,` directly before a run.
fn prefix(text: &str, start: usize) -> Option<&str> {
    let before = &text[text.floor_char_boundary(start.saturating_sub(MOST_PREFIX))..start];
    let from = before.rfind("data:")?;
    let prefix = &before[from..];
    (prefix.ends_with(";base64,") && !prefix.contains(char::is_whitespace)).then_some(prefix)
}

/// The prefix's media type; `None` for `application/octet-stream`.
fn media_type(prefix: &str) -> Option<String> {
    let kind = prefix.strip_prefix("data:")?.split(';').next()?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/.+-".contains(c);
    let tells = !kind.is_empty() && kind != "application/octet-stream" && kind.chars().all(is_plain);
    tells.then(|| kind.to_owned())
}
