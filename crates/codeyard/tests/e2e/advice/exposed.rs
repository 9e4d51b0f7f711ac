//! Tools listed in `[expose]`: shown, called, priced, bounded; without the setting, nothing changes.

use serde_json::{Value, json};
use test_support::{CodeClient, Codeyard, Era, ServerDefinition, run};

use super::{names, until_found};

fn exposing(lines: &str) -> Codeyard {
    Codeyard::with_stub().unwrap().settings(lines)
}

#[tokio::test]
async fn without_it_the_list_is_the_same_byte_for_byte() {
    let first_lines = async |codeyard: Codeyard| {
        let mut mcp = codeyard.mcp_unopened().unwrap();
        let client = json!({"name": "c", "version": "1"});
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
        mcp.start("initialize", params).await.unwrap();
        let introduced = mcp.line().await.unwrap();
        mcp.notify("notifications/initialized", json!({})).await.unwrap();
        mcp.start("tools/list", json!({})).await.unwrap();
        (introduced, mcp.line().await.unwrap())
    };
    let without_names = "[surface]\nnames = false";
    let plain = first_lines(Codeyard::new().unwrap().settings(without_names)).await;
    let exposes_none = format!("{without_names}\n[expose]\ntools = []\nbudget = 1");
    assert_eq!(first_lines(exposing(&exposes_none)).await, plain);
    assert!(!plain.0.contains("listChanged"), "{}", plain.0);
}

#[tokio::test]
async fn an_exposed_tool_is_seen_called_validated_and_recorded() {
    let mut client = CodeClient::of(exposing("[expose]\ntools = [\"stub.echo\"]")).await;
    let tools = client.mcp.tools().await.unwrap();
    assert_eq!(tools.len(), 3, "{tools:?}");
    assert_eq!(
        (&tools[2]["name"], &tools[2]["inputSchema"]["required"]),
        (&json!("stub_echo"), &json!(["message"]))
    );
    let said = client
        .mcp
        .call_tool("stub_echo", json!({"message": "hello"}))
        .await
        .unwrap();
    assert!(
        said["isError"] != true && said["content"].to_string().contains("hello"),
        "{said}"
    );
    let wrong = client
        .mcp
        .call_tool("stub_echo", json!({"massage": "hello"}))
        .await
        .unwrap();
    assert!(
        wrong["isError"] == true && wrong["content"][0]["text"].as_str().unwrap().contains("massage"),
        "{wrong}"
    );
    let unknown = client
        .mcp
        .call_tool("stub_fail", json!({}))
        .await
        .unwrap_err()
        .to_string();
    assert!(unknown.contains("Unknown tool"), "{unknown}");
    let ran = client.execute(json!({"code": "1", "receipt": true})).await;
    let own = ran.fields()["receipt"]["tokens"]["codeyard"]["definitions"]
        .as_u64()
        .unwrap();
    let plain = CodeClient::with_stub()
        .await
        .execute(json!({"code": "1", "receipt": true}))
        .await;
    let plain = plain.fields()["receipt"]["tokens"]["codeyard"]["definitions"]
        .as_u64()
        .unwrap();
    let tokenizer = accounting::Tokenizer::load().unwrap();
    let count = |tools: &[Value]| tokenizer.definitions(tools);
    // Both have the instructions; the rest are the listed tools, under their listed names.
    assert_eq!(own - plain, count(&tools) - count(&tools[..2]), "{tools:?}");

    let CodeClient { mcp, codeyard } = client;
    assert!(mcp.finish().await.unwrap().success());
    let lines = run(&codeyard, &["runs", "--json"], "").await.out;
    let runs: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let direct: Vec<&Value> = runs.iter().filter(|run| run.get("language").is_none()).collect();
    assert_eq!(direct.len(), 2, "{runs:?}");
    assert!(
        direct
            .iter()
            .all(|run| run["front"] == "mcp" && run["host_calls"] == 1),
        "{direct:?}"
    );
    let savings = run(&codeyard, &["runs", "--savings", "--json"], "").await.json();
    assert_eq!(
        savings["total"]["runs"], 1,
        "a call by the model saves nothing: {savings}"
    );

    let priced = run(&codeyard, &["tools", "stub"], "").await.out;
    let told = format!("(exposed: {} tokens)", count(&tools[2..]));
    assert!(priced.contains(&told), "{priced}, not {told}");
}

#[tokio::test]
async fn unknown_and_oversized_tools_are_refused_at_the_start() {
    let refused_by = async |codeyard: Codeyard, told: &[&str]| {
        let ended = run(&codeyard, &["mcp"], "").await;
        assert_eq!(ended.code, 2, "{told:?}: {ended:?}");
        assert!(
            told.iter().all(|told| ended.err.contains(told)),
            "{told:?}: {}",
            ended.err
        );
    };
    let refused = async |lines: &str, told: &[&str]| refused_by(exposing(lines), told).await;
    refused(
        "[expose]\ntools = [\"stub.echo\", \"stub.add\"]\nbudget = 20",
        &["[expose] budget", "and 20 are allowed", "stub.echo ", "stub.add "],
    )
    .await;
    refused(
        "[expose]\ntools = [\"stub.ecko\"]",
        &["[expose] tools: stub.ecko", "echo"],
    )
    .await;
    refused("[expose]\ntools = [\"nobody.echo\"]", &["nobody"]).await;
    refused(
        "[expose]\ntools = [\"stub.echo\"]\n[policy]\ndeny = [\"stub.echo\"]",
        &["[expose] tools: stub.echo", "denied by policy"],
    )
    .await;
    let denying = test_support::ServerDefinition::stub().field("deny", serde_json::json!(["echo"]));
    let codeyard = Codeyard::new().unwrap().server("stub", &denying);
    refused_by(
        codeyard.settings("[expose]\ntools = [\"stub.echo\"]"),
        &[
            "[expose] tools: stub.echo",
            "(deny rule 'echo' of mcpServers.stub of ",
        ],
    )
    .await;
    refused(
        "[expose]\ntools = [\"stub.*\"]",
        &["expose.tools", "is not a tool name; write SERVER.TOOL"],
    )
    .await;
    refused("[expose]\ntools = [\"echo\"]", &["is not a tool name"]).await;
    refused(
        "[expose]\ntools = [\"stub.echo\", \"stub.echo\"]",
        &["named twice"],
    )
    .await;
    refused("[expose]\nbudget = 0", &["expose.budget"]).await;
    refused("[expose]\ntool = []", &["did you mean `tools`?"]).await;
}

/// A server whose name is spelled differently in programs.
fn spelled(lines: &str) -> Codeyard {
    let codeyard = Codeyard::new().unwrap();
    codeyard
        .server("my-stub", &ServerDefinition::stub())
        .settings(lines)
}

#[tokio::test]
async fn a_tool_is_the_same_under_every_spelling() {
    let codeyard = spelled("[expose]\ntools = [\"my_stub.echo\"]");
    let listed = run(&codeyard, &["tools", "my-stub"], "").await.out;
    assert!(listed.contains("(exposed: "), "{listed}");
    let all = run(&codeyard, &["advise", "--all", "--json"], "").await.json();
    let tools = all["tools"].as_array().unwrap();
    let echo: Vec<&Value> = tools
        .iter()
        .filter(|tool| tool["tool"].as_str().unwrap().ends_with(".echo"))
        .collect();
    assert!(
        echo.len() == 1 && echo[0]["tool"] == "my-stub.echo" && echo[0]["exposed"] == true,
        "{all}"
    );
    assert_eq!(echo[0]["definition"], all["exposed"], "{all}");

    let twice = spelled("[expose]\ntools = [\"my_stub.echo\", \"my-stub.echo\"]");
    let ended = run(&twice, &["mcp"], "").await;
    assert_eq!(ended.code, 2, "{ended:?}");
    assert!(
        ended
            .err
            .contains("[expose] tools: my-stub.echo: it is the same tool as 'my_stub.echo'; name it once"),
        "{ended:?}"
    );
}

#[tokio::test]
async fn a_tool_file_cannot_be_exposed() {
    let codeyard = Codeyard::with_stub().unwrap();
    let directory = codeyard.work_directory().join("servers");
    std::fs::create_dir_all(directory.join("sums")).unwrap();
    std::fs::write(
        directory.join("sums/add.py"),
        "def add(a: int):\n    'Adds.'\n    return a\n",
    )
    .unwrap();
    let codeyard = codeyard.settings(&format!(
        "[tools]\ndirectories = [{:?}]\n[expose]\ntools = [\"stub.echo\", \"sums.add\"]",
        directory.display().to_string()
    ));
    let ended = run(&codeyard, &["mcp"], "").await;
    assert_eq!(ended.code, 2, "{ended:?}");
    let told = "[expose] tools: sums.add: a tool file runs in a program's sandbox and cannot be exposed; leave it out";
    assert!(ended.err.contains(told), "{ended:?}");
}

/// A tool file becomes visible when the server of its name is removed, but is still not exposed.
#[tokio::test]
async fn a_tool_file_does_not_take_the_place_of_an_exposed_tool() {
    let codeyard = Codeyard::with_stub().unwrap();
    let directory = codeyard.work_directory().join("servers");
    std::fs::create_dir_all(directory.join("stub")).unwrap();
    let echo = "def echo(message: str):\n    'Says it from a file.'\n    return message\n";
    std::fs::write(directory.join("stub/echo.py"), echo).unwrap();
    let codeyard = codeyard.settings(&format!(
        "[tools]\ndirectories = [{:?}]\n[expose]\ntools = [\"stub.echo\"]",
        directory.display().to_string()
    ));
    let mut client = CodeClient::of(codeyard).await;
    assert_eq!(
        names(&mut client).await,
        ["execute_code", "search_tools", "stub_echo"]
    );
    let removed = run(&client.codeyard, &["servers", "remove", "stub", "--yes"], "").await;
    assert_eq!(removed.code, 0, "{removed:?}");
    until_found(&mut client, "echo from a file", "from a file.").await;
    assert_eq!(names(&mut client).await, ["execute_code", "search_tools"]);
}

#[tokio::test]
async fn a_changed_list_is_announced_and_used() {
    let stub = || {
        Codeyard::new()
            .unwrap()
            .server("stub", &ServerDefinition::stub_with_extras())
    };
    let mut before = CodeClient::of(stub()).await;
    before.run("await tools.stub.grow()").await;
    // The server announces its new tool, and codeyard requests the list.
    until_found(&mut before, "grown_1 came later", "grown_1").await;
    let CodeClient { mcp, codeyard } = before;
    assert!(mcp.finish().await.unwrap().success());

    // The list is cached; the restarted server itself lacks that tool.
    let codeyard = codeyard.settings("[expose]\ntools = [\"stub.grown_1\", \"stub.echo\"]");
    let mcp = codeyard.mcp(Era::Legacy).await.unwrap();
    let mut client = CodeClient { mcp, codeyard };
    assert_eq!(
        names(&mut client).await,
        ["execute_code", "search_tools", "stub_grown_1", "stub_echo"]
    );
    client.run("await tools.stub.echo(message='it starts')").await;
    client
        .mcp
        .notification("notifications/tools/list_changed")
        .await
        .unwrap();
    assert_eq!(
        names(&mut client).await,
        ["execute_code", "search_tools", "stub_echo"]
    );
}
