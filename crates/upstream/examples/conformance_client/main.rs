//! The program that the conformance suite starts for each client scenario: acts as a person with a client, over
//! the real hub.
//!
//! `cargo xtask conformance client` builds and runs it.

mod logins;
mod person;

use std::error::Error;
use std::time::Duration;

use person::Person;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::time::Instant;
use types::{Principal, ToolRef};
use upstream::{Hub, HubConfig, RelayRequest, ServerConfig, UpstreamError};
use upstream_wire::oauth::Logins;

pub(crate) const SERVER: &str = "suite";
/// Longest wait for anything.
const PATIENCE: Duration = Duration::from_secs(25);
/// After that, the person gives up.
const MAX_LOGINS: usize = 3;
/// Rounds of questions in one call.
const MAX_ROUNDS: usize = 10;

/// The tool whose schema must stay whole, and the tool that receives this schema.
const KNOWN_SCHEMA: &str = "json_schema_2020_12_tool";
const SCHEMA_ECHO: &str = "json_schema_echo";

/// The suite's context of a scenario, beside its name.
#[derive(Debug, Default, Deserialize)]
struct Wishes {
    #[serde(default, alias = "toolCalls")]
    tool_calls: Vec<Wish>,
}

#[derive(Debug, Clone, Deserialize)]
struct Wish {
    name: String,
    #[serde(default)]
    arguments: Map<String, Value>,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    // The suite's browser is a separate client.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let url = std::env::args().next_back().unwrap_or_default();
    let context = context();
    let wishes: Wishes = serde_json::from_str(&context)?;
    let directory = tempfile::tempdir()?;
    let http = logins::http(url, &serde_json::from_str(&context)?, directory.path())?;
    let logins = Logins::of(&Principal::local(), directory.path());
    let hub = Hub::new(HubConfig {
        servers: vec![ServerConfig {
            name: SERVER.to_owned(),
            timeout: Some(PATIENCE),
            transport: upstream_wire::Transport::Http(http.clone()),
            ..ServerConfig::default()
        }],
        logins: Some(logins.clone()),
        ..HubConfig::default()
    });
    hub.attach(std::sync::Arc::new(Person));
    let mut outcome = use_all(&hub, &wishes).await;
    for _ in 0..MAX_LOGINS {
        let Some(scopes) = outcome
            .as_ref()
            .err()
            .and_then(|error| logins::advised(&error.to_string()))
        else {
            break;
        };
        logins::log_in(SERVER, &http, &logins, &scopes).await?;
        outcome = use_all(&hub, &wishes).await;
    }
    hub.shutdown().await;
    Ok(outcome?)
}

#[expect(
    clippy::disallowed_methods,
    reason = "the suite speaks through variables, and this is no part of the product"
)]
fn context() -> String {
    let context = std::env::var("MCP_CONFORMANCE_CONTEXT");
    context.unwrap_or_else(|_absent| "{}".to_owned())
}

/// Makes the expected calls; if there are none, calls every tool.
async fn use_all(hub: &Hub, wishes: &Wishes) -> Result<(), UpstreamError> {
    hub.list(SERVER).await?;
    let mut calls = wishes.tool_calls.clone();
    if calls.is_empty() {
        calls = listed(hub);
    }
    for call in calls {
        call_tool(hub, call).await?;
    }
    Ok(())
}

/// A call of each tool with arguments that match its schema.
fn listed(hub: &Hub) -> Vec<Wish> {
    let servers = hub.tools().borrow().clone();
    let tools = servers.iter().filter_map(|server| server.tools.as_ref());
    let definitions: Vec<Value> = tools
        .flat_map(|tools| tools.iter())
        .map(|tool| serde_json::from_str(tool.definition().get()).unwrap_or_default())
        .collect();
    // One tool receives the schema of another, unchanged.
    let known = definitions.iter().find(|tool| tool["name"] == KNOWN_SCHEMA);
    let call = |tool: &Value| {
        let mut arguments = arguments(&tool["inputSchema"]);
        if let (Some(known), true) = (known, tool["name"] == SCHEMA_ECHO) {
            arguments.insert("schema".to_owned(), known["inputSchema"].clone());
        }
        let name = tool["name"].as_str().unwrap_or_default().to_owned();
        Wish { name, arguments }
    };
    definitions.iter().map(call).collect()
}

fn arguments(schema: &Value) -> Map<String, Value> {
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let value = |name: &str| match schema["properties"][name]["type"].as_str() {
        Some("number" | "integer") => json!(1),
        Some("boolean") => json!(true),
        _ => json!("test"),
    };
    let names = required.iter().filter_map(Value::as_str);
    names.map(|name| (name.to_owned(), value(name))).collect()
}

/// Calls a tool and answers its questions, round by round.
async fn call_tool(hub: &Hub, call: Wish) -> Result<(), UpstreamError> {
    let tool = ToolRef::new(SERVER, &call.name);
    let mut params = Map::from_iter([
        ("name".to_owned(), json!(tool.tool)),
        ("arguments".to_owned(), Value::Object(call.arguments)),
    ]);
    for _ in 0..MAX_ROUNDS {
        let answer = hub.ask(question(params.clone())).await?;
        let answer: Value = serde_json::from_str(answer.get()).unwrap_or_default();
        if answer["resultType"] != "input_required" {
            return Ok(());
        }
        params.remove("requestState");
        if let Some(state) = answer.get("requestState") {
            params.insert("requestState".to_owned(), state.clone());
        }
        params.insert(
            "inputResponses".to_owned(),
            person::answers(&answer["inputRequests"]),
        );
    }
    Ok(())
}

fn question(params: Map<String, Value>) -> RelayRequest {
    let capabilities = Value::Object(person::capabilities());
    RelayRequest {
        server: SERVER.to_owned(),
        method: "tools/call".to_owned(),
        params,
        meta: Map::from_iter([(
            "io.modelcontextprotocol/clientCapabilities".to_owned(),
            capabilities,
        )]),
        progress: None,
        deadline: Instant::now() + PATIENCE,
    }
}
