//! A server that lists the tools of a catalogue file and echoes each call.

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::protocol::{Answer, ToolCall, Tools, structured};

pub(super) struct Replay {
    tools: Vec<Value>,
    page: usize,
}

impl Replay {
    pub(super) fn read(file: &str, page: Option<usize>) -> Result<Replay> {
        let text = std::fs::read_to_string(file).with_context(|| format!("reading {file}"))?;
        let tools: Vec<Value> = serde_json::from_str(&text).with_context(|| format!("parsing {file}"))?;
        let page = page.unwrap_or(tools.len()).max(1);
        Ok(Replay { tools, page })
    }
}

impl Tools for Replay {
    fn list(&self, cursor: Option<&str>) -> Value {
        let start: usize = cursor.and_then(|cursor| cursor.parse().ok()).unwrap_or_default();
        let end = (start + self.page).min(self.tools.len());
        let mut page = json!({"tools": self.tools.get(start..end).unwrap_or_default()});
        if end < self.tools.len() {
            page["nextCursor"] = json!(end.to_string());
        }
        page
    }

    fn call(&self, call: &ToolCall<'_>) -> Answer {
        structured(json!({"tool": call.name, "arguments": call.arguments}))
    }

    fn instructions(&self) -> &'static str {
        "Lists the tools of a real server."
    }
}
