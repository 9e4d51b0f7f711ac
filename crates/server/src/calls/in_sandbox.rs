//! Calls one tool file from the command line, as a one-line program in the sandbox.

use serde_json::{Map, Value, json};
use store::Front;
use tokio_util::sync::CancellationToken;
use types::{Language, Outcome, Status, ToolRef};

use crate::Caller;
use crate::call_error::CallError;
use crate::programs::Program;

/// Start of a traceback's frame of the program.
const PROGRAM: &str = "  File \"<program>\"";

/// Separates the file's exception from the one that the program sees.
const CAUSED: &str = "\n\nThe above exception was the direct cause of the following exception:\n\n";

impl Caller {
    /// The answer as a server's `CallToolResult`.
    pub(super) async fn call_in_sandbox(
        &self,
        tool: &ToolRef,
        arguments: Map<String, Value>,
        cancel: CancellationToken,
    ) -> Result<Value, CallError> {
        let program = Program {
            language: Language::Python,
            code: program(tool, arguments),
            timeout: None,
            // The call itself checks the arguments.
            check: None,
            receipt: Some(false),
            output: None,
        };
        let ran = self.run_for(Front::Call, program, cancel).await?;
        Ok(answer(&ran.outcome, ran.error_text()))
    }
}

fn program(tool: &ToolRef, arguments: Map<String, Value>) -> String {
    let quoted = |text: &str| catalog::python_string(text, usize::MAX);
    let arguments = Value::Object(arguments).to_string();
    let (server, tool, arguments) = (quoted(&tool.server), quoted(&tool.tool), quoted(&arguments));
    format!("await __toolcall__({server}, {tool}, json.loads({arguments}))")
}

/// Removes the generated program's frames, which no person wrote.
fn of_the_file(error: &str) -> String {
    let raised = match error.rsplit_once(CAUSED) {
        Some((raised, met)) if met.contains(PROGRAM) => raised,
        _ => error,
    };
    let mut is_program = false;
    let lines = raised.lines().filter(|line| {
        is_program = line.starts_with(PROGRAM) || (is_program && line.starts_with("    "));
        !is_program
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn answer(outcome: &Outcome, error: Option<String>) -> Value {
    let mut texts: Vec<String> = Vec::new();
    let mut add = |text: &str| {
        let text = text.trim_end_matches('\n');
        if !text.is_empty() {
            texts.push(text.to_owned());
        }
    };
    add(&outcome.stdout.shown());
    add(&outcome.stderr.shown());
    match &outcome.result {
        None => {}
        Some(Value::String(text)) => add(text),
        Some(value) => add(&format!("{value:#}")),
    }
    if let Some(error) = error {
        match &outcome.error {
            Some(raised) if !raised.traceback.contains("/tools/") => add(&raised.message),
            _ => add(&of_the_file(&error)),
        }
    }
    let text = |text: &String| json!({"type": "text", "text": text});
    let shown = outcome.content.iter().cloned().map(surfaces::content_as_json);
    let content: Vec<Value> = texts.iter().map(text).chain(shown).collect();
    let mut answer = json!({"content": content, "isError": outcome.status != Status::Completed});
    if let (Some(Value::Object(structured)), 1) = (&outcome.result, content.len()) {
        answer["structuredContent"] = json!(structured);
    }
    answer
}
