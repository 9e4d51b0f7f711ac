//! A file that a run wrote, as shown to models and people.

use std::path::Path;

use serde::{Deserialize, Serialize};

/// Longest file extension that names a kind, in bytes.
const LONGEST_ENDING: usize = 8;
/// Directory of the files for the user.
const RESULTS: &str = "/results/";

/// A file that a run made or changed in `/workspace`, `/results` or `/scratch`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrittenFile {
    /// As the program sees it.
    pub path: String,
    /// In bytes.
    pub size: u64,
}

impl WrittenFile {
    /// The path below `/results`, if it is there.
    pub fn name_in_results(&self) -> Option<&str> {
        self.path.strip_prefix(RESULTS)
    }

    /// The kind by the file's extension; `file` if that does not show it.
    pub fn kind(&self) -> String {
        let ending = Path::new(&self.path)
            .extension()
            .and_then(|ending| ending.to_str());
        let is_plain = |ending: &&str| {
            ending.len() <= LONGEST_ENDING && ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
        };
        ending
            .filter(is_plain)
            .map_or_else(|| "file".to_owned(), str::to_ascii_lowercase)
    }
}

/// A readable size: `812 B`, `4.1 KB`, `48 MB`.
pub fn size_in_words(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KB", "MB", "GB", "TB"];
    if bytes < 1_000 {
        return format!("{bytes} B");
    }
    let (mut value, mut unit) = (bytes as f64 / 1_000.0, 0);
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1_000.0;
        unit += 1;
    }
    let decimals = usize::from(value < 9.95);
    format!("{value:.decimals$} {}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_says_what_it_is() {
        for (path, kind, in_results) in [
            ("/results/a/b.CSV", "csv", Some("a/b.CSV")),
            ("/workspace/Makefile", "file", None),
            ("/workspace/.env", "file", None),
            ("/scratch/x.t\u{1b}[m", "file", None),
            ("/scratch/archive.tar.gz", "gz", None),
            ("/scratch/x.averylongending", "file", None),
        ] {
            let file = WrittenFile {
                path: path.to_owned(),
                size: 1,
            };
            assert_eq!((file.kind().as_str(), file.name_in_results()), (kind, in_results));
        }
    }

    #[test]
    fn sizes_are_short() {
        for (bytes, words) in [
            (0, "0 B"),
            (999, "999 B"),
            (1_000, "1.0 KB"),
            (9_949, "9.9 KB"),
            (9_951, "10 KB"),
            (999_600, "1.0 MB"),
            (52_428_800, "52 MB"),
            (u64::MAX, "18446744 TB"),
        ] {
            assert_eq!(size_in_words(bytes), words);
        }
    }
}
