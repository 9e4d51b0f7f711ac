//! `allow` and `deny` of a server's entry: they apply like `[policy]`, to its tools alone.

use serde_json::{Value, json};
use test_support::{CodeClient, Codeyard, ServerDefinition};

/// Two servers with equal tools; the first has rules.
fn two(field: &str, rules: &[&str]) -> Codeyard {
    Codeyard::new()
        .unwrap()
        .server("stub", &ServerDefinition::stub().field(field, json!(rules)))
        .server("free", &ServerDefinition::stub())
}

async fn found(client: &mut CodeClient, query: &str) -> Vec<Value> {
    let answer = client.search(json!({"query": query, "limit": 50})).await;
    let tools = answer["structuredContent"]["tools"].as_array().unwrap();
    tools
        .iter()
        .map(|tool| json!([tool["server"], tool["tool"]]))
        .collect()
}

#[tokio::test]
async fn tools_denied_by_an_entry_are_neither_called_nor_shown() {
    let mut client = CodeClient::of(two("deny", &["send", "CRA*", "resources/read"])).await;
    let file = client.codeyard.directory().join("config/codeyard/mcp.json");
    let place = format!("of mcpServers.stub of {}", file.display());
    // The first call reaches a server that has not listed its tools yet.
    for call in [
        "await tools.stub.send(to='ana')",
        "await runtime.call_tool('stub', 'send', {'to': 'ana'})",
        "runtime.describe('stub.send')",
    ] {
        let code = format!("try:\n    {call}\nexcept Exception as e:\n    print(e)");
        let denied = format!("tool 'stub.send' is denied by policy (deny rule 'send' {place})\n");
        client.check(&code, &denied).await;
    }
    let ran = client
        .execute(json!({"code": "await tools.stub.crash()", "check": "off"}))
        .await;
    let told = format!("tool 'stub.crash' is denied by policy (deny rule 'CRA*' {place})");
    assert!(ran.error().contains(&told), "{ran:?}");
    let ran = client
        .execute(json!({"code": "mcp.resources.read_sync('x://y', 'stub')"}))
        .await;
    assert!(ran.error().contains("(deny rule 'resources/read' of"), "{ran:?}");
    client
        .check(
            "print(await tools.stub.echo(message='a'), await tools.free.send(to='ana') != None)",
            "a True\n",
        )
        .await;
    let found = found(&mut client, "sends a message to somebody").await;
    assert!(
        found.contains(&json!(["free", "send"])) && !found.contains(&json!(["stub", "send"])),
        "{found:?}"
    );
    let code = "import os\nreturn [sorted(os.listdir('/tools/stub')), [t['name'] for t in runtime.list_tools_sync('stub')], dir(tools.stub)]";
    let shown = client.run(code).await.result().to_string();
    assert!(
        shown.contains("echo.py") && !shown.contains("send") && !shown.contains("crash"),
        "{shown}"
    );
}

#[tokio::test]
async fn an_allow_list_of_an_entry_hides_its_other_tools() {
    let mut client = CodeClient::of(two("allow", &["echo", "list-things"])).await;
    // Programs spell the name differently, and the server has not listed its tools yet.
    client
        .check("print(await tools.stub.list_things() != None)", "True\n")
        .await;
    client
        .check("print(await tools.free.pid() != None)", "True\n")
        .await;
    let ran = client
        .execute(json!({"code": "await tools.stub.pid()", "check": "off"}))
        .await;
    assert!(
        ran.error()
            .contains("tool 'stub.pid' is denied by policy (no allow rule of mcpServers.stub of "),
        "{ran:?}"
    );
}

#[tokio::test]
async fn the_command_line_applies_the_rules() {
    let codeyard = two("deny", &["add"]);
    let listed = codeyard.run(["tools", "--json"]).await.unwrap();
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    for server in listed["servers"].as_array().unwrap() {
        let tools = server["tools"].as_array().unwrap();
        let denied: Vec<&Value> = tools
            .iter()
            .filter(|tool| tool["denied"] == true)
            .map(|tool| &tool["name"])
            .collect();
        let expected: &[&str] = if server["name"] == "stub" { &["add"] } else { &[] };
        assert_eq!(denied, expected, "{server}");
    }
    let stub = ServerDefinition::stub().field("deny", json!(["add"]));
    let project = json!({"mcpServers": {"stub": stub.to_json()}}).to_string();
    std::fs::write(codeyard.work_directory().join(".mcp.json"), project).unwrap();
    for (args, told) in [
        (
            ["call", "stub.add", r#"{"a": 1, "b": 2}"#].as_slice(),
            "(deny rule 'add' of mcpServers.stub of ",
        ),
        (&["trust"], "tools: not 'add'"),
    ] {
        let ended = codeyard.run(args).await.unwrap();
        let text = String::from_utf8([ended.stdout, ended.stderr].concat()).unwrap();
        assert!(text.contains(told), "{args:?}: {text}");
    }
}

#[tokio::test]
async fn careless_rules_of_an_entry_are_mistakes() {
    for (field, rule, told) in [
        (
            "deny",
            json!(["stub.add"]),
            "mcpServers.stub.deny[0]: 'stub.add' names the server, which is left out here; write 'add', or 'stub[.]add' if",
        ),
        (
            "allow",
            json!(["a", ""]),
            "mcpServers.stub.allow[1]: is empty; write a tool's name",
        ),
        (
            "deny",
            json!(["x["]),
            "mcpServers.stub.deny[0]: 'x[' is not a valid pattern",
        ),
        (
            "deny",
            json!("add"),
            "mcpServers.stub.deny: expected an array of strings, found a string",
        ),
    ] {
        let stub = ServerDefinition::stub().field(field, rule.clone());
        let codeyard = Codeyard::new().unwrap().server("stub", &stub);
        let ended = codeyard.run(["tools"]).await.unwrap();
        let text = String::from_utf8(ended.stderr).unwrap();
        assert!(
            ended.status.code() == Some(2) && text.contains(told),
            "{rule}: {text}"
        );
    }
}
