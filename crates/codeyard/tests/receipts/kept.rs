//! What is recorded of costs, and the sums over it.

use serde_json::{Value, json};
use test_support::{CodeClient, Codeyard};

/// Three runs with and without receipts, by a client that has gone.
async fn recorded() -> Codeyard {
    let mut client = CodeClient::with_stub().await;
    let code = "await tools.stub.echo(message='a message of some length')";
    client.search(json!({"query": "echo"})).await;
    for arguments in [
        json!({"code": code, "receipt": true}),
        json!({"code": code, "receipt": true}),
        json!({"code": code}),
    ] {
        client.execute(arguments).await;
    }
    let CodeClient { mcp, codeyard } = client;
    assert!(mcp.finish().await.unwrap().success());
    codeyard
}

async fn printed(codeyard: &Codeyard, args: &[&str]) -> String {
    let output = codeyard.run(args).await.unwrap();
    assert!(output.status.success(), "{args:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

async fn json(codeyard: &Codeyard, args: &[&str]) -> Value {
    serde_json::from_str(&printed(codeyard, args).await).unwrap()
}

#[tokio::test]
async fn costs_are_summed_by_day_client_and_server() {
    let codeyard = recorded().await;
    let by_client = json(&codeyard, &["runs", "--savings", "--by", "client", "--json"]).await;
    let line = &by_client["lines"][0];
    assert_eq!(line["name"], "test-client 1.0.0", "{by_client}");
    let numbers = ["runs", "counted", "estimated", "sessions"].map(|name| line[name].as_u64().unwrap());
    assert_eq!(numbers, [3, 2, 1, 1], "{by_client}");
    for cost in ["tokens", "direct", "definitions", "direct_definitions"] {
        assert!(line[cost].as_u64() > Some(0), "{cost}: {by_client}");
    }
    let by_day = json(&codeyard, &["runs", "--savings", "--json"]).await;
    assert_eq!(by_day["total"]["tokens"], line["tokens"], "{by_day}");

    let by_server = json(&codeyard, &["runs", "--savings", "--by", "server", "--json"]).await;
    let stub = &by_server["lines"][0];
    assert_eq!(
        (&stub["server"], &stub["calls"], &stub["counted"]),
        (&json!("stub"), &json!(3), &json!(2))
    );
    assert!(stub["definitions"].as_u64() > Some(0), "{by_server}");

    let table = printed(&codeyard, &["runs", "--savings"]).await;
    assert!(table.contains("1 run had no receipt: estimated"), "{table}");
    let none = json(
        &codeyard,
        &["runs", "--savings", "--since", "2999-01-01", "--json"],
    )
    .await;
    assert_eq!(none["runs"], 0);
}

#[tokio::test]
async fn what_no_model_asked_for_is_in_no_sum() {
    let codeyard = Codeyard::with_stub().unwrap();
    let large = "return 'word ' * 30_000";
    let run = codeyard
        .run_with_input(["run", "-", "--receipt"], large)
        .await
        .unwrap();
    // Somebody reads all of it, where a client would get a handle.
    assert!(
        run.stdout.len() > 100_000 && String::from_utf8_lossy(&run.stderr).contains("receipt: "),
        "{:?}",
        run.status
    );
    let output = codeyard.run(["runs", "--savings", "--json"]).await.unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(
        told.contains("1 run of the command line and of tasks left out"),
        "{output:?}"
    );
    let sums: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(sums["runs"], 0, "{sums}");
}

#[tokio::test]
async fn a_run_is_shown_with_its_receipt_and_no_text_of_it() {
    let codeyard = recorded().await;
    let lines = printed(&codeyard, &["runs", "--json"]).await;
    let runs: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(
        runs.iter().all(|run| run["client"] == "test-client 1.0.0"),
        "{runs:?}"
    );
    let id = runs[1]["id"].as_str().unwrap();
    let run = json(&codeyard, &["runs", id, "--json"]).await;
    assert_eq!(run["receipt"]["calls"][0]["tool"], "echo", "{run}");
    assert!(!run.to_string().contains("some length"), "{run}");
    let shown = printed(&codeyard, &["runs", id]).await;
    assert!(
        shown.contains("o200k") && shown.contains("definitions"),
        "{shown}"
    );
    let without = json(&codeyard, &["runs", runs[0]["id"].as_str().unwrap(), "--json"]).await;
    assert!(without.get("receipt").is_none(), "{without}");
}

#[tokio::test]
async fn sums_are_refused_beside_what_they_do_not_go_with() {
    let codeyard = Codeyard::with_stub().unwrap();
    let output = codeyard.run(["runs", "--by", "day"]).await.unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let output = codeyard.run(["runs", "--savings", "--follow"]).await.unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let output = codeyard.run(["runs", "--savings"]).await.unwrap();
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("nothing has been recorded yet"),
        "{output:?}"
    );
}
