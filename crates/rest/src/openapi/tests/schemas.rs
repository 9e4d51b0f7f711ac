//! The schemas match accepted bodies and real answers.

mod accounts;

use std::collections::BTreeSet;
use std::sync::LazyLock;

use jsonschema::Validator;
use proptest::prelude::*;
use serde::Serialize;
use serde_json::{Map, Value, json};
use types::{CodeDefaults, ServerId, TenantId, UserId, VirtualServer};

use super::document;
use crate::{
    AuditView, Deleted, RestError, RpcError, RpcId, RunMetrics, RunStatus, RunView, SecurityEvent,
    SecurityEventKind, SecurityEventView, ServerPage, ServerView, SessionView, ToolCallView, ToolView,
    create_server, rpc_result, time,
};

fn validator(name: &str) -> Validator {
    let schema = json!({
        "$ref": format!("#/components/schemas/{name}"),
        "components": document()["components"],
    });
    jsonschema::validator_for(&schema).expect("a schema")
}

fn check(name: &str, value: impl Serialize) {
    let value = serde_json::to_value(value).expect("JSON");
    let validator = validator(name);
    let wrong: Vec<String> = validator
        .iter_errors(&value)
        .map(|error| error.to_string())
        .collect();
    assert!(wrong.is_empty(), "{name}: {value}: {wrong:?}");
    // The schema must refuse an extra member, which proves that it names all members.
    if let Value::Object(mut members) = value {
        members.insert("nonsense".to_owned(), json!({}));
        assert!(!validator.is_valid(&Value::Object(members)), "{name} is open");
    }
}

fn server(body: &Value) -> VirtualServer {
    let new = create_server(body.to_string().as_bytes(), &CodeDefaults::default());
    VirtualServer {
        id: ServerId::new("s1"),
        tenant: TenantId::new("acme"),
        owner: UserId::new("ann@example.com"),
        created_ms: 1,
        updated_ms: 2,
        settings: new.unwrap_or_else(|problem| panic!("{body}: {problem}")).settings,
    }
}

/// Bodies that the reader accepts.
fn bodies() -> Vec<Value> {
    let code = |members: Value| {
        let mut body = json!({"name": "a", "type": "code_execution"});
        for (name, value) in members.as_object().into_iter().flatten() {
            body[name] = value.clone();
        }
        body
    };
    vec![
        json!({"name": "a"}),
        json!({"id": "x-1", "name": "a", "tags": ["x", {"name": "y"}], "team_id": "t", "visibility": "team", "icon": null}),
        code(json!({})),
        code(json!({"sandbox_policy": {"runtime": "python", "max_memory_mb": 16}, "stub_language": null})),
        code(json!({
            "surface": "bridge",
            "mount_rules": {"include_tags": [{"name": "x"}], "exclude_tools": ["t"], "include_servers": null},
            "tokenization": {"enabled": true, "types": ["email"], "strategy": "bidirectional"},
            "skills_scope": "user:ann@example.com", "skills_require_approval": true,
        })),
        code(json!({"sandbox_policy": {
            "limits": {"max_cpu_percent": 100, "session_ttl_seconds": 60},
            "permissions": {
                "filesystem": {"read": ["/scratch/**"], "write": [], "deny": null},
                "tools": {"allow": ["stub/*"]}, "network": {"allow_tool_calls": false},
            },
            "runtime_requirements": {"language": "typescript"},
        }})),
    ]
}

#[test]
fn bodies_that_are_accepted_are_described() {
    for body in bodies() {
        check("CreateServer", &body);
        let mut update = body.clone();
        update["updated_at"] = json!(time(2));
        if let Some(members) = update.as_object_mut() {
            members.shift_remove("id");
        }
        check("UpdateServer", update);
    }
}

#[test]
fn the_document_names_the_members_that_the_reader_knows() {
    let schema = &document()["components"]["schemas"]["UpdateServer"]["properties"];
    let described: BTreeSet<String> = schema.as_object().expect("members").keys().cloned().collect();
    let known: BTreeSet<String> = crate::body::known().into_iter().map(str::to_owned).collect();
    assert_eq!(described, known);
}

#[test]
fn answers_about_servers_are_described() {
    let views: Vec<ServerView> = bodies()
        .iter()
        .map(|body| ServerView::of(&server(body)))
        .collect();
    for view in &views {
        check("ServerView", view);
    }
    check("ServerList", &views);
    let page = ServerPage {
        servers: views,
        next_cursor: None,
    };
    check("ServerPage", &page);
    check("Deleted", Deleted::server(&ServerId::new("s1")));
    let schema = json!({"type": "object", "properties": {"a": {"enum": [1, 0.5, null, true, []]}}});
    let Value::Object(schema) = schema else {
        panic!("an object");
    };
    check(
        "ToolView",
        ToolView::of_surface(&ServerId::new("s1"), "shell_exec", "Runs.", schema),
    );
}

#[test]
fn answers_about_runs_are_described() {
    let event = SecurityEvent {
        event: SecurityEventKind::ToolCallBlocked,
        message: "EACCES: tool 'stub/add' is denied by policy".to_owned(),
        tool: Some("stub/add".to_owned()),
        timestamp: time(1),
    };
    let call = ToolCallView {
        name: "stub/add".to_owned(),
        started_at: time(1),
        latency_ms: 2,
        success: true,
        error: None,
    };
    let metrics = RunMetrics {
        run_id: "r1".to_owned(),
        code_hash: "00".repeat(32),
        wall_time_ms: 3,
        cpu_time_ms: None,
        tool_call_count: 1,
        tool_latency_p50_ms: 2,
        tool_latency_p95_ms: 2,
        tool_latency_p99_ms: 2,
        error_rate: 0.0,
        bytes_written: 4,
        bytes_error: 0,
    };
    let run = RunView {
        id: "r1".to_owned(),
        server_id: "s1".to_owned(),
        session_id: None,
        user_email: "ann@example.com".to_owned(),
        client: Some("agent builder".to_owned()),
        language: "python".to_owned(),
        code_hash: "00".repeat(32),
        status: RunStatus::Blocked,
        metrics: Some(metrics.clone()),
        tool_calls_made: vec![call],
        security_events: vec![event.clone()],
        created_at: time(1),
        started_at: None,
        finished_at: Some(time(2)),
    };
    check("RunView", &run);
    check("RunMetrics", metrics);
    let bare = RunView {
        client: None,
        metrics: None,
        finished_at: None,
        ..run
    };
    check("RunView", bare);
    check(
        "SecurityEventView",
        SecurityEventView {
            event: event.event,
            message: event.message,
            tool: None,
            timestamp: time(1),
            run_id: "r1".to_owned(),
            server_id: "s1".to_owned(),
            run_status: RunStatus::TimedOut,
            created_at: time(1),
        },
    );
    check(
        "SessionView",
        SessionView {
            session_id: "x".to_owned(),
            server_id: "s1".to_owned(),
            user_email: "ann@example.com".to_owned(),
            language: "shell".to_owned(),
            created_at: time(1),
            last_used_at: time(2),
            generated_at: time(1),
            tool_count: 7,
            skill_count: 0,
        },
    );
    check(
        "AuditView",
        AuditView {
            sequence: 1,
            timestamp: time(1),
            tenant: "acme".to_owned(),
            actor: "command-line".to_owned(),
            token_id: None,
            action: "user.create".to_owned(),
            object: "user".to_owned(),
            object_id: "ann@example.com".to_owned(),
            outcome: "done".to_owned(),
            detail: String::new(),
            previous: "0".repeat(64),
            hash: "0".repeat(64),
        },
    );
}

#[test]
fn refusals_and_answers_of_json_rpc_are_described() {
    check("ErrorBody", RestError::no_server().body());
    let mistakes = create_server(b"{}", &CodeDefaults::default()).expect_err("mistakes");
    check("ErrorBody", mistakes.body());
    check(
        "RpcRequest",
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"a": [null, 0.5]}}),
    );
    check(
        "RpcRequest",
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled"}),
    );
    check(
        "RpcAnswer",
        rpc_result(
            &RpcId::Text("a".to_owned()),
            json!({"content": [], "isError": false}),
        ),
    );
    check(
        "RpcAnswer",
        RpcError::MissingToolName.answer(Some(&RpcId::Number(7))),
    );
    check("RpcAnswer", RpcError::Parse("x".to_owned()).answer(None));
}

#[test]
fn s0_20_the_metrics_have_the_keys_of_the_surface() {
    let schema = &document()["components"]["schemas"]["RunMetrics"]["properties"];
    let described: Vec<&String> = schema.as_object().map(Map::keys).into_iter().flatten().collect();
    assert_eq!(described.len(), 11);
}

/// Compiled once for all cases: that takes longer than the rest of a case.
static NEW_SERVER: LazyLock<Validator> = LazyLock::new(|| validator("CreateServer"));

proptest! {
    /// Schema and reader accept the same numbers.
    #[test]
    fn schema_and_reader_agree_about_numbers(number in 0..8_usize, value in -1_i64..400_000) {
        let name = types::PolicyNumber::ALL[number].name();
        let body = json!({"name": "a", "type": "code_execution", "sandbox_policy": {name: value}});
        let is_read = create_server(body.to_string().as_bytes(), &CodeDefaults::default()).is_ok();
        prop_assert_eq!(NEW_SERVER.is_valid(&body), is_read);
    }
}
