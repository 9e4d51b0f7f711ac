//! Every attempt leaves a record, with the promised facts and without secrets.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};
use test_support::{CodeClient, Codeyard};

use crate::records::{detail, file, holds, recorded, run, runs};

/// Runs a program and checks its record's status and these fields.
async fn check(client: &mut CodeClient, arguments: Value, status: &str, fields: &[(&str, Value)]) -> Value {
    let ran = client.execute(arguments.clone()).await;
    assert_eq!(ran.status(), status, "{arguments}: {ran:?}");
    let record = recorded(&client.codeyard, &ran.fields()["run_id"], status).await;
    for (name, expected) in fields {
        assert_eq!(&record[name], expected, "{name} of {record}");
    }
    record
}

// C156, C272
#[tokio::test]
async fn every_status_is_recorded_with_its_sizes_and_limits() {
    let codeyard = Codeyard::with_stub()
        .unwrap()
        .settings("[limits]\nhost_calls = 3");
    let mut client = CodeClient::of(codeyard).await;
    let code = "print('four')\nreturn await tools.stub.add(a=1, b=2)";
    let record = check(
        &mut client,
        json!({"code": code, "session": "mine", "timeout_ms": 7000}),
        "completed",
        &[
            ("front", json!("mcp")),
            ("session", json!("mine")),
            ("language", json!("python")),
            ("principal", json!("local")),
            ("code_bytes", json!(code.len())),
            ("stdout_bytes", json!(5)),
            ("stderr_bytes", json!(0)),
            ("result_bytes", json!(r#"{"sum":3}"#.len())),
            ("host_calls", json!(1)),
            ("session_fate", json!("kept")),
            ("backend", json!("process")),
        ],
    )
    .await;
    assert_eq!(record["limits"]["wall_time_ms"], 7000, "{record}");
    assert_eq!(record["code_hash"].as_str().unwrap().len(), 64, "{record}");
    assert!(
        record["mode"].is_string() && record["duration_us"].as_i64() > Some(0),
        "{record}"
    );
    assert!(
        record["ended_ms"].as_i64() >= record["asked_ms"].as_i64(),
        "{record}"
    );

    let raised = json!({"code": "raise KeyError('x')"});
    check(
        &mut client,
        raised,
        "failed",
        &[("error_kind", json!("KeyError"))],
    )
    .await;
    let slow = json!({"code": "import time; time.sleep(9)", "timeout_ms": 200});
    let record = check(&mut client, slow, "timed_out", &[]).await;
    let events = detail(&client.codeyard, &record["id"]).await["events"].take();
    assert_eq!(events[0]["kind"], "limit_exceeded", "{events}");
    let greedy = json!({"code": "for n in range(9): await tools.stub.add(a=n, b=n)"});
    let record = check(
        &mut client,
        greedy,
        "limit_exceeded",
        &[("limit", json!("host_calls"))],
    )
    .await;
    let calls = detail(&client.codeyard, &record["id"]).await["calls"].take();
    assert_eq!(calls.as_array().unwrap().len(), 3, "{calls}");
}

// C159
#[tokio::test]
async fn attempts_that_were_refused_or_cancelled_are_recorded() {
    let mut client = CodeClient::with_stub().await;
    let wrong = client.execute(json!({"code": "1", "timeout_ms": "soon"})).await;
    assert_eq!(wrong.status(), "refused");
    let record = loop {
        if let Some(record) = runs(&client.codeyard, &["--status", "refused"]).await.pop() {
            break record;
        }
    };
    assert_eq!(record["error_kind"], "arguments", "{record}");
    let events = detail(&client.codeyard, &record["id"]).await["events"].take();
    assert_eq!(events[0]["kind"], "run_refused", "{events}");

    let first = client.start(json!({"code": "import time; time.sleep(30)"})).await;
    let waiting = client.start(json!({"code": "1"})).await;
    // Both attempts are recorded before a later request is answered.
    client.mcp.tools().await.unwrap();
    client.mcp.cancel(&waiting).await.unwrap();
    client.mcp.cancel(&first).await.unwrap();
    let cancelled = loop {
        let found = runs(&client.codeyard, &["--status", "cancelled"]).await;
        if found.len() == 2 {
            break found;
        }
    };
    assert!(
        cancelled[0]["duration_us"].is_null(),
        "it never began: {cancelled:?}"
    );
    assert!(cancelled[1]["waited_us"].is_number(), "{cancelled:?}");

    let ended = run(&client.codeyard, &["run", "-", "--timeout", "301s"], "1").await;
    assert_eq!(ended.code, 2, "{ended:?}");
    let record = runs(&client.codeyard, &["--limit", "1"]).await.remove(0);
    assert_eq!(
        (&record["front"], &record["status"]),
        (&json!("run"), &json!("refused"))
    );
}

#[tokio::test]
async fn calls_have_an_outcome_a_shape_and_no_values() {
    let codeyard = Codeyard::with_stub()
        .unwrap()
        .settings("[policy]\ndeny = [\"stub.send\"]");
    let mut client = CodeClient::of(codeyard).await;
    let code = "\
await tools.stub.echo(message='value-of-the-argument-71')
for call in (tools.stub.fail(message='why-it-failed-71'), tools.stub.send(to='denied-71'), tools.stub.add(a='wrong-71'), tools.stub.nope(x=1)):
    try:
        await call
    except Exception as error:
        pass
print('printed-71')
return 'returned-71'";
    let ran = client.execute(json!({"code": code, "check": "off"})).await;
    assert_eq!(ran.status(), "completed", "{ran:?}");
    let id = ran.fields()["run_id"].clone();
    recorded(&client.codeyard, &id, "completed").await;
    let record = detail(&client.codeyard, &id).await;
    let calls = record["calls"].as_array().unwrap();
    let told: Vec<(&str, &str)> = calls
        .iter()
        .map(|call| (call["tool"].as_str().unwrap(), call["outcome"].as_str().unwrap()))
        .collect();
    let expected = [
        ("echo", "answered"),
        ("fail", "tool_error"),
        ("send", "denied"),
        ("add", "invalid_arguments"),
        ("nope", "unknown_tool"),
    ];
    assert_eq!(told, expected, "{record}");
    assert_eq!(calls[0]["shape"], json!({"message": "string"}));
    assert_eq!(calls[3]["shape"], json!({"a": "string"}));
    assert_eq!(
        calls[4]["shape"],
        json!({"...": 1}),
        "names that no tool declares may be data"
    );
    assert!(calls.iter().all(|call| call["arguments"].is_null()), "{record}");
    let denied: Vec<&Value> = record["events"].as_array().unwrap().iter().collect();
    assert_eq!(
        (&denied[0]["kind"], &denied[0]["detail"]),
        (&json!("call_denied"), &json!("stub.send"))
    );

    for secret in [
        "value-of-the-argument",
        "why-it-failed",
        "denied-71",
        "wrong-71",
        "printed-71",
        "returned-71",
    ] {
        assert!(!holds(&client.codeyard, secret), "{secret} is in the file");
    }
    assert!(holds(&client.codeyard, "message"), "the shape is there in clear");
    let mode = file(&client.codeyard).metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[tokio::test]
async fn arguments_are_recorded_on_request() {
    let codeyard = Codeyard::with_stub()
        .unwrap()
        .settings("[records]\nrecord = \"full\"");
    let mut client = CodeClient::of(codeyard).await;
    let ran = client
        .run("await tools.stub.echo(message='all of it 72')\nprint('printed-72')")
        .await;
    let id = ran.fields()["run_id"].clone();
    recorded(&client.codeyard, &id, "completed").await;
    let record = detail(&client.codeyard, &id).await;
    assert_eq!(
        record["calls"][0]["arguments"],
        json!({"message": "all of it 72"})
    );
    assert!(
        !holds(&client.codeyard, "printed-72"),
        "a program's output must not be recorded"
    );
}

#[tokio::test]
async fn a_call_on_the_command_line_is_recorded() {
    let codeyard = Codeyard::with_stub().unwrap();
    let ended = run(&codeyard, &["call", "stub.add", r#"{"a": 1, "b": 2}"#], "").await;
    assert_eq!(ended.code, 0, "{ended:?}");
    let record = runs(&codeyard, &[]).await.remove(0);
    assert_eq!(
        (&record["front"], &record["status"]),
        (&json!("call"), &json!("completed"))
    );
    let record = detail(&codeyard, &record["id"]).await;
    assert_eq!(record["calls"][0]["tool"], "add", "{record}");
    let ended = run(&codeyard, &["call", "stub.nope"], "").await;
    assert_eq!(ended.code, 2, "{ended:?}");
    assert_eq!(runs(&codeyard, &["--status", "failed"]).await.len(), 1);
}

#[tokio::test]
async fn nothing_is_recorded_while_records_are_off() {
    let codeyard = Codeyard::new().unwrap().settings("[records]\nrecord = \"off\"");
    let ended = run(&codeyard, &["run", "-"], "print(1)").await;
    assert_eq!((ended.out.as_str(), ended.err.as_str()), ("1\n", ""));
    assert!(!file(&codeyard).exists());
    let ended = run(&codeyard, &["runs"], "").await;
    assert_eq!(
        (ended.code, ended.err.as_str()),
        (0, "nothing has been recorded yet\n")
    );
}
