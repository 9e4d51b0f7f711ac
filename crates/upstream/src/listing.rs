//! The tools of a server: fetched page by page, each definition checked by itself so that a bad one costs only itself.

use std::collections::HashSet;
use std::time::Duration;

use rmcp::model::{ClientRequest, ErrorCode, ListToolsRequest, PaginatedRequestParams};
use serde_json::Value;
use tokio::time::Instant;
use types::Tool;

use crate::connection::{Connection, Patience};
use crate::error::UpstreamError;

const REQUEST: &str = "tools/list";

/// Tools kept of one server. The largest public server has 401.
const MAX_TOOLS: usize = 10_000;
/// Bytes of all pages together.
const MAX_BYTES: usize = 64 * 1024 * 1024;
/// Pages fetched of one server.
const MAX_PAGES: usize = 1_000;
const MAX_NAME: usize = 256;

/// What all pages together may take.
const WHOLE_LIST: Duration = Duration::from_secs(120);

/// The good definitions, and what was wrong with the others.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Listing {
    pub(crate) tools: Vec<Tool>,
    pub(crate) warnings: Vec<String>,
}

/// Fetches all pages.
pub(crate) async fn fetch(
    connection: &Connection,
    page_patience: Duration,
) -> Result<Listing, UpstreamError> {
    let deadline = Instant::now() + WHOLE_LIST;
    let mut definitions = Vec::new();
    let mut warnings = Vec::new();
    let mut cursors = HashSet::new();
    let mut cursor: Option<String> = None;
    let mut bytes = 0;
    for _ in 0..MAX_PAGES {
        let params = cursor
            .take()
            .map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor)));
        let request = match params {
            Some(params) => ListToolsRequest::with_param(params),
            None => ListToolsRequest::default(),
        };
        let patience = Patience {
            idle: page_patience,
            deadline,
        };
        let request = ClientRequest::ListToolsRequest(request);
        let answer = connection
            .request(request, REQUEST, patience)
            .await
            .map_err(UpstreamError::from);
        let raw = match answer {
            Ok(raw) => raw,
            // A server that offers only prompts or resources has no tools.
            Err(UpstreamError::Refused { code, .. }) if code == i64::from(ErrorCode::METHOD_NOT_FOUND.0) => {
                break;
            }
            Err(error) => return Err(error),
        };
        bytes += raw.len();
        let mut page: Value =
            serde_json::from_str(&raw).map_err(|error| connection.bad_answer(REQUEST, error.to_string()))?;
        match page.get_mut("tools").map(Value::take) {
            Some(Value::Array(tools)) => definitions.extend(tools),
            _ => return Err(connection.bad_answer(REQUEST, "`tools` is no list".to_owned())),
        }
        if definitions.len() > MAX_TOOLS || bytes > MAX_BYTES {
            warnings.push(format!(
                "its list of tools is too long; only the first {MAX_TOOLS} tools are used"
            ));
            break;
        }
        match page.get("nextCursor").and_then(Value::as_str) {
            // A cursor that comes again would lead in a circle.
            Some(next) if cursors.insert(next.to_owned()) => cursor = Some(next.to_owned()),
            _ => break,
        }
    }
    let mut listing = check(definitions);
    listing.warnings.splice(0..0, warnings);
    Ok(listing)
}

/// Sorts good definitions from bad ones; the order is kept.
pub(crate) fn check(definitions: Vec<Value>) -> Listing {
    let mut listing = Listing::default();
    let mut names = HashSet::new();
    for raw in definitions.into_iter().take(MAX_TOOLS) {
        match tool(raw) {
            Ok(tool) if !names.insert(tool.name.clone()) => {
                listing.warnings.push(format!(
                    "tool '{}' is listed twice; the first definition is used",
                    tool.name
                ));
            }
            Ok(tool) => listing.tools.push(tool),
            Err(cause) => listing.warnings.push(cause),
        }
    }
    listing
}

fn tool(raw: Value) -> Result<Tool, String> {
    let text = |field: &str| raw.get(field).and_then(Value::as_str).map(str::to_owned);
    let name = match text("name") {
        Some(name) if name.is_empty() => return Err("a tool with an empty name is left out".to_owned()),
        Some(name) if name.len() > MAX_NAME => {
            let start: String = name.chars().take(40).collect();
            return Err(format!(
                "tool '{start}…' is left out: its name is longer than {MAX_NAME} bytes"
            ));
        }
        Some(name) => name,
        None => return Err("a tool without a name is left out".to_owned()),
    };
    let input_schema = match raw.get("inputSchema") {
        Some(schema @ Value::Object(_)) => schema.clone(),
        Some(_) => return Err(format!("tool '{name}' is left out: its inputSchema is no object")),
        None => return Err(format!("tool '{name}' is left out: it has no inputSchema")),
    };
    Ok(Tool {
        title: text("title"),
        description: text("description"),
        output_schema: raw
            .get("outputSchema")
            .filter(|schema| schema.is_object())
            .cloned(),
        name,
        input_schema,
        raw,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_bad_definition_costs_only_itself() {
        let good =
            json!({"name": "good", "inputSchema": {"type": "object"}, "execution": {"x": 1}, "id": "vendor"});
        let listing = check(vec![
            json!({"name": "bare"}),
            json!({"name": "wrong", "inputSchema": []}),
            json!({"inputSchema": {}}),
            json!({"name": "", "inputSchema": {}}),
            json!("text"),
            good.clone(),
            json!({"name": "good", "inputSchema": {}, "description": "again"}),
            json!({"name": "odd", "inputSchema": {}, "description": 5, "outputSchema": "x"}),
            json!({"name": "n".repeat(300), "inputSchema": {}}),
        ]);
        let names: Vec<&str> = listing.tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names, ["good", "odd"]);
        assert_eq!(listing.tools[0].raw, good);
        assert_eq!(listing.tools[1].description, None);
        assert_eq!(listing.tools[1].output_schema, None);
        assert_eq!(
            listing.warnings[..6],
            [
                "tool 'bare' is left out: it has no inputSchema",
                "tool 'wrong' is left out: its inputSchema is no object",
                "a tool without a name is left out",
                "a tool with an empty name is left out",
                "a tool without a name is left out",
                "tool 'good' is listed twice; the first definition is used",
            ]
        );
        assert!(
            listing.warnings[6].contains("longer than 256 bytes"),
            "{:?}",
            listing.warnings
        );
    }
}
