//! Why a host call failed, as the host says it and the program sees it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Why a host call failed; arrives in the program as `ToolError`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostCallError {
    /// What kind of failure it is.
    pub kind: HostCallErrorKind,
    /// What happened.
    pub message: String,
    /// What to do, such as the nearest name.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub hint: Option<String>,
    /// Whether the same call may succeed later.
    #[serde(default)]
    pub retryable: bool,
}

/// Kinds of failures, written in snake case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HostCallErrorKind {
    /// There is no host call of that name.
    UnknownCall,
    /// There is no tool or server of that name.
    UnknownTool,
    /// The server is not among those that the run has loaded.
    NotLoaded,
    /// The arguments do not fit.
    InvalidArguments,
    /// The policy forbids it.
    Denied,
    /// What a program wants to save may not be saved so.
    Refused,
    /// What a program saves was changed meanwhile.
    Conflict,
    /// The database of saved values cannot be used.
    Store,
    /// The server failed, or the host did.
    Upstream,
    /// The server did not answer in time.
    Timeout,
    /// The run is over, or the host shuts down.
    Cancelled,
    /// The run has made all calls that it may make.
    Limit,
}

/// Whose failure it is that a call came to no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The names, the arguments, or the policy forbids it.
    Caller,
    /// The upstream server.
    Upstream,
}

impl HostCallError {
    /// One that no second try mends.
    pub fn new(kind: HostCallErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            hint: None,
            retryable: false,
        }
    }

    /// The same with what to do.
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
