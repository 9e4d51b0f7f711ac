//! Errors of calls from the command line and of exposed tools.

use catalog::Unknown;
use store::NotRecorded;
use types::{Fault, HostCallError};

use crate::programs::NotRun;

/// The tool was not found, or its call failed. The message names the remedy.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The broker refused the call, or the upstream failed.
    #[error(transparent)]
    HostCall(#[from] HostCallError),
    /// The name lacks the server: `TOOL` instead of `SERVER.TOOL`.
    #[error("`{0}` is not a tool name; write SERVER.TOOL, as `codeyard tools` lists them")]
    NotAToolName(String),
    /// The configuration has no such server.
    #[error("MCP server '{server}' not found in configuration{}", joined(.hint.as_deref()))]
    NotConfigured {
        /// The name as typed.
        server: String,
        /// The nearest name.
        hint: Option<String>,
    },
    /// The catalog has no such server.
    #[error("{unknown}{}", joined(.unknown.hint.as_deref()))]
    Unknown {
        /// The name and the nearest known name.
        unknown: Unknown,
    },
    /// `record = "required"` is set and the call could not be recorded.
    #[error("the tool was not called: {0}")]
    NotRecorded(NotRecorded),
    /// `record = "required"` is set and the end of the call could not be recorded.
    #[error("the tool was called and its answer is withheld: {0}")]
    EndNotRecorded(NotRecorded),
    /// The server answered with malformed JSON.
    #[error("the server answered with malformed JSON: {0}")]
    NotJson(serde_json::Error),
    /// The tool is a file, and the program that calls it was not run.
    #[error(transparent)]
    NotRun(#[from] NotRun),
    /// The caller cancelled.
    #[error("the call was cancelled")]
    Cancelled,
}

impl CallError {
    /// The party at fault.
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
