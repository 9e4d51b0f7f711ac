//! Every attempt on the surface leaves a record.

use serde_json::{Value, json};
use test_support::{MetaTools as _, MetaToolsClient};

use crate::records::{detail, recorded, runs};

/// The kinds and texts of a run's events.
async fn events(client: &MetaToolsClient, run: &Value) -> Vec<(String, String)> {
    let detail = detail(&client.codeyard, run).await;
    let events = detail["events"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    events
        .map(|event| (text(&event["kind"]), text(&event["detail"])))
        .collect()
}

#[tokio::test]
async fn programs_and_lines_are_recorded_with_language_and_status() {
    let mut client = MetaToolsClient::with_stub().await;
    for (code, timeout, language, status) in [
        ("print(1)", 5_000, "python", "completed"),
        ("raise ValueError", 5_000, "python", "failed"),
        ("import time; time.sleep(9)", 200, "python", "timed_out"),
        ("ls", 5_000, "shell", "completed"),
        ("ls -l", 5_000, "shell", "failed"),
        ("ls | id", 5_000, "shell", "refused"),
        ("jq -n 'last(repeat(1))'", 5_000, "shell", "failed"),
    ] {
        let asked = json!({"code": code, "timeout_ms": timeout});
        let ran = client.call("shell_exec", asked).await;
        let record = recorded(&client.codeyard, &ran.fields()["run_id"], status).await;
        assert_eq!(
            (&record["language"], &record["code_bytes"], &record["front"]),
            (&json!(language), &json!(code.len()), &json!("mcp")),
            "{record}"
        );
    }
}

#[tokio::test]
async fn refusals_are_recorded_as_events() {
    let mut client = MetaToolsClient::with_stub().await;
    let ran = client.run("cat /etc/passwd").await;
    let run = ran.fields()["run_id"].clone();
    recorded(&client.codeyard, &run, "refused").await;
    let denied = (
        "file_denied".to_owned(),
        "EACCES: read denied for path: /etc/passwd".to_owned(),
    );
    assert!(events(&client, &run).await.contains(&denied));
    client
        .call("shell_exec", json!({"code": "1", "language": "ruby"}))
        .await;
    client.call("fs_read", json!({"path": "/etc/shadow"})).await;
    let codeyard = client.codeyard;
    assert!(client.mcp.finish().await.unwrap().success());
    let refused = runs(&codeyard, &["--status", "refused"]).await;
    assert_eq!(refused.len(), 2, "{refused:?}");
    let written = std::fs::read(codeyard.data_directory().join("codeyard.db")).unwrap();
    let path = b"Path '/etc/shadow' is outside the virtual filesystem";
    assert!(written.windows(path.len()).any(|part| part == path));
}
