//! A running program and its end: progress, cancellation, the form of results.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use test_support::{CodeClient, Codeyard, Era, ServerDefinition};

/// Waits until the request of this id has reported progress.
async fn progress(client: &mut CodeClient, token: &str) -> Value {
    let mut message = client
        .mcp
        .wait_for("progress", Duration::from_secs(30), |message| {
            message["method"] == "notifications/progress" && message["params"]["progressToken"] == *token
        })
        .await
        .unwrap();
    message["params"].take()
}

async fn start_with_progress(client: &mut CodeClient, code: &str, token: &str) -> Value {
    let params = json!({
        "name": "execute_code", "arguments": {"code": code}, "_meta": {"progressToken": token},
    });
    client.mcp.start("tools/call", params).await.unwrap()
}

#[tokio::test]
async fn progress_is_reported_during_a_run() {
    let mut client = CodeClient::with_stub().await;
    let id = start_with_progress(&mut client, "import time; time.sleep(1.3)", "mine").await;
    let first = progress(&mut client, "mine").await;
    let second = progress(&mut client, "mine").await;
    assert!(
        first["message"].as_str().unwrap().starts_with("running for 0."),
        "{first}"
    );
    assert!(
        second["progress"].as_f64() > first["progress"].as_f64(),
        "{first} {second}"
    );
    assert_eq!(client.ran(&id).await.status(), "completed");
    // A client that does not request progress receives none.
    let id = client
        .start(json!({"code": "import time; time.sleep(0.7)"}))
        .await;
    let answer: Value = serde_json::from_str(&client.mcp.line().await.unwrap()).unwrap();
    assert_eq!(answer["id"], id, "{answer}");
}

#[tokio::test]
async fn progress_counts_calls_and_quotes_the_last_server() {
    let stub = ServerDefinition::stub_with_extras();
    let mut client = CodeClient::of(Codeyard::new().unwrap().server("stub", &stub)).await;
    let code = "await tools.stub.echo(message='x')\nawait tools.stub.progress(times=40, every=50)";
    let id = start_with_progress(&mut client, code, "calls").await;
    let told = loop {
        let told = progress(&mut client, "calls").await["message"].take();
        let told = told.as_str().unwrap().to_owned();
        if told.contains(" of 40") {
            break told;
        }
    };
    let (_, activity) = told.split_once(" s; ").unwrap();
    assert!(activity.starts_with("2 calls, last stub.progress: "), "{told}");
    assert_eq!(client.ran(&id).await.status(), "completed");
}

#[tokio::test]
async fn a_cancelled_run_ends_at_once_and_its_session_is_kept() {
    let mut client = CodeClient::with_stub().await;
    assert_eq!(client.run("kept = 'yes'").await.status(), "completed");
    for code in [
        "import time; time.sleep(50)",
        "await tools.stub.slow(seconds=50)",
        "while True: pass",
    ] {
        let id = start_with_progress(&mut client, code, code).await;
        progress(&mut client, code).await;
        let cancelled = Instant::now();
        client.mcp.cancel(&id).await.unwrap();
        let ran = client.run("return kept").await;
        assert_eq!(ran.result(), "yes", "{code}: {ran:?}");
        assert!(
            cancelled.elapsed() < Duration::from_secs(5),
            "{code}: {:?}",
            cancelled.elapsed()
        );
    }
    client.check_healthy().await;
}

#[tokio::test]
async fn a_queued_run_that_is_cancelled_never_begins() {
    let mut client = CodeClient::with_stub().await;
    let first = start_with_progress(&mut client, "import time; time.sleep(0.8)\nx = 'first'", "t").await;
    let second = client.start(json!({"code": "x = 'second'"})).await;
    progress(&mut client, "t").await;
    client.mcp.cancel(&second).await.unwrap();
    assert_eq!(client.ran(&first).await.status(), "completed");
    assert_eq!(client.run("return x").await.result(), "first");
}

/// Compares the names of the fields, in order.
#[track_caller]
fn check_fields(fields: &Value, expected: &[&str]) {
    let names: Vec<&str> = fields.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(names, expected, "{fields}");
}

#[tokio::test]
async fn results_have_the_promised_fields_and_no_empty_ones() {
    let mut client = CodeClient::with_stub().await;
    let ran = client.run("pass").await;
    check_fields(ran.fields(), &["status", "session", "run_id"]);
    assert_eq!(ran.shown(), "(no output)");

    let all = "import sys\nprint('o')\nprint('e', file=sys.stderr)\nopen('/results/a.txt', 'w').write('x')\nreturn {'n': 1}";
    let ran = client.run(all).await;
    check_fields(
        ran.fields(),
        &[
            "status",
            "result",
            "stdout",
            "stderr",
            "artifacts",
            "files",
            "session",
            "run_id",
        ],
    );
    assert_eq!(ran.fields()["artifacts"], json!(["a.txt"]));
    assert_eq!(
        ran.shown(),
        "result: {\"n\":1}\nstdout: o\nstderr: e\nfiles: /results/a.txt (txt, 1 B)"
    );
    assert_eq!(ran.0["isError"], false);

    let ran = client.run("print('before')\nraise ValueError('boom')").await;
    check_fields(
        ran.fields(),
        &["status", "stdout", "error", "session", "session_state", "run_id"],
    );
    assert_eq!((ran.status(), ran.is_error()), ("failed", true));

    let first = client.run("pass").await;
    let second = client.run("pass").await;
    assert_ne!(first.fields()["run_id"], second.fields()["run_id"]);
}

#[tokio::test]
async fn a_result_is_the_return_else_the_last_expression_else_the_variable() {
    let mut client = CodeClient::with_stub().await;
    for (code, expected) in [
        (
            "return {'a': [1, None, 2.5], 'b': 'ü'}",
            json!({"a": [1, null, 2.5], "b": "ü"}),
        ),
        ("x = 20\nx + 1", json!(21)),
        ("result = 'named'\nfor _ in []: pass", json!("named")),
        ("result = 'named'\n'last'", json!("last")),
        ("result = 'named'\nif True: return 'returned'", json!("returned")),
        (
            "import datetime; return {datetime.date(2026, 1, 2): {3, }}",
            json!({"2026-01-02": [3]}),
        ),
        ("await tools.stub.add(a=1, b=1)", json!({"sum": 2})),
        ("return None", Value::Null),
        ("print('only printed')", Value::Null),
    ] {
        let ran = client.run(code).await;
        assert_eq!(
            (ran.status(), ran.result()),
            ("completed", &expected),
            "{code}: {ran:?}"
        );
    }
}

#[tokio::test]
async fn a_receipt_and_json_appear_on_request() {
    let mut client = CodeClient::with_stub().await;
    let code = "await tools.stub.echo(message='x')";
    let ran = client
        .execute(json!({"code": code, "receipt": true, "format": "json"}))
        .await;
    let receipt = &ran.fields()["receipt"];
    assert_eq!(receipt["host_calls"], 1, "{ran:?}");
    assert!(receipt["wall_ms"].as_f64() > Some(0.0), "{ran:?}");
    let shown: Value = serde_json::from_str(ran.shown()).unwrap();
    assert_eq!(&shown, ran.fields());
}

#[tokio::test]
async fn the_newer_era_has_progress_and_cancellation_too() {
    let codeyard = test_support::Codeyard::with_stub().unwrap();
    let mcp = codeyard.mcp(Era::Modern).await.unwrap();
    let mut client = CodeClient { mcp, codeyard };
    assert_eq!(client.run("1").await.result(), 1);
    let id = start_with_progress(&mut client, "kept = 1\nimport time; time.sleep(50)", "t").await;
    progress(&mut client, "t").await;
    client.mcp.cancel(&id).await.unwrap();
    assert_eq!(client.run("return kept").await.result(), 1);
}
