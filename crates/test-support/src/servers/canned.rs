//! A server of fixed tools and answers; the first answer whose `when` matches the arguments is sent.

use anyhow::{Context as _, Result};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::protocol::{Answer, ToolCall, Tools, text};

#[derive(Deserialize)]
pub(super) struct Canned {
    tools: Vec<Tool>,
}

#[derive(Deserialize)]
struct Tool {
    name: String,
    description: String,
    answers: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    #[serde(default)]
    when: Map<String, Value>,
    /// A string is sent as text, any other value as its JSON.
    result: Value,
}

impl Canned {
    pub(super) fn read(file: &str) -> Result<Canned> {
        let text = std::fs::read_to_string(file).with_context(|| format!("reading {file}"))?;
        serde_json::from_str(&text).with_context(|| format!("parsing {file}"))
    }
}

impl Tools for Canned {
    fn list(&self, _cursor: Option<&str>) -> Value {
        let listed = self.tools.iter().map(|tool| {
            let schema = json!({"type": "object"});
            json!({"name": tool.name, "description": tool.description, "inputSchema": schema})
        });
        json!({"tools": listed.collect::<Vec<_>>()})
    }

    fn call(&self, call: &ToolCall<'_>) -> Answer {
        let tool = self.tools.iter().find(|tool| tool.name == call.name);
        let fits = |case: &&Case| {
            case.when
                .iter()
                .all(|(name, value)| call.arguments[name] == *value)
        };
        match tool.and_then(|tool| tool.answers.iter().find(fits)) {
            Some(Case {
                result: Value::String(answer),
                ..
            }) => text(answer),
            Some(case) => text(case.result.to_string()),
            None => Answer::Result(json!({
                "content": [{"type": "text", "text": format!("{} has no answer to {}", call.name, call.arguments)}],
                "isError": true,
            })),
        }
    }

    fn instructions(&self) -> &'static str {
        "Gives the answers of a file."
    }
}
