//! Text replacements, applied together.

/// Replaces the bytes from `start` to `end`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    pub start: usize,
    pub end: usize,
    pub text: String,
}

/// Applies edits that do not overlap. Insertions at the same position keep their order.
pub fn apply(source: &str, mut edits: Vec<Edit>) -> String {
    edits.sort_by_key(|edit| (edit.start, edit.end));
    let mut edited = String::with_capacity(source.len() + 64);
    let mut copied = 0;
    for edit in edits {
        edited.push_str(&source[copied..edit.start]);
        edited.push_str(&edit.text);
        copied = edit.end;
    }
    edited.push_str(&source[copied..]);
    edited
}
