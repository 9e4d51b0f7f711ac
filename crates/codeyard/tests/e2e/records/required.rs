//! `record = "required"`: commits the beginning before the program runs, and the end before the answer.

use serde_json::json;
use test_support::{CodeClient, Codeyard};

use crate::records::{file, interrupted, run, runs};

fn required() -> Codeyard {
    let settings = "[records]\nrecord = [\"full\", \"required\"]";
    Codeyard::with_stub().unwrap().settings(settings)
}

#[tokio::test]
async fn an_end_is_committed_when_its_answer_arrives() {
    for _ in 0..5 {
        let mut client = CodeClient::of(required()).await;
        let ran = client.run("await tools.stub.add(a=1, b=2)").await;
        client.mcp.kill().unwrap();
        client.mcp.wait().await.unwrap();
        let found = runs(&client.codeyard, &[]).await;
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(
            (&found[0]["id"], &found[0]["status"]),
            (&ran.fields()["run_id"], &json!("completed"))
        );
    }
}

#[tokio::test]
async fn a_beginning_is_committed_before_the_program_runs() {
    let mut client = CodeClient::of(required()).await;
    client
        .start(json!({"code": "await tools.stub.slow(seconds=30)"}))
        .await;
    // The program's call starts the server, so the program runs once the server exists.
    let pid = client.mcp.pid().unwrap();
    test_support::wait_until("the program calls its server", || {
        let below = test_support::descendants(pid);
        below
            .iter()
            .any(|process| process.command.contains("stub"))
            .then_some(())
    })
    .await;
    client.mcp.kill().unwrap();
    client.mcp.wait().await.unwrap();
    let found = interrupted(&client.codeyard).await;
    assert_eq!(found.len(), 1, "{found:?}");
}

#[tokio::test]
async fn a_run_that_cannot_be_recorded_does_not_start() {
    let codeyard = required();
    std::fs::create_dir_all(codeyard.data_directory()).unwrap();
    std::fs::write(
        file(&codeyard),
        "this is no database, it is somebody's notes".repeat(100),
    )
    .unwrap();
    let mut client = CodeClient::of(codeyard).await;
    let ran = client.run("open('/workspace/ran', 'w')").await;
    assert_eq!(ran.status(), "refused", "{ran:?}");
    for part in [
        "the program was not run: `record = \"required\"` is set",
        "is damaged",
        "move it",
    ] {
        assert!(ran.error().contains(part), "{part}: {}", ran.error());
    }
    assert!(
        !client
            .codeyard
            .data_directory()
            .join("workspaces/local/workspace/ran")
            .exists()
    );
    client.check_healthy().await;
    let ended = run(&client.codeyard, &["run", "-"], "print(1)").await;
    assert_eq!((ended.code, ended.out.as_str()), (3, ""), "{ended:?}");
    let ended = run(&client.codeyard, &["call", "stub.add", r#"{"a": 1, "b": 2}"#], "").await;
    assert!(
        ended.err.contains("the tool was not called: `record"),
        "{ended:?}"
    );
    let ended = run(&client.codeyard, &["doctor"], "").await;
    assert_eq!(ended.code, 3, "{ended:?}");
    assert!(ended.out.contains("missing  records"), "{ended:?}");
}
