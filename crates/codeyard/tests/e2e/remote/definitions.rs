//! Unusable definitions of remote servers: every mistake at once, with field and remedy.

use serde_json::json;
use test_support::Codeyard;

#[tokio::test]
async fn every_mistake_is_named_before_anything_starts() {
    let codeyard = Codeyard::new()
        .unwrap()
        .server_json("plain", json!({"url": "http://example.com/mcp"}))
        .server_json("both", json!({"url": "https://a.example", "command": "x"}))
        .server_json(
            "two",
            json!({"url": "https://a.example", "serverUrl": "https://b.example"}),
        )
        .server_json("kind", json!({"url": "https://a.example", "type": "websocket"}))
        .server_json("none", json!({"type": "sse"}))
        .server_json("user", json!({"url": "https://me:s3cret@a.example/"}))
        .server_json(
            "header",
            json!({"url": "https://a.example", "headers": {"Host": "b", "X-Key": "s3cret\n"}}),
        )
        .server_json(
            "token",
            json!({"url": "https://a.example", "headers": {"Authorization": "x"}, "bearerTokenFile": "t"}),
        );
    let output = codeyard.run(["tools"]).await.unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success(), "{told}");
    for expected in [
        "mcpServers.plain.url: is plain HTTP, which anyone on the network can read and change; use https",
        "mcpServers.both.command: conflicts with the address",
        "mcpServers.two.serverUrl: conflicts with `url`; write one address",
        "mcpServers.kind.type: Invalid connection type: websocket. Must be sse, stdio, or http",
        "mcpServers.none.url: is missing; write the address of the server",
        "mcpServers.user.url: holds a user name or a password; put credentials in `headers` or `bearerTokenFile`",
        "mcpServers.header.headers.Host: is set by codeyard itself",
        "mcpServers.header.headers.X-Key: holds a line break",
        "mcpServers.token.bearerTokenFile: conflicts with `Authorization`",
    ] {
        assert!(told.contains(expected), "{expected}\n---\n{told}");
    }
    assert!(!told.contains("s3cret"), "{told}");
}
