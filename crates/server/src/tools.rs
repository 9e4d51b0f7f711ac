//! Lists, searches and shows tools for the command line.

use std::sync::Arc;
use std::time::Duration;

use broker::{Detail, SearchAnswer};
use catalog::{Entry, Learned, normalise};
use serde::Serialize;
use serde_json::Value;
use types::Tool;
use upstream::{ServerState, Status};

use crate::Caller;
use crate::call_error::CallError;

/// Longest wait for servers; some first starts take this long.
const PATIENCE: Duration = Duration::from_secs(60);

/// All servers with their tools.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Listing {
    /// Configuration order, then directories of tool files.
    pub servers: Vec<NamedServer>,
    /// Problems of tool files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
}

/// A problem of a tool file.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// File or directory, with the line.
    #[serde(rename = "place")]
    pub location: String,
    /// What is wrong and what to do.
    pub message: String,
    /// The tool is offered anyway.
    pub is_used: bool,
}

/// One server with its tools.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NamedServer {
    /// Name in the configuration, or of a directory of tool files.
    pub name: String,
    /// The tools are Python files, which run in the sandbox.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_files: bool,
    /// Name in programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alias: Option<String>,
    /// Purpose of the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Why the tools are unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// Anomalies of the server.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Tools without schemas.
    pub tools: Vec<ToolLine>,
}

/// A tool in a listing.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ToolLine {
    /// Name in the definition.
    pub name: String,
    /// The call in a program.
    pub signature: String,
    /// First words of the description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The policy refuses calls.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub denied: bool,
    /// Tokens of the definition, if clients of the surface `code` see it directly.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exposed: Option<u64>,
}

/// A tool with all known facts.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolView {
    /// Name in the configuration.
    pub server: String,
    /// Name in the definition.
    pub tool: String,
    /// The call in a program.
    pub signature: String,
    /// The whole description.
    pub description: Option<String>,
    /// JSON Schema of the arguments.
    pub input_schema: Value,
    /// JSON Schema of the structured content.
    pub output_schema: Option<Value>,
    /// Observed results, if the tool declares none.
    pub learned: Option<Arc<Learned>>,
    /// The definition as the server sent it.
    pub definition: Value,
}

impl Caller {
    /// Rescans the tool files.
    pub async fn look(&self) {
        self.shared.broker.look().await;
    }

    /// Problems of tool files at the last scan.
    pub fn findings(&self) -> Vec<Finding> {
        let findings = self.shared.broker.findings().into_iter();
        findings.map(Finding::from).collect()
    }

    /// Lists everything; starts servers that never listed their tools.
    pub async fn list(&self) -> Listing {
        let shared = &self.shared;
        self.look().await;
        let pending = shared.hub.discover(PATIENCE).await;
        self.listing(&pending, |_| true).await
    }

    /// Lists one server, by name or alias; starts it if it never listed its tools.
    pub async fn list_one(&self, name: &str) -> Listing {
        let hub = &self.shared.hub;
        self.look().await;
        let named = |server: &str| normalise(server) == normalise(name);
        let configured = hub.states().into_iter().find(|state| named(&state.name));
        if let Some(state) = configured {
            // The listing reports a failure.
            let _ = hub.list(&state.name).await;
        }
        self.listing(&[], named).await
    }

    /// The known tools of the servers that `wanted` accepts.
    async fn listing(&self, pending: &[String], wanted: impl Fn(&str) -> bool) -> Listing {
        let shared = &self.shared;
        let catalog = shared.broker.catalog().await;
        let learned = shared.broker.learned(&self.principal).await;
        let prices = self.exposed_prices(&catalog).await;
        let line = |entry: &Arc<Entry>| ToolLine {
            denied: !shared.broker.may_call(&self.principal, entry),
            exposed: prices.get(&entry.tool).copied(),
            ..ToolLine::of(entry, learned.of(entry).as_deref())
        };
        let lines = |server: &catalog::Server| server.entries().map(line).collect::<Vec<_>>();
        let states = shared.hub.states();
        let states = states.into_iter().filter(|state| wanted(&state.name));
        let servers = states.map(|state| {
            let server = catalog.servers().find(|server| server.name == state.name);
            let is_listed = server.is_some_and(|server| server.listed);
            let problem = (!is_listed).then(|| problem(&state, pending));
            NamedServer {
                is_files: false,
                alias: server.map(|server| server.alias.clone()),
                description: server.and_then(|server| server.description.clone()),
                tools: server.map(lines).unwrap_or_default(),
                problem,
                warnings: state.warnings,
                name: state.name,
            }
        });
        let directories = shared.broker.directories().into_iter();
        let directories = directories.filter(|name| wanted(name)).map(|name| {
            let server = catalog.server(&name).ok();
            NamedServer {
                is_files: true,
                alias: server.map(|server| server.alias.clone()),
                description: None,
                tools: server.map(lines).unwrap_or_default(),
                problem: None,
                warnings: Vec::new(),
                name,
            }
        });
        Listing {
            servers: servers.chain(directories).collect(),
            findings: self.findings(),
        }
    }

    /// Every tool's definition as its server sent it.
    pub async fn definitions(&self) -> Vec<Value> {
        let shared = &self.shared;
        shared.hub.discover(PATIENCE).await;
        let catalog = shared.broker.catalog().await;
        catalog
            .entries()
            .map(|entry| as_value(&entry.definition))
            .collect()
    }

    /// Finds tools.
    pub async fn search(&self, query: &str, limit: usize) -> SearchAnswer {
        let shared = &self.shared;
        shared.hub.discover(PATIENCE).await;
        shared
            .broker
            .search(&self.principal, query, limit, Detail::Summary)
            .await
    }

    /// Shows one tool.
    pub async fn show(&self, tool: &str) -> Result<ToolView, CallError> {
        let entry = self.find(tool).await?;
        let definition = &entry.definition;
        let shared = &self.shared;
        let learned = shared.broker.learned(&self.principal).await.of(&entry);
        Ok(ToolView {
            server: entry.tool.server.clone(),
            tool: entry.tool.tool.clone(),
            signature: signature(&entry, learned.as_deref()),
            description: definition.description.clone(),
            input_schema: definition.input_schema(),
            output_schema: definition.output_schema(),
            learned,
            definition: as_value(definition),
        })
    }

    /// The tool of `SERVER.TOOL`; either name may contain dots.
    pub(crate) async fn find(&self, name: &str) -> Result<Arc<Entry>, CallError> {
        let shared = &self.shared;
        if !name.contains('.') {
            return Err(CallError::NotAToolName(name.to_owned()));
        }
        let found = shared.broker.named(&self.principal, name).await;
        found.map_err(|error| match self.is_tool_of_a_server(name) {
            true => CallError::from(error),
            false => CallError::NotConfigured {
                server: name.split('.').next().unwrap_or_default().to_owned(),
                hint: error.hint,
            },
        })
    }

    /// Whether a server has this name or one that normalises alike.
    pub fn is_server(&self, name: &str) -> bool {
        // Names without a Python letter or digit all normalise alike.
        let spelled = Some(normalise(name)).filter(|name| name.contains(|c: char| c != '_'));
        let states = self.shared.hub.states();
        let is_named = |server: &str| server == name || spelled == Some(normalise(server));
        let directories = self.shared.broker.directories();
        let names = states.iter().map(|state| &state.name).chain(&directories);
        names.into_iter().any(|server| is_named(server))
    }

    /// Whether the text starts with a server's name and a dot.
    pub fn is_tool_of_a_server(&self, name: &str) -> bool {
        name.match_indices('.').any(|(at, _)| self.is_server(&name[..at]))
    }
}

impl From<tool_files::Finding> for Finding {
    fn from(finding: tool_files::Finding) -> Self {
        Self {
            location: finding.place(),
            message: finding.message,
            is_used: finding.is_used,
        }
    }
}

impl ToolLine {
    fn of(entry: &Entry, learned: Option<&Learned>) -> Self {
        Self {
            name: entry.tool.tool.clone(),
            signature: signature(entry, learned),
            description: entry.definition.description.as_deref().map(catalog::summary),
            denied: false,
            exposed: None,
        }
    }
}

pub(crate) fn as_value(tool: &Tool) -> Value {
    // The definition parsed when the server listed it, so this parse succeeds.
    serde_json::from_str(tool.definition().get()).unwrap_or_default()
}

fn signature(entry: &Entry, learned: Option<&Learned>) -> String {
    format!("tools.{}.{}", entry.server_alias, entry.signature_with(learned))
}

fn problem(state: &ServerState, pending: &[String]) -> String {
    match &state.status {
        Status::Failed { cause } | Status::NeedsLogin { cause } | Status::Suspended { cause } => {
            cause.clone()
        }
        _ if pending.contains(&state.name) => {
            format!("has not listed its tools within {} s", PATIENCE.as_secs())
        }
        Status::Idle | Status::Starting | Status::Running => "its tools are not known".to_owned(),
    }
}
