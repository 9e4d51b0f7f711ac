//! Clients with a virtual server from `codeyard install --url`; they connect as their files say.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use clients::{Client, TOKEN_VARIABLE, TokenPlace, installed};
use serde_json::{Value, json};
use test_support::{Codeyard, Era};

use super::actors::ALICE;
use super::running::Gateway;
use crate::http::served::{self, initialize};

/// The client's requests to the address in its file, as the client interprets its own entry.
fn connection(client: Client, text: &str, token: &str) -> (String, String) {
    let document = client.format().parse(text).unwrap();
    let entry = installed(client, &document).unwrap();
    let address = ["url", "serverUrl", "httpUrl", "uri"].into_iter();
    let address = address.filter_map(|key| entry[key].as_str()).next().unwrap();
    let header = match client {
        Client::Codex => {
            assert_eq!(entry["bearer_token_env_var"], TOKEN_VARIABLE);
            format!("Bearer {token}")
        }
        _ => {
            let written = entry["headers"]["Authorization"].as_str().unwrap();
            let reference = match client {
                Client::VsCode => {
                    assert_eq!(document["inputs"][0]["id"], "codeyard-token");
                    "${input:codeyard-token}".to_owned()
                }
                Client::Cursor | Client::Windsurf => format!("${{env:{TOKEN_VARIABLE}}}"),
                Client::Opencode => format!("{{env:{TOKEN_VARIABLE}}}"),
                Client::ClaudeCode => format!("${{{TOKEN_VARIABLE}:-}}"),
                Client::Zed => token.to_owned(),
                _ => format!("${{{TOKEN_VARIABLE}}}"),
            };
            assert!(written.contains(&reference), "{client}: {written}");
            written.replace(&reference, token)
        }
    };
    (address.to_owned(), header)
}

/// Sends a client's message with this header; returns the response's message.
async fn ask(gateway: &Gateway, path: &str, headers: &[(&str, &str)], message: &Value) -> served::Response {
    let mut all = vec![
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
    ];
    all.extend(headers);
    let body = message.to_string();
    let answer = served::send(&gateway.address, ("POST", path), &all, body.as_bytes()).await;
    answer.whole().await
}

/// Opens a session, lists the tools and runs a program.
async fn use_server(gateway: &Gateway, client: Client, (url, header): (String, String)) {
    let origin = format!("http://{}", gateway.address);
    let path = url
        .strip_prefix(&origin)
        .unwrap_or_else(|| panic!("{client}: {url}"));
    let opened = ask(gateway, path, &[("authorization", &header)], &initialize()).await;
    assert_eq!(opened.status, 200, "{client}: {}", opened.text());
    let session = opened.header("mcp-session-id").unwrap();
    let headers = [("authorization", header.as_str()), ("mcp-session-id", session)];
    let request = |method, params| json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let listed = ask(gateway, path, &headers, &request("tools/list", json!({}))).await;
    let listed = listed.events().pop().unwrap();
    assert_eq!(
        listed["result"]["tools"][0]["name"], "shell_exec",
        "{client}: {listed}"
    );
    let arguments = json!({"code": "print(6 * 7)", "language": "python"});
    let params = json!({"name": "shell_exec", "arguments": arguments});
    let ran = ask(gateway, path, &headers, &request("tools/call", params)).await;
    let ran = ran.events().pop().unwrap();
    assert_eq!(
        ran["result"]["structuredContent"]["output"], "42\n",
        "{client}: {ran}"
    );
}

fn token_file(gateway: &Gateway, token: &str) -> PathBuf {
    let file = gateway.codeyard.directory().join("token");
    fs::write(&file, token).unwrap();
    fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
    file
}

/// Creates the directories of clients that have run once.
fn make_directories(gateway: &Gateway) {
    let (home, config) = (
        gateway.codeyard.home_directory(),
        gateway.codeyard.directory().join("config"),
    );
    for name in [".cursor", ".codeium/windsurf", ".gemini", ".codex"] {
        fs::create_dir_all(home.join(name)).unwrap();
    }
    for name in ["Code/User", "zed", "opencode", "goose", "Claude"] {
        fs::create_dir_all(config.join(name)).unwrap();
    }
}

#[tokio::test]
async fn every_client_with_addresses_uses_a_virtual_server() {
    let gateway = Gateway::with_stub().await;
    let id = gateway.cs_a(&json!({})).await;
    let url = format!("http://{}/servers/{id}/mcp", gateway.address);
    let token = gateway.token(&ALICE).await;
    let token_file = token_file(&gateway, &token);
    let token_file = token_file.to_str().unwrap();
    make_directories(&gateway);
    let mut count = 0;
    for client in Client::ALL {
        if client.token_place() == TokenPlace::Nowhere {
            continue;
        }
        let install = [
            "install",
            client.id(),
            "--url",
            &url,
            "--token-file",
            token_file,
            "--yes",
            "--json",
        ];
        let told = gateway.command(&install).await.json();
        assert_eq!(told["taken"], json!([]), "{client}: {told}");
        let file = told["file"].as_str().unwrap();
        let text = fs::read_to_string(file).unwrap();
        assert_eq!(text.contains(&token), client == Client::Zed, "{client}: {text}");
        use_server(&gateway, client, connection(client, &text, &token)).await;
        let undone = gateway
            .command(&["install", client.id(), "--undo", "--yes"])
            .await;
        assert_eq!(undone.code, 0, "{client}: {undone:?}");
        assert!(
            !fs::read_to_string(file).unwrap_or_default().contains(&url),
            "{client}"
        );
        count += 1;
    }
    assert_eq!(count, 9);
}

#[tokio::test]
async fn servers_stay_with_a_client_of_a_virtual_server() {
    let gateway = Gateway::with_stub().await;
    let url = format!("http://{}/servers/lab/mcp", gateway.address);
    let stub = gateway.codeyard.home_directory().join(".cursor");
    fs::create_dir_all(&stub).unwrap();
    fs::write(
        stub.join("mcp.json"),
        r#"{"mcpServers": {"stub": {"command": "stub-server"}}}"#,
    )
    .unwrap();
    let told = gateway
        .command(&["install", "cursor", "--url", &url, "--dry-run"])
        .await;
    for words in [
        "`stub` stays as it is",
        "mount rules",
        "keep `codeyard serve` running",
    ] {
        assert!(told.out.contains(words), "{words}: {told:?}");
    }
}

#[tokio::test]
async fn a_client_without_addresses_is_bridged_as_its_refusal_says() {
    let gateway = Gateway::with_stub().await;
    let id = gateway.cs_a(&json!({})).await;
    let url = format!("http://{}/servers/{id}/mcp", gateway.address);
    make_directories(&gateway);
    let refused = gateway
        .command(&["install", "claude-desktop", "--url", &url])
        .await;
    assert_eq!(refused.code, 2, "{refused:?}");
    assert!(
        refused
            .err
            .contains("`codeyard mcp --surface standard --config FILE`"),
        "{refused:?}"
    );
    let headers = json!({"Authorization": "Bearer ${CODEYARD_TOKEN}"});
    let bridge = Codeyard::new()
        .unwrap()
        .env("CODEYARD_TOKEN", gateway.token(&ALICE).await)
        .server_json("lab", json!({"url": url, "headers": headers}));
    let mut client = bridge.standard_unopened().unwrap();
    client.open(Era::Legacy).await.unwrap();
    let listed = client.result("tools/list", json!({})).await.unwrap();
    assert_eq!(listed["tools"][0]["name"], "shell_exec", "{listed}");
    let arguments = json!({"code": "print(6 * 7)", "language": "python"});
    let ran = client.call_tool("shell_exec", arguments).await.unwrap();
    assert_eq!(ran["structuredContent"]["output"], "42\n", "{ran}");
}
