//! The routes that are not REST: probes, documents, counters, and the messages of MCP.

use identity::{Method, Route, RouteAccess};
use utoipa::openapi::path::OperationBuilder;
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::schema::{SchemaType, Type};
use utoipa::openapi::security::SecurityRequirement;
use utoipa::openapi::{Content, HttpMethod, ObjectBuilder, PathItem, Required, ResponseBuilder};

use super::super::schemas::named;
use super::{ALWAYS, JSON, TOKEN, names, refusal, segment};

const TEXT: &str = "text/plain";
const EVENTS: &str = "text/event-stream";

struct Transport {
    operation: &'static str,
    summary: &'static str,
    /// Types of the answer.
    answers: &'static [&'static str],
    /// Statuses of answers without a body.
    empty: &'static [u16],
}

/// Each path with its item.
pub(super) fn items() -> impl Iterator<Item = (&'static str, PathItem)> {
    Route::ALL.iter().filter_map(|route| {
        let operation = operation(*route, transport(*route)?);
        Some((route.path(), PathItem::new(method(*route), operation)))
    })
}

/// `None` for the routes of REST.
fn transport(route: Route) -> Option<Transport> {
    let transport = |operation, summary, answers| Transport {
        operation,
        summary,
        answers,
        empty: &[],
    };
    Some(match route {
        Route::Health => transport("health", "Whether the process answers.", &[TEXT]),
        Route::Ready => transport("ready", "Whether the process serves requests.", &[TEXT]),
        Route::Docs => transport("docs", "These routes as a page for people.", &["text/html"]),
        Route::OpenApi => transport("openapi", "This document.", &[JSON]),
        Route::Metrics => transport(
            "metrics",
            "Counters for Prometheus.",
            &["application/openmetrics-text"],
        ),
        Route::McpMessage => Transport {
            empty: &[202],
            ..transport(
                "mcp_message",
                "Takes a message of Streamable HTTP.",
                &[JSON, EVENTS],
            )
        },
        Route::McpStream => transport("mcp_stream", "Opens the stream of Streamable HTTP.", &[EVENTS]),
        Route::McpEnd => Transport {
            empty: &[204],
            ..transport("mcp_end", "Ends a session of Streamable HTTP.", &[])
        },
        Route::SseStream => transport(
            "sse_stream",
            "Opens the stream of the older transport.",
            &[EVENTS],
        ),
        Route::SseMessage => Transport {
            empty: &[202],
            ..transport("sse_message", "Takes a message of the older transport.", &[])
        },
        _ => return None,
    })
}

fn method(route: Route) -> HttpMethod {
    match route.method() {
        Method::Get => HttpMethod::Get,
        Method::Post => HttpMethod::Post,
        Method::Put => HttpMethod::Put,
        Method::Delete => HttpMethod::Delete,
    }
}

fn operation(route: Route, transport: Transport) -> OperationBuilder {
    let mut operation = OperationBuilder::new()
        .operation_id(Some(transport.operation))
        .summary(Some(transport.summary));
    if !transport.answers.is_empty() {
        let answer = ResponseBuilder::new().description("Success.");
        let answer = transport
            .answers
            .iter()
            .fold(answer, |answer, kind| answer.content(*kind, content(route, kind)));
        operation = operation.response("200", answer.build());
    }
    for status in transport.empty {
        let empty = ResponseBuilder::new().description("Success, without a body.");
        operation = operation.response(status.to_string(), empty.build());
    }
    for name in names(route.path()) {
        operation = operation.parameter(segment(name));
    }
    if matches!(route, Route::McpMessage | Route::SseMessage) {
        let body = RequestBodyBuilder::new()
            .content(JSON, Content::new(Some(named("McpMessage"))))
            .required(Some(Required::True));
        operation = operation.request_body(Some(body.build()));
    }
    let refusals: &[u16] = match (route, route.access()) {
        (Route::Ready, _) => &[503],
        (_, RouteAccess::Anyone) => &[],
        _ => &ALWAYS,
    };
    if route.access() != RouteAccess::Anyone {
        operation = operation.security(SecurityRequirement::new::<_, [&str; 0], &str>(TOKEN, []));
    }
    let unknown: &[u16] = if route.path().contains('{') {
        &[400, 404]
    } else {
        &[]
    };
    refusals
        .iter()
        .chain(unknown)
        .fold(operation, |operation, status| {
            operation.response(status.to_string(), refusal(*status))
        })
}

fn content(route: Route, kind: &str) -> Content {
    let schema = match (kind, route) {
        (JSON, Route::OpenApi) => named("JsonObject"),
        (JSON, _) => named("RpcAnswer"),
        _ => ObjectBuilder::new()
            .schema_type(SchemaType::Type(Type::String))
            .into(),
    };
    Content::new(Some(schema))
}
