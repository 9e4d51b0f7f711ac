//! Errors of tool calls in the words of a run's surface: those of system 0 on `server`.

use policy::Denied;
use types::{Appearance, HostCallError, HostCallErrorKind as Kind};

use crate::call::ToolCall;
use crate::error;

/// Bytes of a name that a message repeats.
const MAX_SHOWN: usize = 80;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ErrorWords {
    Own,
    SystemZero,
}

/// Why a name resolves to no tool.
#[derive(Debug)]
pub(crate) enum Unresolved {
    /// The policy hides the tool, without a request to its server.
    Denied(Denied),
    Failed(HostCallError),
}

// === impl ErrorWords ===

impl ErrorWords {
    pub(crate) fn of(appearance: &Appearance) -> Self {
        match appearance {
            Appearance::Code | Appearance::Bridge(_) => Self::Own,
            Appearance::Server => Self::SystemZero,
        }
    }

    /// The error for a tool that was not found. Keeps the hint, which names the nearest tool.
    pub(crate) fn unresolved(self, why: Unresolved, call: &ToolCall) -> HostCallError {
        let error = match why {
            Unresolved::Denied(denied) => return self.denied(&denied),
            Unresolved::Failed(error) => error,
        };
        if self == Self::Own || error.kind != Kind::UnknownTool {
            return error;
        }
        let (server, tool) = (shown(&call.server), shown(&call.tool));
        let name = match server {
            "" => tool.to_owned(),
            server => format!("{server}/{tool}"),
        };
        HostCallError {
            message: format!("Tool '{name}' is not mounted for this server"),
            ..error
        }
    }

    /// The error for a call that the policy refused.
    pub(crate) fn denied(self, denied: &Denied) -> HostCallError {
        let own = error::denied(denied);
        if self == Self::Own {
            return own;
        }
        let tool = denied.tool();
        let verdict = match denied.is_by_rule() {
            true => "is denied by policy",
            false => "is not allowed by policy",
        };
        HostCallError {
            message: format!("EACCES: tool '{}/{}' {verdict}", tool.server, tool.tool),
            ..own
        }
    }
}

// === impl Unresolved ===

impl From<Denied> for Unresolved {
    fn from(denied: Denied) -> Self {
        Unresolved::Denied(denied)
    }
}

impl From<HostCallError> for Unresolved {
    fn from(error: HostCallError) -> Self {
        Unresolved::Failed(error)
    }
}

impl From<Unresolved> for HostCallError {
    fn from(why: Unresolved) -> Self {
        match why {
            Unresolved::Denied(denied) => error::denied(&denied),
            Unresolved::Failed(error) => error,
        }
    }
}

fn shown(name: &str) -> &str {
    &name[..name.floor_char_boundary(MAX_SHOWN)]
}

#[cfg(test)]
mod tests {
    use serde_json::Value;
    use types::ToolRef;

    use super::*;

    #[test]
    fn s0_38_and_s0_56_messages_appear_on_the_surface_server_only() {
        let call = |server: &str| ToolCall {
            server: server.to_owned(),
            tool: "nope".to_owned(),
            arguments: Value::Null,
            words: Vec::new(),
            trace: None,
        };
        let unknown = error::no_tool("nope");
        let server = ErrorWords::of(&Appearance::Server);
        let message =
            |words: ErrorWords, server: &str| words.unresolved(unknown.clone().into(), &call(server)).message;
        assert_eq!(
            message(server, "stub"),
            "Tool 'stub/nope' is not mounted for this server"
        );
        assert_eq!(message(server, ""), "Tool 'nope' is not mounted for this server");
        assert_eq!(
            message(ErrorWords::of(&Appearance::Code), "stub"),
            unknown.message
        );
        let other = error::cancelled();
        assert_eq!(server.unresolved(other.clone().into(), &call("stub")), other);
        let denied = Denied::without_rule(&ToolRef::new("stub", "add"));
        for error in [
            server.denied(&denied),
            server.unresolved(denied.clone().into(), &call("stub")),
        ] {
            assert_eq!(error.message, "EACCES: tool 'stub/add' is not allowed by policy");
        }
        assert_eq!(ErrorWords::Own.denied(&denied).message, denied.to_string());
    }
}
