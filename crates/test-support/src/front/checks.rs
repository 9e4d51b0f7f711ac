//! What HTTP asks of a server beside the protocol's messages: where a request comes from, its headers, the status.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::remote::Seen;

const MODERN: &str = "2026-07-28";
const VERSION: &str = "mcp-protocol-version";
const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";

/// Revisions that have sessions.
const LEGACY: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// Whether host and origin are this machine's own.
pub(super) fn is_from_here(request: &Seen) -> bool {
    let is_own = |host: &str| {
        let name = match host.strip_prefix('[') {
            Some(address) => address.split(']').next(),
            None => host.split(':').next(),
        };
        matches!(name, Some("localhost" | "127.0.0.1" | "::1"))
    };
    let origin = request.header("origin").map(|origin| {
        let (_, host) = origin.split_once("://").unwrap_or_default();
        is_own(host)
    });
    request.header("host").is_some_and(is_own) && origin.unwrap_or(true)
}

/// Whether the request is one of the era without sessions.
pub(super) fn is_modern(request: &Seen) -> bool {
    let params = &request.message["params"];
    let version = request.header(VERSION);
    params["_meta"][META_VERSION].is_string()
        || (request.header("mcp-session-id").is_none()
            && version.is_some_and(|version| !LEGACY.contains(&version)))
}

/// How the headers differ from the message, if they do.
pub(super) fn mismatch(request: &Seen, tools: &[Value]) -> Option<String> {
    let message = &request.message;
    let params = &message["params"];
    let method = message["method"].as_str().unwrap_or_default();
    let named = match method {
        "tools/call" | "prompts/get" => params["name"].as_str(),
        "resources/read" => params["uri"].as_str(),
        _ => None,
    };
    let version = params["_meta"][META_VERSION].as_str();
    let mut expected = vec![("mcp-method".to_owned(), Some(method.to_owned()))];
    expected.extend(named.map(|name| ("mcp-name".to_owned(), Some(name.to_owned()))));
    // Without it, the program has something to say.
    expected.extend(version.map(|version| (VERSION.to_owned(), Some(version.to_owned()))));
    if method == "tools/call" {
        let tool = tools.iter().find(|tool| tool["name"] == params["name"]);
        expected.extend(
            tool.into_iter()
                .flat_map(|tool| repeated(tool, &params["arguments"])),
        );
    }
    expected.into_iter().find_map(|(header, value)| {
        let given = request.header(&header).map(decoded);
        let fits = match &given {
            Some(given) => *given == value,
            None => value.is_none(),
        };
        (!fits).then(|| format!("Header mismatch: {header} is {given:?}, not {value:?}"))
    })
}

/// The headers in which arguments of this call come again.
fn repeated(tool: &Value, arguments: &Value) -> Vec<(String, Option<String>)> {
    let properties = tool["inputSchema"]["properties"].as_object();
    let named = properties.into_iter().flatten().filter_map(|(name, schema)| {
        let header = schema["x-mcp-header"].as_str()?;
        let value = match &arguments[name] {
            Value::Null => None,
            Value::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        };
        Some((format!("mcp-param-{}", header.to_ascii_lowercase()), value))
    });
    named.collect()
}

/// The value of a header; `None` if it should be Base64 and is not.
fn decoded(value: &str) -> Option<String> {
    match value
        .strip_prefix("=?base64?")
        .and_then(|rest| rest.strip_suffix("?="))
    {
        Some(encoded) => String::from_utf8(STANDARD.decode(encoded).ok()?).ok(),
        None => Some(value.to_owned()),
    }
}

/// The status that goes with an answer.
pub(super) fn status(request: &Seen, answer: &Value) -> &'static str {
    let meta = &request.message["params"]["_meta"];
    let is_whole = [META_VERSION, "io.modelcontextprotocol/clientCapabilities"]
        .iter()
        .all(|field| !meta[*field].is_null());
    let is_modern = request.header(VERSION) == Some(MODERN) || meta[META_VERSION].is_string();
    match answer["error"]["code"].as_i64() {
        _ if !is_modern => "200 OK",
        Some(-32601) => "404 Not Found",
        Some(-32022..=-32020) => "400 Bad Request",
        Some(-32602) if !is_whole => "400 Bad Request",
        _ => "200 OK",
    }
}
