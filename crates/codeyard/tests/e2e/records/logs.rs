//! The execution log (S3-40, S3-41) of commands that serve one user: of `run`, of `mcp`, and of both at once.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use test_support::{CodeClient, Codeyard, run, wait_until};

/// An installation with a log, and the log.
fn with_log(more: &str) -> (Codeyard, PathBuf) {
    let codeyard = Codeyard::with_stub().unwrap();
    let log = codeyard.directory().join("executions.log");
    let path = log.display();
    let settings = format!("[[gateway.sinks]]\nname = \"executions\"\nfile = \"{path}\"\n{more}");
    (codeyard.settings(&settings), log)
}

fn lines(log: &Path) -> Vec<Value> {
    let text = fs::read_to_string(log).unwrap_or_default();
    let lines = text.lines();
    lines.map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[tokio::test]
async fn c272_each_run_of_the_command_is_a_line_when_it_has_ended() {
    let (codeyard, log) = with_log("");
    let call = "print(len(str(await tools.stub.echo(message='secret words'))))";
    for (code, limit, exit) in [
        (call, "60s", 0),
        ("raise ValueError('secret words')", "60s", 1),
        ("while True: pass", "1s", 124),
    ] {
        let before = lines(&log).len();
        run(&codeyard, &["run", "--timeout", limit, "-c", code], "").await;
        let found = lines(&log);
        assert_eq!(found.len(), before + 1, "{code}: {found:?}");
        let line = &found[before];
        assert_eq!(line["exitCode"], exit, "{line}");
        assert_eq!(line["codeHash"].as_str().unwrap().len(), 64, "{line}");
        assert!(
            line["resourceUsage"]["memoryPeak"].as_u64().unwrap() > 0,
            "{line}"
        );
        assert!(line["durationMs"].as_f64().unwrap() > 0.0, "{line}");
    }
    let calls = json!([{"server": "stub", "tool": "echo", "calls": 1}]);
    assert_eq!(lines(&log)[0]["networkCalls"], calls);
    assert!(!fs::read_to_string(&log).unwrap().contains("secret words"));
}

#[tokio::test]
async fn c272_clients_and_commands_share_one_log() {
    let (codeyard, log) = with_log("");
    let mut client = CodeClient::of(codeyard).await;
    client.run("print(1)").await;
    run(&client.codeyard, &["run", "-c", "print(2)"], "").await;
    wait_until("both are written", || (lines(&log).len() == 2).then_some(())).await;
    client.run("print(3)").await;
    let CodeClient { mcp, codeyard: _kept } = client;
    mcp.finish().await.unwrap();
    assert_eq!(lines(&log).len(), 3);
}

#[tokio::test]
async fn c272_the_log_of_a_client_is_rotated_and_bounded() {
    let (codeyard, log) = with_log("max_size = \"64 KiB\"\nmax_files = 2\npayloads = true");
    let mut client = CodeClient::of(codeyard).await;
    let code = format!("# {}\nprint(1)", "y".repeat(20_000));
    for _ in 0..8 {
        client.run(&code).await;
    }
    let CodeClient { mcp, codeyard: _kept } = client;
    mcp.finish().await.unwrap();
    for file in [log.with_extension("log.1"), log.clone()] {
        assert!(!lines(&file).is_empty(), "{}", file.display());
        assert!(fs::metadata(file).unwrap().len() <= 64 * 1024);
    }
    assert!(!log.with_extension("log.2").exists());
}
