//! Fetches a server's tools page by page and checks each definition separately, so that a bad definition loses only
//! its own tool.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{ClientRequest, ErrorCode, ListToolsRequest, PaginatedRequestParams};
use serde::de::{Deserialize, Deserializer, IgnoredAny, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::time::Instant;
use types::{DefinitionError, Tool};
use upstream_wire::{Era, check_header_parameters};

use crate::connection::{Connection, TimeLimits};
use crate::error::UpstreamError;

const REQUEST: &str = "tools/list";

/// Tools per server. The largest public server has 401.
const MAX_TOOLS: usize = 10_000;
/// Bytes of all pages of one server's list.
pub const MAX_LIST_BYTES: usize = 32 * 1024 * 1024;
/// Pages per list.
const MAX_PAGES: usize = 1_000;
/// Maximum length of a tool's name, in bytes.
const MAX_NAME: usize = 256;
/// Time limit for all pages together.
const LIST_TIMEOUT: Duration = Duration::from_secs(120);

/// The valid definitions, and warnings about the others.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Listing {
    pub(crate) tools: Vec<Arc<Tool>>,
    pub(crate) warnings: Vec<String>,
    /// Bytes of all pages.
    pub(crate) bytes: usize,
    /// How long the list is valid, if the server states it.
    pub(crate) fresh_for: Option<Duration>,
}

/// One page; its members stay undecoded.
#[derive(serde::Deserialize)]
struct Page<'a> {
    #[serde(borrow)]
    tools: Option<&'a RawValue>,
    #[serde(borrow, rename = "nextCursor")]
    next: Option<&'a RawValue>,
    #[serde(borrow, rename = "ttlMs")]
    ttl: Option<&'a RawValue>,
}

/// The first `MAX_TOOLS + 1` definitions of a page; the rest is skipped.
struct Definitions(Vec<Box<RawValue>>);

/// Fetches all pages. Each page may take `page_timeout` until a response or progress.
pub(crate) async fn fetch(connection: &Connection, page_timeout: Duration) -> Result<Listing, UpstreamError> {
    let deadline = Instant::now() + LIST_TIMEOUT;
    let mut definitions: Vec<Box<RawValue>> = Vec::new();
    let mut warnings = Vec::new();
    let mut cursors = HashSet::new();
    let mut cursor: Option<String> = None;
    let mut bytes = 0;
    let mut fresh_for: Option<Duration> = None;
    for _ in 0..MAX_PAGES {
        let params = cursor
            .take()
            .map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor)));
        let request = match params {
            Some(params) => ListToolsRequest::with_param(params),
            None => ListToolsRequest::default(),
        };
        let limits = TimeLimits {
            idle: page_timeout,
            deadline,
        };
        let request = ClientRequest::ListToolsRequest(request);
        let answer = connection
            .request(request, REQUEST, limits)
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
        let page: Page<'_> =
            serde_json::from_str(&raw).map_err(|error| connection.bad_answer(REQUEST, error.to_string()))?;
        let ttl = page.ttl.and_then(|ttl| ttl.get().parse().ok());
        // Zero would cause continuous list requests.
        let ttl = ttl.filter(|ttl| *ttl > 0).map(Duration::from_millis);
        fresh_for = fresh_for.into_iter().chain(ttl).min();
        let tools = page.tools.map(RawValue::get).unwrap_or_default();
        match serde_json::from_str::<Definitions>(tools) {
            Ok(Definitions(tools)) => definitions.extend(tools),
            Err(_) => return Err(connection.bad_answer(REQUEST, "`tools` is not a list".to_owned())),
        }
        if definitions.len() > MAX_TOOLS || bytes > MAX_LIST_BYTES {
            let used = definitions.len().min(MAX_TOOLS);
            warnings.push(format!(
                "its list of tools is too long; only the first {used} tools are used"
            ));
            break;
        }
        let next = page
            .next
            .and_then(|next| serde_json::from_str::<String>(next.get()).ok());
        match next {
            // A repeated cursor would cause an endless loop.
            Some(next) if cursors.insert(next.clone()) => cursor = Some(next),
            _ => break,
        }
    }
    // Only modern remote servers receive arguments in headers.
    if connection.is_remote && connection.era == Era::Modern {
        definitions.retain(|definition| {
            let wrong = check_header_parameters(definition.get()).err();
            warnings.extend(
                wrong
                    .iter()
                    .map(|why| format!("{} is left out: {why}", tool_name(definition))),
            );
            wrong.is_none()
        });
    }
    let mut listing = check(definitions);
    listing.warnings.splice(0..0, warnings);
    listing.bytes = bytes;
    listing.fresh_for = fresh_for;
    Ok(listing)
}

impl<'de> Deserialize<'de> for Definitions {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Definitions(Vec::new()))
    }
}

impl<'de> Visitor<'de> for Definitions {
    type Value = Definitions;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of tools")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<Definitions, A::Error> {
        while self.0.len() <= MAX_TOOLS {
            match items.next_element::<Box<RawValue>>()? {
                Some(definition) => self.0.push(definition),
                None => return Ok(self),
            }
        }
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(self)
    }
}

/// Names a tool in a message.
fn tool_name(definition: &RawValue) -> String {
    let definition: Value = serde_json::from_str(definition.get()).unwrap_or_default();
    let name = definition["name"].as_str().unwrap_or_default();
    format!("tool '{}'", shown(name))
}

/// Separates valid from invalid definitions, in their order.
pub(crate) fn check(definitions: Vec<Box<RawValue>>) -> Listing {
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
            Ok(tool) => listing.tools.push(Arc::new(tool)),
            Err(cause) => listing.warnings.push(cause),
        }
    }
    listing
}

fn tool(definition: Box<RawValue>) -> Result<Tool, String> {
    let tool = Tool::parse(definition).map_err(|error| match &error {
        DefinitionError::NoInputSchema { name } => {
            format!("tool '{}' is left out: it has no inputSchema", shown(name))
        }
        DefinitionError::BadInputSchema { name } => {
            format!("tool '{}' is left out: its inputSchema is not an object", shown(name))
        }
        DefinitionError::TooLarge { name, values } => {
            format!("tool '{}' is left out: its definition holds {values} values, more than are read; shorten its schemas", shown(name))
        }
        DefinitionError::NoName | DefinitionError::Unreadable { .. } => format!("{error} is left out"),
    })?;
    match tool.name.len() {
        0 => Err("a tool with an empty name is left out".to_owned()),
        1..=MAX_NAME => Ok(tool),
        _ => Err(format!(
            "tool '{}' is left out: its name is longer than {MAX_NAME} bytes",
            shown(&tool.name)
        )),
    }
}

/// At most 40 characters.
fn shown(name: &str) -> String {
    const SHOWN: usize = 40;
    match name.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use serde_json::value::to_raw_value;

    use super::*;

    #[test]
    fn each_bad_definition_costs_only_itself() {
        let good =
            json!({"name": "good", "inputSchema": {"type": "object"}, "execution": {"x": 1}, "id": "vendor"});
        let definitions = [
            json!({"name": "bare"}),
            json!({"name": "wrong", "inputSchema": []}),
            json!({"inputSchema": {}}),
            json!({"name": "", "inputSchema": {}}),
            json!("text"),
            good.clone(),
            json!({"name": "good", "inputSchema": {}, "description": "again"}),
            json!({"name": "odd", "inputSchema": {}, "description": 5, "outputSchema": "x"}),
            json!({"name": "n".repeat(300), "inputSchema": {}}),
        ];
        let definitions = definitions.iter().map(|each| to_raw_value(each).expect("JSON"));
        let listing = check(definitions.collect());
        let names: Vec<&str> = listing.tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names, ["good", "odd"]);
        assert_eq!(listing.tools[0].definition().get(), good.to_string());
        assert_eq!(listing.tools[1].description, None);
        assert_eq!(listing.tools[1].output_schema(), None);
        assert_eq!(
            listing.warnings[..6],
            [
                "tool 'bare' is left out: it has no inputSchema",
                "tool 'wrong' is left out: its inputSchema is not an object",
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
