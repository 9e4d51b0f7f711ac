//! Calls one tool file, for the command line: as a program of one line, in the sandbox.

use serde_json::{Map, Value, json};
use store::Front;
use tokio_util::sync::CancellationToken;
use types::{Outcome, Status, ToolRef};

use super::{CallFailed, Fault};
use crate::Server;
use crate::programs::Program;

impl Server {
    /// The answer in the form of a server's `CallToolResult`.
    pub(super) async fn call_in_sandbox(
        &self,
        tool: &ToolRef,
        arguments: Map<String, Value>,
    ) -> Result<Value, CallFailed> {
        let program = Program {
            code: program(tool, arguments),
            timeout: None,
            // The arguments are checked by the call itself.
            check: None,
            receipt: Some(false),
        };
        let cancel = CancellationToken::new();
        // Whoever does not wait for the answer ends the run.
        let _ended = cancel.clone().drop_guard();
        let ran = self.run_for(Front::Call, program, cancel).await;
        let ran = ran.map_err(|error| CallFailed {
            message: error.to_string(),
            fault: Fault::Caller,
        })?;
        Ok(answer(&ran.outcome, ran.error_text()))
    }
}

fn program(tool: &ToolRef, arguments: Map<String, Value>) -> String {
    let quoted = |text: &str| catalog::python_string(text, usize::MAX);
    let arguments = Value::Object(arguments).to_string();
    let (server, tool, arguments) = (quoted(&tool.server), quoted(&tool.tool), quoted(&arguments));
    format!("await __toolcall__({server}, {tool}, json.loads({arguments}))")
}

fn answer(outcome: &Outcome, error: Option<String>) -> Value {
    let mut texts: Vec<String> = Vec::new();
    let mut add = |text: &str| {
        let text = text.trim_end_matches('\n');
        if !text.is_empty() {
            texts.push(text.to_owned());
        }
    };
    add(&outcome.stdout.text);
    add(&outcome.stderr.text);
    match &outcome.result {
        None => {}
        Some(Value::String(text)) => add(text),
        Some(value) => add(&format!("{value:#}")),
    }
    if let Some(error) = error {
        // The line of the program is not the caller's.
        match &outcome.error {
            Some(raised) if !raised.traceback.contains("/tools/") => add(&raised.message),
            _ => add(&error),
        }
    }
    let content: Vec<Value> = texts
        .iter()
        .map(|text| json!({"type": "text", "text": text}))
        .collect();
    let mut answer = json!({"content": content, "isError": outcome.status != Status::Completed});
    if let (Some(Value::Object(structured)), 1) = (&outcome.result, content.len()) {
        answer["structuredContent"] = json!(structured);
    }
    answer
}
