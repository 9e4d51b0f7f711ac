//! A logged tool call, as a model would have made it directly.

use replay::{RecordedAnswer, RecordedHostCall};
use serde_json::Value;
use types::HostCallError;

/// A tool call with its answer.
#[derive(Debug, Clone)]
pub struct RecordedCall {
    /// As the program wrote it.
    pub server: String,
    /// As the program wrote it.
    pub tool: String,
    /// As passed by the program.
    pub arguments: Value,
    /// The server's answer as text, or the failure.
    pub answer: Result<String, HostCallError>,
}

// === impl RecordedCall ===

impl RecordedCall {
    /// `None` for other host calls, and for calls without an answer.
    pub(crate) fn of(call: RecordedHostCall) -> Option<RecordedCall> {
        let answer = match call.answer {
            RecordedAnswer::Ok(value) => Ok(value.get().to_owned()),
            RecordedAnswer::Error(error) => Err(error),
            RecordedAnswer::None | RecordedAnswer::Dropped => return None,
        };
        let text = |name: &str| call.args[name].as_str().unwrap_or_default().to_owned();
        (call.name == "tool").then(|| RecordedCall {
            server: text("server"),
            tool: text("tool"),
            arguments: call.args["args"].clone(),
            answer,
        })
    }
}
