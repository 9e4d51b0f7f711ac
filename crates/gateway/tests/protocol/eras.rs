//! Both protocol eras, their tool lists, and undeclared capabilities.

use serde_json::{Value, json};

use crate::client::{Client, error_of};

/// Adds the fields of a modern request.
fn modern(mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    });
    params
}

#[tokio::test]
async fn every_older_version_is_spoken() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut client = Client::silent();
        let info = client.initialize(version).await;
        assert_eq!(info["protocolVersion"], version);
        assert_eq!(info["serverInfo"]["name"], "codeyard");
        assert_eq!(info["capabilities"], json!({"resources": {}, "tools": {}}));
        assert!(info["instructions"].as_str().unwrap().contains("search_tools"));
        let tools = client.call("tools/list", json!({})).await;
        assert_eq!(tools["result"]["tools"][0]["name"], "execute_code");
        assert_eq!(tools["result"].get("resultType"), None, "unknown to this era");
        client.check_alive().await;
        assert!(client.finish().await.is_empty());
    }
}

#[tokio::test]
async fn an_unknown_version_is_answered_with_one_of_ours() {
    let mut client = Client::silent();
    assert_eq!(
        client.initialize("1999-01-01").await["protocolVersion"],
        "2025-11-25"
    );
    client.check_alive().await;
}

#[tokio::test]
async fn the_stateless_era_is_spoken() {
    let mut client = Client::silent();
    let discovered = client.call("server/discover", modern(json!({}))).await["result"].clone();
    assert!(
        discovered["supportedVersions"]
            .as_array()
            .unwrap()
            .contains(&json!("2026-07-28"))
    );
    assert_eq!(discovered["resultType"], "complete");
    assert!(discovered["instructions"].is_string());
    let listed = client.call("tools/list", modern(json!({}))).await["result"].clone();
    assert_eq!(listed["resultType"], "complete");
    assert_eq!(listed["cacheScope"], "public");
    assert!(listed["ttlMs"].as_u64().unwrap() > 0);
    let arguments = json!({"name": "execute_code", "arguments": {"code": "return 5"}});
    let ran = client.call("tools/call", modern(arguments)).await["result"].clone();
    assert_eq!(ran["resultType"], "complete");
    assert_eq!(ran["structuredContent"]["result"], "5");
    let (code, _) = error_of(&client.call("ping", modern(json!({}))).await);
    assert_eq!(code, -32601, "there is no ping in this era");
}

#[tokio::test]
async fn an_unsupported_stateless_version_is_refused_and_the_connection_continues() {
    let mut client = Client::silent();
    let mut params = modern(json!({}));
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2099-01-01");
    let answer = client.call("tools/list", params).await;
    assert_eq!(answer["error"]["code"], -32022);
    assert!(
        answer["error"]["data"]["supported"]
            .as_array()
            .unwrap()
            .contains(&json!("2026-07-28"))
    );
    client.initialize("2025-11-25").await;
    client.check_alive().await;
}

#[tokio::test]
async fn the_list_of_tools_is_the_same_bytes_each_time() {
    let mut lists = Vec::new();
    for _ in 0..2 {
        let mut client = Client::connected().await;
        for id in [1, 1] {
            client.request(id, "tools/list", json!({})).await;
            lists.push(client.line().await.unwrap());
        }
    }
    lists.dedup();
    assert_eq!(lists.len(), 1);
}

#[tokio::test]
async fn undeclared_methods_are_not_found() {
    let mut client = Client::connected().await;
    for (method, params) in [
        ("prompts/list", json!({})),
        ("prompts/get", json!({"name": "x"})),
        ("resources/subscribe", json!({"uri": "x:y"})),
        (
            "completion/complete",
            json!({"ref": {"type": "ref/prompt", "name": "x"}, "argument": {"name": "a", "value": ""}}),
        ),
        ("logging/setLevel", json!({"level": "info"})),
        ("tasks/get", json!({"taskId": "x"})),
        ("no/such/method", json!({})),
    ] {
        let (code, message) = client.error(method, params).await;
        assert_eq!(code, -32601, "{method}: {message}");
        assert!(message.contains(method), "{message}");
    }
    assert_eq!(client.call("ping", json!({})).await["result"], json!({}));
    client.check_alive().await;
}

#[tokio::test]
async fn wrong_parameters_are_reported() {
    let mut client = Client::connected().await;
    for params in [
        json!({}),
        json!({"name": 5}),
        json!({"name": "execute_code", "arguments": "x"}),
        json!({"name": "execute_code", "arguments": [1]}),
    ] {
        let (code, message) = client.error("tools/call", params).await;
        assert_eq!(
            (code, message.contains("tools/call")),
            (-32602, true),
            "{message}"
        );
    }
    let (code, message) = client.error("tools/call", json!({"name": "github_search"})).await;
    assert_eq!(code, -32602);
    assert!(message.starts_with("Unknown tool: github_search;"), "{message}");
    client.check_alive().await;
}

#[tokio::test]
async fn artifacts_are_resources_in_both_eras() {
    for wrap in [|params| params, modern] {
        let mut client = Client::silent();
        if wrap(json!({})) == json!({}) {
            client.initialize("2025-11-25").await;
        }
        let listed = client.call("resources/list", wrap(json!({}))).await["result"].clone();
        let uri = "codeyard://results/default/tables/of%20may.csv";
        assert_eq!(
            listed["resources"],
            json!([{"uri": uri, "name": "tables/of may.csv", "description": "written in session 'default'", "mimeType": "text/csv", "size": 3}])
        );
        assert_eq!(listed.get("nextCursor"), None);
        let read = client.call("resources/read", wrap(json!({"uri": uri}))).await["result"].clone();
        assert_eq!(
            read["contents"],
            json!([{"uri": uri, "mimeType": "text/csv", "text": "a,b"}])
        );
        let templates = client.call("resources/templates/list", wrap(json!({}))).await["result"].clone();
        assert_eq!(
            templates["resourceTemplates"][0]["uriTemplate"],
            "codeyard://results/{session}/{+path}"
        );
    }
}

#[tokio::test]
async fn an_unavailable_resource_is_reported_by_its_uri() {
    let mut client = Client::connected().await;
    for (uri, code, said) in [
        ("codeyard://results/default/gone", -32002, "Resource not found"),
        (
            "codeyard://results/other/tables/of%20may.csv",
            -32002,
            "Resource not found",
        ),
        ("file:///etc/passwd", -32002, "Resource not found"),
        (
            "codeyard://results/default/huge",
            -32602,
            "at most 8388608 are read at once",
        ),
        (
            "codeyard://results/default/link",
            -32602,
            "only regular files are read",
        ),
    ] {
        let answer = client.call("resources/read", json!({"uri": uri})).await;
        let (found, message) = error_of(&answer);
        assert_eq!(found, code, "{message}");
        assert!(message.contains(said) && message.contains(uri), "{message}");
        assert_eq!(answer["error"]["data"]["uri"], uri);
    }
    let answer = client
        .call(
            "resources/read",
            modern(json!({"uri": "codeyard://results/default/gone"})),
        )
        .await;
    assert_eq!(error_of(&answer).0, -32602, "as the stateless era has it");
    let (code, message) = client.error("resources/list", json!({"cursor": "x"})).await;
    assert_eq!((code, message.contains("`cursor`")), (-32602, true), "{message}");
    let (code, message) = client.error("resources/read", json!({})).await;
    assert_eq!(
        (code, message.contains("resources/read")),
        (-32602, true),
        "{message}"
    );
}
