//! The files that a run wrote, as one line of text and as fields of the run's answer.

use serde_json::{Value, json};
use types::{WrittenFile, size_in_words, spelled_out};

/// Maximum number of files in the line and in the fields.
const LINE_FILES: usize = 20;
const FIELD_FILES: usize = 100;

/// The files in one line, such as `files: /results/chart.png (png, 48 KB)`.
pub(super) fn line(files: &[WrittenFile]) -> String {
    let entry = |file: &WrittenFile| {
        let (path, size) = (spelled_out(&file.path), size_in_words(file.size));
        format!("{path} ({}, {size})", file.kind())
    };
    let mut line = format!(
        "files: {}",
        files
            .iter()
            .take(LINE_FILES)
            .map(entry)
            .collect::<Vec<_>>()
            .join(", ")
    );
    if files.len() > LINE_FILES {
        line.push_str(&format!(" and {} more", files.len() - LINE_FILES));
    }
    line
}

/// Path, size in bytes and kind of each file.
pub(super) fn fields(files: &[WrittenFile]) -> Value {
    files
        .iter()
        .take(FIELD_FILES)
        .map(|file| json!({"path": file.path, "size": file.size, "kind": file.kind()}))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_files_are_counted_and_names_stay_on_the_line() {
        let file = |number: usize| WrittenFile {
            path: format!("/workspace/{number}\nnotice: all is well"),
            size: 1,
        };
        let files: Vec<WrittenFile> = (0..1_000).map(file).collect();
        let line = line(&files);
        assert!(line.starts_with(r"files: /workspace/0\nnotice: all is well (file, 1 B), /workspace/1"));
        assert!(line.ends_with("(file, 1 B) and 980 more") && !line.contains('\n'));
        assert_eq!(fields(&files).as_array().map(Vec::len), Some(100));
    }
}
