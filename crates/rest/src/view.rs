//! Servers and their tools in answers.

use std::fmt;

use chrono::{DateTime, SecondsFormat};
use serde::Serialize;
use serde_json::{Map, Value};
use types::{CodeSettings, MountRules, PersonalData, ServerId, SkillsScope, Tokenization, VirtualServer};
use utoipa::ToSchema;

use crate::body::sandbox_policy_json;
use crate::openapi::schemas;

/// A server, as `GET /servers/{id}` answers. A body of `PUT` may repeat the whole object.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ServerView {
    /// Part of the server's addresses.
    pub id: String,
    /// Unique in the tenant.
    pub name: String,
    /// Text for people.
    pub description: Option<String>,
    /// An address or an image as `data:` text.
    pub icon: Option<String>,
    /// Decides which other members have a value.
    #[serde(rename = "type")]
    #[schema(schema_with = schemas::server_type)]
    pub kind: &'static str,
    /// Words for search.
    pub tags: Vec<String>,
    /// Users that may see the server.
    #[schema(schema_with = schemas::visibility)]
    pub visibility: &'static str,
    /// The server's team.
    pub team_id: Option<String>,
    /// The user who created the server.
    pub owner_email: String,
    /// ISO 8601, in UTC.
    #[schema(format = DateTime)]
    pub created_at: String,
    /// ISO 8601, in UTC.
    #[schema(format = DateTime)]
    pub updated_at: String,
    /// The tools that clients see; null for a standard server, as are the following.
    #[schema(schema_with = schemas::surface_or_null)]
    pub surface: Option<&'static str>,
    /// Language of stubs, and default language of programs.
    #[schema(schema_with = schemas::stub_language_or_null)]
    pub stub_language: Option<&'static str>,
    /// Rules; null mounts every tool that the caller may see.
    #[schema(schema_with = schemas::mount_rules_or_null)]
    pub mount_rules: Option<MountRulesView>,
    /// The policy; null for the operator's policy.
    #[schema(schema_with = schemas::sandbox_policy_or_null)]
    pub sandbox_policy: Option<Value>,
    /// The policy; null for the operator's policy.
    #[schema(schema_with = schemas::tokenization_or_null)]
    pub tokenization: Option<TokenizationView>,
    /// `team:<id>` or `user:<email>`.
    pub skills_scope: Option<String>,
    /// Whether a skill needs another person's approval.
    pub skills_require_approval: bool,
}

/// Mount rules in an answer, with every list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the fields are those of `types::MountRules`")]
pub struct MountRulesView {
    pub include_tags: Vec<String>,
    pub exclude_tags: Vec<String>,
    pub include_servers: Vec<String>,
    pub exclude_servers: Vec<String>,
    pub include_tools: Vec<String>,
    pub exclude_tools: Vec<String>,
}

/// The tokenization policy in an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the fields are those of `types::Tokenization`")]
pub struct TokenizationView {
    pub enabled: bool,
    pub types: Vec<&'static str>,
    pub strategy: &'static str,
}

/// One page of servers, for `include_pagination=true`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ServerPage {
    /// Newest first.
    pub servers: Vec<ServerView>,
    /// The `cursor` of the next page; null on the last page.
    pub next_cursor: Option<String>,
}

/// The answer of a `DELETE` request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Deleted {
    /// Always `success`.
    pub status: &'static str,
    /// Text for people.
    pub message: String,
}

/// A tool of a server, as `GET /servers/{id}/tools` lists it.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ToolView {
    /// Unique in the deployment.
    pub id: String,
    /// Name for clients.
    pub name: String,
    /// Text for models.
    pub description: String,
    /// Schema of the arguments.
    #[schema(schema_with = schemas::json_object)]
    pub input_schema: Map<String, Value>,
    /// Tags of the tool and of its server.
    pub tags: Vec<String>,
    /// Users that may see the tool.
    #[schema(schema_with = schemas::visibility)]
    pub visibility: &'static str,
    /// `code_execution` for tools that run programs, else `gateway`.
    pub created_via: &'static str,
}

// === impl ServerView ===

impl ServerView {
    /// The server as its users see it.
    pub fn of(server: &VirtualServer) -> Self {
        let settings = &server.settings;
        let code = settings.kind.code();
        Self {
            id: server.id.to_string(),
            name: settings.name.clone(),
            description: settings.description.clone(),
            icon: settings.icon.clone(),
            kind: settings.kind.name(),
            tags: settings.tags.clone(),
            visibility: settings.visibility.name(),
            team_id: settings.team.as_ref().map(ToString::to_string),
            owner_email: server.owner.to_string(),
            created_at: time(server.created_ms),
            updated_at: time(server.updated_ms),
            surface: code.map(|code| code.surface.name()),
            stub_language: code.map(|code| code.stub_language.name()),
            mount_rules: code.and_then(mount_rules),
            sandbox_policy: code
                .and_then(|code| code.sandbox_policy.as_ref())
                .map(sandbox_policy_json),
            tokenization: code.and_then(|code| code.tokenization.as_ref()).map(tokenization),
            skills_scope: code
                .and_then(|code| code.skills_scope.as_ref())
                .map(SkillsScope::to_string),
            skills_require_approval: code.is_some_and(|code| code.skills_require_approval),
        }
    }
}

fn mount_rules(code: &CodeSettings) -> Option<MountRulesView> {
    let MountRules {
        include_tags,
        exclude_tags,
        include_servers,
        exclude_servers,
        include_tools,
        exclude_tools,
    } = code.mount_rules.clone()?;
    Some(MountRulesView {
        include_tags,
        exclude_tags,
        include_servers,
        exclude_servers,
        include_tools,
        exclude_tools,
    })
}

fn tokenization(policy: &Tokenization) -> TokenizationView {
    TokenizationView {
        enabled: policy.enabled,
        types: policy.types.iter().copied().map(PersonalData::name).collect(),
        strategy: Tokenization::STRATEGY,
    }
}

// === impl Deleted ===

impl Deleted {
    /// A removed server; its skills and runs are removed too.
    pub fn server(id: &ServerId) -> Self {
        Self::of("Server", id)
    }

    pub(crate) fn of(kind: &str, name: impl fmt::Display) -> Self {
        Self {
            status: "success",
            message: format!("{kind} {name} deleted successfully"),
        }
    }
}

// === impl ToolView ===

impl ToolView {
    /// S0-17: a tool of the surface itself.
    pub fn of_surface(
        server: &ServerId,
        name: &str,
        description: &str,
        input_schema: Map<String, Value>,
    ) -> Self {
        Self {
            id: format!("codeexec:{server}:{name}"),
            name: name.to_owned(),
            description: description.to_owned(),
            input_schema,
            tags: vec!["code-execution".to_owned()],
            visibility: types::Visibility::Public.name(),
            created_via: "code_execution",
        }
    }
}

impl ToolView {
    /// A tool that a standard server passes through.
    pub fn of_upstream(
        server: &ServerId,
        name: &str,
        description: &str,
        input_schema: Map<String, Value>,
    ) -> Self {
        Self {
            id: format!("{server}:{name}"),
            tags: Vec::new(),
            created_via: "gateway",
            ..Self::of_surface(server, name, description, input_schema)
        }
    }
}

/// Milliseconds since 1970 as ISO 8601 in UTC.
pub fn time(ms: i64) -> String {
    let time = DateTime::from_timestamp_millis(ms).unwrap_or(DateTime::UNIX_EPOCH);
    time.to_rfc3339_opts(SecondsFormat::Millis, true)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn c015_tools_of_a_surface_are_marked() {
        let schema = json!({"type": "object"}).as_object().cloned().unwrap_or_default();
        let tool = ToolView::of_surface(&ServerId::new("s1"), "shell_exec", "Runs a program.", schema);
        assert_eq!(
            serde_json::to_value(tool).expect("JSON"),
            json!({
                "id": "codeexec:s1:shell_exec",
                "name": "shell_exec",
                "description": "Runs a program.",
                "inputSchema": {"type": "object"},
                "tags": ["code-execution"],
                "visibility": "public",
                "createdVia": "code_execution",
            })
        );
    }

    #[test]
    fn times_are_in_utc_with_milliseconds() {
        assert_eq!(time(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(time(1_795_000_000_123), "2026-11-18T11:06:40.123Z");
        assert_eq!(time(i64::MAX), "1970-01-01T00:00:00.000Z");
    }
}
