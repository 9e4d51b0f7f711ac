//! When a receipt appears, and its content.

use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use test_support::{BridgeClient, CodeClient, Codeyard, Era, ServerDefinition};
use tokio::io::AsyncWriteExt as _;

/// The last lines of a result's text, if it has a receipt.
fn lines(result: &Value) -> Option<&str> {
    let last = result["content"].as_array()?.last()?["text"].as_str()?;
    last.starts_with("receipt: ").then_some(last)
}

#[tokio::test]
async fn a_receipt_appears_on_request_or_by_default() {
    let mut asked = CodeClient::with_stub().await;
    let code = "return (await tools.stub.echo(message='a message'))";
    let without = asked.run(code).await;
    assert!(
        without.fields().get("receipt").is_none() && lines(&without.0).is_none(),
        "{without:?}"
    );
    let with = asked.execute(json!({"code": code, "receipt": true})).await;
    let receipt = &with.fields()["receipt"];
    assert_eq!(
        (&receipt["host_calls"], &receipt["calls"]),
        (&json!(1), &json!({"made": 1, "failed": 0, "uncounted": 0}))
    );
    let said = lines(&with.0).unwrap();
    assert!(
        said.starts_with("receipt: 1 call in ") && said.lines().count() == 2,
        "{said}"
    );
    assert_eq!(
        with.shown(),
        without.shown(),
        "the program's own text must be unchanged"
    );

    let default = Codeyard::with_stub()
        .unwrap()
        .settings("[receipts]\ndefault = true");
    let mut default = CodeClient::of(default).await;
    assert!(lines(&default.run(code).await.0).is_some());
    let declined = default.execute(json!({"code": code, "receipt": false})).await;
    assert!(declined.fields().get("receipt").is_none() && lines(&declined.0).is_none());
}

#[tokio::test]
async fn all_text_for_the_model_is_counted_in_every_form() {
    let tokenizer = accounting::Tokenizer::load().unwrap();
    let mut client = CodeClient::with_stub().await;
    let code = "return (await tools.stub.echo(message='a message'))";
    let mut longest = Vec::new();
    for format in ["text", "toon", "json"] {
        let read = async |client: &mut CodeClient, receipt: bool| {
            let ran = client
                .execute(json!({"code": code, "receipt": receipt, "format": format}))
                .await;
            let texts = ran.content().iter().filter_map(|block| block["text"].as_str());
            let tokens: u64 = texts.map(|text| tokenizer.text(text)).sum();
            (tokens, ran)
        };
        let (without, _) = read(&mut client, false).await;
        let (with, ran) = read(&mut client, true).await;
        let told = ran.fields()["receipt"]["tokens"]["codeyard"]["read"]
            .as_u64()
            .unwrap();
        assert!(with.abs_diff(told) <= 3, "{format}: {with}, told {told}: {ran:?}");
        longest.push(with - without);
    }
    // As in docs/adoption.md.
    assert!(
        (55..75).contains(&longest[0]) && (55..75).contains(&longest[1]),
        "{longest:?}"
    );
    assert!((125..150).contains(&longest[2]), "{longest:?}");
}

#[tokio::test]
async fn the_flag_of_the_command_line_is_a_default_too() {
    let codeyard = Codeyard::with_stub().unwrap();
    let command = codeyard.command(["mcp", "--receipt"]).unwrap();
    let mut mcp = test_support::McpClient::spawn(command).unwrap();
    mcp.open(Era::Legacy).await.unwrap();
    let ran = mcp.call_tool("execute_code", json!({"code": "1"})).await.unwrap();
    assert!(lines(&ran).unwrap().starts_with("receipt: 0 calls in "), "{ran}");

    let program = "await tools.stub.echo(message='x')";
    let run = codeyard
        .run_with_input(["run", "-", "--receipt"], program)
        .await
        .unwrap();
    let told = String::from_utf8_lossy(&run.stderr);
    assert!(told.contains("receipt: 1 call in "), "{told}");
    let run = codeyard
        .run_with_input(["run", "-", "--receipt", "--json"], program)
        .await
        .unwrap();
    let described: Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!(described["receipt"]["calls"]["made"], 1, "{described}");
    // Used resources are separate from the cost.
    assert!(
        described["usage"]["wall_ms"].is_number() && described["usage"]["host_calls"] == 1,
        "{described}"
    );
    assert!(described["receipt"].get("wall_ms").is_none(), "{described}");
}

#[tokio::test]
async fn the_bridge_prints_receipts_by_default_only() {
    let check = async |settings: &str, has: bool| {
        let codeyard = Codeyard::new()
            .unwrap()
            .with_stub_definitions()
            .unwrap()
            .settings(settings);
        let mut client = BridgeClient::of(codeyard).await;
        let ran = client
            .run_with(&["stub"], "print(await mcp_stub.echo(message='x'))")
            .await;
        assert_eq!(lines(&ran.0).is_some(), has, "{ran:?}");
        assert_eq!(
            ran.0["structuredContent"].get("receipt").is_some(),
            has,
            "{ran:?}"
        );
    };
    check("", false).await;
    check("[receipts]\ndefault = true", true).await;

    let codeyard = Codeyard::new().unwrap().with_stub_definitions().unwrap();
    let command = codeyard
        .command(["mcp", "--surface", "bridge", "--receipt"])
        .unwrap();
    let mut mcp = test_support::McpClient::spawn(command).unwrap();
    mcp.open(Era::Legacy).await.unwrap();
    let ran = mcp
        .call_tool("run_python", json!({"code": "print(1)"}))
        .await
        .unwrap();
    assert!(lines(&ran).is_some(), "{ran}");
}

#[tokio::test]
async fn calls_that_fail_and_searches_cost_too() {
    let mut client = CodeClient::with_stub().await;
    client.search(json!({"query": "echo"})).await;
    let code = "
for arguments in ({'message': 'fine'}, {'message': 5}):
    try:
        await tools.stub.echo(**arguments)
    except Exception:
        pass
";
    let ran = client
        .execute(json!({"code": code, "receipt": true, "check": "off"}))
        .await;
    let receipt = &ran.fields()["receipt"];
    assert_eq!(
        receipt["calls"],
        json!({"made": 2, "failed": 1, "uncounted": 0}),
        "{ran:?}"
    );
    assert_eq!(receipt["searches"], 1, "{ran:?}");
    let searched = receipt["tokens"]["codeyard"]["searched"].as_u64().unwrap();
    assert!(searched >= 10, "{receipt}");
    let own = &receipt["tokens"]["codeyard"];
    let sum: u64 = ["definitions", "written", "read", "searched"]
        .iter()
        .map(|name| own[name].as_u64().unwrap())
        .sum();
    assert_eq!(own["total"], sum);
    // A higher cost than direct calls is reported.
    let saved = receipt["tokens"]["saved_without_definitions"].as_i64().unwrap();
    assert!(saved < 0 && lines(&ran.0).unwrap().contains("; cost "), "{ran:?}");

    let next = client.execute(json!({"code": "1", "receipt": true})).await;
    assert_eq!(next.fields()["receipt"]["searches"], 0, "searches count once");
}

#[tokio::test]
async fn a_program_that_fails_or_is_refused_has_cost_as_well() {
    let mut client = CodeClient::with_stub().await;
    for code in ["1 / 0", "await tools.stub.no_such_tool()"] {
        let ran = client.execute(json!({"code": code, "receipt": true})).await;
        assert_ne!(ran.status(), "completed");
        let read = ran.fields()["receipt"]["tokens"]["codeyard"]["read"]
            .as_u64()
            .unwrap();
        assert!(read > 20 && lines(&ran.0).is_some(), "{ran:?}");
    }
}

#[tokio::test]
async fn a_very_large_answer_is_counted_to_the_last_token() {
    let codeyard = Codeyard::new()
        .unwrap()
        .server("stub", &ServerDefinition::stub_with_extras());
    let mut client = CodeClient::of(codeyard).await;
    // Words of one token each, with a space before all but the first.
    let code = "text = 'word' + ' word' * 300_000\n\
        answer = await tools.stub.raw(result={'content': [{'type': 'text', 'text': text}]})\n\
        return len(str(answer))";
    let ran = client.execute(json!({"code": code, "receipt": true})).await;
    let direct = &ran.fields()["receipt"]["tokens"]["direct"];
    assert_eq!(direct["read"], 300_001, "{ran:?}");
}

#[tokio::test]
async fn a_surface_without_programs_refuses_the_option() {
    let codeyard = Codeyard::with_stub().unwrap();
    let ended = test_support::run(&codeyard, &["mcp", "--surface", "standard", "--receipt"], "").await;
    assert_eq!(ended.code, 2, "{ended:?}");
    for told in ["--receipt", "`code` and `bridge`", "leave it out"] {
        assert!(ended.err.contains(told), "{ended:?}");
    }
}

#[tokio::test]
async fn searches_before_a_refused_run_count_for_the_next() {
    let mut client = CodeClient::with_stub().await;
    client.search(json!({"query": "echo"})).await;
    let code = "await tools.stub.no_such_tool()";
    let refused = client.execute(json!({"code": code, "receipt": true})).await;
    assert_eq!(refused.status(), "refused");
    let receipt = &refused.fields()["receipt"];
    assert_eq!(receipt["searches"], 0, "{refused:?}");
    let first = receipt["tokens"]["codeyard"].clone();
    assert_eq!(client.execute(json!({"code": code})).await.status(), "refused");
    client
        .execute(json!({"code": "1", "session": "no such name"}))
        .await;
    client.search(json!({"query": "add"})).await;
    let next = client.execute(json!({"code": "1", "receipt": true})).await;
    let receipt = &next.fields()["receipt"];
    assert_eq!(receipt["searches"], 2, "{next:?}");
    let last = &receipt["tokens"]["codeyard"];

    let CodeClient { mcp, codeyard } = client;
    assert!(mcp.finish().await.unwrap().success());
    let savings = test_support::run(&codeyard, &["runs", "--savings", "--json"], "")
        .await
        .json();
    let own = |tokens: &Value| tokens["total"].as_u64().unwrap() - tokens["definitions"].as_u64().unwrap();
    let uncounted = savings["total"]["tokens"].as_u64().unwrap() - own(&first) - own(last);
    assert!(
        uncounted < last["searched"].as_u64().unwrap() / 2,
        "searches must count once: {savings}"
    );
}

/// Neither side counts a program's searches and resources, refused tools, and servers that were not called.
#[tokio::test]
async fn calls_without_a_cost_for_a_model_are_not_counted() {
    let of = async |settings: &str, code: &str| {
        let codeyard = Codeyard::with_stub().unwrap().settings(settings);
        let codeyard = codeyard.server("other", &ServerDefinition::stub());
        let mut client = CodeClient::of(codeyard).await;
        let ran = client
            .execute(json!({"code": code, "receipt": true, "check": "off"}))
            .await;
        assert_eq!(ran.status(), "completed", "{ran:?}");
        ran.fields()["receipt"].clone()
    };
    let searched = of("", "await runtime.search_tools('echo')").await;
    assert_eq!(
        (&searched["calls"]["made"], &searched["searches"]),
        (&json!(0), &json!(0)),
        "{searched}"
    );
    let direct = &searched["tokens"]["direct"];
    assert_eq!(
        (&direct["written"], &direct["read"]),
        (&json!(0), &json!(0)),
        "{searched}"
    );

    let code = "await tools.stub.echo(message='x')";
    let all = of("", code).await;
    assert_eq!(
        all["definitions_of"],
        json!({"tools": 11, "servers": 1, "unlisted_servers": 1}),
        "a receipt must not start a server"
    );
    let allowed = of("[policy]\ndeny = [\"stub.add\"]", code).await;
    assert_eq!(allowed["definitions_of"]["tools"], 10, "{allowed}");
    let definitions = |receipt: &Value| receipt["tokens"]["direct"]["definitions"].as_u64().unwrap();
    assert!(definitions(&allowed) < definitions(&all));
}

#[tokio::test]
async fn an_abandoned_call_costs_its_arguments() {
    let mut client = CodeClient::with_stub().await;
    let code = "import asyncio\n\
        try:\n    await asyncio.wait_for(tools.stub.slow(seconds=300), 0.5)\n\
        except TimeoutError:\n    print('enough')";
    let ran = client.execute(json!({"code": code, "receipt": true})).await;
    assert_eq!(ran.status(), "completed", "{ran:?}");
    let receipt = &ran.fields()["receipt"];
    assert_eq!(receipt["calls"]["failed"], 1, "{receipt}");
    let direct = &receipt["tokens"]["direct"];
    assert!(
        direct["written"].as_u64() > Some(3) && direct["read"] == 0,
        "{receipt}"
    );
}

#[tokio::test]
async fn with_json_a_receipt_is_a_field_of_the_text() {
    let mut client = CodeClient::with_stub().await;
    let ran = client
        .execute(json!({"code": "return 5", "receipt": true, "format": "json"}))
        .await;
    assert_eq!(ran.content().len(), 1, "{ran:?}");
    let text: Value = serde_json::from_str(ran.content()[0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(
        text["receipt"]["tokens"],
        ran.fields()["receipt"]["tokens"],
        "{ran:?}"
    );
    // As lines, the receipt takes the tokens named on the page.
    let lines = client.execute(json!({"code": "return 5", "receipt": true})).await;
    let read = lines.fields()["receipt"]["tokens"]["codeyard"]["read"]
        .as_u64()
        .unwrap();
    assert!((50..=80).contains(&read), "{lines:?}");
}

/// Counting takes seconds after the program's end. A client that cancels then gets the result at once, with a notice.
#[tokio::test]
async fn a_cancellation_during_the_count_returns_the_result() {
    let codeyard = Codeyard::new()
        .unwrap()
        .server("stub", &ServerDefinition::stub_with_extras());
    let mut command = codeyard.command(["run", "-", "--receipt"]).unwrap();
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut run = command.kill_on_drop(true).spawn().unwrap();
    let code = "text = 'word' + ' word' * 1_500_000\n\
        await tools.stub.raw(result={'content': [{'type': 'text', 'text': text}]})\n\
        return 'the result'";
    let mut input = run.stdin.take().unwrap();
    input.write_all(code.as_bytes()).await.unwrap();
    drop(input);
    let over = async {
        loop {
            let listed = test_support::run(&codeyard, &["runs", "--json"], "").await;
            // On a busy machine, a process that renews its lease late looks interrupted until it does.
            if listed.out.contains("completed") {
                return;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(120), over)
        .await
        .unwrap();
    let pid = Pid::from_raw(i32::try_from(run.id().unwrap()).unwrap()).unwrap();
    kill_process(pid, Signal::INT).unwrap();
    let ended = run.wait_with_output().await.unwrap();
    let (out, err) = (
        String::from_utf8_lossy(&ended.stdout),
        String::from_utf8_lossy(&ended.stderr),
    );
    assert!(out.contains("the result"), "{out} {err}");
    assert!(err.contains("notice: there is no receipt: "), "{err}");
}
