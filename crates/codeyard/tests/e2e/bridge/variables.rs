//! Valid and invalid variables of the bridge, and the ways to start the bridge.

use std::process::Output;

use serde_json::json;
use test_support::{BridgeClient, Era};

use crate::bridge::{installation, with_variables, within};

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Starts the bridge with this variable and no client.
async fn started_with(name: &str, value: &str) -> Output {
    installation()
        .env(name, value)
        .run(["mcp", "--surface", "bridge"])
        .await
        .unwrap()
}

#[tokio::test]
async fn c330_durations_and_sizes() {
    for (name, value) in [
        ("MCP_BRIDGE_TIMEOUT", "30s"),
        ("MCP_BRIDGE_TIMEOUT", "500ms"),
        ("MCP_BRIDGE_TIMEOUT", "7"),
        ("MCP_BRIDGE_MAX_TIMEOUT", "2m"),
        ("MCP_BRIDGE_RUNTIME_IDLE_TIMEOUT", "0"),
        ("MCP_BRIDGE_MEMORY", "512m"),
        ("MCP_BRIDGE_MEMORY", "1g"),
        ("MCP_BRIDGE_RUNTIME", "auto"),
    ] {
        let ended = started_with(name, value).await;
        assert!(ended.status.success(), "{name}={value}: {}", text(&ended.stderr));
    }
}

#[tokio::test]
async fn c330_what_is_malformed_is_named() {
    for (name, value) in [
        ("MCP_BRIDGE_TIMEOUT", "abc"),
        ("MCP_BRIDGE_TIMEOUT", "-1"),
        ("MCP_BRIDGE_TIMEOUT", "0"),
        ("MCP_BRIDGE_MAX_TIMEOUT", "1 day"),
        ("MCP_BRIDGE_RUNTIME_IDLE_TIMEOUT", "soon"),
        ("MCP_BRIDGE_MEMORY", "lots"),
        ("MCP_BRIDGE_MEMORY", "1k"),
        ("MCP_BRIDGE_PIDS", "many"),
        ("MCP_BRIDGE_PIDS", "0"),
        ("MCP_BRIDGE_CPUS", "-0.5"),
        ("MCP_BRIDGE_CPUS", "nan"),
        ("MCP_BRIDGE_CONTAINER_USER", "root"),
        ("MCP_BRIDGE_CONTAINER_USER", "0:0"),
        ("MCP_BRIDGE_LOG_LEVEL", "loud"),
        ("MCP_BRIDGE_RUNTIME", "nonexistent"),
    ] {
        let ended = started_with(name, value).await;
        let told = text(&ended.stderr);
        assert_eq!(ended.status.code(), Some(2), "{name}={value}: {told}");
        assert!(
            told.contains(name) && told.contains(value) && !told.contains("panicked"),
            "{told}"
        );
        assert_eq!(text(&ended.stdout), "");
    }
}

#[tokio::test]
async fn all_mistakes_are_told_at_once() {
    let codeyard = installation()
        .env("MCP_BRIDGE_TIMEOUT", "abc")
        .env("MCP_BRIDGE_PIDS", "many")
        .env("MCP_BRIDGE_TIMOUT", "3");
    let ended = codeyard.run(["mcp", "--surface", "bridge"]).await.unwrap();
    let told = text(&ended.stderr);
    for said in ["MCP_BRIDGE_TIMEOUT", "MCP_BRIDGE_PIDS"] {
        assert!(told.contains(said), "no {said} in {told}");
    }
}

#[tokio::test]
async fn an_unknown_variable_is_told_with_the_nearest() {
    let ended = started_with("MCP_BRIDGE_TIMOUT", "3").await;
    let told = text(&ended.stderr);
    assert!(
        ended.status.success() && told.contains("MCP_BRIDGE_TIMOUT") && told.contains("MCP_BRIDGE_TIMEOUT"),
        "{told}"
    );
}

#[tokio::test]
async fn c329_containers_are_not_there() {
    for (name, value) in [
        ("MCP_BRIDGE_RUNTIME", "podman"),
        ("MCP_BRIDGE_RUNTIME", "docker"),
        ("MCP_BRIDGE_IMAGE", "python:3.14-slim"),
    ] {
        let mut client = with_variables(&[(name, value)]).await;
        let answer = within(5.0, client.run("print(1)")).await;
        assert!(answer.is_error(), "{answer:?}");
        for said in [name, "containers", "MCP_BRIDGE_RUNTIME=auto"] {
            assert!(answer.text().contains(said), "no {said:?} in {answer:?}");
        }
        client.check_healthy().await;
    }
}

#[tokio::test]
async fn c333_logs() {
    let stub = test_support::ServerDefinition::stub().env("STUB_SECRET", "s3cr3t-upstream");
    for level in ["DEBUG", "INFO", "warning"] {
        let codeyard = installation()
            .definition("stub.json", &[("stub", stub.clone())])
            .unwrap()
            .env("MCP_BRIDGE_LOG_LEVEL", level);
        // Any line on standard output that is not JSON-RPC would end the connection.
        let mut client = BridgeClient::of(codeyard).await;
        client
            .check(
                "mark = 'user-code-5521'\nprint(await mcp_stub.echo(message='x'))",
                "x",
            )
            .await;
        let log = client.mcp.stderr();
        assert_eq!(log.contains("DEBUG"), level == "DEBUG", "{level}: {log}");
        assert!(
            !log.contains("user-code-5521") && !log.contains("s3cr3t-upstream"),
            "{level}: {log}"
        );
    }
}

#[tokio::test]
async fn c374_launch_forms() {
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": Era::Legacy.version(), "capabilities": {}, "clientInfo": {"name": "t", "version": "1"},
    }});
    for arguments in [vec!["run"], vec!["mcp", "--surface", "bridge"]] {
        let served = installation()
            .run_with_input(&arguments, &format!("{hello}\n"))
            .await
            .unwrap();
        let answer = text(&served.stdout);
        assert!(
            served.status.success() && answer.contains("\"serverInfo\""),
            "{arguments:?}: {served:?}"
        );
    }
    let codeyard = installation();
    for (arguments, code, said) in [
        (vec!["--help"], 0, "Usage: codeyard"),
        (vec!["--version"], 0, "codeyard "),
        (vec!["run", "--help"], 0, "Usage: codeyard run"),
    ] {
        let ended = codeyard.run(&arguments).await.unwrap();
        assert_eq!(ended.status.code(), Some(code), "{arguments:?}");
        assert!(
            text(&ended.stdout).contains(said),
            "{arguments:?}: {}",
            text(&ended.stdout)
        );
    }
    let ended = codeyard.run(["run", "--unknown-flag"]).await.unwrap();
    assert_eq!(ended.status.code(), Some(2));
    assert!(
        text(&ended.stderr).contains("Usage: codeyard run") && ended.stdout.is_empty(),
        "{ended:?}"
    );
    // Nobody sends JSON-RPC on a terminal.
    let terminal = [
        "-qec",
        &format!("{} run", test_support::codeyard_binary().display()),
        "/dev/null",
    ];
    #[expect(
        clippy::disallowed_methods,
        reason = "the test owns the process and kills it on drop"
    )]
    let mut script = tokio::process::Command::new("script");
    let ended = script.args(terminal).kill_on_drop(true).output().await.unwrap();
    assert_eq!(ended.status.code(), Some(2), "{ended:?}");
    assert!(text(&ended.stdout).contains("Usage: codeyard run"), "{ended:?}");
}
