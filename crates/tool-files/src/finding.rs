//! What is wrong with a file or a directory, and what to do about it.

use std::fmt;
use std::path::PathBuf;

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
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

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A name may hold any character but a slash; a finding is one line.
        for c in self.path.display().to_string().chars() {
            match c.is_control() {
                true => write!(f, "{}", c.escape_debug())?,
                false => write!(f, "{c}")?,
            }
        }
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}", self.message)
    }
}
