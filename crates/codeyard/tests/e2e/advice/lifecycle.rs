//! Exposed tools over a client's life: servers start once, taken names stay, cancelled calls end upstream.

use std::path::Path;

use serde_json::{Value, json};
use test_support::{CodeClient, Codeyard, Era, ServerDefinition, run};

use super::{PATIENCE, names};

/// The stub as a server that appends a line to this file at each start.
fn counting(file: &Path) -> Value {
    let stub = ServerDefinition::stub().to_json();
    let mut args = vec![
        json!("-c"),
        json!("echo started >> \"$0\"; exec \"$@\""),
        json!(file),
        stub["command"].clone(),
    ];
    args.extend(stub["args"].as_array().unwrap().iter().cloned());
    json!({"command": "/bin/sh", "args": args})
}

/// A server with one tool `code` of this description.
fn coded(file: &Path, description: &str) -> Value {
    let tool = json!({"name": "code", "description": description, "answers": [{"result": "of the server"}]});
    std::fs::write(file, json!({"tools": [tool]}).to_string()).unwrap();
    let mut canned = ServerDefinition::stub().to_json();
    canned["args"] = json!(["canned", file]);
    canned
}

#[tokio::test]
async fn the_first_list_has_exposed_tools_and_starts_each_server_once() {
    let codeyard = Codeyard::new().unwrap();
    let starts = ["one", "two"].map(|name| codeyard.directory().join(format!("{name}.starts")));
    let started = || {
        starts
            .each_ref()
            .map(|file| std::fs::read_to_string(file).unwrap_or_default())
    };
    let codeyard = codeyard
        .server_json("one", counting(&starts[0]))
        .server_json("two", counting(&starts[1]))
        .settings("[expose]\ntools = [\"one.echo\", \"one.add\", \"two.echo\"]");
    let mut client = CodeClient::of(codeyard).await;
    let all = ["execute_code", "search_tools", "one_echo", "one_add", "two_echo"];
    assert_eq!(names(&mut client).await, all);
    let said = client
        .mcp
        .call_tool("two_echo", json!({"message": "hello"}))
        .await
        .unwrap();
    assert!(said["content"].to_string().contains("hello"), "{said}");
    let once = ["started\n", "started\n"];
    assert_eq!(started(), once, "their lists and the call need one process each");

    let CodeClient { mcp, codeyard } = client;
    assert!(mcp.finish().await.unwrap().success());
    let mut again = CodeClient::of(codeyard).await;
    assert_eq!(names(&mut again).await, all);
    let advised = run(&again.codeyard, &["advise", "--all"], "").await;
    assert!(advised.out.contains("two.echo"), "{advised:?}");
    assert_eq!(
        started(),
        once,
        "cached lists must suffice for listing and pricing"
    );
}

#[tokio::test]
async fn a_taken_name_stays_with_its_owner() {
    let codeyard = Codeyard::new().unwrap();
    let file = codeyard.directory().join("execute.json");
    let codeyard = codeyard
        .server_json("execute", coded(&file, "Has a code."))
        .settings("[expose]\ntools = [\"execute.code\"]");
    let mut client = CodeClient::of(codeyard).await;
    let listed = names(&mut client).await;
    assert_eq!(listed[..2], ["execute_code", "search_tools"], "{listed:?}");
    let renamed = listed[2].strip_prefix("execute_code_").unwrap();
    assert!(
        renamed.len() == 8 && renamed.chars().all(|digit| digit.is_ascii_hexdigit()),
        "{listed:?}"
    );
    assert_eq!(*client.run("1 + 1").await.result(), json!(2));
    let said = client.mcp.call_tool(&listed[2], json!({})).await.unwrap();
    assert_eq!(said["content"][0]["text"], "of the server", "{said}");
}

#[tokio::test]
async fn a_call_that_its_client_cancels_is_cancelled_at_the_server() {
    let codeyard = Codeyard::new()
        .unwrap()
        .server("stub", &ServerDefinition::stub_with_extras())
        .settings("[expose]\ntools = [\"stub.slow\", \"stub.calls\", \"stub.cancelled\", \"stub.pid\"]");
    let mut client = CodeClient::of(codeyard).await;
    let pid = client.mcp.call_tool("stub_pid", json!({})).await.unwrap();
    let mut made = 1;
    let slow = json!({"name": "stub_slow", "arguments": {"seconds": 300}});
    let id = client.mcp.start("tools/call", slow).await.unwrap();
    let ends = async {
        // The slow call has arrived once the server counts one call more than were answered.
        loop {
            made += 1;
            let calls = client.mcp.call_tool("stub_calls", json!({})).await.unwrap();
            if calls["structuredContent"]["calls"] == made + 1 {
                break;
            }
        }
        client.mcp.cancel(&id).await.unwrap();
        while client.mcp.call_tool("stub_cancelled", json!({})).await.unwrap()["structuredContent"]["ids"]
            .as_array()
            .is_none_or(Vec::is_empty)
        {}
    };
    tokio::time::timeout(PATIENCE, ends).await.unwrap();
    let now = client.mcp.call_tool("stub_pid", json!({})).await.unwrap();
    assert_eq!(now, pid, "the server goes on");
}

#[tokio::test]
async fn a_server_that_fails_at_the_start_is_shown_later() {
    let codeyard = Codeyard::new().unwrap();
    let well = codeyard.directory().join("well");
    let mut ill = counting(&well);
    ill["args"][1] = json!("test -e \"$0\" && exec \"$@\"");
    let codeyard = codeyard
        .server_json("stub", ill)
        .settings("[expose]\ntools = [\"stub.echo\"]");
    let mcp = codeyard.mcp(Era::Modern).await.unwrap();
    let mut client = CodeClient { mcp, codeyard };
    assert_eq!(names(&mut client).await, ["execute_code", "search_tools"]);
    let warned = client.mcp.stderr();
    assert!(warned.contains("[expose] tools: stub.echo: "), "{warned}");
    std::fs::write(&well, "").unwrap();
    let code = "return await tools.stub.echo(message='well')";
    let shown = async {
        while client
            .execute(json!({"code": code, "check": "off"}))
            .await
            .status()
            != "completed"
        {}
        while names(&mut client).await != ["execute_code", "search_tools", "stub_echo"] {}
        client.mcp.result("tools/list", json!({})).await.unwrap()
    };
    let list = tokio::time::timeout(PATIENCE, shown).await.unwrap();
    assert_eq!(
        list["ttlMs"], 0,
        "a client of that revision requests the list again: {list}"
    );
}

#[tokio::test]
async fn a_definition_that_outgrows_the_budget_is_not_shown_any_more() {
    let codeyard = Codeyard::new().unwrap();
    let file = codeyard.directory().join("execute.json");
    let codeyard = codeyard
        .server_json("grows", coded(&file, "Has a code."))
        .settings("[expose]\ntools = [\"grows.code\"]\nbudget = 60");
    let mut before = CodeClient::of(codeyard).await;
    assert_eq!(names(&mut before).await[2..], ["grows_code"]);
    let CodeClient { mcp, codeyard } = before;
    assert!(mcp.finish().await.unwrap().success());

    coded(&file, &"Has a longer code. ".repeat(20));
    let mcp = codeyard.mcp(Era::Legacy).await.unwrap();
    let mut client = CodeClient { mcp, codeyard };
    assert_eq!(
        names(&mut client).await[2..],
        ["grows_code"],
        "with its cached definition"
    );
    client.run("await tools.grows.code()").await;
    client
        .mcp
        .notification("notifications/tools/list_changed")
        .await
        .unwrap();
    assert_eq!(names(&mut client).await, ["execute_code", "search_tools"]);
    let warned = client.mcp.stderr();
    assert!(warned.contains("grown beyond the budget"), "{warned}");
}
