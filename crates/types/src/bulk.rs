//! How many values a text holds, counted from its bytes before anything is built from it.

/// Bytes that reading a text as values may take beside twice the text itself.
const ALLOWANCE: usize = 6 * 1024 * 1024;

/// Bytes that one value takes where it is read straight into [`serde_json::Value`], with the room that lists reserve.
pub const READ: usize = 128;

/// Bytes that one value takes where a message is read as one of several types: it is buffered first, then read again.
pub const BUFFERED: usize = 256;

/// A text holds more values than are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "{bytes} bytes of JSON hold {values} values, more than the {most} that are read of so many bytes; send fewer values, or one text instead of a list"
)]
pub struct TooManyValues {
    /// Bytes of the text.
    pub bytes: usize,
    /// Values in it, names of members among them.
    pub values: usize,
    /// Values that are read of a text of this length.
    pub most: usize,
}

/// Refuses a text whose values would take more than twice its bytes and 6 MiB, each value `cost` bytes.
///
/// # Errors
/// If it holds more values. A text that is not JSON is counted all the same.
pub fn check(text: &[u8], cost: usize) -> Result<(), TooManyValues> {
    let bytes = text.len();
    let most = (ALLOWANCE + 2 * bytes) / cost;
    // A value takes at least one byte and one that parts it from the next.
    if bytes / 2 < most {
        return Ok(());
    }
    match values(text) {
        values if values > most => Err(TooManyValues { bytes, values, most }),
        _ => Ok(()),
    }
}

/// Bytes of a tree for each byte of the file that it is built from, beside [`ALLOWANCE`].
const TREE_FACTOR: usize = 24;

/// A format of files of which a tree is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tree {
    /// JSON, also with comments.
    Json,
    /// TOML.
    Toml,
}

/// A file holds more parts than are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the file has {bytes} bytes and {parts} parts, more than the {most} that are read of so many bytes")]
pub struct TooManyParts {
    /// Bytes of the file.
    pub bytes: usize,
    /// Commas, brackets and signs between names and values in it.
    pub parts: usize,
    /// Parts that are read of a file of this length.
    pub most: usize,
}

/// Refuses a file whose tree would take more than 24 times its bytes and 6 MiB.
///
/// # Errors
/// If it has too many parts. Those inside of texts and comments count as well: an error of this count must not hide others.
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
    /// Bytes that a part takes as nodes, with the room that lists reserve.
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

/// The values of a text: lists, objects, names, texts, numbers and words.
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
