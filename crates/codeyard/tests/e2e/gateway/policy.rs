//! Mounts, permissions and counts of a virtual server.

use serde_json::{Value, json};
use test_support::ServerDefinition;

use super::actors::{ADMIN, AL2, ALICE, ANA};
use super::running::{Gateway, installation, stub};

const ADD: &str = "print((await tools.stub.add({'a':1,'b':1}))['sum'])";

/// The events of a server, as its team's admin sees them.
async fn events(gateway: &Gateway, server: &str) -> Vec<Value> {
    let events = gateway
        .get(&ANA, &format!("/servers/{server}/code/security-events"))
        .await;
    events.as_array().unwrap().clone()
}

pub async fn c062_c159(gateway: &Gateway) {
    let deny = json!({"sandbox_policy": {"permissions": {"tools": {"deny": ["stub/add"]}}}});
    let id = gateway.cs_a(&deny).await;
    let ran = gateway
        .check_error((&ALICE, &id), ADD, "EACCES: tool 'stub/add' is denied by policy")
        .await;
    gateway
        .check(
            (&ALICE, &id),
            "print((await tools.stub.echo({'message':'m'}))['text'])",
            "m\n",
        )
        .await;
    let events = events(gateway, &id).await;
    let event = events
        .iter()
        .find(|event| event["event"] == "tool_call_blocked")
        .expect("an event");
    assert_eq!(event["message"], "EACCES: tool 'stub/add' is denied by policy");
    assert_eq!(
        (&event["run_id"], &event["server_id"]),
        (&ran.fields()["run_id"], &json!(id))
    );
    assert!(
        event["run_status"].is_string() && event["created_at"].is_string(),
        "{event}"
    );
}

#[tokio::test]
async fn c062_c159_a_denied_tool_is_an_event() {
    c062_c159(&Gateway::with_stub().await).await;
}

#[tokio::test]
async fn c062_the_tool_itself_is_not_called() {
    let codeyard = installation().server("extra", &ServerDefinition::stub_with_extras());
    let gateway = Gateway::start(codeyard).await;
    let deny = json!({"sandbox_policy": {"permissions": {"tools": {"deny": ["extra/echo"]}}}});
    let id = gateway.cs_a(&deny).await;
    gateway
        .check_error(
            (&ALICE, &id),
            "await tools.extra.echo({'message':'m'})",
            "is denied by policy",
        )
        .await;
    gateway
        .check(
            (&ALICE, &id),
            "print((await tools.extra.calls({}))['calls'])",
            "1\n",
        )
        .await;
    let allow = json!({"sandbox_policy": {"permissions": {"tools": {"allow": ["extra/*"]}}}});
    let id = gateway.cs_a(&allow).await;
    gateway
        .check_error(
            (&ALICE, &id),
            ADD,
            "EACCES: tool 'stub/add' is not allowed by policy",
        )
        .await;
}

#[tokio::test]
async fn c063_the_operator_disables_tool_calls() {
    let codeyard = installation().env("CODE_EXECUTION_DEFAULT_ALLOW_TOOL_CALLS", "false");
    let gateway = Gateway::start(codeyard).await;
    let id = gateway.cs_a(&json!({})).await;
    gateway
        .check_error((&ALICE, &id), ADD, "EACCES: tool calls are disabled by policy")
        .await;
}

#[tokio::test]
async fn s0_10_mount_rules_bind_files_search_and_calls() {
    let codeyard = installation().server("other", &ServerDefinition::stub());
    let gateway = Gateway::start(codeyard).await;
    let both = ["other", "stub"].as_slice();
    for (rules, servers, has_add) in [
        (json!({}), both, true),
        (json!({"include_tags": ["analytics"]}), &["stub"], true),
        (json!({"exclude_tags": ["analytics"]}), &["other"], true),
        (json!({"include_servers": ["other"]}), &["other"], true),
        (json!({"exclude_servers": ["other"]}), &["stub"], true),
        (json!({"include_tools": ["echo"]}), both, false),
        (json!({"exclude_tools": ["add"]}), both, false),
        (
            json!({"include_tags": ["analytics"], "exclude_servers": ["stub"]}),
            &[],
            false,
        ),
    ] {
        let id = gateway.cs_a(&json!({"mount_rules": rules})).await;
        let listed = gateway.call(&ALICE, &id, "fs_browse", json!({})).await;
        let entries = listed.fields()["entries"].as_array().unwrap().iter();
        let found = entries
            .filter(|entry| entry["type"] == "directory")
            .map(|entry| entry["name"].as_str().unwrap());
        assert_eq!(found.collect::<Vec<_>>(), servers, "{rules}");
        let grep = gateway
            .call(
                &ALICE,
                &id,
                "shell_exec",
                json!({"code": "grep -r 'def ' /tools --include=*.py -l"}),
            )
            .await;
        for server in both {
            let is_mounted = servers.contains(server);
            assert_eq!(
                grep.output().contains(&format!("/tools/{server}/echo.py")),
                is_mounted,
                "{rules}"
            );
            assert_eq!(
                grep.output().contains(&format!("/tools/{server}/add.py")),
                is_mounted && has_add,
                "{rules}"
            );
            let echo = format!("print((await tools.{server}.echo({{'message':'m'}}))['text'])");
            let add = format!("print((await __toolcall__('{server}', 'add', {{'a':1,'b':1}}))['sum'])");
            for (code, output, tool, is_mounted) in [
                (echo, "m\n", "echo", is_mounted),
                (add, "2\n", "add", is_mounted && has_add),
            ] {
                if is_mounted {
                    gateway.check((&ALICE, &id), &code, output).await;
                } else {
                    let error = format!("Tool '{server}/{tool}' is not mounted for this server");
                    gateway.check_error((&ALICE, &id), &code, &error).await;
                }
            }
        }
    }
}

#[tokio::test]
async fn s0_08_a_standard_server_relays_the_tools() {
    let gateway = Gateway::with_stub().await;
    let id = gateway
        .make(&ANA, json!({"name": "std", "team_id": "team-a"}))
        .await;
    let listed = gateway.rpc(&ALICE, "tools/list", json!({"server_id": id})).await;
    let tools = listed["result"]["tools"].as_array().unwrap();
    let add = tools
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .find(|name| name.ends_with("add"))
        .unwrap();
    let added = gateway.call(&ALICE, &id, add, json!({"a": 2, "b": 3})).await;
    assert_eq!(added.fields()["sum"], 5, "{added:?}");
    let tools = gateway.get(&ALICE, &format!("/servers/{id}/tools")).await;
    assert!(tools.to_string().contains(add), "{tools}");
}

pub async fn s0_47(gateway: &Gateway) {
    let id = gateway
        .cs_a(&json!({"sandbox_policy": {"max_runs_per_minute": 2}}))
        .await;
    for number in ["1", "2"] {
        gateway
            .check((&ALICE, &id), &format!("print({number})"), &format!("{number}\n"))
            .await;
    }
    let limit = "Rate limit exceeded: max 2 runs/minute";
    gateway.check_error((&ALICE, &id), "print(3)", limit).await;
    // S0-18: a shell line counts as a run, too.
    let line = gateway
        .call(&ALICE, &id, "shell_exec", json!({"code": "ls"}))
        .await;
    assert_eq!(line.error(), limit);
    // Other users and other servers have separate windows.
    gateway.check((&AL2, &id), "print(1)", "1\n").await;
    gateway.check((&ADMIN, &id), "print(1)", "1\n").await;
    let other = gateway.cs_a(&json!({})).await;
    gateway.check((&ALICE, &other), "print(1)", "1\n").await;
    // S0-D11
    let runs = gateway.get(&ALICE, &format!("/servers/{id}/code/runs")).await;
    let statuses: Vec<&Value> = runs
        .as_array()
        .unwrap()
        .iter()
        .map(|run| &run["status"])
        .collect();
    assert_eq!(statuses, ["blocked", "blocked", "completed", "completed"]);
    let events = events(gateway, &id).await;
    assert!(
        events.iter().all(|event| event["event"] == "policy_block"),
        "{events:?}"
    );
    assert_eq!(events.len(), 2, "{events:?}");
    assert!(
        events[0].to_string().contains("Rate limit exceeded"),
        "{events:?}"
    );
}

#[tokio::test]
async fn s0_47_runs_of_a_minute_are_counted_by_user_and_server() {
    s0_47(&Gateway::with_stub().await).await;
}

#[tokio::test]
async fn s0_55_file_globs_of_a_policy_bind() {
    let gateway = Gateway::with_stub().await;
    let globs = json!({"sandbox_policy": {"permissions": {"filesystem": {"write": ["/results/**"], "deny": ["/tools/stub/**"]}}}});
    let id = gateway.cs_a(&globs).await;
    let write = |path: &str| json!({"path": path, "content": "x"});
    let refused = gateway.call(&ALICE, &id, "fs_write", write("/scratch/a")).await;
    assert!(
        refused
            .error()
            .contains("EACCES: write denied for path: /scratch/a"),
        "{refused:?}"
    );
    let written = gateway.call(&ALICE, &id, "fs_write", write("/results/a")).await;
    assert!(!written.is_error(), "{written:?}");
    let refused = gateway
        .call(&ALICE, &id, "fs_read", json!({"path": "/tools/stub/add.py"}))
        .await;
    assert!(refused.error().contains("EACCES"), "{refused:?}");
    let line = json!({"code": "cat /tools/stub/add.py"});
    let ran = gateway.call(&ALICE, &id, "shell_exec", line).await;
    assert_eq!(ran.error(), "EACCES: read denied for path: /tools/stub/add.py");
    // Requests without a run have no row in these lists.
    let events = events(&gateway, &id).await;
    assert_eq!(events.len(), 1, "{events:?}");
    assert_eq!(events[0]["event"], "policy_block");
    assert_eq!(events[0]["message"], ran.error());
}

#[tokio::test]
async fn s0_12_a_server_with_tokens_hides_raw_personal_data() {
    let gateway = Gateway::with_stub().await;
    let id = gateway.cs_a(&json!({"tokenization": {"enabled": true}})).await;
    let run = json!({"server_id": id, "name": "shell_exec", "arguments": {"code": "print(await tools.stub.contact({}))"}});
    let answer = gateway.rpc(&ALICE, "tools/call", run).await.to_string();
    assert!(
        !answer.contains("alice@example.com") && answer.contains("tokenization"),
        "{answer}"
    );
}

#[tokio::test]
async fn s0_11_limits_of_a_policy_bind() {
    let codeyard = installation().server("other", &stub());
    let gateway = Gateway::start(codeyard).await;
    let id = gateway
        .cs_a(&json!({"sandbox_policy": {"max_memory_mb": 96, "max_file_size_mb": 1}}))
        .await;
    let grown = gateway
        .sh(&ALICE, &id, "x = bytearray(300 * 1024 * 1024)\nprint(len(x))")
        .await;
    assert!(
        grown.is_error() && !grown.output().contains("314572800"),
        "{grown:?}"
    );
    gateway
        .check_error(
            (&ALICE, &id),
            "write_file('big', 'x' * 1_100_000)",
            "File too large",
        )
        .await;
    let wide = gateway.cs_a(&json!({})).await;
    gateway
        .check(
            (&ALICE, &wide),
            "x = bytearray(120 * 1024 * 1024)\nprint(len(x))",
            "125829120\n",
        )
        .await;
}

#[tokio::test]
async fn s0_10_mount_rules_bind_the_surface_code() {
    let codeyard = installation().server("other", &ServerDefinition::stub());
    let gateway = Gateway::start(codeyard).await;
    let rules = json!({"include_tags": ["analytics"], "exclude_tools": ["add"]});
    let id = gateway
        .cs_a(&json!({"surface": "code", "mount_rules": rules}))
        .await;
    let found = gateway
        .call(
            &ALICE,
            &id,
            "search_tools",
            json!({"query": "add echo message numbers"}),
        )
        .await;
    let found = found.0.to_string();
    assert!(
        found.contains("stub.echo") && !found.contains("stub.add"),
        "{found}"
    );
    assert!(!found.contains("other."), "{found}");
    for call in ["tools.other.echo(message='m')", "tools.stub.add(a=1, b=1)"] {
        let ran = gateway
            .call(
                &ALICE,
                &id,
                "execute_code",
                json!({"code": format!("return await {call}")}),
            )
            .await;
        assert!(ran.is_error(), "{call}: {ran:?}");
    }
    let code = json!({"code": "return (await tools.stub.echo(message='m'))"});
    let ran = gateway.call(&ALICE, &id, "execute_code", code).await;
    assert_eq!(ran.fields()["result"], "m", "{ran:?}");
}

#[tokio::test]
async fn a_user_s_sessions_are_bounded_over_all_servers() {
    let codeyard = installation().settings("[gateway]\nsessions_of_user = 2\n");
    let gateway = Gateway::start(codeyard).await;
    let servers = [
        gateway.cs_a(&json!({})).await,
        gateway.cs_a(&json!({})).await,
        gateway.cs_a(&json!({})).await,
    ];
    gateway.check((&AL2, &servers[0]), "kept = 1", "").await;
    for server in &servers {
        gateway.check((&ALICE, server), "kept = 1", "").await;
    }
    let keeps = "print('kept' in globals())";
    // The third session evicted the first.
    for (server, kept) in [(1, "True\n"), (2, "True\n"), (0, "False\n")] {
        let ran = gateway.sh(&ALICE, &servers[server], keeps).await;
        assert_eq!(ran.output(), kept, "{server}: {ran:?}");
    }
    gateway.check((&AL2, &servers[0]), keeps, "True\n").await;
}
