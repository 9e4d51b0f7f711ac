//! Makes the engine's JSON valid for every reader.

/// Maximum nesting of a value for the host: a hundred levels of the program's, and those of the frame.
pub const MAX_DEPTH: usize = 104;

/// The deepest nesting of arrays and objects.
pub fn depth(json: &str) -> usize {
    let (mut deepest, mut open, mut is_text) = (0, 0usize, false);
    let mut bytes = json.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => drop(bytes.next()),
            b'"' => is_text = !is_text,
            b'[' | b'{' if !is_text => open += 1,
            b']' | b'}' if !is_text => open = open.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(open);
    }
    deepest
}

/// Replaces escapes of lone surrogates, which JavaScript strings may contain and UTF-8 cannot encode.
pub fn well_formed(json: String) -> String {
    if !json.contains("\\ud") {
        return json;
    }
    let mut fixed = String::with_capacity(json.len());
    let mut rest = json.as_str();
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        fixed.push_str(before);
        let taken = match (unit(escape), unit(escape.get(6..).unwrap_or_default())) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => &escape[..12],
            (Some(0xd800..=0xdfff), _) => {
                fixed.push('\u{fffd}');
                rest = &escape[6..];
                continue;
            }
            (Some(_), _) => &escape[..6],
            // A backslash and the escaped character.
            (None, _) => &escape[..escape.len().min(2)],
        };
        fixed.push_str(taken);
        rest = &escape[taken.len()..];
    }
    fixed + rest
}

/// The UTF-16 unit of the escape at the start of the text.
fn unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::{depth, well_formed};

    #[test]
    fn depth_counts_what_is_around_a_value() {
        let check = |json, expected| assert_eq!(depth(json), expected, "{json}");
        check("1", 0);
        check(r#"[{"a": []}, []]"#, 3);
        check(r#"["[[[", "\"[", {}]"#, 2);
    }

    #[test]
    fn only_lone_surrogates_are_replaced() {
        let check = |json: &str, expected: &str| assert_eq!(well_formed(json.to_owned()), expected);
        check(r#""\ud800""#, "\"\u{fffd}\"");
        check(r#""a\udc00b""#, "\"a\u{fffd}b\"");
        check(r#""\ud83d\ude00""#, r#""\ud83d\ude00""#);
        check(r#""\ud83d\ud83d\ude00""#, "\"\u{fffd}\\ud83d\\ude00\"");
        check(r#""\\ud800\n""#, r#""\\ud800\n""#);
        check(r#""\u00e4\ud800""#, "\"\\u00e4\u{fffd}\"");
    }
}
