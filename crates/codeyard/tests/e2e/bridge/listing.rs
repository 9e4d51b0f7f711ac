//! The text sent to a model before its first call: one tool and one resource, whatever servers are connected.

use serde_json::{Value, json};
use test_support::{BridgeClient, Codeyard, ServerDefinition};

use crate::bridge::with_variables;

const CAPABILITIES: &str = "resource://mcp-server-code-execution-mode/capabilities";

async fn listed(client: &mut BridgeClient) -> Vec<Value> {
    client.mcp.tools().await.unwrap()
}

#[tokio::test]
async fn c284_one_tool() {
    let mut client = BridgeClient::with_stub().await;
    let tools = listed(&mut client).await;
    assert_eq!(tools.len(), 1, "{tools:?}");
    assert_eq!(tools[0]["name"], "run_python");
    let schema = &tools[0]["inputSchema"];
    assert_eq!(schema["required"], json!(["code"]));
    let properties = &schema["properties"];
    assert_eq!(properties["code"]["type"], "string");
    assert_eq!(properties["servers"]["type"], "array");
    assert_eq!(properties["servers"]["items"]["type"], "string");
    let timeout = &properties["timeout"];
    assert_eq!(
        [
            &timeout["type"],
            &timeout["minimum"],
            &timeout["maximum"],
            &timeout["default"]
        ],
        [&json!("integer"), &json!(1), &json!(120), &json!(30)]
    );
    let described = properties["code"]["description"].as_str().unwrap();
    for word in [
        "runtime.discovered_servers()",
        "save_tool(func)",
        "runtime.capability_summary()",
    ] {
        assert!(described.contains(word), "{described}");
    }
}

#[tokio::test]
async fn the_bounds_of_timeouts_come_from_the_variables() {
    let mut client = with_variables(&[("MCP_BRIDGE_TIMEOUT", "5s"), ("MCP_BRIDGE_MAX_TIMEOUT", "2m")]).await;
    let timeout = &listed(&mut client).await[0]["inputSchema"]["properties"]["timeout"];
    assert_eq!(
        (&timeout["default"], &timeout["maximum"]),
        (&json!(5), &json!(120))
    );
}

#[tokio::test]
async fn c285_constant_overhead() {
    let mut seen = Vec::new();
    for servers in [0, 1, 200] {
        let named: Vec<String> = (0..servers).map(|number| format!("crowd-{number}")).collect();
        let definition = ServerDefinition::replay("filesystem");
        let definitions: Vec<_> = named
            .iter()
            .map(|name| (name.as_str(), definition.clone()))
            .collect();
        let codeyard = Codeyard::new()
            .unwrap()
            .definition("crowd.json", &definitions)
            .unwrap();
        let mut client = BridgeClient::of(codeyard).await;
        // Connected servers do not change the text, whether their tools are known or not.
        if servers == 1 {
            let answer = client
                .run_with(
                    &["crowd-0"],
                    "print(len(runtime.list_tools_sync('crowd-0')) > 10)",
                )
                .await;
            assert_eq!(answer.text(), "True", "{answer:?}");
        }
        seen.push(Value::from(listed(&mut client).await).to_string());
    }
    assert_eq!(seen[0], seen[1]);
    assert_eq!(seen[0], seen[2]);
    assert!(
        seen[0].len() <= 1_600 && !seen[0].contains("crowd"),
        "{}",
        seen[0]
    );
}

#[tokio::test]
async fn c286_the_resource() {
    let mut client = BridgeClient::with_stub().await;
    let listed = client.mcp.result("resources/list", json!({})).await.unwrap();
    let resources = listed["resources"].as_array().unwrap();
    assert_eq!(resources.len(), 1, "{listed}");
    let resource = &resources[0];
    assert_eq!(resource["uri"], CAPABILITIES);
    assert_eq!(resource["name"], "code-execution-capabilities");
    assert_eq!(resource["title"], "Code Execution Sandbox Helpers");
    assert_eq!(resource["mimeType"], "text/markdown");
    let read = client
        .mcp
        .result("resources/read", json!({"uri": CAPABILITIES}))
        .await
        .unwrap();
    let text = read["contents"][0]["text"].as_str().unwrap();
    assert_eq!(resource["size"], text.len());
    for said in [
        "# Code Execution MCP Capabilities",
        "discovered_servers",
        "servers=[",
        "_sync",
        "cwd",
    ] {
        assert!(text.contains(said), "no {said:?} in {text}");
    }
    let unknown = format!("{CAPABILITIES}/unknown");
    let refused = client
        .mcp
        .request("resources/read", json!({"uri": unknown}))
        .await
        .unwrap();
    let refused = &refused["error"];
    assert_eq!(refused["code"], -32602, "{refused}");
    assert_eq!(refused["message"], format!("Unknown resource: {unknown}"));
}

#[tokio::test]
async fn c334_another_tool() {
    let mut client = BridgeClient::with_stub().await;
    let answer = client
        .mcp
        .call_tool("run_bash", json!({"code": "ls"}))
        .await
        .unwrap();
    assert_eq!(answer["isError"], true, "{answer}");
    let text = answer["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("Unknown tool: run_bash"), "{text}");
    client.check_healthy().await;
}
