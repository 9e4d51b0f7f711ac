//! Why a tool was not found, or why a call of the command line or of an exposed tool came to no answer.

use catalog::Unknown;
use store::NotRecorded;
use types::{Fault, HostCallError};

use crate::programs::NotRun;

/// Why a tool was not found, or why its call came to no answer. The text says what to do.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The broker refused the call, or the server did not answer it.
    #[error(transparent)]
    HostCall(#[from] HostCallError),
    /// The name is no `SERVER.TOOL`.
    #[error("`{0}` names no tool; write SERVER.TOOL, as `codeyard tools` lists them")]
    NotAToolName(String),
    /// The configuration has no such server.
    #[error("MCP server '{server}' not found in configuration{}", joined(.hint.as_deref()))]
    NotConfigured {
        /// The server as it was named.
        server: String,
        /// The nearest name.
        hint: Option<String>,
    },
    /// The catalog has no such server.
    #[error("{unknown}{}", joined(.unknown.hint.as_deref()))]
    Unknown {
        /// What the name meets.
        unknown: Unknown,
    },
    /// The call could not be recorded, and has to be.
    #[error("the tool was not called: {0}")]
    NotRecorded(NotRecorded),
    /// The end of the call could not be recorded, and has to be.
    #[error("the tool was called and its answer is withheld: {0}")]
    EndNotRecorded(NotRecorded),
    /// The answer is no JSON.
    #[error("the answer is no JSON: {0}")]
    NotJson(serde_json::Error),
    /// The tool is a file, and the program that calls it was not run.
    #[error(transparent)]
    NotRun(#[from] NotRun),
    /// Whoever called did not wait for the answer.
    #[error("the call was cancelled")]
    Cancelled,
}

impl CallError {
    /// Whose failure it is.
    pub fn fault(&self) -> Fault {
        match self {
            Self::HostCall(error) => error.kind.fault(),
            Self::NotJson(_) => Fault::Upstream,
            Self::NotAToolName(_)
            | Self::NotConfigured { .. }
            | Self::Unknown { .. }
            | Self::NotRecorded(_)
            | Self::EndNotRecorded(_)
            | Self::NotRun(_)
            | Self::Cancelled => Fault::Caller,
        }
    }
}

fn joined(hint: Option<&str>) -> String {
    hint.map(|hint| format!("; {hint}")).unwrap_or_default()
}
