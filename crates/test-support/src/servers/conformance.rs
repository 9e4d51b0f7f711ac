//! The server that the official conformance suite expects: tools, resources and prompts with
//! prescribed names.

mod content;
mod definitions;
mod offers;
mod questions;
mod rounds;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use super::protocol::{Answer, Connection, ToolCall, Tools, text, tool};

const INVALID_PARAMS: i64 = -32602;
const MISSING_CAPABILITY: i64 = -32021;
/// The suite's pause between two notices of one call.
const PAUSE: Duration = Duration::from_millis(50);

#[derive(Default)]
pub(super) struct Conformance {
    /// Changes of the tool list so far; each adds or removes a tool.
    changes: AtomicU64,
}

impl Tools for Conformance {
    fn list(&self, _cursor: Option<&str>) -> Value {
        let mut tools = definitions::tools();
        if self.changes.load(Ordering::SeqCst) % 2 == 1 {
            tools.push(tool("test_extra_tool", "Comes and goes.", &[]));
        }
        json!({"tools": tools})
    }

    fn call(&self, call: &ToolCall<'_>) -> Answer {
        if call.name == "test_trigger_tool_change" {
            self.changes.fetch_add(1, Ordering::SeqCst);
            call.connection.changed("tools");
            return text("The tools have changed.");
        }
        content::call(call.name)
            .or_else(|| notices(call))
            .or_else(|| questions::call(call))
            .or_else(|| rounds::call(call))
            .unwrap_or_else(|| Answer::Error(INVALID_PARAMS, format!("Unknown tool: {}", call.name)))
    }

    fn is_slow(&self, _tool: &str) -> bool {
        true
    }

    fn capabilities(&self) -> Value {
        super::offers::capabilities()
    }

    fn other(&self, method: &str, params: &Value, connection: &Connection) -> Option<Answer> {
        offers::answer(method, params, connection)
    }
}

/// Tools that send messages besides their answer.
fn notices(call: &ToolCall<'_>) -> Option<Answer> {
    Some(match call.name {
        "test_tool_with_progress" => progress(call),
        "test_tool_with_logging" => {
            let messages = [
                "Tool execution started",
                "Tool processing data",
                "Tool execution completed",
            ];
            log(call, &messages)
        }
        "test_logging_tool" => log(call, &["This is only for those who asked for it"]),
        "test_trigger_prompt_change" => {
            call.connection.changed("prompts");
            text("The prompts have changed.")
        }
        "test_missing_capability" => missing(call),
        _ => return None,
    })
}

fn progress(call: &ToolCall<'_>) -> Answer {
    for done in [0, 50, 100] {
        if !call.progress_token.is_null() {
            let params = json!({"progressToken": call.progress_token, "progress": done, "total": 100});
            call.connection.notify("notifications/progress", params);
        }
        if !call.connection.sleep(call.id, PAUSE) {
            return Answer::None;
        }
    }
    text("Progress was reported.")
}

/// In the modern era, a request receives log messages only if it names a level.
fn log(call: &ToolCall<'_>, messages: &[&str]) -> Answer {
    let level = &call.params["_meta"]["io.modelcontextprotocol/logLevel"];
    for message in messages {
        if !call.is_modern || level.is_string() {
            let params = json!({"level": "info", "logger": "conformance", "data": message});
            call.connection.notify("notifications/message", params);
        }
        if !call.connection.sleep(call.id, PAUSE) {
            return Answer::None;
        }
    }
    text("Messages were logged.")
}

/// A tool that requires a client with sampling.
fn missing(call: &ToolCall<'_>) -> Answer {
    if !call.is_modern || declared(call, "sampling") {
        return text("The capability was declared.");
    }
    Answer::Refusal(json!({
        "code": MISSING_CAPABILITY, "message": "The client must declare the capability 'sampling'",
        "data": {"requiredCapabilities": {"sampling": {}}},
    }))
}

/// Whether the request declares this client capability.
fn declared(call: &ToolCall<'_>, capability: &str) -> bool {
    call.params["_meta"]["io.modelcontextprotocol/clientCapabilities"][capability].is_object()
}
