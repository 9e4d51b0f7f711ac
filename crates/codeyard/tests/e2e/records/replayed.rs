//! `codeyard runs replay` and `codeyard runs export`.

use serde_json::{Value, json};
use test_support::{CodeClient, Codeyard, CommandOutput, run};

const RECORDED: &str = "[records]\nrecord = \"replay\"\n";

fn installation() -> Codeyard {
    Codeyard::with_stub().unwrap().settings(RECORDED)
}

/// Runs a command that must end with this code.
async fn command(codeyard: &Codeyard, words: &[&str], code: i32) -> CommandOutput {
    let ended = run(codeyard, words, "").await;
    assert_eq!(ended.code, code, "{words:?}: {ended:?}");
    ended
}

#[tokio::test]
async fn a_run_is_repeated_live_and_against_its_recording() {
    let codeyard = installation();
    let program = "total = (await tools.stub.add(a=2, b=3))['sum']\nprint('total', total)\ntotal";
    command(&codeyard, &["run", "-c", program], 0).await;
    let again = command(&codeyard, &["runs", "replay", "last"], 0).await;
    assert_eq!(again.out, "total 5\n5\n", "{again:?}");
    let same = command(&codeyard, &["runs", "replay", "last", "--diff"], 0).await;
    assert!(
        same.out.is_empty() && same.err.contains("as recorded"),
        "{same:?}"
    );
    // Without the server, only the recording can answer.
    let recorded = command(&codeyard, &["runs", "export", "last"], 0).await;
    let file = codeyard.directory().join("run.json");
    std::fs::write(&file, &recorded.out).unwrap();
    let file = file.to_str().unwrap();
    let alone = Codeyard::new().unwrap().settings(RECORDED);
    let replayed = ["runs", "replay", "--file", file, "--recorded", "--diff"];
    command(&alone, &replayed, 0).await;
    let live = command(&alone, &["runs", "replay", "--file", file, "--diff"], 1).await;
    assert!(
        live.out.contains("status:\n  - completed\n  + failed"),
        "{live:?}"
    );
}

#[tokio::test]
async fn a_changed_server_is_a_difference_and_not_a_wrong_result() {
    let codeyard = installation();
    command(&codeyard, &["run", "-c", "await tools.stub.pid()"], 0).await;
    let export = command(&codeyard, &["runs", "export", "last"], 0).await;
    let mut exported: Value = serde_json::from_str(&export.out).unwrap();
    let answer = &mut exported["run"]["calls"][0]["answer"]["ok"];
    assert!(!answer.is_null(), "{export:?}");
    *answer = json!({"content": [{"type": "text", "text": "77"}], "isError": false});
    exported["run"]["outcome"]["result"] = json!(77);
    let file = codeyard.directory().join("run.json");
    std::fs::write(&file, exported.to_string()).unwrap();
    let file = file.to_str().unwrap();
    let recorded = ["runs", "replay", "--file", file, "--recorded", "--json"];
    let recorded = command(&codeyard, &recorded, 0).await;
    let recorded: Value = serde_json::from_str(&recorded.out).unwrap();
    assert_eq!(
        (&recorded["result"], &recorded["differences"]),
        (&json!(77), &json!([]))
    );
    let live = command(&codeyard, &["runs", "replay", "--file", file, "--diff"], 1).await;
    assert!(live.out.contains("the result:\n  - 77\n  + "), "{live:?}");
    assert!(live.out.contains("answer of call 1 (stub.pid):"), "{live:?}");
}

/// The last run of a session depends on the variables of the runs before.
#[tokio::test]
async fn earlier_runs_of_the_session_are_repeated_first() {
    let mut client = CodeClient::of(installation()).await;
    for code in [
        "seen = [(await tools.stub.add(a=1, b=1))['sum']]",
        "seen.append((await tools.stub.add(a=2, b=2))['sum'])",
        "seen",
    ] {
        let ran = client.run_in("work", code).await;
        assert_eq!(ran.status(), "completed", "{ran:?}");
    }
    let same = ["runs", "replay", "last", "--recorded", "--json"];
    client.mcp.finish().await.unwrap();
    let same = command(&client.codeyard, &same, 0).await;
    let same: Value = serde_json::from_str(&same.out).unwrap();
    assert_eq!(
        (&same["result"], &same["differences"]),
        (&json!([2, 4]), &json!([]))
    );
}

#[tokio::test]
async fn what_was_not_recorded_is_refused_with_the_reason() {
    let codeyard = Codeyard::with_stub().unwrap();
    command(&codeyard, &["run", "-c", "1"], 0).await;
    let refused = command(&codeyard, &["runs", "replay", "last"], 2).await;
    assert!(
        refused
            .err
            .contains("code body was not persisted; runs are recorded for replay with `record = \"replay\"`"),
        "{refused:?}"
    );
    let refused = command(&codeyard, &["runs", "replay", "r-unknown"], 2).await;
    assert!(refused.err.contains("Run not found: r-unknown"), "{refused:?}");
    let refused = command(&codeyard, &["runs", "replay"], 2).await;
    assert!(refused.err.contains("ID"), "{refused:?}");
}
