//! The routes, as one table.

mod accounts;
mod route;
mod transports;
mod upstreams;

use identity::AuditAction;
use utoipa::openapi::header::HeaderBuilder;
use utoipa::openapi::path::{OperationBuilder, Parameter, ParameterBuilder, ParameterIn, PathsBuilder};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::schema::{ArrayBuilder, SchemaType, Type};
use utoipa::openapi::security::SecurityRequirement;
use utoipa::openapi::{
    Content, HttpMethod, ObjectBuilder, PathItem, Paths, RefOr, Required, Response, ResponseBuilder, Schema,
};

use super::schemas::named;
use crate::audit::{RunStatus, SecurityEventKind};
use crate::export::ListFormat;
use crate::page::{self, LimitOf};
use route::{Route, Success, get};

/// Name of the only security scheme.
pub(super) const TOKEN: &str = "token";

const JSON: &str = "application/json";

/// Refusal statuses of every route that needs a token.
const ALWAYS: [u16; 4] = [401, 403, 429, 503];

/// Refusal statuses of every route with a body: too slow, too large, not JSON.
const OF_BODIES: [u16; 3] = [408, 413, 415];

/// The schema of most refusals.
const ERROR: &str = "ErrorBody";

/// The schema of refusals that JSON-RPC may report in its own form.
const ERROR_OR_RPC: &str = "ErrorOrRpcAnswer";

fn routes() -> [Route; 12] {
    [
        Route {
            query: &page::SERVERS,
            refusals: &[422],
            ..get(
                "/servers",
                "list_servers",
                "Lists virtual servers.",
                Success::One("ServerList"),
            )
        },
        Route {
            method: HttpMethod::Post,
            body: Some("CreateServer"),
            answer: (201, Success::One("ServerView")),
            refusals: &[400, 404, 409, 422],
            ..get(
                "/servers",
                "create_server",
                "Creates a virtual server.",
                Success::One(""),
            )
        },
        get(
            "/servers/{id}",
            "read_server",
            "Reads a virtual server.",
            Success::One("ServerView"),
        ),
        Route {
            method: HttpMethod::Put,
            body: Some("UpdateServer"),
            refusals: &[400, 404, 409, 422],
            ..get(
                "/servers/{id}",
                "update_server",
                "Changes a virtual server.",
                Success::One("ServerView"),
            )
        },
        Route {
            method: HttpMethod::Delete,
            ..get(
                "/servers/{id}",
                "delete_server",
                "Deletes a virtual server with its skills and runs.",
                Success::One("Deleted"),
            )
        },
        get(
            "/servers/{id}/tools",
            "list_tools",
            "Lists the tools of a virtual server.",
            Success::List("ToolView"),
        ),
        Route {
            query: &page::RUNS,
            refusals: &[404, 422],
            ..get(
                "/servers/{id}/code/runs",
                "list_runs",
                "Lists runs, newest first.",
                Success::List("RunView"),
            )
        },
        Route {
            method: HttpMethod::Post,
            refusals: &[400],
            ..get(
                "/servers/{id}/code/runs/{run}/replay",
                "replay_run",
                "Runs the program of a recorded run again, as the caller and against the servers of today.",
                Success::One("ReplayView"),
            )
        },
        Route {
            query: &page::SESSIONS,
            refusals: &[404, 422],
            ..get(
                "/servers/{id}/code/sessions",
                "list_sessions",
                "Lists live sessions, last used first.",
                Success::List("SessionView"),
            )
        },
        Route {
            query: &page::EVENTS,
            limit: page::EVENTS_LIMIT,
            refusals: &[404, 422],
            ..get(
                "/servers/{id}/code/security-events",
                "list_security_events",
                "Lists security events, newest first.",
                Success::List("SecurityEventView"),
            )
        },
        Route {
            query: &page::AUDIT,
            refusals: &[422],
            ..get(
                "/audit",
                "list_audit",
                "Lists administrative changes and refused attempts at them, newest first.",
                Success::List("AuditView"),
            )
        },
        Route {
            method: HttpMethod::Post,
            body: Some("RpcRequest"),
            ..get(
                "/rpc",
                "rpc",
                "Answers one request of JSON-RPC.",
                Success::One("RpcAnswer"),
            )
        },
    ]
}

pub(super) fn all() -> Paths {
    let routes = routes()
        .into_iter()
        .chain(upstreams::routes())
        .chain(accounts::routes());
    let paths = routes.fold(PathsBuilder::new(), |paths, route| {
        let path = route.path;
        let method = route.method.clone();
        paths.path(path, PathItem::new(method, operation(route)))
    });
    let paths = transports::items().fold(paths, |paths, (path, item)| paths.path(path, item));
    paths.build()
}

fn operation(route: Route) -> OperationBuilder {
    let mut operation = OperationBuilder::new()
        .operation_id(Some(route.operation))
        .summary(Some(route.summary))
        .security(SecurityRequirement::new::<_, [&str; 0], &str>(TOKEN, []))
        .response(route.answer.0.to_string(), success(&route));
    for name in names(route.path) {
        operation = operation.parameter(segment(name));
    }
    for name in route.query {
        operation = operation.parameter(parameter(name, &route.limit));
    }
    if let Some(body) = route.body {
        let body = RequestBodyBuilder::new()
            .content(JSON, Content::new(Some(named(body))))
            .required(Some(Required::True));
        operation = operation.request_body(Some(body.build()));
    }
    if route.path == "/rpc" {
        let notified = ResponseBuilder::new().description("A notification has no answer.");
        operation = refuse(operation.response("202", notified.build()), &[400], ERROR_OR_RPC);
    }
    if route.path.contains('{') {
        operation = refuse(operation, &[400], ERROR);
    }
    if route.body.is_some() {
        operation = refuse(operation, &OF_BODIES, ERROR);
    }
    refuse(refuse(operation, route.refusals, ERROR), &ALWAYS, ERROR)
}

/// Adds refusals whose bodies have this schema.
fn refuse(operation: OperationBuilder, statuses: &[u16], schema: &str) -> OperationBuilder {
    statuses.iter().fold(operation, |operation, status| {
        operation.response(status.to_string(), refusal(*status, schema))
    })
}

fn success(route: &Route) -> Response {
    let schema = match route.answer.1 {
        Success::One(name) | Success::Page(name) => named(name),
        Success::List(name) => ArrayBuilder::new().items(named(name)).into(),
    };
    let answer = answered("Success.", schema);
    if !route.query.contains(&"cursor") || matches!(route.answer.1, Success::Page(_)) {
        return answer;
    }
    let next = text_header("The `cursor` of the next page; absent on the last one.");
    let answer = ResponseBuilder::from(answer).header("X-Next-Cursor", next);
    if !route.query.contains(&"format") {
        return answer.build();
    }
    let text = || {
        let text = ObjectBuilder::new().schema_type(SchemaType::Type(Type::String));
        Content::new(Some(Schema::from(text.build())))
    };
    let answer = answer.content("text/csv", text());
    answer.content("application/x-ndjson", text()).build()
}

fn answered(description: &str, schema: RefOr<Schema>) -> Response {
    let answer = ResponseBuilder::new().description(description);
    answer.content(JSON, Content::new(Some(schema))).build()
}

fn refusal(status: u16, schema: &str) -> Response {
    let description = match status {
        400 => "The request cannot be read, or a switch forbids it.",
        401 => "The token is missing or invalid.",
        403 => "A permission is missing.",
        404 => "The object does not exist, or the user may not see it.",
        408 => "The body took too long to arrive.",
        409 => "The request conflicts with another object or change.",
        410 => "The stream's events are no longer available.",
        413 => "The body is too large.",
        415 => "The body is not JSON, or is compressed.",
        422 => "The request has mistakes. The answer lists all of them.",
        429 => "A limit is reached.",
        _ => "The server lacks what the request needs.",
    };
    let answer = ResponseBuilder::from(answered(description, named(schema)));
    match status {
        401 => answer
            .header("WWW-Authenticate", text_header("`Bearer`."))
            .build(),
        429 | 503 => {
            let seconds = ObjectBuilder::new()
                .schema_type(SchemaType::Type(Type::Integer))
                .minimum(Some(1_usize));
            let header = HeaderBuilder::new()
                .schema(Some(seconds))
                .description(Some("Seconds."));
            answer.header("Retry-After", header.build()).build()
        }
        _ => answer.build(),
    }
}

fn text_header(description: &str) -> utoipa::openapi::Header {
    let text = ObjectBuilder::new().schema_type(SchemaType::Type(Type::String));
    HeaderBuilder::new()
        .schema(Some(text))
        .description(Some(description))
        .build()
}

/// The names in braces.
fn names(path: &'static str) -> impl Iterator<Item = &'static str> {
    let segments = path.split('/');
    segments.filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'))
}

fn segment(name: &str) -> Parameter {
    let text = ObjectBuilder::new().schema_type(SchemaType::Type(Type::String));
    ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Path)
        .required(Required::True)
        .schema(Some(text))
        .build()
}

fn parameter(name: &str, limit: &LimitOf) -> Parameter {
    let plain = |plain| ObjectBuilder::new().schema_type(SchemaType::Type(plain));
    let bound = |bound: &u64| usize::try_from(*bound).ok();
    let schema = match name {
        "limit" => plain(Type::Integer)
            .minimum(bound(limit.range.start()))
            .maximum(bound(limit.range.end()))
            .default(Some(limit.usual.into())),
        "include_pagination" => plain(Type::Boolean),
        "visibility" => return query(name, named("Visibility")),
        "status" => plain(Type::String).enum_values(Some(RunStatus::ALL.map(RunStatus::name))),
        "event" => plain(Type::String).enum_values(Some(SecurityEventKind::ALL.map(SecurityEventKind::name))),
        "action" => {
            plain(Type::String).enum_values(Some(AuditAction::ALL.iter().map(|action| action.name())))
        }
        "format" => plain(Type::String).enum_values(Some(ListFormat::ALL.map(ListFormat::name))),
        _ => plain(Type::String).min_length(Some(1)).max_length(Some(512)),
    };
    query(name, schema.into())
}

fn query(name: &str, schema: RefOr<Schema>) -> Parameter {
    ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Query)
        .required(Required::False)
        .description(Some(meaning(name)))
        .schema(Some(schema))
        .build()
}

fn meaning(parameter: &str) -> &'static str {
    match parameter {
        "limit" => "Maximum number of entries.",
        "cursor" => "Continues where a page ended.",
        "include_pagination" => "Answer an object with `nextCursor` instead of a list.",
        "tags" => "Servers with one of these tags, separated by commas.",
        "visibility" => "Only servers of this visibility.",
        "user" => "Only entries of this user.",
        "team_id" => "Only entries of this team.",
        "since" => "Start of the time range, inclusive, in ISO 8601.",
        "until" => "End of the time range, exclusive, in ISO 8601.",
        "status" => "Only runs in this state.",
        "event" => "Only events of this kind.",
        "action" => "Only acts of this kind.",
        "format" => "`csv` or `jsonl` for all entries instead of one page; overrides `Accept`.",
        _ => "Only entries about this tool.",
    }
}
