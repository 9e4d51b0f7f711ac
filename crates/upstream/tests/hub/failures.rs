//! Misbehaving servers: the call fails with the server's name and the cause, and everything else continues.

use std::time::{Duration, Instant};

use serde_json::json;
use test_support::{ServerDefinition, wait_until};
use upstream::{Hub, Status, UpstreamError};

use crate::{call, call_within, config, hub, state, text};

/// The bad server's call fails with these words; the good server beside it still answers.
async fn check(mode: &str, expected: &[&str]) -> UpstreamError {
    // Only two of them should time out; the others may take long on a busy machine.
    let (timeout, deadline) = match mode {
        "wrong-ids" => (1_500, 20),
        "hang" => (20_000, 2),
        _ => (20_000, 20),
    };
    let bad = ServerDefinition::hostile(mode).timeout(timeout);
    let hub = hub(&[("bad", bad), ("good", ServerDefinition::stub())]);
    let outcome = call_within(
        &hub,
        Duration::from_secs(deadline),
        "bad",
        "echo",
        json!({"message": "x"}),
    )
    .await;
    let error = outcome.expect_err(mode);
    let message = error.to_string();
    assert!(message.contains("server 'bad'"), "{mode}: {message}");
    for words in expected {
        assert!(message.contains(words), "{mode}: {message}");
    }
    let good = call(&hub, "good", "echo", json!({"message": "still here"}))
        .await
        .expect(mode);
    assert_eq!(text(&good), "still here");
    hub.shutdown().await;
    error
}

#[tokio::test]
async fn a_server_that_exits_at_its_start() {
    let error = check(
        "exit",
        &[
            "did not start",
            "exited with status 1",
            "fatal: the API key is missing",
        ],
    )
    .await;
    assert!(matches!(error, UpstreamError::Start { .. }), "{error:?}");
}

#[tokio::test]
async fn a_server_that_fails_in_each_way_of_greeting() {
    let script = r#"while read -r line; do
        case $line in *server/discover*) exit 3;; esac
        id=${line#*\"id\":}; id=${id%%[,\}]*}
        printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"no key"}}\n' "$id"
    done"#;
    let hub = hub(&[("bad", ServerDefinition::new("/bin/sh", &["-c", script]))]);
    let error = hub.list("bad").await.expect_err("refused").to_string();
    assert!(
        error.starts_with("server 'bad' did not start: it refused the handshake: ")
            && error.contains("no key"),
        "{error}"
    );
    // The error does not mention the outcome of codeyard's own request.
    assert!(!error.contains("status 3"), "{error}");
    hub.shutdown().await;
}

#[tokio::test]
async fn a_server_that_never_says_anything() {
    check("hang", &["did not answer its start within", "still starting"]).await;
}

#[tokio::test]
async fn a_server_that_answers_garbage() {
    check(
        "garbage",
        &[
            "'echo' with something other than a result",
            "{\"jsonrpc\":\"2.0\",\"id\":",
        ],
    )
    .await;
    check("no-result", &["'echo' with something other than a result"]).await;
    check("answers-numbers", &["the result is not an object"]).await;
}

#[tokio::test]
async fn a_server_that_answers_something_else() {
    check(
        "wrong-ids",
        &[
            "did not answer the call of 'echo' within",
            "request 1000000, which was never sent",
        ],
    )
    .await;
}

#[tokio::test]
async fn a_server_that_answers_too_much() {
    let error = check("huge", &["52428", "more than the 16777216", "ask it for less"]).await;
    assert!(matches!(error, UpstreamError::TooLarge { .. }), "{error:?}");
    check("endless-line", &["52428800 bytes"]).await;
}

#[tokio::test]
async fn a_server_that_dies_in_the_middle_of_a_call() {
    check(
        "dies",
        &["ended during the call of 'echo'", "SIGABRT", "panic: out of luck"],
    )
    .await;
    let error = check(
        "dies-loudly",
        &["a line of a very long trace\n", "the last words"],
    )
    .await;
    assert!(error.to_string().len() < 4096, "the tail of stderr is cut");
}

#[tokio::test]
async fn a_server_that_stops_reading() {
    let hub = hub(&[("deaf", ServerDefinition::hostile("deaf").timeout(500))]);
    let message = "x".repeat(100_000);
    for _ in 0..3 {
        let error = call(&hub, "deaf", "echo", json!({"message": message}))
            .await
            .expect_err("deaf");
        assert!(matches!(error, UpstreamError::Timeout { .. }), "{error}");
    }
    hub.shutdown().await;
}

#[tokio::test]
async fn noise_and_repeated_answers_do_no_harm() {
    for mode in ["noise", "duplicate"] {
        let hub = hub(&[("odd", ServerDefinition::hostile(mode))]);
        for message in ["one", "two", "three"] {
            let answer = call(&hub, "odd", "echo", json!({"message": message}))
                .await
                .expect(mode);
            assert_eq!(text(&answer), message, "{mode}");
        }
        let warnings = state(&hub, "odd").warnings.join("\n");
        assert_eq!(
            warnings.contains("DEBUG: about to answer"),
            mode == "noise",
            "{warnings}"
        );
    }
}

#[tokio::test]
async fn unknown_content_arrives() {
    let hub = hub(&[("odd", ServerDefinition::hostile("unknown-content"))]);
    let answer = call(&hub, "odd", "echo", json!({"message": "x"}))
        .await
        .expect("an answer");
    assert_eq!(
        answer["content"][0]["beams"],
        json!([1, 2.5, 12_345_678_901_234_567_890_u64])
    );
    assert_eq!(answer["vendor"], json!({"z": 1, "a": null}));
}

#[tokio::test]
async fn a_crash_ends_all_calls_under_way_at_once_and_the_next_call_works() {
    let hub = hub(&[("stub", ServerDefinition::stub())]);
    let pid = call(&hub, "stub", "pid", json!({})).await.expect("an answer");
    let start = Instant::now();
    let slow = call(&hub, "stub", "slow", json!({"seconds": 600}));
    let crash = call(&hub, "stub", "crash", json!({}));
    let (slow, crash) = tokio::join!(slow, crash);
    for (error, tool) in [
        (slow.expect_err("ended"), "slow"),
        (crash.expect_err("ended"), "crash"),
    ] {
        let message = error.to_string();
        let expected = format!("server 'stub' ended during the call of '{tool}': was ended by SIGABRT");
        assert!(message.starts_with(&expected), "{message}");
        assert!(message.contains("stub: crash was called"), "{message}");
        assert!(error.is_transient());
    }
    assert!(start.elapsed() < Duration::from_secs(5));
    let echo = call(&hub, "stub", "echo", json!({"message": "again"}))
        .await
        .expect("restarted");
    assert_eq!(text(&echo), "again");
    assert_ne!(
        call(&hub, "stub", "pid", json!({})).await.expect("an answer"),
        pid
    );
}

#[tokio::test]
async fn a_server_that_keeps_failing_is_held_back() {
    let hub = hub(&[("bad", ServerDefinition::hostile("exit"))]);
    let start = Instant::now();
    let error = loop {
        let error = call(&hub, "bad", "echo", json!({}))
            .await
            .expect_err("it never starts");
        if matches!(error, UpstreamError::BackOff { .. }) {
            break error;
        }
        assert!(start.elapsed() < Duration::from_secs(30), "never held back");
    };
    let message = error.to_string();
    assert!(
        message.contains("the API key is missing") && message.contains("next attempt is allowed in"),
        "{message}"
    );
    assert!(matches!(state(&hub, "bad").status, Status::Failed { cause } if cause.contains("API key")));
    // During the pause, a call fails at once.
    let asked = Instant::now();
    assert!(call(&hub, "bad", "echo", json!({})).await.is_err());
    assert!(asked.elapsed() < Duration::from_millis(500));
}

#[tokio::test]
async fn definitions_that_cannot_start_say_what_to_change() {
    let file = std::env::current_exe().expect("a file").with_extension("d");
    std::fs::write(&file, "no program").expect("written");
    let check = async |definition: ServerDefinition, expected: &[&str]| {
        let hub = hub(&[("bad", definition)]);
        let error = call(&hub, "bad", "echo", json!({}))
            .await
            .expect_err("it cannot start")
            .to_string();
        for words in expected {
            assert!(error.contains(words), "{error}");
        }
    };
    let unknown = ServerDefinition::new("no-such-command-anywhere", &[]);
    check(
        unknown,
        &[
            "server 'bad'",
            "'no-such-command-anywhere' was not found on PATH",
            "full path",
        ],
    )
    .await;
    let nowhere = ServerDefinition::new("/nowhere/server", &[]);
    check(
        nowhere,
        &[
            "status 127",
            "cannot start '/nowhere/server': No such file or directory",
        ],
    )
    .await;
    let no_program = ServerDefinition::new(file.to_string_lossy(), &[]);
    check(no_program, &["status 126", "Permission denied"]).await;
    let no_directory = ServerDefinition::stub().cwd("/nowhere/at/all".as_ref());
    check(no_directory, &["`cwd` '/nowhere/at/all' is not a directory"]).await;
}

#[tokio::test]
async fn an_entry_that_would_start_codeyard_is_left_out() {
    let mut config = config(&[
        ("stub", ServerDefinition::stub()),
        ("me", ServerDefinition::new("codeyard", &["mcp"])),
    ]);
    config.servers.push(crate::server_config(
        "copy",
        &ServerDefinition::new("/bin/sh", &["mcp"]),
    ));
    config.own_executable = "/bin/sh".into();
    let hub = Hub::new(config);
    let names: Vec<String> = hub
        .tools()
        .borrow()
        .iter()
        .map(|server| server.name.clone())
        .collect();
    assert_eq!(names, ["stub"]);
    for server in ["me", "copy"] {
        let error = call(&hub, server, "x", json!({}))
            .await
            .expect_err("left out")
            .to_string();
        assert!(
            error.starts_with(&format!("server '{server}' is left out")),
            "{error}"
        );
        assert!(matches!(state(&hub, server).status, Status::Failed { .. }));
    }
}

#[tokio::test]
async fn secrets_of_the_definition_do_not_show_in_messages() {
    let definition = ServerDefinition::stub_with_extras().env("TOKEN", "tok-123456789");
    let hub = hub(&[("stub", definition)]);
    let complaint = json!({"text": "using token tok-123456789"});
    call(&hub, "stub", "complain", complaint)
        .await
        .expect("an answer");
    let error = call(&hub, "stub", "crash", json!({}))
        .await
        .expect_err("ended")
        .to_string();
    assert!(error.contains("using token [hidden]"), "{error}");
    assert!(!error.contains("tok-123456789"), "{error}");
    wait_until("the end is noticed", || {
        matches!(state(&hub, "stub").status, Status::Failed { .. }).then_some(())
    })
    .await;
}
