//! Calls one tool, for the command line: by the same path as a program's call.

use std::time::Duration;

use broker::RunScope;
use sandbox::{HostCall, HostCallError};
use serde_json::{Map, Value, json};

use crate::Server;

/// Why a call did not come to an answer.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct CallFailed {
    /// What happened and what to do.
    pub message: String,
    /// Whose failure it is.
    pub fault: Fault,
}

/// Whose failure it is that a call came to no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The names, the arguments, or the policy forbids it.
    Caller,
    /// The upstream server.
    Upstream,
}

impl Server {
    /// Calls a tool; the answer is the server's `CallToolResult` with all its fields.
    pub async fn call(&self, tool: &str, arguments: Map<String, Value>) -> Result<Value, CallFailed> {
        let entry = self.find(tool).await?;
        let wall_time = self.longest_wait();
        let calls = self
            .shared
            .broker
            .calls(self.shared.principal.clone(), RunScope { wall_time });
        let call = HostCall {
            name: "tool".to_owned(),
            args: json!({"server": entry.tool.server, "tool": entry.tool.tool, "args": arguments}),
        };
        let answer = calls.call(call).await.map_err(CallFailed::from)?;
        serde_json::from_str(answer.get()).map_err(|error| CallFailed {
            message: format!("the answer is no JSON: {error}"),
            fault: Fault::Upstream,
        })
    }

    /// The longest that anything may take here: what the settings grant a program.
    fn longest_wait(&self) -> Duration {
        types::Limits::MAX_WALL_TIME
    }
}

impl From<HostCallError> for CallFailed {
    fn from(error: HostCallError) -> Self {
        let fault = match error.kind.as_str() {
            "upstream" | "timeout" | "cancelled" | "tool" => Fault::Upstream,
            _ => Fault::Caller,
        };
        let message = match error.hint {
            Some(hint) => format!("{}; {hint}", error.message),
            None => error.message,
        };
        Self { message, fault }
    }
}
