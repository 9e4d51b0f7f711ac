//! The execution log (S3-28, S3-40, S3-41): a line of JSON for each run, private, bounded and without secrets.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use test_support::{Codeyard, PostgresServer};

use super::actors::ALICE;
use super::running::{Gateway, installation, until};
use super::sinks::{metric, sink};

/// An installation whose log is in a directory that does not exist yet.
fn with_log(codeyard: Codeyard, more: &str) -> (Codeyard, PathBuf) {
    let directory = codeyard.directory().join("mcp-executions");
    let target = format!("file = \"{}/\"", directory.display());
    let codeyard = codeyard.settings(&sink("executions", &target, more));
    (codeyard, directory.join("executions.log"))
}

/// The lines so far; each is JSON.
fn lines(log: &Path) -> Vec<Value> {
    let text = fs::read_to_string(log).unwrap_or_default();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

async fn has_lines(log: &Path, count: usize) -> Vec<Value> {
    until("the lines are there", async || {
        Some(lines(log)).filter(|lines| lines.len() >= count)
    })
    .await
}

/// Runs a program that calls a tool and writes a file, one that fails, one without end, and one of a bad language.
async fn four_ends(gateway: &Gateway) -> String {
    let id = gateway.cs_a(&json!({})).await;
    let token = gateway.token(&ALICE).await;
    let code = "open('/workspace/a.txt', 'w').write('secret words')\n\
                print((await tools.stub.echo({'message': 'secret words'}))['text'])";
    gateway.check((&ALICE, &id), code, "secret words\n").await;
    let failing = format!("raise ValueError('secret words {token}')");
    gateway.check_error((&ALICE, &id), &failing, "ValueError").await;
    gateway
        .check_error((&ALICE, &id), "import sys; sys.exit(3)", "")
        .await;
    let endless = json!({"code": "while True: pass", "language": "python", "timeout_ms": 1000});
    gateway.call(&ALICE, &id, "shell_exec", endless).await;
    id
}

/// What every line must have, and the members of each of [`four_ends`].
fn check_ends(lines: &[Value], id: &str) {
    for (line, (status, exit, error)) in lines.iter().zip([
        ("completed", 0, ""),
        ("failed", 1, "ValueError"),
        ("failed", 3, "SystemExit"),
        ("timed_out", 124, "TimeoutError"),
    ]) {
        assert_eq!(line["status"], status, "{line}");
        assert_eq!(line["exitCode"], exit, "{line}");
        let found = line["errors"].as_array().unwrap();
        assert_eq!(found.is_empty(), error.is_empty(), "{line}");
        assert!(
            found
                .iter()
                .all(|found| found.as_str().unwrap().starts_with(error)),
            "{line}"
        );
        let usage = &line["resourceUsage"];
        assert!(usage["cpuTime"].as_f64().unwrap() >= 0.0, "{line}");
        assert!(usage["memoryPeak"].as_u64().unwrap() > 0, "{line}");
        assert!(line["durationMs"].as_f64().unwrap() > 0.0, "{line}");
        assert_eq!(line["codeHash"].as_str().unwrap().len(), 64, "{line}");
        assert_eq!(
            (&line["user"], &line["serverId"]),
            (&json!(ALICE.email), &json!(id))
        );
        assert!(line["timestamp"].as_str().unwrap().ends_with('Z'), "{line}");
        assert!(line["executionId"].as_str().unwrap().starts_with("r-"), "{line}");
    }
    let calls = json!([{"server": "stub", "tool": "echo", "calls": 1}]);
    assert_eq!(lines[0]["networkCalls"], calls);
    assert_eq!(lines[0]["filesAccessed"], json!(["/workspace/a.txt"]));
    assert!(lines[0]["resourceUsage"]["diskWrites"].as_u64().unwrap() > 0);
    for line in &lines[1..] {
        assert_eq!(
            (&line["networkCalls"], &line["filesAccessed"]),
            (&json!([]), &json!([]))
        );
    }
}

#[tokio::test]
async fn c272_every_end_of_a_run_is_a_line_without_secrets() {
    let (codeyard, log) = with_log(installation(), "");
    let gateway = Gateway::start(codeyard).await;
    let said = gateway.logged("sink \"executions\"").unwrap();
    assert!(
        said.contains(log.to_str().unwrap()) && said.contains("without payloads"),
        "{said}"
    );
    let id = four_ends(&gateway).await;
    let found = has_lines(&log, 4).await;
    check_ends(&found, &id);
    let text = fs::read_to_string(&log).unwrap();
    for secret in ["secret words", "cyd_", "\"code\""] {
        assert!(!text.contains(secret), "{secret}: {text}");
    }
    let mode = fs::metadata(&log).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[tokio::test]
async fn c272_programs_and_messages_are_there_on_request_without_tokens() {
    let (codeyard, log) = with_log(installation(), "payloads = true");
    let gateway = Gateway::start(codeyard).await;
    let id = four_ends(&gateway).await;
    let refused = json!({"code": "print(1)", "language": "python", "timeout_ms": 999_999_999});
    gateway.call(&ALICE, &id, "shell_exec", refused).await;
    let found = has_lines(&log, 4).await;
    check_ends(&found, &id);
    assert!(found[0]["code"].as_str().unwrap().contains("secret words"));
    let error = found[1]["errors"][0].as_str().unwrap();
    assert!(error.starts_with("ValueError: secret words cyd_…"), "{error}");
    let token = gateway.token(&ALICE).await;
    assert!(!fs::read_to_string(&log).unwrap().contains(&token));
}

#[tokio::test]
async fn c272_lines_come_from_postgres_too() {
    let postgres = PostgresServer::start().unwrap();
    let url = postgres.make("gateway").unwrap();
    let (codeyard, log) = with_log(installation().env("CODEYARD_DATABASE_URL", &url), "");
    let gateway = Gateway::start(codeyard).await;
    let id = four_ends(&gateway).await;
    check_ends(&has_lines(&log, 4).await, &id);
}

#[tokio::test]
async fn c272_the_log_is_rotated_and_bounded() {
    let more = "max_size = \"64 KiB\"\nmax_files = 2\npayloads = true\nrecords = [\"runs\", \"calls\"]";
    let (codeyard, log) = with_log(installation(), more);
    let gateway = Gateway::start(codeyard).await;
    let id = gateway
        .cs_a(&json!({"sandbox_policy": {"max_runs_per_minute": 1000}}))
        .await;
    let code = format!(
        "# {}\nprint((await tools.stub.echo({{'message': 'x'}}))['text'])",
        "y".repeat(20_000)
    );
    for _ in 0..12 {
        gateway.check((&ALICE, &id), &code, "x\n").await;
    }
    let older = log.with_extension("log.1");
    until("all records were sent", async || {
        (metric(&gateway, "codeyard_sink_records_sent_total{sink=\"executions\"}").await? >= 24).then_some(())
    })
    .await;
    let files: Vec<_> = fs::read_dir(log.parent().unwrap()).unwrap().collect();
    assert!(files.len() <= 2, "{files:?}");
    let mut found = Vec::new();
    for file in [&log, &older] {
        let lines = lines(file);
        assert!(!lines.is_empty() && fs::metadata(file).unwrap().len() <= 64 * 1024);
        found.extend(lines);
    }
    assert!(found.iter().any(|line| line["codeyard.tool.name"] == "echo"));
}

#[tokio::test]
async fn c272_a_log_that_cannot_be_written_stops_no_run_and_is_told_once() {
    let codeyard = installation();
    let directory = codeyard.directory().join("taken");
    fs::write(&directory, "a file").unwrap();
    let path = directory.join("executions.log");
    let target = format!("file = \"{}\"", path.display());
    let gateway = Gateway::start(codeyard.settings(&sink("executions", &target, ""))).await;
    let id = gateway.cs_a(&json!({})).await;
    gateway.check((&ALICE, &id), "print(1)", "1\n").await;
    let failures = "codeyard_sink_failures_total{sink=\"executions\"}";
    until("it was tried twice", async || {
        metric(&gateway, failures).await.filter(|failures| *failures >= 2)
    })
    .await;
    gateway.check((&ALICE, &id), "print(2)", "2\n").await;
    assert_eq!(gateway.count_logged("records wait in the database"), 1);
    fs::remove_file(&directory).unwrap();
    assert_eq!(has_lines(&path, 2).await.len(), 2);
}
