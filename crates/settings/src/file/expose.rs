//! `[expose]`: further tools that the surface `code` lists, and the token budget of their definitions.

use super::table::{Value, unknown};

/// Default budget, in tokens.
const BUDGET: u64 = 2000;
/// Largest budget, in tokens; no model accepts more.
const MOST: u64 = 1_000_000;

/// `[expose]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expose {
    /// Tools as `server.tool`.
    pub tools: Vec<String>,
    /// Maximum tokens of all definitions together.
    pub budget: u64,
}

impl Default for Expose {
    fn default() -> Self {
        Self {
            tools: Vec::new(),
            budget: BUDGET,
        }
    }
}

pub(super) fn set(expose: &mut Expose, key: &str, value: &Value<'_>) -> Result<(), String> {
    match key {
        "tools" => {
            let tools = value.strings()?;
            for (place, tool) in tools.iter().enumerate() {
                check(tool)?;
                if tools[..place].contains(tool) {
                    return Err(format!("'{tool}' is named twice; name it once"));
                }
            }
            expose.tools = tools;
        }
        "budget" => expose.budget = value.written().count(1..=MOST)?,
        _ => return Err(unknown("key", key, ["tools", "budget"])),
    }
    Ok(())
}

/// Refuses patterns, because the cost of their matches is unknown.
fn check(tool: &str) -> Result<(), String> {
    let parts = tool.split_once('.');
    match parts {
        Some((server, name)) if !server.is_empty() && !name.is_empty() && !tool.contains('*') => Ok(()),
        _ => Err(format!(
            "'{tool}' is not a tool name; write SERVER.TOOL, as `codeyard tools` lists them"
        )),
    }
}
