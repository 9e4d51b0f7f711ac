//! Tools: their names, their definitions, calls, records, changes.

use serde_json::json;
use test_support::{Codeyard, Era, ServerDefinition};

use super::{ERAS, names, one, open, two};

#[tokio::test]
async fn one_server_keeps_its_names_and_every_field_in_each_era() {
    for upstream in [Era::Old, Era::Legacy, Era::Modern] {
        for era in ERAS {
            let codeyard = one(upstream);
            let mut client = open(&codeyard, era).await;
            let tools = client.tools().await.unwrap();
            assert!(names(&tools).contains(&"list-things"), "{tools:?}");
            let answer = client.call_tool("add", json!({"a": 1, "b": 2})).await.unwrap();
            assert_eq!(answer["structuredContent"], json!({"sum": 3}), "{answer}");
            if era == Era::Modern {
                assert_eq!(answer["resultType"], "complete");
            }
            let raw = json!({"content": [{"type": "hologram", "beams": [1]}], "vendor": {"a": null}});
            let answer = client.call_tool("raw", json!({"result": raw})).await.unwrap();
            assert_eq!(
                (&answer["content"], &answer["vendor"]),
                (&raw["content"], &raw["vendor"])
            );
        }
    }
}

#[tokio::test]
async fn unusual_numbers_and_unknown_fields_arrive_unchanged() {
    let codeyard = Codeyard::new()
        .unwrap()
        .server("odd", &ServerDefinition::hostile("unknown-content"));
    let mut client = open(&codeyard, Era::Legacy).await;
    client
        .start(
            "tools/call",
            json!({"name": "echo", "arguments": {"message": "x"}}),
        )
        .await
        .unwrap();
    let line = client.line().await.unwrap();
    assert!(
        line.contains("12345678901234567890") && line.contains("\"vendor\""),
        "{line}"
    );
}

#[tokio::test]
async fn real_definitions_keep_execution_and_vendor_keys() {
    let codeyard = Codeyard::new()
        .unwrap()
        .server("everything", &ServerDefinition::replay("everything"));
    let mut client = open(&codeyard, Era::Legacy).await;
    let text = std::fs::read_to_string(test_support::catalogue::file("everything")).unwrap();
    for tool in client.tools().await.unwrap() {
        assert!(tool["inputSchema"].is_object(), "{tool}");
        if text.contains("\"execution\"") {
            assert!(tool.get("execution").is_some(), "{tool}");
        }
    }
}

#[tokio::test]
async fn names_of_several_servers_get_the_server_s_prefix() {
    for era in ERAS {
        let codeyard = two();
        let mut client = open(&codeyard, era).await;
        let tools = client.tools().await.unwrap();
        let names = names(&tools);
        assert!(
            names.contains(&"one_add") && names.contains(&"two_add"),
            "{names:?}"
        );
        for name in ["one_add", "two_add"] {
            let answer = client.call_tool(name, json!({"a": 2, "b": 2})).await.unwrap();
            assert_eq!(answer["structuredContent"]["sum"], 4, "{answer}");
        }
        let answer = client
            .request("tools/call", json!({"name": "add"}))
            .await
            .unwrap();
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
        assert_eq!(answer["error"]["message"], "Unknown tool: add");
    }
}

#[tokio::test]
async fn long_names_are_cut_to_the_limit_of_clients() {
    let codeyard = Codeyard::with_stub().unwrap().server(
        "a-server-with-quite-a-long-name-that-takes-room",
        &ServerDefinition::replay("git"),
    );
    let mut client = open(&codeyard, Era::Legacy).await;
    let tools = client.tools().await.unwrap();
    let names = names(&tools);
    assert!(names.iter().all(|name| name.len() <= 64), "{names:?}");
    let distinct: std::collections::HashSet<_> = names.iter().collect();
    assert_eq!(distinct.len(), names.len());
}

#[tokio::test]
async fn errors_of_a_server_are_relayed_unchanged() {
    for era in ERAS {
        let codeyard = one(era);
        let mut client = open(&codeyard, era).await;
        let arguments = json!({"code": -31999, "message": "not today"});
        let answer = client
            .request("tools/call", json!({"name": "refuse", "arguments": arguments}))
            .await
            .unwrap();
        assert_eq!(answer["error"], json!({"code": -31999, "message": "not today"}));
        let answer = client.call_tool("fail", json!({"message": "oh"})).await.unwrap();
        assert_eq!(
            (&answer["isError"], &answer["content"][0]["text"]),
            (&json!(true), &json!("oh"))
        );
    }
}

#[tokio::test]
async fn a_server_that_ends_fails_its_own_call_only() {
    let codeyard = two();
    let mut client = open(&codeyard, Era::Legacy).await;
    let answer = client
        .request("tools/call", json!({"name": "one_crash"}))
        .await
        .unwrap();
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("server 'one' ended during the call of 'crash'"),
        "{message}"
    );
    for name in ["two_add", "one_add"] {
        let answer = client.call_tool(name, json!({"a": 1, "b": 1})).await.unwrap();
        assert_eq!(answer["structuredContent"]["sum"], 2);
    }
}

#[tokio::test]
async fn the_policy_hides_and_refuses() {
    let codeyard = one(Era::Legacy).settings("[policy]\ndeny = [\"stub.add\", \"stub.resources/read\"]\n");
    let mut client = open(&codeyard, Era::Legacy).await;
    let tools = client.tools().await.unwrap();
    assert!(!names(&tools).contains(&"add"), "{tools:?}");
    for (method, params) in [
        (
            "tools/call",
            json!({"name": "add", "arguments": {"a": 1, "b": 1}}),
        ),
        ("resources/read", json!({"uri": "stub://note"})),
    ] {
        let answer = client.request(method, params).await.unwrap();
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains("denied by policy"), "{message}");
    }
}

#[tokio::test]
async fn rules_of_an_entry_hide_and_refuse_too() {
    let stub = ServerDefinition::stub().field("deny", json!(["ADD", "resources/*"]));
    let codeyard = Codeyard::new().unwrap().server("stub", &stub);
    let mut client = open(&codeyard, Era::Legacy).await;
    let tools = client.tools().await.unwrap();
    assert!(
        !names(&tools).contains(&"add") && names(&tools).contains(&"echo"),
        "{tools:?}"
    );
    for (method, params, rule) in [
        (
            "tools/call",
            json!({"name": "add", "arguments": {"a": 1, "b": 1}}),
            "'ADD' of mcpServers.stub of ",
        ),
        (
            "resources/read",
            json!({"uri": "stub://note"}),
            "'resources/*' of mcpServers.stub of ",
        ),
    ] {
        let answer = client.request(method, params).await.unwrap();
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains(rule), "{message}");
    }
}

#[tokio::test]
async fn calls_are_recorded() {
    let codeyard = one(Era::Legacy);
    let mut client = open(&codeyard, Era::Legacy).await;
    client.call_tool("add", json!({"a": 1, "b": 1})).await.unwrap();
    client
        .result("resources/read", json!({"uri": "stub://note"}))
        .await
        .unwrap();
    client.finish().await.unwrap();
    let listed = codeyard.run(["runs", "--json"]).await.unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    assert_eq!(listed.lines().count(), 2, "{listed}");
}

#[tokio::test]
async fn a_changed_list_is_announced_once_in_the_form_of_each_era() {
    for era in ERAS {
        let codeyard = one(era);
        let mut client = open(&codeyard, era).await;
        if era == Era::Modern {
            let filter = json!({"notifications": {"toolsListChanged": true}});
            client.start("subscriptions/listen", filter).await.unwrap();
            client
                .notification("notifications/subscriptions/acknowledged")
                .await
                .unwrap();
        }
        client.tools().await.unwrap();
        client.call_tool("grow", json!({})).await.unwrap();
        client
            .notification("notifications/tools/list_changed")
            .await
            .unwrap();
        let tools = client.tools().await.unwrap();
        assert!(names(&tools).contains(&"grown_1"), "{tools:?}");
        let answer = client.call_tool("grown_1", json!({})).await.unwrap();
        assert_eq!(answer["content"][0]["text"], "grown_1");
    }
}
