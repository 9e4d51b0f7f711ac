//! Upstream servers in answers: settings without secrets, and health.

use serde::Serialize;
use serde_json::{Map, Value};
use types::UpstreamServer;
use utoipa::ToSchema;

use crate::openapi::schemas;
use crate::page::Cursor;
use crate::view::{Deleted, time};

/// Placeholder for a value that answers hide.
pub(crate) const HIDDEN: &str = "[hidden]";

/// An upstream server, as `GET /upstreams/{name}` answers. A body of `PUT` may repeat the whole object.
#[derive(Debug, Clone, Default, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UpstreamView {
    /// Unique in the deployment.
    pub name: String,
    /// `rest`, or `file` for a server in the operator's files, which only the operator may change.
    #[schema(schema_with = schemas::upstream_source)]
    pub source: &'static str,
    /// `http`, `sse`, or `stdio` for a command.
    #[schema(schema_with = schemas::upstream_transport)]
    pub transport: &'static str,
    /// Text for people and models.
    pub description: Option<String>,
    /// Words by which virtual servers include or exclude the tools.
    pub tags: Vec<String>,
    /// Whether the server is out of use.
    pub disabled: bool,
    /// Users that may see the server.
    #[schema(schema_with = schemas::visibility)]
    pub visibility: &'static str,
    /// The team whose admins manage the server.
    pub team_id: Option<String>,
    /// The user who created the server; null for a server in a file.
    pub owner_email: Option<String>,
    /// ISO 8601, in UTC.
    #[schema(format = DateTime)]
    pub created_at: Option<String>,
    /// ISO 8601, in UTC.
    #[schema(format = DateTime)]
    pub updated_at: Option<String>,
    /// The address, whose query is hidden. This and the following members are null for callers who may not change the
    /// server.
    pub url: Option<String>,
    /// The protocol's transport; null to detect it at the first connection.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// Names of headers; the values are hidden.
    #[schema(schema_with = schemas::json_object_or_null)]
    pub headers: Option<Map<String, Value>>,
    /// The program.
    pub command: Option<String>,
    /// Arguments of the program.
    pub args: Option<Vec<String>>,
    /// Names of variables; the values are hidden.
    #[schema(schema_with = schemas::json_object_or_null)]
    pub env: Option<Map<String, Value>>,
    /// Working directory of the program.
    pub cwd: Option<String>,
    /// Files and network that the program may access.
    #[schema(schema_with = schemas::json_object_or_null)]
    pub sandbox: Option<Map<String, Value>>,
    /// Limits of the program.
    #[schema(schema_with = schemas::json_object_or_null)]
    pub limits: Option<Map<String, Value>>,
    /// Deadline of a call, in milliseconds.
    pub timeout: Option<u64>,
    /// Patterns of tools that may be called.
    pub allow: Option<Vec<String>>,
    /// Patterns of tools that may not be called.
    pub deny: Option<Vec<String>>,
    /// Whether the tools' annotations are trusted.
    pub trusted: Option<bool>,
    /// Maximum concurrent calls.
    pub max_calls: Option<u64>,
    /// Maximum calls within any minute, over all upstream servers with the same credential.
    pub max_calls_per_minute: Option<u64>,
    /// Idle time until the program stops, or the connection of a user, in milliseconds.
    pub idle_stop: Option<u64>,
    /// `user` if each user has an own login there.
    pub login: Option<String>,
    /// The server's health in the answering process.
    pub health: UpstreamHealth,
}

/// Health of an upstream server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UpstreamHealth {
    /// State of the server; an `idle` server starts at the next call.
    #[schema(schema_with = schemas::upstream_state)]
    pub state: &'static str,
    /// Number of listed tools; null while the list is unknown.
    pub tools: Option<usize>,
    /// The era of the protocol: `legacy` or `modern`; null while unknown.
    pub protocol: Option<&'static str>,
    /// The last error, even after a recovery; null for callers who may not change the server.
    pub last_error: Option<String>,
    /// Time of the last answer or failure; ISO 8601, in UTC.
    #[schema(format = DateTime)]
    pub checked_at: Option<String>,
}

/// One page of upstream servers.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UpstreamPage {
    /// Servers that the caller may see, sorted by name.
    pub upstreams: Vec<UpstreamView>,
    /// The `cursor` of the next page; null on the last page.
    pub next_cursor: Option<String>,
}

/// The answer of `POST /upstreams/{name}/test`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UpstreamTest {
    /// Whether the server listed its tools.
    pub works: bool,
    /// The tools; null if the server does not work.
    pub tools: Option<Vec<UpstreamTool>>,
    /// The failure's reason.
    pub error: Option<String>,
    /// Duration of the test, in milliseconds.
    pub took_ms: u64,
}

/// A tool that an upstream server lists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UpstreamTool {
    /// Name at the server.
    pub name: String,
    /// Text for models.
    pub description: Option<String>,
}

// === impl UpstreamView ===

impl UpstreamView {
    /// A stored server without its definition. The caller adds the health.
    pub fn of_stored(server: &UpstreamServer) -> Self {
        Self::outside(server, &definition_of(server))
    }

    /// A stored server for callers who may change it. The caller adds the health.
    pub fn with_definition_of(server: &UpstreamServer) -> Self {
        let definition = definition_of(server);
        Self::outside(server, &definition).with_definition(&definition)
    }

    fn outside(server: &UpstreamServer, definition: &Map<String, Value>) -> Self {
        let ownership = &server.ownership;
        Self {
            name: server.name.clone(),
            source: "rest",
            transport: transport(definition),
            description: text(definition, "description"),
            tags: texts(definition, "tags").unwrap_or_default(),
            disabled: definition.get("disabled") == Some(&Value::Bool(true)),
            visibility: ownership.visibility.name(),
            team_id: ownership.team.as_ref().map(ToString::to_string),
            owner_email: Some(ownership.owner.to_string()),
            created_at: Some(time(ownership.created_ms)),
            updated_at: Some(time(server.updated_ms)),
            ..Self::default()
        }
    }

    fn with_definition(self, definition: &Map<String, Value>) -> Self {
        let object = |name: &str| definition.get(name).and_then(Value::as_object).cloned();
        let number = |name: &str| definition.get(name).and_then(Value::as_u64);
        Self {
            url: text(definition, "url").map(|url| shown_url(&url)),
            kind: text(definition, "type"),
            headers: object("headers").map(hidden),
            command: text(definition, "command"),
            args: texts(definition, "args"),
            env: object("env").map(hidden),
            cwd: text(definition, "cwd"),
            sandbox: object("sandbox"),
            limits: object("limits"),
            timeout: number("timeout"),
            allow: texts(definition, "allow"),
            deny: texts(definition, "deny"),
            trusted: definition.get("trusted").and_then(Value::as_bool),
            max_calls: number("maxCalls"),
            max_calls_per_minute: number("maxCallsPerMinute"),
            idle_stop: number("idleStop"),
            login: text(definition, "login"),
            ..self
        }
    }
}

/// The stored definition, which was checked before.
fn definition_of(server: &UpstreamServer) -> Map<String, Value> {
    serde_json::from_str(&server.definition).unwrap_or_default()
}

/// The address with a hidden query.
pub(crate) fn shown_url(url: &str) -> String {
    match url.find(['?', '#']) {
        Some(end) => format!("{}?{HIDDEN}", &url[..end]),
        None => url.to_owned(),
    }
}

fn hidden(members: Map<String, Value>) -> Map<String, Value> {
    let hidden = members.into_iter().map(|(name, _)| (name, HIDDEN.into()));
    hidden.collect()
}

/// The value of [`UpstreamView::transport`].
fn transport(definition: &Map<String, Value>) -> &'static str {
    match (
        definition.contains_key("url"),
        text(definition, "type").as_deref(),
    ) {
        (false, _) => "stdio",
        (true, Some("sse")) => "sse",
        (true, _) => "http",
    }
}

fn text(definition: &Map<String, Value>, name: &str) -> Option<String> {
    let text = definition.get(name).and_then(Value::as_str);
    text.map(str::to_owned)
}

fn texts(definition: &Map<String, Value>, name: &str) -> Option<Vec<String>> {
    let items = definition.get(name)?.as_array()?.iter();
    Some(items.filter_map(Value::as_str).map(str::to_owned).collect())
}

// === impl UpstreamPage ===

impl UpstreamPage {
    /// A page that holds `most` servers may have a next page.
    pub fn of(upstreams: Vec<UpstreamView>, most: usize) -> Self {
        let last = upstreams.last().filter(|_| upstreams.len() >= most);
        let next_cursor = last.map(|last| Cursor::of_name(&last.name).to_string());
        Self {
            upstreams,
            next_cursor,
        }
    }
}

// === impl UpstreamTest ===

impl UpstreamTest {
    /// The server listed these tools.
    pub fn listed(tools: Vec<UpstreamTool>, took_ms: u64) -> Self {
        Self {
            works: true,
            tools: Some(tools),
            error: None,
            took_ms,
        }
    }

    /// The server cannot be used.
    pub fn failed(error: String, took_ms: u64) -> Self {
        Self {
            works: false,
            tools: None,
            error: Some(error),
            took_ms,
        }
    }
}

// === impl Deleted ===

impl Deleted {
    /// A removed upstream server.
    pub fn upstream(name: &str) -> Self {
        Self::of("Upstream server", name)
    }
}
