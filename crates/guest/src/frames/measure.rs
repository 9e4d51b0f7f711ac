//! Measures the memory of a JSON text as a tree of values, in one pass without allocation.

/// Deepest nesting accepted; serde_json refuses more than 127 levels.
const MAX_DEPTH: usize = 120;

/// Bytes of a `serde_json::Value` in an array, and of a key with its value in an object.
const VALUE: usize = 72;
const ENTRY: usize = 104;
/// Bytes of an object's index: for each entry, and once.
const INDEX_ENTRY: usize = 18;
const INDEX: usize = 32;
/// Least bytes of an allocation.
const ALLOCATION: usize = 32;
/// Least capacity of a container, in entries.
const LEAST_ENTRIES: usize = 4;

/// Bytes of values allowed for any text, however short.
const TREE_BASE: usize = 6 * 1024 * 1024;
/// The same for a result: a surface may ask for 100,000 numbers.
const RESULT_BASE: usize = 8 * 1024 * 1024;
/// Bytes of values allowed beyond that for each byte of text.
const TREE_FACTOR: usize = 2;

/// The size of a JSON text as a tree.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Measure {
    /// Bytes of text.
    pub text: usize,
    /// Values, containers included.
    pub nodes: usize,
    /// Most bytes of memory of the tree.
    pub memory: usize,
}

impl Measure {
    /// The sum.
    pub fn and(self, other: Measure) -> Measure {
        Measure {
            text: self.text + other.text,
            nodes: self.nodes + other.nodes,
            memory: self.memory + other.memory,
        }
    }

    /// The difference.
    pub fn without(self, part: Measure) -> Measure {
        Measure {
            text: self.text.saturating_sub(part.text),
            nodes: self.nodes.saturating_sub(part.nodes),
            memory: self.memory.saturating_sub(part.memory),
        }
    }

    /// Whether the tree may be built: its memory is bounded by a multiple of its text.
    pub fn fits(&self) -> bool {
        self.memory <= TREE_BASE + TREE_FACTOR * self.text
    }

    /// Whether the tree of a result may be built.
    pub fn fits_result(&self) -> bool {
        self.memory <= RESULT_BASE + TREE_FACTOR * self.text
    }
}

/// Measures valid JSON; `None` if nested too deeply.
pub fn measure(text: &str) -> Option<Measure> {
    let bytes = text.as_bytes();
    let mut measure = Measure {
        text: bytes.len(),
        nodes: 1,
        memory: VALUE,
    };
    // Commas in each open container.
    let mut commas = [0_usize; MAX_DEPTH];
    let mut depth = 0;
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'"' => {
                let end = string_end(bytes, at);
                measure.memory += (end - at).max(ALLOCATION) + ALLOCATION / 2;
                at = end;
            }
            b'[' | b'{' => {
                *commas.get_mut(depth)? = 0;
                depth += 1;
            }
            b',' if depth > 0 => commas[depth - 1] += 1,
            b']' | b'}' if depth > 0 => {
                depth -= 1;
                let is_empty = commas[depth] == 0 && is_empty(bytes, at - 1);
                if !is_empty {
                    let entries = commas[depth] + 1;
                    measure.nodes += entries;
                    measure.memory += match byte {
                        b'}' => object(entries),
                        _ => array(entries),
                    };
                }
            }
            _ => {}
        }
    }
    Some(measure)
}

/// The position after a string's closing quote.
fn string_end(bytes: &[u8], mut at: usize) -> usize {
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Whether only the opening bracket precedes the one at `close`.
fn is_empty(bytes: &[u8], close: usize) -> bool {
    let before = bytes[..close]
        .iter()
        .rev()
        .find(|byte| !byte.is_ascii_whitespace());
    matches!(before, Some(b'[' | b'{'))
}

/// Bytes allocated for an array of that many entries.
fn array(entries: usize) -> usize {
    capacity(entries) * VALUE
}

/// Bytes allocated for an object of that many entries.
fn object(entries: usize) -> usize {
    capacity(entries) * (ENTRY + INDEX_ENTRY) + INDEX
}

/// A container's capacity, which doubles as it grows.
fn capacity(entries: usize) -> usize {
    entries.next_power_of_two().max(LEAST_ENTRIES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, nodes: usize, fits: bool) {
        let measured = measure(text).unwrap();
        assert_eq!((measured.nodes, measured.fits()), (nodes, fits), "{measured:?}");
    }

    #[test]
    fn values_are_counted_and_only_large_trees_refused() {
        check("null", 1, true);
        check("[]", 1, true);
        check(r#"{"a": "[,{\"", "b": [1, {}]}"#, 5, true);
        check(&format!("\"{}\"", "x".repeat(16 << 20)), 1, true);
        check(&format!("\"{}\"", "\\n".repeat(8 << 20)), 1, true);
        check(&format!("[{}0]", "[0],".repeat(1_000)), 2_002, true);
        check(
            &format!("[{}0]", "[0],".repeat(1 << 20)),
            2 * (1 << 20) + 2,
            false,
        );
        check(
            &format!("[{}0]", "{\"a\":0},".repeat(1 << 16)),
            2 * (1 << 16) + 2,
            false,
        );
    }

    #[test]
    fn depth_is_bounded() {
        let deep = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert!(measure(&deep(MAX_DEPTH)).is_some());
        assert_eq!(measure(&deep(MAX_DEPTH + 1)), None);
    }
}
