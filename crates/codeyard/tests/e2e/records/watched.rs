//! Reading records: lists, filters, following, retention, and mistakes in the arguments.

use std::process::Stdio;

use serde_json::Value;
use test_support::{CodeClient, Codeyard};
use tokio::io::{AsyncBufReadExt as _, BufReader};

use crate::records::{interrupted, recorded, run, runs};

#[tokio::test]
async fn runs_are_listed_filtered_and_shown() {
    let mut client = CodeClient::of(Codeyard::new().unwrap()).await;
    client.run_in("a", "1").await;
    client.run_in("b", "raise ValueError").await;
    let last = client.run_in("a", "2").await;
    let id = last.fields()["run_id"].clone();
    recorded(&client.codeyard, &id, "completed").await;
    let codeyard = &client.codeyard;
    let check = async |args: &[&str], sessions: &[&str]| {
        let found = runs(codeyard, args).await;
        let names: Vec<&str> = found.iter().filter_map(|run| run["session"].as_str()).collect();
        assert_eq!(names, sessions, "{args:?}");
    };
    check(&[], &["a", "b", "a"]).await;
    check(&["--limit", "1"], &["a"]).await;
    check(&["--session", "b"], &["b"]).await;
    check(&["--status", "completed"], &["a", "a"]).await;
    check(&["--status", "running"], &[]).await;
    check(&["--since", "1h"], &["a", "b", "a"]).await;
    check(&["--since", "2999-01-01"], &[]).await;

    let list = run(codeyard, &["runs"], "").await.out;
    let mut lines = list.lines();
    assert!(lines.next().unwrap().starts_with("run "), "{list}");
    assert!(lines.next().unwrap().starts_with(id.as_str().unwrap()), "{list}");
    let shown = run(codeyard, &["runs", id.as_str().unwrap()], "").await.out;
    for part in ["status", "completed", "by", "mcp of local", "code", "sha256 "] {
        assert!(shown.contains(part), "{part}: {shown}");
    }

    let check = async |args: &[&str], code: i32, message: &str| {
        let ended = run(codeyard, args, "").await;
        assert_eq!(ended.code, code, "{args:?}: {ended:?}");
        assert!(ended.err.contains(message), "{args:?}: {}", ended.err);
    };
    check(
        &["runs", "r-none"],
        2,
        "no run `r-none` is recorded; run `codeyard runs` to list them",
    )
    .await;
    check(
        &["runs", "--status", "done"],
        2,
        "[possible values: completed, failed",
    )
    .await;
    check(&["runs", "--since", "soon"], 2, "write an age such as `2h`").await;
    check(&["runs", "--limit", "0"], 2, "0 is not in 1..").await;
    check(&["runs", "r-1", "--follow"], 2, "cannot be used with").await;
}

#[tokio::test]
async fn following_prints_each_run_as_it_begins_and_ends() {
    let codeyard = Codeyard::new().unwrap();
    let mut command = codeyard.command(["runs", "--follow", "--json"]).unwrap();
    let mut follower = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(follower.stdout.take().unwrap()).lines();
    let mut client = CodeClient::of(codeyard).await;
    let mut next = async || -> Value {
        let line = lines.next_line().await.unwrap().expect("a line");
        serde_json::from_str(&line).unwrap()
    };
    // A run that began before the follower's first look may be missing.
    let id = client
        .start(serde_json::json!({"code": "import time; time.sleep(30)"}))
        .await;
    let begun = next().await;
    assert_eq!(begun["status"], "running", "{begun}");
    client.mcp.cancel(&id).await.unwrap();
    let ended = next().await;
    assert_eq!(
        (&ended["id"], ended["status"].as_str()),
        (&begun["id"], Some("cancelled"))
    );
    client.run("1").await;
    let mut last = next().await;
    if last["status"] == "running" {
        last = next().await;
    }
    assert_eq!(last["status"], "completed", "{last}");

    let pid = rustix::process::Pid::from_raw(follower.id().unwrap().cast_signed()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    assert_eq!(follower.wait().await.unwrap().code(), Some(130));
}

#[tokio::test]
async fn a_killed_codeyard_loses_at_most_the_last_moment_and_its_open_runs_are_interrupted() {
    let mut client = CodeClient::of(Codeyard::new().unwrap()).await;
    let ran = client.run("1").await;
    let sleeping = client
        .start(serde_json::json!({"code": "import time; time.sleep(50)", "session": "s"}))
        .await;
    // A busy machine may write later than promised.
    let is_written = |found: &[Value]| {
        let first = found.iter().find(|run| run["id"] == ran.fields()["run_id"]);
        first.is_some_and(|run| run["status"] == "completed") && found.iter().any(|run| run["session"] == "s")
    };
    while !is_written(&runs(&client.codeyard, &[]).await) {}
    // The beginning of this run is older than the last moment.
    let later = client.run("import time; time.sleep(1)").await;
    client.mcp.kill().unwrap();
    client.mcp.wait().await.unwrap();
    interrupted(&client.codeyard).await;
    let found = runs(&client.codeyard, &[]).await;
    let status = |id: &Value| {
        let run = found.iter().find(|run| run["id"] == *id);
        run.map(|run| run["status"].as_str().unwrap().to_owned())
    };
    assert_eq!(
        status(&ran.fields()["run_id"]).as_deref(),
        Some("completed"),
        "{found:?}"
    );
    let open: Vec<_> = found.iter().filter(|run| run["session"] == "s").collect();
    assert_eq!(open[0]["status"], "interrupted", "{found:?} {sleeping}");
    // A run that ended in the last moment is interrupted, or has its status.
    let last = status(&later.fields()["run_id"]);
    assert!(
        matches!(last.as_deref(), Some("interrupted" | "completed")),
        "{found:?}"
    );

    // The next codeyard continues the records.
    assert_eq!(run(&client.codeyard, &["run", "-"], "print(1)").await.out, "1\n");
    let interrupted = interrupted(&client.codeyard).await;
    assert!(
        interrupted.iter().any(|run| run["session"] == "s"),
        "{interrupted:?}"
    );
    let ended = run(&client.codeyard, &["doctor", "--json"], "").await;
    assert!(ended.out.contains("\"name\": \"records\""), "{ended:?}");
}

#[tokio::test]
async fn the_oldest_records_go_when_there_are_too_many() {
    let settings = "[records]\nrecord = \"full\"\nkeep_size = \"1 MiB\"";
    let codeyard = Codeyard::with_stub().unwrap().settings(settings);
    let mut client = CodeClient::of(codeyard).await;
    let first = client.run("await tools.stub.echo(message='x' * 400_000)").await;
    recorded(&client.codeyard, &first.fields()["run_id"], "completed").await;
    for _ in 0..5 {
        client.run("await tools.stub.echo(message='x' * 400_000)").await;
    }
    client.mcp.finish().await.unwrap();
    // Each opener of the database prunes first, unless another process holds it at that moment.
    let codeyard = client.codeyard;
    let mut left = Vec::new();
    for _ in 0..5 {
        run(&codeyard, &["run", "-"], "1").await;
        left = runs(&codeyard, &["--limit", "1000"]).await;
        if left.iter().all(|run| run["id"] != first.fields()["run_id"]) {
            break;
        }
    }
    let size = crate::records::file(&codeyard).metadata().unwrap().len();
    assert!(
        left.iter().all(|run| run["id"] != first.fields()["run_id"]),
        "{left:?}"
    );
    assert!(size < 2 * 1024 * 1024, "{size} bytes");
}
