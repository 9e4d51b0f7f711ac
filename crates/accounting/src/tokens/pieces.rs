//! Cuts a long text into bounded pieces with the same tokens as the whole.
//!
//! The tokenizer first splits a text into words by a pattern. In a word, digits stand alone, and a
//! letter is followed by letters, marks or a contraction such as `'ll`. So a word always ends
//! between an ASCII letter or digit and another ASCII character that is neither a letter, a digit
//! nor `'`. The words before such a boundary do not depend on the text behind it, because the
//! pattern looks ahead for white space only.
//! A long stretch without a boundary is cut anywhere, which counts a token or two too many.

/// Bytes before the search for a boundary begins.
const PIECE: usize = 32 * 1024;
/// Bytes before a cut without a boundary: the tokenizer takes many times the memory of one long word.
const MAX_PIECE: usize = 2 * PIECE;

pub(crate) fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (piece, after) = rest.split_at(end(rest));
        rest = after;
        Some(piece)
    })
}

/// End of the first piece: the first boundary after [`PIECE`] bytes, else [`MAX_PIECE`]. A boundary
/// lies between two ASCII characters, so it splits none.
fn end(text: &str) -> usize {
    let longest = text.floor_char_boundary(MAX_PIECE);
    let from = PIECE.min(longest);
    let pairs = text.as_bytes()[from.saturating_sub(1)..longest].windows(2);
    let found = pairs.enumerate().find(|(_, pair)| is_boundary(pair[0], pair[1]));
    found.map_or(longest, |(at, _)| from + at)
}

fn is_boundary(before: u8, after: u8) -> bool {
    before.is_ascii_alphanumeric() && after.is_ascii() && !after.is_ascii_alphanumeric() && after != b'\''
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_lost_and_no_piece_is_long() {
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
        check(&"x".repeat(PIECE * 9), MAX_PIECE);
        check(&"文字".repeat(PIECE), MAX_PIECE);
    }
}
