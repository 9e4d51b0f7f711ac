//! Faults of a file or directory, with advice.

use std::fmt::{self, Write as _};
use std::path::PathBuf;

/// A fault of a file or directory.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Finding {
    /// The file or directory.
    pub path: PathBuf,
    /// From 1.
    pub line: Option<u32>,
    /// The fault and its remedy.
    pub message: String,
    /// Whether the tool is offered all the same.
    pub is_used: bool,
}

// === impl Finding ===

impl Finding {
    /// Path and line on one line of text: a name may contain any character but a slash.
    pub fn place(&self) -> String {
        let mut place = String::new();
        for c in self.path.display().to_string().chars() {
            match c.is_control() {
                true => place.extend(c.escape_debug()),
                false => place.push(c),
            }
        }
        if let Some(line) = self.line {
            // Writing to a string cannot fail.
            let _ = write!(place, ":{line}");
        }
        place
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place(), self.message)
    }
}
