//! Counts the values in a text from its bytes, before anything is built from it.

/// Bytes for reading a text as values, beside twice the text itself.
const ALLOWANCE: usize = 6 * 1024 * 1024;

/// Bytes per value when read straight into [`serde_json::Value`], including the room that lists reserve.
pub const READ: usize = 128;

/// Bytes per value of a message that may have several types: it is buffered, then read again.
pub const BUFFERED: usize = 256;

/// A text holds too many values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "{bytes} bytes of JSON hold {values} values, more than the {most} that are read of so many bytes; send fewer values, or one text instead of a list"
)]
pub struct TooManyValues {
    /// Size of the text.
    pub bytes: usize,
    /// Values in it, including names of members.
    pub values: usize,
    /// Most values for a text of this size.
    pub most: usize,
}

/// Refuses a text whose values, at `cost` bytes each, would take more than twice its size plus 6 MiB.
///
/// # Errors
/// If the text holds more values. A text that is not JSON is counted, too.
pub fn check(text: &[u8], cost: usize) -> Result<(), TooManyValues> {
    let bytes = text.len();
    let most = (ALLOWANCE + 2 * bytes) / cost;
    // A value takes at least one byte, plus one separator.
    if bytes / 2 < most {
        return Ok(());
    }
    match values(text) {
        values if values > most => Err(TooManyValues { bytes, values, most }),
        _ => Ok(()),
    }
}

/// Bytes of a tree per byte of its file, beside [`ALLOWANCE`].
const TREE_FACTOR: usize = 24;

/// The format of a file from which a tree is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tree {
    /// Comments are allowed.
    Json,
    /// TOML.
    Toml,
}

/// A file holds too many parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the file has {bytes} bytes and {parts} parts, more than the {most} that are read of so many bytes")]
pub struct TooManyParts {
    /// Size of the file.
    pub bytes: usize,
    /// Commas, brackets, and signs between names and values.
    pub parts: usize,
    /// Most parts for a file of this size.
    pub most: usize,
}

/// Refuses a file whose tree would take more than 24 times its size plus 6 MiB.
///
/// # Errors
/// If the file has too many parts. Those inside texts and comments count as well, because an error of this
/// count must not hide others.
pub fn check_file(text: &[u8], tree: Tree) -> Result<(), TooManyParts> {
    let bytes = text.len();
    let most = (ALLOWANCE + TREE_FACTOR * bytes) / tree.cost();
    let parts = || text.iter().filter(|byte| tree.parts(**byte)).count();
    if bytes <= most {
        return Ok(());
    }
    match parts() {
        parts if parts > most => Err(TooManyParts { bytes, parts, most }),
        _ => Ok(()),
    }
}

// === impl Tree ===

impl Tree {
    /// Bytes of a part's nodes, including the room that lists reserve.
    fn cost(self) -> usize {
        match self {
            Tree::Json => 256,
            Tree::Toml => 320,
        }
    }

    /// Whether a byte ends or begins a part.
    fn parts(self, byte: u8) -> bool {
        match self {
            Tree::Json => b",[{:".contains(&byte),
            Tree::Toml => b",[{=.\n".contains(&byte),
        }
    }
}

/// Counts lists, objects, names, texts, numbers and words.
pub fn values(text: &[u8]) -> usize {
    let mut count = 0;
    let mut inside_word = false;
    let mut bytes = text.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => {
                count += 1;
                inside_word = false;
                while let Some(byte) = bytes.next() {
                    match byte {
                        b'"' => break,
                        b'\\' => _ = bytes.next(),
                        _ => {}
                    }
                }
            }
            b'[' | b'{' => {
                count += 1;
                inside_word = false;
            }
            b']' | b'}' | b',' | b':' | b' ' | b'\t' | b'\r' | b'\n' => inside_word = false,
            _ if inside_word => {}
            _ => {
                count += 1;
                inside_word = true;
            }
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_counted_whatever_the_text_is() {
        let check = |text: &str, expected: usize| assert_eq!(values(text.as_bytes()), expected, "{text}");
        check("", 0);
        check("[0],[0]", 4);
        check(r#"{"a": [1, -2.5e3, true], "b\"]": "x,y"}"#, 8);
        check(r#""never closed"#, 1);
        check(r#""\"#, 1);
    }

    #[test]
    fn files_of_too_many_parts_are_refused_however_they_are_written() {
        let refused = |text: &str, tree| check_file(text.as_bytes(), tree).is_err();
        for text in ["a=0\n", "'\"', 0,", "# \" [[", "a.b.c.", "{},"] {
            assert!(refused(&text.repeat(100_000), Tree::Toml), "{text}");
        }
        for text in ["0,", "\"a\":0,", "/*\"*/0,0,", "[[[[],"] {
            assert!(refused(&text.repeat(100_000), Tree::Json), "{text}");
        }
        let usual = "  \"command\": \"/usr/bin/some-server\",\n  \"args\": [\"--port\", \"80\"],\n";
        assert!(!refused(&usual.repeat(100_000), Tree::Json));
        assert!(!refused(
            &"[servers.a]\ncommand = '/usr/bin/a'\n".repeat(1_000),
            Tree::Toml
        ));
    }

    #[test]
    fn many_small_values_are_refused_and_long_texts_are_not() {
        let wide = "[0],".repeat(1 << 20);
        let refused = check(wide.as_bytes(), READ).expect_err("too many");
        assert_eq!((refused.bytes, refused.values), (4 << 20, 2 << 20));
        assert!(refused.values > refused.most);
        let long = format!("\"{}\"", "x".repeat(8 << 20));
        assert_eq!(check(long.as_bytes(), BUFFERED), Ok(()));
        assert_eq!(check(&wide.as_bytes()[..40_000], BUFFERED), Ok(()));
    }
}
