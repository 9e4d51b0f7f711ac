//! A message to a remote server, with the fields that its HTTP request needs.

use std::borrow::Cow;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde::Deserialize;
use serde_json::Value;
use types::TraceContext;

use super::header_parameters::{self, header_value};

/// Methods whose parameter at this pointer is repeated in the header `Mcp-Name`.
const NAME_PARAMETERS: [(&str, &str); 8] = [
    ("tools/call", "/params/name"),
    ("prompts/get", "/params/name"),
    ("resources/read", "/params/uri"),
    ("resources/subscribe", "/params/uri"),
    ("resources/unsubscribe", "/params/uri"),
    ("tasks/get", "/params/taskId"),
    ("tasks/update", "/params/taskId"),
    ("tasks/cancel", "/params/taskId"),
];

#[derive(Debug)]
pub(super) struct OutgoingMessage {
    pub(super) body: Vec<u8>,
    /// `None` for notifications and answers.
    pub(super) id: Option<i64>,
    /// Empty for an answer.
    pub(super) method: String,
    /// Only messages of the modern era carry a protocol version.
    pub(super) version: Option<HeaderValue>,
    pub(super) cancels: Option<i64>,
    /// `traceparent` and `tracestate` of the message's `_meta`, for intermediaries that read headers.
    pub(super) trace: HeaderMap,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    id: Option<Value>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<Params<'a>>,
}

#[derive(Deserialize)]
struct Params<'a> {
    #[serde(rename = "requestId")]
    request: Option<Value>,
    #[serde(rename = "_meta", borrow)]
    meta: Option<Meta<'a>>,
}

#[derive(Deserialize)]
struct Meta<'a> {
    #[serde(rename = "io.modelcontextprotocol/protocolVersion", borrow)]
    version: Option<Cow<'a, str>>,
    /// `None` also for a value that is not a text.
    #[serde(default)]
    traceparent: Option<Value>,
    #[serde(default)]
    tracestate: Option<Value>,
}

impl OutgoingMessage {
    pub(super) fn read(body: Vec<u8>) -> Option<OutgoingMessage> {
        let envelope: Envelope<'_> = serde_json::from_slice(&body).ok()?;
        let method = envelope.method.unwrap_or_default().into_owned();
        let params = envelope.params;
        let version = params
            .as_ref()
            .and_then(|params| params.meta.as_ref()?.version.as_deref())
            .and_then(|version| HeaderValue::from_str(version).ok());
        let cancels = (method == "notifications/cancelled")
            .then(|| params.as_ref()?.request.as_ref()?.as_i64())
            .flatten();
        let meta = params.as_ref().and_then(|params| params.meta.as_ref());
        let trace = meta.map(trace_headers).unwrap_or_default();
        Some(OutgoingMessage {
            trace,
            id: envelope
                .id
                .filter(|_| !method.is_empty())
                .and_then(|id| id.as_i64()),
            method,
            version,
            cancels,
            body,
        })
    }

    /// The modern era has no sessions.
    pub(super) fn is_modern(&self) -> bool {
        self.version.is_some()
    }

    /// Headers that repeat parts of a modern message for intermediaries.
    pub(super) fn header_copies(&self, schema: impl FnOnce(&str) -> Option<Value>) -> HeaderMap {
        let mut headers = HeaderMap::new();
        if !self.is_modern() {
            return headers;
        }
        headers.extend(HeaderValue::from_str(&self.method).map(|method| (MCP_METHOD, method)));
        let Some((_, place)) = NAME_PARAMETERS.iter().find(|(method, _)| *method == self.method) else {
            return headers;
        };
        let message: Value = serde_json::from_slice(&self.body).unwrap_or_default();
        let Some(name) = message.pointer(place).and_then(Value::as_str) else {
            return headers;
        };
        headers.extend(header_value(name).map(|name| (MCP_NAME, name)));
        if self.method == "tools/call"
            && let Some(schema) = schema(name)
        {
            headers.extend(header_parameters::headers(
                &schema,
                &message["params"]["arguments"],
            ));
        }
        headers
    }
}

fn trace_headers(meta: &Meta<'_>) -> HeaderMap {
    let text = |value: &Option<Value>| value.as_ref().and_then(Value::as_str).map(str::to_owned);
    let Some(parent) = text(&meta.traceparent) else {
        return HeaderMap::new();
    };
    let state = text(&meta.tracestate);
    let Some(context) = TraceContext::read(&parent, state.as_deref()) else {
        return HeaderMap::new();
    };
    let parent = HeaderValue::from_str(&context.to_string()).ok();
    let state = context.state.and_then(|state| HeaderValue::from_str(&state).ok());
    let headers = [(TRACE_PARENT, parent), (TRACE_STATE, state)];
    headers
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
        .collect()
}

const TRACE_PARENT: HeaderName = HeaderName::from_static("traceparent");
const TRACE_STATE: HeaderName = HeaderName::from_static("tracestate");
const MCP_METHOD: HeaderName = HeaderName::from_static("mcp-method");
const MCP_NAME: HeaderName = HeaderName::from_static("mcp-name");

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(message: &Value) -> OutgoingMessage {
        OutgoingMessage::read(message.to_string().into_bytes()).expect("a message")
    }

    #[test]
    fn a_modern_message_repeats_itself_in_headers() {
        let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28"});
        let params = json!({"name": "f\u{fc}r", "arguments": {"region": "eu", "n": 1}, "_meta": meta});
        let message = read(&json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": params}));
        let schema = json!({"properties": {"region": {"type": "string", "x-mcp-header": "Region"}}});
        let headers = message.header_copies(|_| Some(schema));
        assert_eq!(message.id, Some(3));
        assert_eq!(headers["mcp-method"], "tools/call");
        assert_eq!(headers["mcp-name"], "=?base64?ZsO8cg==?=");
        assert_eq!(headers["mcp-param-region"], "eu");
        let listed = read(&json!({"id": 4, "method": "tools/list", "params": {"_meta": meta}}));
        assert_eq!(listed.header_copies(|_| None).len(), 1);
    }

    #[test]
    fn a_valid_trace_is_a_header_too() {
        let parent = "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01";
        for (meta, expected) in [
            (json!({"traceparent": parent, "tracestate": "a=1"}), Some("a=1")),
            (json!({"traceparent": parent, "tracestate": 5}), None),
        ] {
            let message = read(&json!({"id": 3, "method": "tools/call", "params": {"_meta": meta}}));
            assert_eq!(message.trace["traceparent"], parent);
            let state = message
                .trace
                .get("tracestate")
                .map(|state| state.to_str().expect("a text"));
            assert_eq!(state, expected);
        }
        for meta in [
            json!({"traceparent": "00-x\r\n"}),
            json!({"traceparent": 5}),
            json!({}),
        ] {
            let message = read(&json!({"id": 3, "method": "tools/call", "params": {"_meta": meta}}));
            assert!(message.trace.is_empty(), "{meta}");
        }
    }

    #[test]
    fn answers_and_cancellations_differ_from_requests() {
        let answer = read(&json!({"jsonrpc": "2.0", "id": 3, "result": {}}));
        assert_eq!((answer.id, answer.method.as_str()), (None, ""));
        let params = json!({"requestId": 7});
        let cancelled = read(&json!({"method": "notifications/cancelled", "params": params}));
        assert_eq!((cancelled.id, cancelled.cancels), (None, Some(7)));
        assert!(!cancelled.is_modern() && cancelled.header_copies(|_| None).is_empty());
    }
}
