//! HTTP rules of the protocol revisions: sessions, headers that repeat the message, statuses of errors.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, StatusCode};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::message_fields::MessageFields;

/// Header with a session's id.
pub(super) const SESSION: &str = "mcp-session-id";
/// Header with the last event that a client received before its stream was interrupted.
pub(super) const LAST_EVENT: &str = "last-event-id";
const VERSION: &str = "mcp-protocol-version";
const META_VERSION: &[&str] = &["_meta", "io.modelcontextprotocol/protocolVersion"];
const META_CAPABILITIES: &[&str] = &["_meta", "io.modelcontextprotocol/clientCapabilities"];

/// Error code for a header that differs from the message.
pub(super) const HEADER_MISMATCH: i32 = -32020;

/// Revisions with sessions.
const LEGACY: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Era {
    /// A session, opened by `initialize`.
    Legacy,
    /// Independent requests.
    Modern,
}

/// The fields of a tool that headers are checked against.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct ToolHead {
    name: String,
    #[serde(default, rename = "inputSchema")]
    schema: SchemaHead,
}

#[derive(Debug, Clone, Default, Deserialize)]
struct SchemaHead {
    #[serde(default)]
    properties: Map<String, Value>,
}

pub(super) fn era(headers: &HeaderMap, message: &MessageFields<'_>) -> Era {
    let version = header(headers, VERSION);
    let is_modern = message.param_text(META_VERSION).is_some()
        || (!headers.contains_key(SESSION) && version.is_some_and(|version| !LEGACY.contains(&version)));
    if is_modern { Era::Modern } else { Era::Legacy }
}

/// Whether a session client names a revision without sessions or an unknown one.
pub(super) fn is_wrong_version(headers: &HeaderMap) -> bool {
    headers.contains_key(VERSION)
        && !header(headers, VERSION).is_some_and(|version| LEGACY.contains(&version))
}

/// Whether a stream begins with an event without data, from which the client can resume. Clients of older revisions
/// would read such an event as a message.
pub(super) fn begins_with_id(headers: &HeaderMap) -> bool {
    header(headers, VERSION) == Some("2025-11-25")
}

/// How the headers differ from the message; `None` if they match.
pub(super) fn mismatch(
    headers: &HeaderMap,
    message: &MessageFields<'_>,
    tools: &[ToolHead],
) -> Option<String> {
    let method = message.method.as_deref().unwrap_or_default();
    let named = match method {
        "tools/call" | "prompts/get" => message.param_text(&["name"]),
        "resources/read" => message.param_text(&["uri"]),
        _ => None,
    };
    let mut expected = vec![("mcp-method".to_owned(), Some(method.to_owned()))];
    expected.extend(named.clone().map(|name| ("mcp-name".to_owned(), Some(name))));
    // Without a version, the surface reports the error.
    let version = message.param_text(META_VERSION);
    expected.extend(version.map(|version| (VERSION.to_owned(), Some(version))));
    if method == "tools/call"
        && let Some(tool) = tools.iter().find(|tool| Some(&tool.name) == named.as_ref())
    {
        expected.extend(repeated(tool, message));
    }
    expected.into_iter().find_map(|(name, value)| {
        let given = headers
            .get(&name)
            .map(|_| header(headers, &name).and_then(decoded));
        let fits = match &given {
            Some(given) => *given == value,
            None => value.is_none(),
        };
        (!fits).then(|| format!("Header mismatch: {name} is {given:?}, not {value:?}"))
    })
}

/// Headers that repeat arguments of this call, with their expected values.
fn repeated(tool: &ToolHead, message: &MessageFields<'_>) -> Vec<(String, Option<String>)> {
    let named = tool.schema.properties.iter().filter_map(|(name, schema)| {
        let header = schema["x-mcp-header"].as_str()?;
        let value = message.param(&["arguments", name]);
        let value = value.and_then(|value| plain(&value));
        Some((format!("mcp-param-{}", header.to_ascii_lowercase()), value))
    });
    named.collect()
}

fn plain(value: &RawValue) -> Option<String> {
    match serde_json::from_str(value.get()).ok()? {
        Value::Null => None,
        Value::String(text) => Some(text),
        other => Some(other.to_string()),
    }
}

/// The value of a header; `None` for invalid Base64.
fn decoded(value: &str) -> Option<String> {
    match value
        .strip_prefix("=?base64?")
        .and_then(|rest| rest.strip_suffix("?="))
    {
        Some(encoded) => String::from_utf8(STANDARD.decode(encoded).ok()?).ok(),
        None => Some(value.to_owned()),
    }
}

/// The HTTP status of an answer.
pub(super) fn status(era: Era, request: &MessageFields<'_>, answer: &[u8]) -> StatusCode {
    if era == Era::Legacy {
        return StatusCode::OK;
    }
    let is_whole = [META_VERSION, META_CAPABILITIES]
        .iter()
        .all(|path| request.param(path).is_some());
    let code = MessageFields::parse(answer).and_then(|answer| answer.error_code());
    match code {
        Some(-32601) => StatusCode::NOT_FOUND,
        Some(-32022..=-32020) => StatusCode::BAD_REQUEST,
        Some(-32602) if !is_whole => StatusCode::BAD_REQUEST,
        _ => StatusCode::OK,
    }
}

pub(super) fn header<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}
