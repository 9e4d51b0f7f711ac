//! Nine public servers of both eras, as `cargo xtask test` installs them.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use test_support::{ServerDefinition, real_servers};

use crate::{call, hub, snapshot};

fn definitions(directory: &Path) -> Vec<(String, ServerDefinition)> {
    let servers = real_servers(directory).expect("the real servers");
    let list = |value: &Value| -> Vec<String> { serde_json::from_value(value.clone()).unwrap_or_default() };
    servers
        .iter()
        .map(|(name, entry)| {
            let args = list(&entry["args"]);
            let args: Vec<&str> = args.iter().map(String::as_str).collect();
            let mut definition = ServerDefinition::new(entry["command"].as_str().expect("a command"), &args);
            for (variable, value) in entry["env"].as_object().into_iter().flatten() {
                definition = definition.env(variable, value.as_str().expect("text"));
            }
            (name.clone(), definition)
        })
        .collect()
}

#[tokio::test]
async fn public_servers_list_and_answer() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let definitions = definitions(directory.path());
    let named: Vec<_> = definitions
        .iter()
        .map(|(name, definition)| (name.as_str(), definition.clone()))
        .collect();
    let hub = hub(&named);
    assert_eq!(hub.discover(Duration::from_secs(90)).await, [""; 0]);
    let check = async |server: &str, tool: &str, arguments: Value, expected: &str| {
        let tools = snapshot(&hub, server).tools.expect("listed");
        assert!(
            tools.iter().any(|listed| listed.name == tool),
            "{server} does not list {tool}"
        );
        let answer = call(&hub, server, tool, arguments).await.expect("an answer");
        assert!(answer.to_string().contains(expected), "{server}.{tool}: {answer}");
    };
    check("everything", "echo", json!({"message": "ping-1"}), "ping-1").await;
    check("everything", "get-sum", json!({"a": 2, "b": 40}), "42").await;
    check("memory", "read_graph", json!({}), "entities").await;
    check(
        "thinking",
        "sequentialthinking",
        json!({"thought": "t", "nextThoughtNeeded": false, "thoughtNumber": 1,
        "totalThoughts": 1}),
        "thoughtHistoryLength",
    )
    .await;
    check("time", "get_current_time", json!({"timezone": "UTC"}), "UTC").await;
    check("calculator", "calculate", json!({"expression": "6*7"}), "42").await;
    check("sqlite", "list_tables", json!({}), "content").await;
    check("filesystem", "list_allowed_directories", json!({}), "/upstreams").await;
    let repository = definitions
        .iter()
        .find(|(name, _)| name == "git")
        .expect("git")
        .1
        .args[1]
        .clone();
    check("git", "git_log", json!({"repo_path": repository}), "one").await;
    assert!(snapshot(&hub, "excel").tools.expect("listed").len() > 20);
    hub.shutdown().await;
}
