//! Places of server definitions, and definitions that appear, vanish, break or refer to codeyard.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use test_support::{BridgeClient, Codeyard, ServerDefinition, codeyard_binary};

use crate::bridge::installation;

/// The names of all servers that a program finds.
async fn known(client: &mut BridgeClient) -> String {
    let answer = client.run("print(*sorted(runtime.discovered_servers()))").await;
    assert!(!answer.is_error(), "{answer:?}");
    answer.text().to_owned()
}

fn write(path: &Path, content: &Value) {
    fs::write(path, content.to_string()).unwrap();
}

fn entry(definition: &ServerDefinition, name: &str) -> Value {
    json!({"mcpServers": {name: definition.to_json()}})
}

#[tokio::test]
async fn c317_definitions_are_read_again() {
    let mut client = BridgeClient::with_stub().await;
    assert_eq!(known(&mut client).await, "other stub");
    let directory = client.codeyard.home_directory().join("MCPs");
    write(
        &directory.join("new.json"),
        &entry(&ServerDefinition::stub(), "new"),
    );
    fs::write(directory.join("broken.json"), "{\"mcpServers\": ").unwrap();
    write(
        &directory.join("without.json"),
        &json!({"mcpServers": {"without": {"args": ["x"]}, "number": {"command": 5}}}),
    );
    // First by file name, but other.json has the definition in effect.
    let elsewhere = ServerDefinition::stub().description("Another");
    write(&directory.join("twice.json"), &entry(&elsewhere, "stub"));
    assert_eq!(known(&mut client).await, "new other stub");
    let answer = client
        .run_with(&["new"], "print(await mcp_new.echo(message='new'))")
        .await;
    assert_eq!(answer.text(), "new", "{answer:?}");
    let log = client.mcp.stderr();
    for named in ["broken.json", "without", "number", "twice.json"] {
        assert!(log.contains(named), "no {named:?} in {log}");
    }
    client
        .check(
            "print(runtime.describe_server('stub')['description'])",
            "Stub server",
        )
        .await;
    // Reported once, not at each call.
    let told = |log: &str| log.matches("broken.json").count();
    let before = told(&client.mcp.stderr());
    known(&mut client).await;
    assert_eq!(told(&client.mcp.stderr()), before);
    fs::remove_file(directory.join("new.json")).unwrap();
    assert_eq!(known(&mut client).await, "other stub");
    client.check_healthy().await;
}

#[tokio::test]
async fn a_description_of_the_file_is_the_fallback() {
    let file = json!({
        "description": "Of the file",
        "mcpServers": {"own": ServerDefinition::stub().to_json(), "fallback": {"command": "true"}},
    });
    let codeyard = Codeyard::new()
        .unwrap()
        .home_file("MCPs/all.json", &file.to_string())
        .unwrap();
    let mut client = BridgeClient::of(codeyard).await;
    let answer = client
        .run("print({s['name']: s['description'] for s in runtime.discovered_servers(detailed=True)})")
        .await;
    assert_eq!(answer.text(), "{'own': 'Stub server', 'fallback': 'Of the file'}");
}

#[tokio::test]
async fn c318_cwd() {
    let directory = tempfile::tempdir().unwrap();
    let cwd = directory.path().canonicalize().unwrap();
    let codeyard = Codeyard::new()
        .unwrap()
        .definition("stub.json", &[("stub", ServerDefinition::stub().cwd(&cwd))])
        .unwrap()
        .definition(
            "lost.json",
            &[("lost", ServerDefinition::stub().cwd(Path::new("/nowhere/at/all")))],
        )
        .unwrap();
    let mut client = BridgeClient::of(codeyard).await;
    let code = "print(await mcp_stub.cwd())\nprint(runtime.describe_server('stub')['cwd'])";
    client.check(code, &format!("{0}\n{0}", cwd.display())).await;
    let answer = client
        .run_with(&["lost"], "print(await mcp_lost.echo(message='x'))")
        .await;
    let told = format!("{} {}", answer.text(), client.mcp.stderr());
    assert!(told.contains("/nowhere/at/all"), "{told}");
    client.check_healthy().await;
}

#[tokio::test]
async fn c319_self_reference() {
    let ours = codeyard_binary().to_string_lossy().into_owned();
    let servers = json!({"mcpServers": {
        "mcp-server-code-execution-mode": {"command": "python", "args": ["server.py"]},
        "by-command": {"command": "/usr/bin/mcp-server-code-execution-mode", "args": []},
        "by-argument": {"command": "uvx", "args": ["--from", "git+https://example.org/x", "mcp-server-code-execution-mode", "run"]},
        "ours": {"command": ours, "args": ["mcp", "--surface", "bridge"]},
        "stub": ServerDefinition::stub().to_json(),
    }})
    .to_string();
    let codeyard = || {
        Codeyard::new()
            .unwrap()
            .home_file("MCPs/all.json", &servers)
            .unwrap()
    };
    let mut client = BridgeClient::of(codeyard()).await;
    assert_eq!(known(&mut client).await, "stub");
    let mut client = BridgeClient::of(codeyard().env("MCP_BRIDGE_ALLOW_SELF_SERVER", "1")).await;
    let all = "by-argument by-command mcp-server-code-execution-mode ours stub";
    assert_eq!(known(&mut client).await, all);
    // A definition that starts codeyard ends too: the inner codeyard does not start another.
    let answer = client
        .run_with(
            &["ours"],
            "print((await mcp_ours.run_python(code='print(1)'))['content'][0]['text'])",
        )
        .await;
    assert_eq!(answer.text(), "1", "{answer:?}");
}

#[tokio::test]
async fn c320_one_more_file() {
    let stub = ServerDefinition::stub();
    let toml = format!(
        "[mcpServers.t]\ncommand = {:?}\nargs = {:?}\n",
        stub.command, stub.args
    );
    for (name, content) in [("x.json", entry(&stub, "t").to_string()), ("x.toml", toml)] {
        let codeyard = installation().home_file(name, &content).unwrap();
        let file = codeyard.home_directory().join(name);
        let mut client = BridgeClient::of(codeyard.env("MCP_SERVERS_CONFIG", file)).await;
        assert_eq!(known(&mut client).await, "other stub t", "{name}");
        let answer = client
            .run_with(&["t"], "print(await mcp_t.echo(message='x'))")
            .await;
        assert_eq!(answer.text(), "x", "{name}: {answer:?}");
    }
}

#[tokio::test]
async fn further_places_are_read_when_asked_for() {
    let stub = ServerDefinition::stub();
    let codeyard = || {
        Codeyard::new()
            .unwrap()
            .home_file(".cursor/mcp.json", &entry(&stub, "cursor").to_string())
            .unwrap()
            .home_file(".claude.json", &entry(&stub, "claude").to_string())
            .unwrap()
    };
    let mut client = BridgeClient::of(codeyard()).await;
    assert_eq!(known(&mut client).await, "");
    let mut client = BridgeClient::of(codeyard().env("MCP_BRIDGE_EXTRA_CONFIG", "1")).await;
    assert_eq!(known(&mut client).await, "claude cursor");
}
