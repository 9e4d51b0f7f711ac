//! What is wrong with a file or a directory, and what to do about it.

use std::fmt::{self, Write as _};
use std::path::PathBuf;

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Finding {
    /// The file or directory.
    pub path: PathBuf,
    /// The line in the file, from 1.
    pub line: Option<u32>,
    /// What is wrong and what to do.
    pub message: String,
    /// Whether the tool is offered all the same.
    pub is_used: bool,
}

// === impl Finding ===

impl Finding {
    /// The path and the line, in one line of text: a name may hold any character but a slash.
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
