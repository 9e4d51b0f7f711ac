//! Cuts a long text into pieces whose tokens are those of the whole.
//!
//! The tokenizer first splits a text into words by a pattern, in which no word holds a digit beside anything else, and a
//! letter is followed within a word by letters, marks or a contraction such as `'ll` only. So there is always a border
//! between an ASCII letter or digit and another ASCII character that is neither a letter, a digit nor `'`. What comes
//! before it does not depend on what comes after, because only white space looks ahead.

/// Bytes after which a border is looked for.
const PIECE: usize = 128 * 1024;

/// The pieces of a text; one without a border stays whole.
pub(crate) fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (piece, after) = rest.split_at(border(rest.as_bytes()));
        rest = after;
        Some(piece)
    })
}

/// The first border beyond the length of a piece, else the end. It lies between two ASCII characters, so it splits none.
fn border(text: &[u8]) -> usize {
    let from = PIECE.min(text.len());
    let pairs = text[from.saturating_sub(1)..].windows(2);
    let found = pairs.enumerate().find(|(_, pair)| is_border(pair[0], pair[1]));
    found.map_or(text.len(), |(at, _)| from + at)
}

fn is_border(before: u8, after: u8) -> bool {
    before.is_ascii_alphanumeric() && after.is_ascii() && !after.is_ascii_alphanumeric() && after != b'\''
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_lost_and_only_texts_without_a_border_are_long() {
        let check = |text: &str, most: usize| {
            let cut: Vec<&str> = pieces(text).collect();
            assert_eq!(cut.concat(), text);
            assert!(cut.iter().all(|piece| piece.len() <= most), "{}", cut.len());
        };
        check("", 0);
        check("short", 5);
        check(&"the words of a text, ".repeat(50_000), PIECE + 8);
        check(&"{\"key\":\"value's\",\"n\":12}".repeat(50_000), PIECE + 24);
        check(&"Größe 3 ".repeat(100_000), PIECE + 16);
        check(&"x".repeat(PIECE * 3), PIECE * 3);
        check(&"文字".repeat(PIECE), PIECE * 6);
    }
}
