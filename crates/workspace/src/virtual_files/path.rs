//! Virtual paths as text, normalized before use.

use crate::virtual_files::error::{FileError, ShownPath};

/// Longest path in bytes: the kernel's bound on a path.
const LONGEST: usize = 4_095;

/// An absolute path without empty components, `.` and `..`. A path without the first `/` starts at the root. The text
/// is not decoded, and case matters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct VirtualPath {
    text: String,
}

impl VirtualPath {
    pub(super) fn parse(path: &str) -> Result<VirtualPath, FileError> {
        if path.contains('\0') {
            return Err(FileError::InvalidPath);
        }
        if path.len() > LONGEST {
            return Err(FileError::PathTooLong {
                path: ShownPath::new(path),
                length: path.len(),
                most: LONGEST,
            });
        }
        let mut text = String::with_capacity(path.len() + 1);
        for part in path.split('/').filter(|part| !part.is_empty() && *part != ".") {
            if part == ".." {
                return Err(FileError::Traversal(ShownPath::new(path)));
            }
            text.push('/');
            text.push_str(part);
        }
        if text.is_empty() {
            text.push('/');
        }
        Ok(VirtualPath { text })
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn shown(&self) -> ShownPath {
        ShownPath::new(&self.text)
    }

    /// The first component and the rest; both are empty for `/`.
    pub(super) fn split(&self) -> (&str, &str) {
        let path = self.text.strip_prefix('/').unwrap_or(&self.text);
        path.split_once('/').unwrap_or((path, ""))
    }

    pub(super) fn is_top(&self) -> bool {
        self.text == "/"
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(path: &str, expected: &str) {
        let said = match VirtualPath::parse(path) {
            Ok(parsed) => parsed.text().to_owned(),
            Err(error) => error.to_string(),
        };
        assert_eq!(said, expected, "{path:?}");
    }

    #[test]
    fn paths_are_normalized_and_never_decoded() {
        for (path, expected) in [
            ("/", "/"),
            ("", "/"),
            (".", "/"),
            ("//./", "/"),
            ("/scratch", "/scratch"),
            ("scratch/a", "/scratch/a"),
            ("//scratch//a/./b/", "/scratch/a/b"),
            ("/Scratch/A", "/Scratch/A"),
            ("/scratch/%2e%2e/%2Fa", "/scratch/%2e%2e/%2Fa"),
            ("/scratch/...", "/scratch/..."),
            ("/scratch/..a", "/scratch/..a"),
            ("/scratch/a b\n", "/scratch/a b\n"),
            ("/scratch\\..\\a", "/scratch\\..\\a"),
            // Not dots, and not a slash.
            ("/scratch/\u{2024}\u{2024}/a", "/scratch/\u{2024}\u{2024}/a"),
            ("/\u{ff53}cratch", "/\u{ff53}cratch"),
            ("/scratch\u{2215}a", "/scratch\u{2215}a"),
        ] {
            check(path, expected);
        }
    }

    #[test]
    fn what_leads_up_or_holds_a_nul_is_refused() {
        for (path, expected) in [
            ("/scratch/..", "EACCES: path traversal denied: /scratch/.."),
            ("..", "EACCES: path traversal denied: .."),
            (
                "/scratch/a/../b",
                "EACCES: path traversal denied: /scratch/a/../b",
            ),
            (
                "/scratch/\u{1b}/..",
                "EACCES: path traversal denied: /scratch/\\u{1b}/..",
            ),
            ("/scratch/a\0b", "EACCES: invalid path"),
            ("\0", "EACCES: invalid path"),
        ] {
            check(path, expected);
        }
        let long = format!("/scratch/{}", "a".repeat(4_087));
        let error = VirtualPath::parse(&long).expect_err("too long").to_string();
        assert!(
            error.starts_with("Path too long (4096 bytes, limit 4095): /scratch/aaa"),
            "{error}"
        );
        assert!(error.ends_with('…') && error.len() < 400, "{error}");
        assert!(VirtualPath::parse(&long[1..]).is_ok());
    }

    proptest! {
        #[test]
        fn a_parsed_path_is_normal(path in "[a./\\x00 é%]{0,30}|.{0,40}") {
            let Ok(parsed) = VirtualPath::parse(&path) else { return Ok(()) };
            let text = parsed.text();
            prop_assert!(text.starts_with('/') && !text.contains('\0'));
            prop_assert!(parsed.is_top() || text.split('/').skip(1).all(|part| !["", ".", ".."].contains(&part)));
            let (root, below) = parsed.split();
            prop_assert!(!root.contains('/') && !below.starts_with('/'));
            prop_assert_eq!(VirtualPath::parse(text).expect("a normal path"), parsed.clone());
        }
    }
}
