//! Lists of runs, sessions and events, and their owners.

use serde_json::{Value, json};

use super::actors::{ADMIN, AL2, ALICE, ANA, Actor, BOB, VIC};
use super::running::Gateway;

pub async fn c156(gateway: &Gateway) {
    let id = gateway.cs_a(&json!({})).await;
    gateway.check((&ALICE, &id), "print('first')", "first\n").await;
    let second = gateway
        .check((&ALICE, &id), "print('second-text')", "second-text\n")
        .await;
    let runs = gateway
        .get(&ALICE, &format!("/servers/{id}/code/runs?limit=1"))
        .await;
    let [run] = runs.as_array().unwrap().as_slice() else {
        panic!("{runs}");
    };
    assert_eq!(run["id"], second.fields()["run_id"]);
    let members: Vec<&str> = run.as_object().unwrap().keys().map(String::as_str).collect();
    let mut expected = [
        "id",
        "server_id",
        "session_id",
        "user_email",
        "language",
        "code_hash",
        "status",
        "metrics",
        "tool_calls_made",
        "security_events",
        "created_at",
        "started_at",
        "finished_at",
    ];
    expected.sort_unstable();
    let mut members = members;
    members.sort_unstable();
    assert_eq!(members, expected);
    assert_eq!(
        (&run["user_email"], &run["language"]),
        (&json!(ALICE.email), &json!("python"))
    );
    assert_eq!(
        (&run["status"], &run["server_id"]),
        (&json!("completed"), &json!(id))
    );
    assert!(!run.to_string().contains("second-text"), "{run}");
    // S0-20: the record has the same numbers as the result.
    let told = &second.fields()["metrics"];
    for number in [
        "code_hash",
        "tool_call_count",
        "bytes_written",
        "bytes_error",
        "error_rate",
    ] {
        assert_eq!(run["metrics"][number], told[number], "{number}");
    }
}

#[tokio::test]
async fn s0_76_a_new_server_with_a_removed_one_s_id_has_no_old_records() {
    let gateway = Gateway::with_stub().await;
    let of = |team: &str| json!({"id": "lab", "name": "lab", "type": "code_execution", "team_id": team, "sandbox_policy": {"runtime": "python"}});
    gateway.ask(&ANA, "POST /servers", of("team-a"), 201).await;
    gateway.check((&ALICE, "lab"), "print(1)", "1\n").await;
    let runs = gateway.get(&ANA, "/servers/lab/code/runs").await;
    assert_eq!(runs.as_array().map(Vec::len), Some(1), "{runs}");
    gateway.ask(&ANA, "DELETE /servers/lab", Value::Null, 200).await;
    gateway.ask(&BOB, "POST /servers", of("team-b"), 201).await;
    for list in ["runs", "security-events"] {
        let found = gateway.get(&BOB, &format!("/servers/lab/code/{list}")).await;
        assert_eq!(found, json!([]), "{list}");
    }
}

#[tokio::test]
async fn c156_runs_are_listed_without_programs() {
    c156(&Gateway::with_stub().await).await;
}

#[tokio::test]
async fn s0_76_s0_77_s0_78_queries_are_checked() {
    let gateway = Gateway::with_stub().await;
    let id = gateway.cs_a(&json!({})).await;
    gateway.check((&ALICE, &id), "print(1)", "1\n").await;
    for (list, most) in [("runs", 500), ("sessions", 500), ("security-events", 1000)] {
        let path = format!("/servers/{id}/code/{list}");
        gateway.get(&ALICE, &format!("{path}?limit={most}")).await;
        for query in [
            "limit=0".to_owned(),
            format!("limit={}", most + 1),
            "limit=x".to_owned(),
            "lim=1".to_owned(),
        ] {
            gateway
                .check_refused(&ALICE, &format!("GET {path}?{query}"), Value::Null, (422, "lim"))
                .await;
        }
    }
    let path = format!("/servers/{id}/code/runs");
    for (query, count) in [
        ("status=completed", 1),
        ("status=failed", 0),
        ("tool=stub/add", 0),
        ("user=alice@example.com", 1),
        ("user=al2@example.com", 0),
        ("team_id=team-a", 1),
        ("team_id=team-b", 0),
    ] {
        let runs = gateway.get(&ALICE, &format!("{path}?{query}")).await;
        assert_eq!(runs.as_array().unwrap().len(), count, "{query}");
    }
    gateway
        .check_refused(
            &ALICE,
            &format!("GET {path}?status=odd"),
            Value::Null,
            (422, "status"),
        )
        .await;
}

#[tokio::test]
async fn s0_77_s0_53_sessions_have_the_original_s_ids() {
    let gateway = Gateway::with_stub().await;
    let id = gateway.cs_a(&json!({"id": "cs-handle"})).await;
    let typescript = json!({"code": "console.log(1)", "language": "typescript"});
    gateway.check((&ALICE, &id), "print(1)", "1\n").await;
    gateway.call(&ALICE, &id, "shell_exec", typescript).await;
    gateway.check((&AL2, &id), "print(1)", "1\n").await;
    let sessions = gateway.get(&ANA, &format!("/servers/{id}/code/sessions")).await;
    let found = sessions.as_array().unwrap().iter().map(|session| {
        let text = |member: &str| session[member].as_str().unwrap().to_owned();
        (text("user_email"), text("language"), text("session_id"))
    });
    // The first 24 digits of sha256sum over `server:user:language`.
    let expected = [
        (AL2, "python", "45cda630a93e9618541e9e91"),
        (ALICE, "typescript", "3e352f110d9fa307b200fa30"),
        (ALICE, "python", "5b4ba277c928c277ebbad962"),
    ];
    let expected = expected
        .map(|(actor, language, handle)| (actor.email.to_owned(), language.to_owned(), handle.to_owned()));
    assert_eq!(found.collect::<Vec<_>>(), expected);
    for member in ["server_id", "created_at", "last_used_at", "generated_at"] {
        assert!(sessions[0][member].is_string(), "{member}: {sessions}");
    }
    assert_eq!(
        (&sessions[0]["tool_count"], &sessions[0]["skill_count"]),
        (&json!(11), &json!(0))
    );
    let runs = gateway.get(&AL2, &format!("/servers/{id}/code/runs")).await;
    assert_eq!(runs[0]["session_id"], sessions[0]["session_id"]);
}

/// The number of rows that a user sees in each list.
async fn seen(gateway: &Gateway, actor: &Actor, id: &str) -> [usize; 3] {
    let mut counts = [0; 3];
    for (count, list) in counts.iter_mut().zip(["runs", "sessions", "security-events"]) {
        let rows = gateway.get(actor, &format!("/servers/{id}/code/{list}")).await;
        *count = rows.as_array().unwrap().len();
    }
    counts
}

pub async fn s0_d13(gateway: &Gateway) {
    let deny = json!({"sandbox_policy": {"permissions": {"tools": {"deny": ["stub/add"]}}}});
    let id = gateway.cs_a(&deny).await;
    for actor in [ALICE, AL2] {
        gateway.check((&actor, &id), "print(1)", "1\n").await;
        gateway
            .check_error((&actor, &id), "await tools.stub.add({'a':1,'b':1})", "denied")
            .await;
    }
    for (actor, counts) in [
        (ALICE, [2, 1, 1]),
        (AL2, [2, 1, 1]),
        (VIC, [0, 0, 0]),
        (ANA, [4, 2, 2]),
        (ADMIN, [4, 2, 2]),
    ] {
        assert_eq!(seen(gateway, &actor, &id).await, counts, "{}", actor.email);
    }
    let hidden = (404, r#"{"detail":"code_execution server not found"}"#);
    for path in [
        format!("/servers/{id}/code/runs"),
        "/servers/none/code/runs".to_owned(),
    ] {
        gateway
            .check_refused(&BOB, &format!("GET {path}"), Value::Null, hidden)
            .await;
    }
    // A request for another user's rows returns none.
    for user in ["user=al2@example.com", "user=none@example.com"] {
        let runs = gateway
            .get(&ALICE, &format!("/servers/{id}/code/runs?{user}"))
            .await;
        assert_eq!(runs, json!([]));
    }
    // On a public server, a team's admin has no rights over other users.
    let public = gateway.cs_p().await;
    gateway.check((&ALICE, &public), "print(1)", "1\n").await;
    for (actor, counts) in [
        (ALICE, [1, 1, 0]),
        (ANA, [0, 0, 0]),
        (BOB, [0, 0, 0]),
        (ADMIN, [1, 1, 0]),
    ] {
        assert_eq!(seen(gateway, &actor, &public).await, counts, "{}", actor.email);
    }
}

#[tokio::test]
async fn c167_s0_d13_users_see_their_own_records() {
    s0_d13(&Gateway::with_stub().await).await;
}

#[tokio::test]
async fn c159_a_failing_tool_is_an_event() {
    let gateway = Gateway::with_stub().await;
    let id = gateway.cs_a(&json!({})).await;
    gateway
        .check_error((&ALICE, &id), "await tools.stub.fail({'message':'nope'})", "nope")
        .await;
    let path = format!("/servers/{id}/code/security-events");
    let events = gateway.get(&ALICE, &path).await;
    let kinds: Vec<&Value> = events
        .as_array()
        .unwrap()
        .iter()
        .map(|event| &event["event"])
        .collect();
    assert_eq!(kinds, ["tool_call_error"]);
    assert_eq!(
        (&events[0]["tool"], &events[0]["run_status"]),
        (&json!("stub/fail"), &json!("failed"))
    );
    assert_eq!(
        gateway.get(&ALICE, &format!("{path}?event=policy_block")).await,
        json!([])
    );
}
