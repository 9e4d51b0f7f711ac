//! Results, costs and metadata of calls.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use test_support::{ServerDefinition, servers, wait_until};
use upstream::UpstreamError;

use crate::{LONG, call, call_within, hub, text};

const ERAS: [servers::Era; 3] = [servers::Era::Old, servers::Era::Legacy, servers::Era::Modern];

#[tokio::test]
async fn tools_answer_in_every_era() {
    for era in ERAS {
        let hub = hub(&[("stub", ServerDefinition::stub().era(era))]);
        let echo = call(&hub, "stub", "echo", json!({"message": "grüße\n\u{1}"}))
            .await
            .expect("an answer");
        assert_eq!(text(&echo), "grüße\n\u{1}", "{era:?}");
        let sum = call(&hub, "stub", "add", json!({"a": 1, "b": 2}))
            .await
            .expect("an answer");
        assert_eq!(sum["structuredContent"], json!({"sum": 3}), "{era:?}");
        let failed = call(&hub, "stub", "fail", json!({"message": "no"}))
            .await
            .expect("an answer");
        assert_eq!(
            (text(&failed), &failed["isError"]),
            ("no", &json!(true)),
            "{era:?}"
        );
        let things = call(&hub, "stub", "list-things", json!({}))
            .await
            .expect("an answer");
        assert_eq!(things["structuredContent"]["things"][0], "lamp", "{era:?}");
        hub.shutdown().await;
    }
}

#[tokio::test]
async fn one_process_serves_all_calls() {
    let hub = hub(&[("stub", ServerDefinition::stub())]);
    let first = call(&hub, "stub", "pid", json!({})).await.expect("an answer");
    let second = call(&hub, "stub", "pid", json!({})).await.expect("an answer");
    assert_eq!(first, second);
}

#[tokio::test]
async fn every_field_of_a_result_arrives_as_it_was_sent() {
    let hub = hub(&[("stub", ServerDefinition::stub_with_extras())]);
    let check = async |result: Value| {
        let answer = call(&hub, "stub", "raw", json!({"result": result}))
            .await
            .expect("an answer");
        assert_eq!(answer, result);
    };
    check(json!({})).await;
    check(json!({"_meta": {"a": null}})).await;
    check(json!({"content": [{"type": "hologram", "x": [1, 2.5, u64::MAX, i64::MIN]}], "vendor": {"b": 1, "a": []}})).await;
    check(json!({"content": [{"type": "text", "text": "t", "annotations": {"z": {}}, "extra": 1}], "isError": false})).await;
    check(json!({"content": [], "structuredContent": [1, "two", null], "resultType": "complete"})).await;
}

#[tokio::test]
async fn a_long_text_arrives_whole_and_one_that_is_too_long_fails_alone() {
    let hub = hub(&[("stub", ServerDefinition::stub())]);
    let pid = call(&hub, "stub", "pid", json!({})).await.expect("an answer");
    let big = call(&hub, "stub", "big", json!({"bytes": 5_000_000}))
        .await
        .expect("an answer");
    assert_eq!(text(&big).len(), 5_000_000);
    // The slow call is pending while the long answer is left out.
    let slow = call(&hub, "stub", "slow", json!({"seconds": 1}));
    let huge = call(&hub, "stub", "big", json!({"bytes": 50_000_000}));
    let (slow, huge) = tokio::join!(slow, huge);
    assert_eq!(text(&slow.expect("an answer")), "done");
    let error = huge.expect_err("too long").to_string();
    assert!(
        error.starts_with("server 'stub' answered the call of 'big' with 500000"),
        "{error}"
    );
    assert!(error.contains("16777216"), "{error}");
    assert_eq!(
        call(&hub, "stub", "pid", json!({})).await.expect("an answer"),
        pid
    );
}

#[tokio::test]
async fn calls_of_one_server_run_side_by_side() {
    let hub = hub(&[("stub", ServerDefinition::stub())]);
    call(&hub, "stub", "pid", json!({})).await.expect("an answer");
    let start = Instant::now();
    let slow = || call(&hub, "stub", "slow", json!({"seconds": 1}));
    let answers = tokio::join!(slow(), slow(), slow(), slow(), slow());
    for answer in [answers.0, answers.1, answers.2, answers.3, answers.4] {
        assert_eq!(text(&answer.expect("an answer")), "done");
    }
    assert!(
        start.elapsed() < Duration::from_secs(4),
        "one after the other: {:?}",
        start.elapsed()
    );
}

#[tokio::test]
async fn a_dropped_call_is_cancelled_upstream_and_others_continue() {
    for era in ERAS {
        let hub = hub(&[("stub", ServerDefinition::stub_with_extras().era(era))]);
        call(&hub, "stub", "pid", json!({})).await.expect("an answer");
        let slow = tokio::spawn({
            let hub = hub.clone();
            async move { call(&hub, "stub", "slow", json!({"seconds": 600})).await }
        });
        let calls = async || call(&hub, "stub", "calls", json!({})).await.expect("an answer");
        while calls().await["structuredContent"]["calls"].as_u64() < Some(3) {}
        slow.abort();
        assert!(slow.await.is_err_and(|end| end.is_cancelled()));
        while call(&hub, "stub", "cancelled", json!({}))
            .await
            .expect("an answer")["structuredContent"]
            == json!({"ids": []})
        {}
        hub.shutdown().await;
    }
}

#[tokio::test]
async fn the_deadline_ends_a_call_and_notifies_the_server() {
    let hub = hub(&[("stub", ServerDefinition::stub_with_extras())]);
    call(&hub, "stub", "pid", json!({})).await.expect("an answer");
    let time = Duration::from_millis(300);
    let error = call_within(&hub, time, "stub", "slow", json!({"seconds": 600}))
        .await
        .expect_err("late");
    assert!(matches!(error, UpstreamError::Timeout { .. }), "{error:?}");
    let message = error.to_string();
    assert!(
        message.starts_with("server 'stub' did not answer the call of 'slow' within 30"),
        "{message}"
    );
    while call(&hub, "stub", "cancelled", json!({}))
        .await
        .expect("an answer")["structuredContent"]
        == json!({"ids": []})
    {}
}

#[tokio::test]
async fn progress_puts_off_the_servers_own_time_out_but_never_the_deadline() {
    let hub = hub(&[("stub", ServerDefinition::stub_with_extras().timeout(700))]);
    call(&hub, "stub", "pid", json!({})).await.expect("an answer");
    let progress = json!({"times": 12, "every": 100});
    let done = call(&hub, "stub", "progress", progress.clone())
        .await
        .expect("progress kept it alive");
    assert_eq!(text(&done), "done");
    let error = call(&hub, "stub", "slow", json!({"seconds": 600}))
        .await
        .expect_err("silent for too long");
    assert!(matches!(error, UpstreamError::Timeout { .. }), "{error:?}");
    let time = Duration::from_millis(500);
    let error = call_within(&hub, time, "stub", "progress", progress)
        .await
        .expect_err("past the deadline");
    assert!(
        matches!(error, UpstreamError::Timeout { after, .. } if after < LONG),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_server_sees_the_minimal_environment_and_its_definitions_own() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().canonicalize().expect("it exists");
    let definition = ServerDefinition::stub_with_extras()
        .env("STUB_SECRET", "s3cr3t-upstream")
        .cwd(&path);
    let hub = hub(&[("stub", definition)]);
    let answer = call(&hub, "stub", "environment", json!({}))
        .await
        .expect("an answer");
    let variables = answer["structuredContent"].as_object().expect("variables");
    assert_eq!(variables["STUB_SECRET"], "s3cr3t-upstream");
    assert!(variables.contains_key("PATH"));
    for name in variables.keys() {
        let allowed = ["PATH", "HOME", "LANG", "TMPDIR", "STUB_SECRET"].contains(&name.as_str());
        assert!(allowed || name.starts_with("LC_"), "{name} reached the server");
    }
    let cwd = call(&hub, "stub", "cwd", json!({})).await.expect("an answer");
    assert_eq!(text(&cwd), path.to_string_lossy());
}

#[tokio::test]
async fn requests_of_a_server_are_answered_politely() {
    let hub = hub(&[("stub", ServerDefinition::stub_with_extras())]);
    let ask = async |method: &str| {
        let answer = call(&hub, "stub", "ask", json!({"method": method}))
            .await
            .expect("an answer");
        answer["structuredContent"].clone()
    };
    assert_eq!(ask("ping").await["result"], json!({}));
    assert_eq!(ask("roots/list").await["result"]["roots"], json!([]));
    assert_eq!(ask("sampling/createMessage").await["error"]["code"], -32601);
    assert_eq!(ask("nothing/known").await["error"]["code"], -32601);
}

#[tokio::test]
async fn refusals_name_server_tool_and_cause() {
    let hub = hub(&[(
        "stub",
        ServerDefinition::stub_with_extras().era(servers::Era::Modern),
    )]);
    let check = async |server: &str, tool: &str, arguments: Value, expected: &str| {
        let error = call(&hub, server, tool, arguments).await.expect_err("a refusal");
        assert_eq!(error.to_string(), expected);
    };
    let refusal = json!({"code": -32050, "message": "not today"});
    check(
        "stub",
        "refuse",
        refusal,
        "server 'stub' refused the call of 'refuse': not today (code -32050)",
    )
    .await;
    let question = json!({"result": {"resultType": "input_required", "inputRequests": {}}});
    let asks = "server 'stub' asks a person for input before it answers the call of 'raw'; codeyard cannot pass the \
                question on yet";
    check("stub", "raw", question, asks).await;
    check(
        "nobody",
        "echo",
        json!({}),
        "no server named 'nobody' is configured",
    )
    .await;
}

#[tokio::test]
async fn many_large_calls_at_once_keep_their_order_and_their_bytes() {
    let hub = hub(&[("stub", ServerDefinition::stub())]);
    // More than the pipe holds in both directions, so writing must wait for reading.
    let messages: Vec<String> = (0..40)
        .map(|number| char::from(b'a' + number % 26).to_string().repeat(200_000))
        .collect();
    let calls = messages.iter().map(|message| {
        let (hub, message) = (hub.clone(), message.clone());
        tokio::spawn(async move { call(&hub, "stub", "echo", json!({"message": message})).await })
    });
    let calls: Vec<_> = calls.collect();
    for (call, message) in calls.into_iter().zip(&messages) {
        let answer = call.await.expect("no panic").expect("an answer");
        assert!(text(&answer) == message, "a message was damaged");
    }
}

#[tokio::test]
async fn a_server_that_ends_between_calls_is_started_again() {
    let hub = hub(&[("stub", ServerDefinition::stub())]);
    let pid =
        call(&hub, "stub", "pid", json!({})).await.expect("an answer")["structuredContent"]["pid"].clone();
    let pid = pid
        .as_i64()
        .and_then(|pid| i32::try_from(pid).ok())
        .and_then(rustix::process::Pid::from_raw);
    rustix::process::kill_process(pid.expect("a process"), rustix::process::Signal::KILL).expect("killed");
    let again = wait_until("the hub has noticed", || {
        (!crate::is_running(&hub, "stub")).then_some(())
    })
    .await;
    assert_eq!(again, ());
    assert!(call(&hub, "stub", "echo", json!({"message": "x"})).await.is_ok());
}
