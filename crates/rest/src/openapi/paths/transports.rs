//! Routes beyond REST: probes, documents, counters, and messages of MCP.

use identity::{Method, Route, RouteAccess};
use utoipa::openapi::path::OperationBuilder;
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::schema::{SchemaType, Type};
use utoipa::openapi::security::SecurityRequirement;
use utoipa::openapi::{Content, HttpMethod, ObjectBuilder, PathItem, Required, ResponseBuilder};

use super::super::schemas::named;
use super::{ALWAYS, ERROR, ERROR_OR_RPC, JSON, OF_BODIES, TOKEN, names, refuse, segment};

const TEXT: &str = "text/plain";
const HTML: &str = "text/html";
const EVENTS: &str = "text/event-stream";

/// Refusal statuses of routes without a token.
const OPEN: [u16; 2] = [403, 503];

struct Transport {
    operation: &'static str,
    summary: &'static str,
    /// Content types of the answer.
    answers: &'static [&'static str],
    /// Statuses of answers without a body.
    empty: &'static [u16],
    /// Statuses of refusals that JSON-RPC may report in its own form.
    refusals: &'static [u16],
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
        refusals: &[],
    };
    /// Refusal statuses of MCP messages.
    const MCP: &[u16] = &[400, 404, 429, 503];
    Some(match route {
        Route::Health => transport("health", "Reports that the process answers.", &[TEXT]),
        Route::Ready => transport("ready", "Reports whether the process serves requests.", &[TEXT]),
        Route::Docs => transport("docs", "These routes as a page for people.", &[HTML]),
        Route::ResourceMetadata => Transport {
            refusals: &[404],
            ..transport(
                "resource_metadata",
                "Where tokens for the gateway come from (RFC 9728).",
                &[JSON],
            )
        },
        Route::McpResourceMetadata => Transport {
            refusals: &[404],
            ..transport(
                "mcp_resource_metadata",
                "Where tokens for a virtual server come from (RFC 9728).",
                &[JSON],
            )
        },
        Route::SseResourceMetadata => Transport {
            refusals: &[404],
            ..transport(
                "sse_resource_metadata",
                "The same for the older transport.",
                &[JSON],
            )
        },
        Route::BackChannelLogout => Transport {
            refusals: &[400, 404],
            ..transport(
                "back_channel_logout",
                "Takes an issuer's report that a user has signed out (OpenID Connect Back-Channel Logout).",
                &[TEXT],
            )
        },
        Route::LoginLink => transport("login_link", "The page of a link that begins a login.", &[HTML]),
        Route::LoginStart => Transport {
            empty: &[303],
            refusals: &[400],
            ..transport(
                "login_start",
                "Sends the browser to the server's own login.",
                &[HTML],
            )
        },
        Route::LoginCallback => transport("login_callback", "Ends a login in the browser.", &[HTML]),
        Route::OpenApi => transport("openapi", "This document.", &[JSON]),
        Route::Metrics => transport(
            "metrics",
            "Counters for Prometheus.",
            &["application/openmetrics-text"],
        ),
        Route::McpMessage => Transport {
            empty: &[202],
            refusals: MCP,
            ..transport(
                "mcp_message",
                "Receives a message of Streamable HTTP.",
                &[JSON, EVENTS],
            )
        },
        Route::McpStream => Transport {
            refusals: &[400, 404, 410, 429, 503],
            ..transport("mcp_stream", "Opens the stream of Streamable HTTP.", &[EVENTS])
        },
        Route::McpEnd => Transport {
            empty: &[200],
            refusals: MCP,
            ..transport("mcp_end", "Ends a session of Streamable HTTP.", &[])
        },
        Route::SseStream => Transport {
            refusals: MCP,
            ..transport(
                "sse_stream",
                "Opens the stream of the older transport.",
                &[EVENTS],
            )
        },
        Route::SseMessage => Transport {
            empty: &[202],
            refusals: MCP,
            ..transport("sse_message", "Receives a message of the older transport.", &[])
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
        operation = refuse(operation, &OF_BODIES, ERROR);
    }
    operation = refuse(operation, transport.refusals, ERROR_OR_RPC);
    match route.access() {
        RouteAccess::Anyone => refuse(operation, &OPEN, ERROR),
        _ => {
            let token = SecurityRequirement::new::<_, [&str; 0], &str>(TOKEN, []);
            let others = ALWAYS
                .into_iter()
                .filter(|status| !transport.refusals.contains(status));
            let others: Vec<u16> = others.collect();
            refuse(operation.security(token), &others, ERROR)
        }
    }
}

fn content(route: Route, kind: &str) -> Content {
    let schema = match (kind, route) {
        (
            JSON,
            Route::OpenApi
            | Route::ResourceMetadata
            | Route::McpResourceMetadata
            | Route::SseResourceMetadata,
        ) => named("JsonObject"),
        (JSON, _) => named("RpcAnswer"),
        _ => ObjectBuilder::new()
            .schema_type(SchemaType::Type(Type::String))
            .into(),
    };
    Content::new(Some(schema))
}
