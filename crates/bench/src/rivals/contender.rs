//! The contenders, the operations compared, and the rivals' directory.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// A new sandbox on a running server, to the end of its first program.
    Start,
    /// The next program of the same session, or of the same client if there are no sessions.
    Live,
    /// One call of an upstream server's tool from a program.
    Call,
}

/// The group in which a contender is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// A server or command that a client starts: compared with `codeyard mcp`.
    Server,
    /// A library in its caller's process: compared with the crates alone.
    Library,
}

pub trait Contender {
    /// One sample; `None` if the contender lacks the operation.
    fn sample(&mut self, operation: Operation) -> Result<Option<Duration>>;
}

pub struct Entry {
    pub name: String,
    pub class: Class,
    pub contender: Result<Box<dyn Contender>>,
}

pub struct RivalDirectory {
    /// Contains one directory for each rival.
    pub directory: PathBuf,
    /// Command line of the upstream server.
    pub upstream: Vec<String>,
}

// === impl Operation ===

impl Operation {
    pub const ALL: [Operation; 3] = [Operation::Start, Operation::Live, Operation::Call];

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
    /// The installed file, or the recorded reason for its absence.
    pub fn installed(&self, name: &str, file: &str) -> Result<PathBuf> {
        let reason = self.directory.join(format!("{name}.skipped"));
        if let Ok(reason) = std::fs::read_to_string(reason) {
            anyhow::bail!("{}", reason.trim());
        }
        let file = self.directory.join(name).join(file);
        file.exists()
            .then_some(file)
            .context("it is not installed; run `cargo xtask bench rivals`")
    }
}
