//! Tools of upstream servers, as programs meet them.

use std::time::{Duration, Instant};

use serde_json::json;
use test_support::{CodeClient, Codeyard, ServerDefinition};

#[tokio::test]
async fn every_way_to_call_a_tool_works() {
    let mut client = CodeClient::with_stub().await;
    client
        .check("print((await tools.stub.add(a=1, b=1))['sum'])", "2\n")
        .await;
    client
        .check("print((await tools.stub.add({'a': 1, 'b': 2})).sum)", "3\n")
        .await;
    client
        .check("print((await mcp_stub.add(a=2, b=2))['sum'])", "4\n")
        .await;
    client
        .check("print((await mcp_servers['stub'].add(a=2, b=3))['sum'])", "5\n")
        .await;
    client
        .check(
            "from mcp.servers.stub import *\nprint((await add(a=3, b=3))['sum'])",
            "6\n",
        )
        .await;
    let gathered =
        "import asyncio\nprint(await asyncio.gather(*(tools.stub.echo(message=f'm{n}') for n in range(5))))";
    client.check(gathered, "['m0', 'm1', 'm2', 'm3', 'm4']\n").await;
}

#[tokio::test]
async fn c053_c054_stubs_are_importable() {
    let codeyard = Codeyard::with_stub()
        .unwrap()
        .server("my-stub", &ServerDefinition::stub());
    let mut client = CodeClient::of(codeyard).await;
    let code = "from tools.stub.add import add\nprint((await add({'a':1,'b':1}))['sum'])";
    client.check(code, "2\n").await;
    let listing = client
        .run("import os, tools.my_stub\nreturn sorted(os.listdir('/tools/my_stub'))")
        .await;
    assert!(
        listing
            .result()
            .as_array()
            .unwrap()
            .contains(&json!("list_things.py")),
        "{listing:?}"
    );
    let ran = client
        .run("from tools.my_stub.list_things import list_things\nreturn await list_things()")
        .await;
    assert_eq!(ran.status(), "completed", "{ran:?}");
}

#[tokio::test]
async fn c058_programs_do_not_run_programs() {
    let mut client = CodeClient::with_stub().await;
    let ran = client
        .run("await __toolcall__('execute_code', {'code': 'print(1)'})")
        .await;
    assert!(ran.is_error() && ran.error().contains("not allowed"), "{ran:?}");
}

#[tokio::test]
async fn c059_a_failing_tool_is_catchable() {
    let mut client = CodeClient::with_stub().await;
    let code = "try:\n    await tools.stub.fail({'message':'nope'})\nexcept Exception as e:\n    print('caught', 'nope' in str(e))";
    client.check(code, "caught True\n").await;
}

#[tokio::test]
async fn wrong_names_and_arguments_name_the_nearest() {
    let mut client = CodeClient::with_stub().await;
    for (code, told) in [
        ("await tools.stub.ad(a=1, b=2)", "did you mean 'add'"),
        ("await tools.stbu.add(a=1, b=2)", "stub"),
        ("await tools.stub.add(a=1)", "missing required argument 'b'"),
        ("await tools.stub.echo(mesage='x')", "message"),
        ("await tools.stub.add(a='x', b=2)", "'a' must be float"),
    ] {
        let ran = client.run(code).await;
        assert!(
            ran.is_error() && ran.error().contains(told),
            "{code}: {}",
            ran.error()
        );
        assert!(ran.error().contains("ToolError"), "{code}: {}", ran.error());
    }
}

#[tokio::test]
async fn c311_c312_c313_servers_stay_up_and_come_back() {
    let mut client = CodeClient::with_stub().await;
    let first = client.run("return await tools.stub.pid()").await;
    let second = client.run("return await tools.stub.pid()").await;
    assert_eq!(first.result(), second.result(), "the server stays up");
    let start = Instant::now();
    let ran = client.run("await tools.stub.crash()").await;
    assert!(start.elapsed() < Duration::from_secs(5) && ran.is_error());
    assert!(ran.error().contains("stub"), "{ran:?}");
    let code = "import asyncio\nfor attempt in range(100):\n    try:\n        print(await tools.stub.echo(message='x')); break\n    \
                except Exception as e:\n        if not getattr(e, 'retryable', False): raise\n        await asyncio.sleep(0.1)";
    client.check(code, "x\n").await;
    let start = Instant::now();
    let ran = client
        .execute(json!({"code": "await tools.stub.slow(seconds=600)", "timeout_ms": 3000}))
        .await;
    assert!(start.elapsed() < Duration::from_secs(6), "{:?}", start.elapsed());
    assert_eq!(ran.status(), "timed_out");
    client
        .check("print(await tools.stub.echo(message='later'))", "later\n")
        .await;
}

#[tokio::test]
async fn c316_a_large_result_arrives_whole() {
    let mut client = CodeClient::with_stub().await;
    client
        .check(
            "r = await mcp_stub.big(bytes=5000000); print(len(r['content'][0]['text']))",
            "5000000\n",
        )
        .await;
}

#[tokio::test]
async fn tools_are_found_by_words() {
    let mut client = CodeClient::with_stub().await;
    let found = client
        .mcp
        .call_tool("search_tools", json!({"query": "add two numbers", "limit": 1}))
        .await
        .unwrap();
    let tool = &found["structuredContent"]["tools"][0];
    assert_eq!(
        (tool["server"].as_str(), tool["tool"].as_str()),
        (Some("stub"), Some("add")),
        "{found}"
    );
    let line = found["content"][0]["text"].as_str().unwrap();
    assert!(line.starts_with("tools.stub.add(a: float, b: float)"), "{line}");
}

#[tokio::test]
async fn a_denied_tool_is_neither_found_nor_called() {
    let codeyard = Codeyard::with_stub()
        .unwrap()
        .settings("[policy]\ndeny = [\"stub.send\"]");
    let mut client = CodeClient::of(codeyard).await;
    let ran = client.run("await tools.stub.send(to='ana')").await;
    assert!(
        ran.is_error() && ran.error().contains("denied by policy"),
        "{ran:?}"
    );
    let found = client
        .mcp
        .call_tool("search_tools", json!({"query": "send message", "limit": 50}))
        .await
        .unwrap();
    let tools = found["structuredContent"]["tools"].as_array().unwrap();
    assert!(
        !tools.is_empty() && tools.iter().all(|tool| tool["tool"] != "send"),
        "{found}"
    );
}
