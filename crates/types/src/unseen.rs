//! Characters that are invisible, or that reorder the displayed text.

/// Whether terminals or editors reorder text at this character.
pub fn is_reordering(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Whether the character ends a line, has no width, or looks different in a literal.
pub fn is_unseen(c: char) -> bool {
    c.is_control()
        || is_reordering(c)
        || matches!(c, '\u{ad}' | '\u{180e}' | '\u{200b}'..='\u{200d}' | '\u{2028}' | '\u{2029}' | '\u{2060}'..='\u{206f}')
        || matches!(c, '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Spells out unseen characters, as in `\u{202e}` or `\n`.
pub fn spelled_out(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_unseen(c) {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_seen_is_spelled_out() {
        for (text, shown) in [
            ("one\ntwo\x1b[2J", "one\\ntwo\\u{1b}[2J"),
            ("safe\u{202e}live\u{61c}", "safe\\u{202e}live\\u{61c}"),
            ("\u{200b}\u{2060}\u{feff}", "\\u{200b}\\u{2060}\\u{feff}"),
            ("Zürich 'a' \\ \"b\" 東京", "Zürich 'a' \\ \"b\" 東京"),
        ] {
            assert_eq!(spelled_out(text), shown);
        }
    }
}
