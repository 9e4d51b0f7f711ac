//! Virtual servers over REST: created, read, changed, disabled and removed.

use serde_json::{Value, json};
use test_support::{Codeyard, wait_until};

use super::actors::{ADMIN, ALICE, ANA, VIC};
use super::running::{Gateway, code, installation};

/// The documented body of system 0.
fn documented() -> Value {
    serde_json::from_str(include_str!("../../../../rest/src/body/documented.json")).unwrap()
}

/// A server's whole life, also for other databases.
pub async fn check_servers(gateway: &Gateway) {
    c001_c002_c014(gateway).await;
    c003(gateway).await;
    c012(gateway).await;
    c015(gateway).await;
    c352(gateway).await;
}

async fn c001_c002_c014(gateway: &Gateway) {
    let body = documented().to_string().into_bytes();
    for token in [None, Some("x"), Some("cyd_x"), Some("")] {
        let refused = gateway.rest_with(token, "POST /servers", &body).await;
        assert_eq!(
            (refused.status, refused.text()),
            (401, r#"{"detail":"Not authenticated"}"#)
        );
    }
    assert_eq!(gateway.get(&ADMIN, "/servers").await, json!([]));
    let made = gateway.ask(&ADMIN, "POST /servers", documented(), 201).await;
    let expected = json!({
        "name": "secure-code-lab",
        "type": "code_execution",
        "stubLanguage": "python",
        "skillsScope": "team:platform-eng",
        "skillsRequireApproval": true,
        "ownerEmail": "admin@example.com",
    });
    for (member, value) in expected.as_object().unwrap() {
        assert_eq!(&made[member], value, "{member}");
    }
    let policy = &made["sandboxPolicy"];
    assert_eq!(
        (&policy["runtime"], &policy["max_runs_per_minute"]),
        (&json!("python"), &json!(20))
    );
    assert_eq!(made["tokenization"]["types"], json!(["email", "phone", "name"]));
    assert_eq!(made["mountRules"]["include_tags"], json!(["analytics"]));
    let id = made["id"].as_str().unwrap();
    assert!(!id.is_empty());
    assert_eq!(gateway.get(&ADMIN, &format!("/servers/{id}")).await, made);
    let again = (409, "Server already exists with name: secure-code-lab");
    gateway
        .check_refused(&ADMIN, "POST /servers", documented(), again)
        .await;
    assert_eq!(gateway.get(&ADMIN, "/servers").await, json!([made]));
}

async fn c003(gateway: &Gateway) {
    for (runtime, language) in [("deno", "typescript"), ("python", "python")] {
        let body = code(
            &gateway.name("stubs"),
            &json!({"sandbox_policy": {"runtime": runtime}}),
        );
        let made = gateway.ask(&ADMIN, "POST /servers", body, 201).await;
        assert_eq!(made["stubLanguage"], language);
    }
}

async fn c012(gateway: &Gateway) {
    let more = json!({
        "mount_rules": {"include_tags": ["a"]},
        "tokenization": {"enabled": false},
        "skills_scope": "user:ana@example.com",
        "skills_require_approval": true,
    });
    let id = gateway.cs_a(&more).await;
    let path = format!("/servers/{id}");
    gateway
        .ask(&ANA, &format!("PUT {path}"), json!({"type": "standard"}), 200)
        .await;
    let read = gateway.get(&ALICE, &path).await;
    assert_eq!(
        (&read["type"], &read["skillsRequireApproval"]),
        (&json!("standard"), &json!(false))
    );
    for member in [
        "surface",
        "stubLanguage",
        "mountRules",
        "sandboxPolicy",
        "tokenization",
        "skillsScope",
    ] {
        assert_eq!(read[member], Value::Null, "{member}");
    }
    let runs = format!("GET {path}/code/runs");
    let not_code = (404, "code_execution server not found");
    gateway.check_refused(&ANA, &runs, Value::Null, not_code).await;
}

async fn c015(gateway: &Gateway) {
    let id = gateway.cs_a(&json!({})).await;
    // Read permission is enough to list them.
    for actor in [ALICE, VIC] {
        let tools = gateway.get(&actor, &format!("/servers/{id}/tools")).await;
        let tools = tools.as_array().unwrap();
        let names: Vec<&str> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
        assert_eq!(names, ["shell_exec", "fs_browse", "fs_read", "fs_write"]);
        assert_eq!(tools[0]["id"], format!("codeexec:{id}:shell_exec"));
        assert_eq!(tools[0]["tags"], json!(["code-execution"]));
    }
}

/// A body that was read can be sent back, and changes only the time.
async fn c352(gateway: &Gateway) {
    let mut body = documented();
    body["name"] = json!(gateway.name("read-back"));
    let id = gateway.make(&ADMIN, body).await;
    let path = format!("/servers/{id}");
    let mut read = gateway.get(&ADMIN, &path).await;
    let put = format!("PUT {path}");
    let mut changed = gateway.ask(&ADMIN, &put, read.clone(), 200).await;
    for view in [&mut read, &mut changed] {
        view.as_object_mut().unwrap().remove("updatedAt").unwrap();
    }
    assert_eq!(changed, read);
}

#[tokio::test]
async fn c001_c002_c003_c012_c014_c015_c352_servers_are_made_read_and_changed() {
    check_servers(&Gateway::with_stub().await).await;
}

#[tokio::test]
async fn c004_c005_c006_values_outside_of_the_bounds_are_refused_by_name() {
    let gateway = Gateway::with_stub().await;
    let policy = |member: &str, value: Value| json!({"sandbox_policy": {member: value}});
    for (member, low, high) in [
        ("max_execution_time_ms", 100, 300_000),
        ("max_memory_mb", 16, 4096),
        ("max_cpu_percent", 1, 100),
        ("max_network_connections", 0, 32),
        ("max_file_size_mb", 1, 1024),
        ("max_total_disk_mb", 10, 8192),
        ("max_runs_per_minute", 1, 1000),
    ] {
        for value in [low, high] {
            let body = code(&gateway.name("good"), &policy(member, json!(value)));
            gateway.make(&ADMIN, body).await;
        }
        for value in [low - 1, high + 1] {
            let body = code("bad", &policy(member, json!(value)));
            let field = format!("sandbox_policy.{member}");
            gateway
                .check_refused(&ADMIN, "POST /servers", body, (422, &field))
                .await;
        }
    }
    let ruby = code("bad", &policy("runtime", json!("ruby")));
    gateway
        .check_refused(&ADMIN, "POST /servers", ruby, (422, "sandbox_policy.runtime"))
        .await;
    let oneway = code(
        "bad",
        &json!({"tokenization": {"enabled": true, "strategy": "oneway"}}),
    );
    gateway
        .check_refused(&ADMIN, "POST /servers", oneway, (422, "tokenization.strategy"))
        .await;
    let standard = json!({"name": "bad", "type": "standard", "sandbox_policy": {"runtime": "python"}});
    gateway
        .check_refused(
            &ADMIN,
            "POST /servers",
            standard,
            (422, "only valid for type='code_execution'"),
        )
        .await;
    let servers = gateway.get(&ADMIN, "/servers").await;
    assert!(!servers.to_string().contains("\"bad\""), "{servers}");
}

#[tokio::test]
async fn s0_08_bad_bodies_are_refused_with_every_field() {
    let gateway = Gateway::with_stub().await;
    let token = gateway.token(&ADMIN).await;
    let many = json!({
        "name": 7, "type": "magic", "tags": "x", "sandbox_policy": {"max_memory_mb": "much"},
        "tokenization": {"types": ["iris"]}, "skills_scope": "everybody", "server_typ": "standard",
    });
    let refused = gateway.ask(&ADMIN, "POST /servers", many, 422).await;
    let paths = refused["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| error["path"].as_str().unwrap());
    let paths: Vec<&str> = paths.collect();
    for field in ["name", "type", "tags", "server_typ"] {
        assert!(paths.contains(&field), "{field}: {refused}");
    }
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let huge = vec![b' '; 40 * 1024 * 1024];
    for (body, status) in [
        (b"".as_slice(), 400),
        (b"{", 400),
        (b"{\"name\":\"\xff\"}", 400),
        (b"{} {}", 400),
        (b"{\"name\":\"a\",\"name\":\"b\"}", 422),
        (b"[]", 422),
        (b"null", 422),
        (deep.as_bytes(), 400),
        (&huge, 413),
    ] {
        for request in ["POST /servers", "POST /rpc"] {
            let answer = gateway.rest_with(Some(&token), request, body).await;
            let shown = String::from_utf8_lossy(&body[..body.len().min(20)]);
            assert!(answer.json().is_object(), "{request} {shown}");
            if request == "POST /servers" {
                assert_eq!(answer.status, status, "{shown}: {}", answer.text());
            }
        }
    }
    assert_eq!(gateway.get(&ADMIN, "/servers").await, json!([]));
}

#[tokio::test]
async fn c008_the_master_switch_hides_programs_and_keeps_servers() {
    let gateway = Gateway::with_stub().await;
    let id = gateway.cs_a(&json!({})).await;
    let gateway = gateway.restart_with("CODE_EXECUTION_ENABLED", "false").await;
    let off = (400, "code_execution servers are disabled");
    gateway
        .check_refused(&ADMIN, "POST /servers", documented(), off)
        .await;
    for part in ["runs", "sessions", "security-events"] {
        let request = format!("GET /servers/{id}/code/{part}");
        let hidden = (404, r#"{"detail":"code_execution server not found"}"#);
        gateway.check_refused(&ANA, &request, Value::Null, hidden).await;
    }
    let path = format!("PUT /servers/{id}");
    let changed = gateway.ask(&ANA, &path, json!({"description": "new"}), 200).await;
    assert_eq!(
        (&changed["description"], &changed["type"]),
        (&json!("new"), &json!("code_execution"))
    );
    let standard = gateway.make(&ANA, json!({"name": "std"})).await;
    gateway
        .check_refused(
            &ANA,
            &format!("PUT /servers/{standard}"),
            json!({"type": "code_execution"}),
            off,
        )
        .await;
    let run = json!({"server_id": id, "name": "shell_exec", "arguments": {"code": "print(1)"}});
    let answer = gateway.rpc(&ALICE, "tools/call", run).await.to_string();
    assert!(answer.contains("code_execution servers are disabled"), "{answer}");
}

#[tokio::test]
async fn c009_a_tool_that_is_switched_off_is_neither_listed_nor_called() {
    let gateway = Gateway::with_stub().await;
    let id = gateway.cs_a(&json!({})).await;
    let gateway = gateway
        .restart_with("CODE_EXECUTION_FS_BROWSE_ENABLED", "false")
        .await;
    let path = format!("GET /servers/{id}/tools");
    let tools = gateway.ask(&ALICE, &path, Value::Null, 200).await;
    let names: Vec<&str> = tools
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    assert_eq!(names, ["shell_exec", "fs_read", "fs_write"]);
    let called = gateway
        .call(&ALICE, &id, "fs_browse", json!({"path": "/tools"}))
        .await;
    let refused = (called.is_error(), called.error());
    assert_eq!(
        refused,
        (true, "fs_browse meta-tool is disabled by configuration")
    );
}

#[tokio::test]
async fn c010_a_variable_out_of_bounds_prevents_the_start() {
    for (name, value, bound) in [
        ("CODE_EXECUTION_DEFAULT_MAX_MEMORY_MB", "8", "16"),
        ("CODE_EXECUTION_DEFAULT_MAX_RUNS_PER_MINUTE", "1001", "1000"),
        ("CODE_EXECUTION_SESSION_TTL_SECONDS", "59", "60"),
        ("CODE_EXECUTION_ENABLED", "perhaps", "true"),
    ] {
        let codeyard = Codeyard::with_stub().unwrap().env(name, value);
        let ended = test_support::run(&codeyard, &["serve", "--listen", "127.0.0.1:0"], "").await;
        assert!(ended.code > 0, "{ended:?}");
        assert!(ended.err.contains(name) && ended.err.contains(bound), "{ended:?}");
    }
}

#[tokio::test]
async fn s0_16_changes_take_effect_at_the_next_request() {
    let gateway = Gateway::with_stub().await;
    let id = gateway.cs_a(&json!({})).await;
    let path = format!("PUT /servers/{id}");
    let add = "print((await tools.stub.add({'a': 1, 'b': 1}))['sum'])";
    gateway.check((&ALICE, &id), add, "2\n").await;
    let off = json!({"sandbox_policy": {"runtime": "python", "permissions": {"network": {"allow_tool_calls": false}}}});
    gateway.ask(&ANA, &path, off, 200).await;
    gateway
        .check_error((&ALICE, &id), add, "EACCES: tool calls are disabled by policy")
        .await;
    gateway
        .ask(&ANA, &path, json!({"sandbox_policy": null}), 200)
        .await;
    gateway.check((&ALICE, &id), add, "2\n").await;
    // A body read before another change is refused.
    let read = gateway.get(&ANA, &format!("/servers/{id}")).await;
    gateway.ask(&ANA, &path, json!({"tags": ["x"]}), 200).await;
    gateway
        .check_refused(&ANA, &path, read, (409, "has changed since it was read"))
        .await;
}

#[tokio::test]
async fn s0_16_a_removed_server_ends_its_sessions() {
    let gateway = Gateway::with_stub().await;
    let id = gateway.cs_a(&json!({})).await;
    gateway.check((&ALICE, &id), "print(1)", "1\n").await;
    let pid = gateway.pid();
    let before = test_support::descendants(pid).len();
    gateway
        .ask(&ANA, &format!("DELETE /servers/{id}"), Value::Null, 200)
        .await;
    wait_until("the session's processes have ended", || {
        (test_support::descendants(pid).len() < before).then_some(())
    })
    .await;
    for request in [
        "GET /servers/{}",
        "PUT /servers/{}",
        "DELETE /servers/{}",
        "GET /servers/{}/tools",
    ] {
        let request = request.replace("{}", &id);
        let body = if request.starts_with("PUT") {
            json!({})
        } else {
            Value::Null
        };
        gateway
            .check_refused(&ANA, &request, body, (404, r#"{"detail":"Server not found"}"#))
            .await;
    }
    let run = json!({"server_id": id, "name": "shell_exec", "arguments": {"code": "print(1)"}});
    let answer = gateway
        .rest(
            &ALICE,
            "POST /rpc",
            json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": run}),
        )
        .await;
    assert_eq!(
        (answer.status, answer.text()),
        (404, r#"{"detail":"Server not found"}"#)
    );
}

#[tokio::test]
async fn s0_04_the_operator_s_values_fill_gaps_of_a_policy() {
    let codeyard = installation()
        .env("CODE_EXECUTION_DEFAULT_MAX_MEMORY_MB", "128")
        .env("CODE_EXECUTION_DEFAULT_MAX_RUNS_PER_MINUTE", "3");
    let gateway = Gateway::start(codeyard).await;
    let body = code("cs", &json!({"sandbox_policy": {"max_runs_per_minute": 4}}));
    let made = gateway.ask(&ADMIN, "POST /servers", body, 201).await;
    let policy = &made["sandboxPolicy"];
    assert_eq!(
        (&policy["max_memory_mb"], &policy["max_runs_per_minute"]),
        (&json!(128), &json!(4))
    );
}
