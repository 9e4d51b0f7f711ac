//! The hub against real processes: well-behaved, misbehaving, and public servers.

mod calls;
mod confined;
mod failures;
mod limits;
mod lists;
mod lives;
mod real;
mod replace;
mod secrets;

use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;
use test_support::{ServerDefinition, stub_server};
use tokio::time::Instant;
use types::{ServerTools, ToolRef};
use upstream::{Hub, HubConfig, ServerConfig, ServerState, Status, ToolCall, UpstreamError};
use upstream_wire::{Stdio, Transport};

/// Longer than everything that should not time out.
const LONG: Duration = Duration::from_secs(40);

/// Without a cache.
fn hub(servers: &[(&str, ServerDefinition)]) -> Hub {
    Hub::new(config(servers))
}

fn config(servers: &[(&str, ServerDefinition)]) -> HubConfig {
    HubConfig {
        servers: servers
            .iter()
            .map(|(name, definition)| server_config(name, definition))
            .collect(),
        cache_dir: None,
        asks_anew: false,
        log_dir: None,
        logins: None,
        supervisor: vec![stub_server().into(), "__supervise".into()],
        own_executable: PathBuf::from("/nowhere/codeyard"),
        allow_self: false,
    }
}

/// One server, whose definition `change` edits.
fn hub_of(definition: &ServerDefinition, change: impl FnOnce(&mut ServerConfig)) -> Hub {
    let mut config = config(&[]);
    let mut server = server_config("server", definition);
    change(&mut server);
    config.servers.push(server);
    Hub::new(config)
}

fn stdio(server: &mut ServerConfig) -> &mut Stdio {
    match &mut server.transport {
        Transport::Stdio(stdio) => stdio,
        Transport::Http(_) => panic!("a process"),
    }
}

fn server_config(name: &str, definition: &ServerDefinition) -> ServerConfig {
    let ServerDefinition {
        command,
        args,
        env,
        cwd,
        description,
        timeout,
        ..
    } = definition.clone();
    let timeout = timeout.map(Duration::from_millis);
    ServerConfig {
        name: name.to_owned(),
        transport: Transport::Stdio(Stdio {
            command,
            args,
            env,
            cwd,
            ..Stdio::default()
        }),
        description,
        timeout,
        ..ServerConfig::default()
    }
}

/// With ample time.
async fn call(hub: &Hub, server: &str, tool: &str, arguments: Value) -> Result<Value, UpstreamError> {
    call_within(hub, LONG, server, tool, arguments).await
}

async fn call_within(
    hub: &Hub,
    time: Duration,
    server: &str,
    tool: &str,
    arguments: Value,
) -> Result<Value, UpstreamError> {
    let Value::Object(arguments) = arguments else {
        panic!("arguments are an object")
    };
    let tool = ToolRef::new(server, tool);
    let call = ToolCall {
        tool,
        arguments,
        deadline: Instant::now() + time,
        progress: None,
        trace: None,
    };
    let result = hub.call_raw(call).await?;
    Ok(serde_json::from_str(result.get()).expect("a JSON object"))
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().expect("a text")
}

fn state(hub: &Hub, server: &str) -> ServerState {
    hub.states()
        .into_iter()
        .find(|state| state.name == server)
        .expect("a configured server")
}

fn is_running(hub: &Hub, server: &str) -> bool {
    state(hub, server).status == Status::Running
}

/// One server's entry in the snapshot.
fn snapshot(hub: &Hub, server: &str) -> ServerTools {
    let all = hub.tools().borrow().clone();
    all.iter()
        .find(|entry| entry.name == server)
        .expect("a configured server")
        .clone()
}

/// `None` while the tools are unknown.
fn tool_names(hub: &Hub, server: &str) -> Option<Vec<String>> {
    Some(
        snapshot(hub, server)
            .tools?
            .iter()
            .map(|tool| tool.name.clone())
            .collect(),
    )
}
