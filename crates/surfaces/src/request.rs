//! Common handling of requests: turn, end, era, and unknown methods.

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt as _;
use rmcp::RoleServer;
use rmcp::model::ProtocolVersion;
use rmcp::service::RequestContext;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;
use types::TraceContext;

use crate::arrival::Ticket;
use crate::error::RequestError;

/// Methods that `rmcp` decodes. If such a request arrives undecoded, its parameters are invalid.
const DECODED_METHODS: [&str; 7] = [
    "initialize",
    "server/discover",
    "tools/call",
    "tools/list",
    "resources/list",
    "resources/read",
    "resources/templates/list",
];

/// Turns a panic into an error, so that the call gets a response.
pub(crate) async fn catch_panic<T>(call: impl Future<Output = T>) -> Result<T, RequestError> {
    let answered = AssertUnwindSafe(call).catch_unwind().await;
    answered.map_err(|_| RequestError::Panicked)
}

/// Waits until every earlier call of the client has started.
pub(crate) async fn turn(context: &RequestContext<RoleServer>) {
    if let Some(ticket) = context.extensions.get::<Ticket>() {
        ticket.turn().await;
    }
}

pub(crate) fn release(context: &RequestContext<RoleServer>) {
    if let Some(ticket) = context.extensions.get::<Ticket>() {
        ticket.release();
    }
}

/// The trace that the client names in `_meta`. Over HTTP, transports put the header there.
pub(crate) fn trace(context: &RequestContext<RoleServer>) -> Option<TraceContext> {
    let meta = &context.meta;
    TraceContext::read(meta.get_traceparent()?, meta.get_tracestate())
}

/// Resolves when the client cancels the request or disconnects.
pub(crate) async fn cancelled(context: &RequestContext<RoleServer>, closed: &CancellationToken) {
    tokio::select! {
        () = context.ct.cancelled() => {}
        () = closed.cancelled() => {}
    }
}

/// Whether the request uses revision 2026-07-28 or later.
pub(crate) fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    let version = context.protocol_version();
    version.is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}

/// The request's `_meta`.
pub(crate) fn meta(context: &RequestContext<RoleServer>) -> Map<String, Value> {
    match serde_json::to_value(&context.meta) {
        Ok(Value::Object(meta)) => meta,
        _ => Map::new(),
    }
}

/// Capabilities that a modern client declares with each request.
pub(crate) fn declared_capabilities(meta: &Map<String, Value>) -> Value {
    let declared = meta.get("io.modelcontextprotocol/clientCapabilities");
    declared.cloned().unwrap_or_default()
}

/// The error for a request that `rmcp` does not know or could not decode.
pub(crate) fn not_understood(method: &str, context: &RequestContext<RoleServer>) -> RequestError {
    // The modern era has no `initialize`.
    let is_known = DECODED_METHODS.contains(&method) && !(is_modern(context) && method == "initialize");
    if is_known {
        RequestError::Undecodable(method.to_owned())
    } else {
        RequestError::UnknownMethod(method.to_owned())
    }
}
