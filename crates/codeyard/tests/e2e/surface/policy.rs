//! `[policy]` of the settings: denied tools are neither called nor proposed.

use std::fs;

use serde_json::{Value, json};
use test_support::{CodeClient, Codeyard, ServerDefinition};

/// The names that a search finds for words of every tool of the stub.
async fn found(client: &mut CodeClient, query: &str) -> Vec<Value> {
    let answer = client.search(json!({"query": query, "limit": 50})).await;
    let tools = answer["structuredContent"]["tools"].as_array().unwrap();
    tools.iter().map(|tool| tool["tool"].clone()).collect()
}

#[tokio::test]
async fn denied_tools_are_neither_called_nor_shown() {
    let log = tempfile::NamedTempFile::new().unwrap();
    let stub = ServerDefinition::stub().env("STUB_LOG", log.path().to_string_lossy());
    let codeyard = Codeyard::new()
        .unwrap()
        .server("stub", &stub)
        .settings("[policy]\ndeny = [\"stub.send\", \"*/cra*\"]");
    let mut client = CodeClient::of(codeyard).await;
    for call in [
        "await tools.stub.send(to='ana')",
        "await mcp_stub.send(to='ana')",
        "servers.stub.send(to='ana')",
        "await __toolcall__('send', {'to': 'ana'})",
        "await runtime.call_tool('stub', 'send', {'to': 'ana'})",
        "await tools.stub.send(too='no matter')",
    ] {
        let code = format!("try:\n    {call}\nexcept ToolError as e:\n    print(e.kind, e)");
        client
            .check(
                &code,
                "denied tool 'stub.send' is denied by policy (deny rule 'stub.send')\n",
            )
            .await;
    }
    assert_eq!(fs::read_to_string(log.path()).unwrap(), "");
    let ran = client
        .execute(json!({"code": "await tools.stub.crash()", "check": "off"}))
        .await;
    assert!(
        ran.error()
            .contains("tool 'stub.crash' is denied by policy (deny rule '*/cra*')"),
        "{ran:?}"
    );
    client
        .check("print(await tools.stub.echo(message='allowed'))", "allowed\n")
        .await;

    assert!(
        !found(&mut client, "sends a message to somebody")
            .await
            .contains(&json!("send"))
    );
    let code = "import os\nreturn [sorted(os.listdir('/tools/stub')), [t['name'] for t in runtime.list_tools_sync('stub')], dir(tools.stub)]";
    let shown = client.run(code).await;
    let shown = shown.result().to_string();
    assert!(
        shown.contains("echo.py") && !shown.contains("send") && !shown.contains("crash"),
        "{shown}"
    );
}

#[tokio::test]
async fn with_allow_rules_nothing_else_is_allowed() {
    let codeyard = Codeyard::with_stub()
        .unwrap()
        .server("clock", &ServerDefinition::replay("time"))
        .settings("[policy]\nallow = [\"stub.e*\", \"stub.add\"]\ndeny = [\"stub.add\"]");
    let mut client = CodeClient::of(codeyard).await;
    client
        .check("print(await tools.stub.echo(message='allowed'))", "allowed\n")
        .await;
    for (call, rule) in [
        ("tools.stub.pid()", "no allow rule matches"),
        (
            "tools.clock.get_current_time(timezone='UTC')",
            "no allow rule matches",
        ),
        ("tools.stub.add(a=1, b=1)", "deny rule 'stub.add'"),
    ] {
        let code = format!("await {call}");
        let ran = client.execute(json!({"code": code, "check": "off"})).await;
        assert!(
            ran.error().contains("is denied by policy") && ran.error().contains(rule),
            "{ran:?}"
        );
    }
    assert_eq!(
        found(&mut client, "returns the message time add").await,
        [json!("echo")]
    );
}
