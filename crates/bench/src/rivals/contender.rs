//! Whom the benchmarks compare, in what, and where it is installed.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// A new sandbox, the server being up, to the end of its first program.
    Start,
    /// The next program of the same session; of the same client where there are no sessions.
    Live,
    /// One call of an upstream server's tool from a program.
    Call,
}

/// In which company a contender is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// A server or command that a client starts: compared with `codeyard mcp`.
    Server,
    /// A library in its caller's process: compared with the crates alone.
    Library,
}

/// One that is measured.
pub trait Contender {
    /// One sample; `None` if it has nothing of that kind.
    fn sample(&mut self, operation: Operation) -> Result<Option<Duration>>;
}

/// A contender, or why there is none.
pub struct Entry {
    pub name: String,
    pub class: Class,
    pub contender: Result<Box<dyn Contender>>,
}

/// Where rivals are installed, and which server they call.
pub struct RivalDirectory {
    /// Holds one directory for each rival.
    pub directory: PathBuf,
    /// Command line of the upstream server.
    pub upstream: Vec<String>,
}

// === impl Operation ===

impl Operation {
    /// All, in the order of the table.
    pub const ALL: [Operation; 3] = [Operation::Start, Operation::Live, Operation::Call];

    /// In words.
    pub fn describe(self) -> &'static str {
        match self {
            Operation::Start => "session start",
            Operation::Live => "live run",
            Operation::Call => "host call",
        }
    }
}

// === impl RivalDirectory ===

impl RivalDirectory {
    /// What was installed under that name, or the reason that was written down instead.
    pub fn installed(&self, name: &str, file: &str) -> Result<PathBuf> {
        let reason = self.directory.join(format!("{name}.skipped"));
        if let Ok(reason) = std::fs::read_to_string(reason) {
            anyhow::bail!("{}", reason.trim());
        }
        let file = self.directory.join(name).join(file);
        file.exists()
            .then_some(file)
            .context("it is not installed; `cargo xtask bench rivals` does it")
    }
}
