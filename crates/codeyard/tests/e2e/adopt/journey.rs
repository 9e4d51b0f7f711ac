//! From a Cursor configuration of ten servers to programs in two commands.

use serde_json::{Value, json};
use test_support::{Era, McpClient, ServerDefinition, codeyard_binary};
use tokio::process::Command;

use crate::adopt::{CURSOR, Home};

#[tokio::test]
#[expect(
    clippy::disallowed_methods,
    reason = "the client is ended by the test, and its servers with it"
)]
async fn two_commands_lead_from_ten_servers_to_programs() {
    let mut servers = serde_json::Map::new();
    for name in ["crm", "orders", "mailbox"] {
        servers.insert(
            name.to_owned(),
            json!({"command": codeyard_binary(), "args": ["demo-server", name]}),
        );
    }
    for number in 1..=7 {
        servers.insert(format!("stub-{number}"), ServerDefinition::stub().to_json());
    }
    let home = Home::with(
        CURSOR,
        &serde_json::to_string_pretty(&json!({ "mcpServers": servers })).unwrap(),
    );

    let imported = home.done(&["import", "cursor", "--yes"]).await;
    assert!(imported.out.contains("added 10 servers"), "{imported:?}");
    let installed = home.done(&["install", "cursor", "--yes"]).await;
    assert!(
        installed.out.contains("codeyard is installed in Cursor"),
        "{installed:?}"
    );

    let file: Value = serde_json::from_str(&home.read(CURSOR)).unwrap();
    let entries = file["mcpServers"].as_object().unwrap();
    assert_eq!(entries.len(), 1, "{file}");
    let entry = &entries["codeyard"];
    let args = entry["args"]
        .as_array()
        .unwrap()
        .iter()
        .map(|word| word.as_str().unwrap());
    // Started as by the official library's client, which passes on hardly any variable.
    let mut command = Command::new(entry["command"].as_str().unwrap());
    command
        .args(args)
        .env_clear()
        .env("HOME", home.directory())
        .kill_on_drop(true);
    command
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .current_dir(home.directory());
    let mut client = McpClient::spawn(command).unwrap();
    client.open(Era::Legacy).await.unwrap();
    assert_eq!(client.tools().await.unwrap().len(), 2);
    let code =
        "return len((await tools.crm.list_customers())['customers']), await tools.stub_7.add(a=2, b=3)";
    let answer = client
        .call_tool("execute_code", json!({ "code": code }))
        .await
        .unwrap();
    assert_ne!(answer["isError"], true, "{answer}");
    client.finish().await.unwrap();

    home.done(&["install", "cursor", "--undo", "--yes"]).await;
    let back: Value = serde_json::from_str(&home.read(CURSOR)).unwrap();
    assert_eq!(back["mcpServers"].as_object().unwrap().len(), 10);
}
