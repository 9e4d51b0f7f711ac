//! Recorded costs, and their sums.

use accounting::Tokenizer;
use serde_json::{Value, json};
use test_support::{CodeClient, Codeyard, Era, McpClient, ServerDefinition};

/// Three runs with and without receipts, by a client that has ended.
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
async fn runs_without_a_model_are_in_no_sum() {
    let codeyard = Codeyard::with_stub().unwrap();
    let large = "return 'word ' * 30_000";
    let run = codeyard
        .run_with_input(["run", "-", "--receipt"], large)
        .await
        .unwrap();
    // The command line prints all of it, where a client would get a handle.
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
async fn a_run_is_shown_with_its_receipt_but_without_its_text() {
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
async fn sums_are_refused_with_conflicting_options() {
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

#[tokio::test]
async fn sums_since_a_time_have_the_receipts_since_then_only() {
    let mut client = CodeClient::with_stub().await;
    let mut receipts = Vec::new();
    for length in [10, 1000] {
        let code = format!("await tools.stub.echo(message='word ' * {length})");
        let ran = client.execute(json!({"code": code, "receipt": true})).await;
        receipts.push(ran.fields()["receipt"]["tokens"]["direct"].clone());
        // The next run begins in a later millisecond.
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
    }
    let CodeClient { mcp, codeyard } = client;
    assert!(mcp.finish().await.unwrap().success());
    let lines = printed(&codeyard, &["runs", "--json"]).await;
    let newest: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    let since = chrono::DateTime::from_timestamp_millis(newest["asked_ms"].as_i64().unwrap()).unwrap();
    let since = since.to_rfc3339_opts(chrono::SecondsFormat::Millis, true);
    let total = async |args: &[&str]| {
        let args = [&["runs", "--savings", "--json"], args].concat();
        json(&codeyard, &args).await["total"].clone()
    };
    let cost = |direct: &Value| direct["written"].as_u64().unwrap() + direct["read"].as_u64().unwrap();
    let all = total(&[]).await;
    assert_eq!(
        (&all["runs"], all["direct"].as_u64()),
        (&json!(2), Some(receipts.iter().map(cost).sum()))
    );
    let last = total(&["--since", &since]).await;
    assert_eq!(
        (&last["runs"], &last["counted"], last["direct"].as_u64()),
        (&json!(1), &json!(1), Some(cost(&receipts[1]))),
        "{last}"
    );
    let servers = json(
        &codeyard,
        &["runs", "--savings", "--by", "server", "--since", &since, "--json"],
    )
    .await;
    assert_eq!(servers["lines"][0]["calls"], 1, "{servers}");
}

/// Tokens that this installation sends to a client before its first call.
async fn sent(mcp: &mut McpClient) -> u64 {
    let introduced = mcp.open(Era::Legacy).await.unwrap();
    let tools = mcp.tools().await.unwrap();
    let tokenizer = Tokenizer::load().unwrap();
    let instructions = introduced["instructions"].as_str().unwrap();
    tokenizer.definitions(&tools) + tokenizer.text(instructions)
}

/// Sessions without a receipt count the definitions that a model really receives.
#[tokio::test]
async fn our_own_definitions_are_counted_as_sent() {
    let codeyard = Codeyard::with_stub().unwrap();
    let mut mcp = codeyard.mcp_unopened().unwrap();
    let sent = sent(&mut mcp).await;
    let ran = mcp.call_tool("execute_code", json!({"code": "1"})).await.unwrap();
    assert_eq!(ran["structuredContent"]["status"], "completed", "{ran}");
    assert!(mcp.finish().await.unwrap().success());
    let savings = json(&codeyard, &["runs", "--savings", "--json"]).await;
    let total = &savings["total"];
    assert_eq!(
        (&total["estimated"], total["definitions"].as_u64()),
        (&json!(1), Some(sent)),
        "{savings}"
    );
}

#[tokio::test]
async fn the_pages_name_the_cost_of_nine_servers() {
    let codeyard = Codeyard::new().unwrap().real_servers().unwrap();
    let sent = sent(&mut codeyard.mcp_unopened().unwrap()).await;
    for (page, said) in [
        (
            include_str!("../../../../../docs/adoption.md"),
            format!("definitions once a session: {sent} tokens"),
        ),
        (
            include_str!("../../../../../README.md"),
            format!("with codeyard {sent}\n"),
        ),
        (
            include_str!("../../../../../docs/adoption.md"),
            format!("with codeyard {sent}\n"),
        ),
    ] {
        assert!(page.contains(&said), "{said}");
    }
}

/// The bill omits tools that an entry does not allow, both in receipts and in estimates.
#[tokio::test]
async fn definitions_of_forbidden_tools_are_in_no_sum() {
    let direct = async |receipt: bool| {
        let stub = ServerDefinition::stub().field("allow", json!(["echo"]));
        let mut client = CodeClient::of(Codeyard::new().unwrap().server("stub", &stub)).await;
        let code = "await tools.stub.echo(message='x')";
        let ran = client.execute(json!({"code": code, "receipt": receipt})).await;
        assert_eq!(ran.status(), "completed", "{ran:?}");
        let CodeClient { mcp, codeyard } = client;
        assert!(mcp.finish().await.unwrap().success());
        let sums = json(&codeyard, &["runs", "--savings", "--json"]).await;
        let by_server = json(&codeyard, &["runs", "--savings", "--by", "server", "--json"]).await;
        let total = &sums["total"];
        assert_eq!(total["counted"], u64::from(receipt), "{sums}");
        assert_eq!(
            total["direct_definitions"], by_server["lines"][0]["definitions"],
            "{sums} {by_server}"
        );
        total["direct_definitions"].clone()
    };
    assert_eq!(direct(true).await, direct(false).await);
}

/// Neither side counts resources and prompts that a program reads, with a receipt or without.
#[tokio::test]
async fn resources_and_prompts_are_in_no_sum() {
    let stub = ServerDefinition::stub_with_extras();
    let mut client = CodeClient::of(Codeyard::new().unwrap().server("stub", &stub)).await;
    let code = "print(await mcp.resources.read('stub://note', server='stub'))\n\
        print((await mcp.prompts.get('stub', 'greet', {'who': 'Ann'})).messages)";
    for receipt in [true, false] {
        let ran = client
            .execute(json!({"code": format!("import mcp\n{code}"), "receipt": receipt, "check": "off"}))
            .await;
        assert_eq!(ran.status(), "completed", "{ran:?}");
    }
    let CodeClient { mcp, codeyard } = client;
    assert!(mcp.finish().await.unwrap().success());
    let sums = json(&codeyard, &["runs", "--savings", "--json"]).await;
    assert_eq!(
        (&sums["total"]["runs"], &sums["total"]["direct"]),
        (&json!(2), &json!(0)),
        "{sums}"
    );
    let advice = json(&codeyard, &["advise", "--json"]).await;
    assert_eq!(
        (&advice["runs"], &advice["lookups"]),
        (&json!(2), &json!(0)),
        "{advice}"
    );
}
