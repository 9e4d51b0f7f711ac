//! Why a host call failed, as the program sees it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Why a host call failed; becomes a `ToolError` in the program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostCallError {
    /// Kind of failure.
    pub kind: HostCallErrorKind,
    /// What happened, for the program's author.
    pub message: String,
    /// What to do, such as the nearest name.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub hint: Option<String>,
    /// Whether the same call may succeed later.
    #[serde(default)]
    pub retryable: bool,
}

/// The kinds of failures; serialized in snake case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HostCallErrorKind {
    /// No host call has this name.
    UnknownCall,
    /// No tool or server has this name.
    UnknownTool,
    /// The run has not loaded this server.
    NotLoaded,
    /// The tool's schema refuses the arguments.
    InvalidArguments,
    /// The policy forbids the call.
    Denied,
    /// The program may not save this value in this way.
    Refused,
    /// The saved value was changed in the meantime.
    Conflict,
    /// The database of saved values is unavailable.
    Store,
    /// The user has to log in at the server first.
    NeedsLogin,
    /// The server failed, or the host did.
    Upstream,
    /// The server did not answer in time.
    Timeout,
    /// The run has ended, or the host is shutting down.
    Cancelled,
    /// The run has used up its calls.
    Limit,
}

/// Who is at fault when a call gets no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The caller: wrong names or arguments, or the policy forbids the call.
    Caller,
    /// The upstream server.
    Upstream,
}

impl HostCallError {
    /// Not retryable.
    pub fn new(kind: HostCallErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            hint: None,
            retryable: false,
        }
    }

    /// Adds what to do.
    #[must_use]
    pub fn with_hint(self, hint: impl Into<String>) -> Self {
        Self {
            hint: Some(hint.into()),
            ..self
        }
    }
}

impl fmt::Display for HostCallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.hint {
            Some(hint) => write!(f, "{}; {hint}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for HostCallError {}

impl HostCallErrorKind {
    /// The name in frames, programs and records.
    pub fn name(self) -> &'static str {
        match self {
            Self::UnknownCall => "unknown_call",
            Self::UnknownTool => "unknown_tool",
            Self::NotLoaded => "not_loaded",
            Self::InvalidArguments => "invalid_arguments",
            Self::Denied => "denied",
            Self::Refused => "refused",
            Self::Conflict => "conflict",
            Self::Store => "store",
            Self::NeedsLogin => "needs_login",
            Self::Upstream => "upstream",
            Self::Timeout => "timeout",
            Self::Cancelled => "cancelled",
            Self::Limit => "limit",
        }
    }

    /// Whose failure it is.
    pub fn fault(self) -> Fault {
        match self {
            Self::Upstream | Self::Timeout | Self::Cancelled => Fault::Upstream,
            Self::UnknownCall
            | Self::UnknownTool
            | Self::NotLoaded
            | Self::InvalidArguments
            | Self::Denied
            | Self::Refused
            | Self::Conflict
            | Self::Store
            | Self::NeedsLogin
            | Self::Limit => Fault::Caller,
        }
    }
}

impl fmt::Display for HostCallErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_written_as_its_name() {
        let kinds = [
            HostCallErrorKind::UnknownCall,
            HostCallErrorKind::InvalidArguments,
            HostCallErrorKind::NotLoaded,
            HostCallErrorKind::Store,
        ];
        for kind in kinds {
            assert_eq!(serde_json::to_value(kind).ok(), Some(kind.name().into()));
        }
    }
}
