//! `[expose]`: tools that clients of the surface `code` see beside its own, and what their definitions may cost.

use super::table::Value;
use super::unknown;

/// Tokens of definitions that tools may take where nothing is said of it.
const BUDGET: u64 = 2000;
/// The largest budget that means anything: nobody sends a model more.
const MOST: u64 = 1_000_000;

/// `[expose]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expose {
    /// The tools, as `server.tool`.
    pub tools: Vec<String>,
    /// Tokens that their definitions may take together.
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

/// Each tool is named: a pattern would show what nobody has seen a price of.
fn check(tool: &str) -> Result<(), String> {
    let parts = tool.split_once('.');
    match parts {
        Some((server, name)) if !server.is_empty() && !name.is_empty() && !tool.contains('*') => Ok(()),
        _ => Err(format!(
            "'{tool}' names no tool; write SERVER.TOOL, as `codeyard tools` lists them"
        )),
    }
}
