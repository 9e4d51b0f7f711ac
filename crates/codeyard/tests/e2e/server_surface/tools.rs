//! Tools of upstream servers in programs of the surface `server`.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use test_support::{Codeyard, MetaTools as _, MetaToolsClient, ServerDefinition};

#[tokio::test]
async fn c053_stubs_are_imported_and_called() {
    let mut client = MetaToolsClient::with_stub().await;
    let listed = client.call("fs_browse", json!({"path": "/tools/stub"})).await;
    assert!(listed.names().contains(&"add.py"), "{listed:?}");
    let code = "from tools.stub.add import add\nprint((await add({'a':1,'b':1}))['sum'])";
    client.check(code, "2\n").await;
}

#[tokio::test]
async fn c054_hyphenated_names_are_importable() {
    let codeyard = Codeyard::new()
        .unwrap()
        .server("my-stub", &ServerDefinition::stub());
    let mut client = MetaToolsClient::of(codeyard).await;
    let servers = client.call("fs_browse", json!({})).await;
    let server = servers
        .names()
        .into_iter()
        .find(|name| name.starts_with("my"))
        .unwrap()
        .to_owned();
    let path = format!("/tools/{server}");
    let tools = client.call("fs_browse", json!({ "path": path })).await;
    let tool = tools
        .names()
        .into_iter()
        .find(|name| name.starts_with("list"))
        .unwrap();
    let tool = tool.split('.').next().unwrap().to_owned();
    let code = format!("from tools.{server}.{tool} import {tool}\nprint((await {tool}())['things'])");
    client.check(&code, "['lamp', 'table', 'chair']\n").await;
}

#[tokio::test]
async fn c055_typescript_calls_tools() {
    let mut client = MetaToolsClient::with_stub().await;
    for (code, output) in [
        (
            "const r = await tools.stub.add({a:2,b:3}); console.log(r.sum)",
            "5\n",
        ),
        (
            "console.log((await __toolcall__('stub', 'add', {a: 1, b: 1})).sum)",
            "2\n",
        ),
        (
            "console.log((await __toolcall__('add', {a: 1, b: 2})).sum)",
            "3\n",
        ),
        (
            "console.log(await tools.stub.echo({message: 'hi'}))",
            "{ text: 'hi' }\n",
        ),
        ("console.log((await tools.stub.echo({message: '[1]'}))[0])", "1\n"),
        (
            "import { add } from '/tools/stub/add.ts'\nconsole.log((await add({a: 4, b: 4})).sum)",
            "8\n",
        ),
    ] {
        let result = client.run_typescript(code).await;
        assert_eq!(
            (result.output(), result.error()),
            (output, ""),
            "{code}\n{result:?}"
        );
    }
    let result = client.run_typescript("await tools.stub.nope({})").await;
    assert!(
        result
            .error()
            .contains("Tool 'stub/nope' is not mounted for this server"),
        "{result:?}"
    );
}

#[tokio::test]
async fn s0_39_results_are_objects() {
    let mut client = MetaToolsClient::with_stub().await;
    for (code, output) in [
        ("print(await tools.stub.echo(message='hi'))", "{'text': 'hi'}\n"),
        ("print(await tools.stub.echo(message='[1, 2]'))", "[1, 2]\n"),
        ("print(await tools.stub.echo(message=''))", "{}\n"),
        ("print(await tools.stub.add(a=1, b=2))", "{'sum': 3}\n"),
        (
            "print((await __toolcall__('stub', 'add', {'a': 5, 'b': 5}))['sum'])",
            "10\n",
        ),
        (
            "print((await __toolcall__('add', {'a': 5, 'b': 6}))['sum'])",
            "11\n",
        ),
        (
            "print((await tools.stub['list-things']())['things'][0])",
            "lamp\n",
        ),
        ("return await tools.stub.add(a=1, b=2)", "{\"sum\": 3}\n"),
    ] {
        client.check(code, output).await;
    }
}

#[tokio::test]
async fn c056_c058_unknown_and_nested_tools_are_refused() {
    let mut client = MetaToolsClient::with_stub().await;
    for (code, error) in [
        (
            "await tools.stub.nope({})",
            "Tool 'stub/nope' is not mounted for this server",
        ),
        (
            "await tools.nowhere.add({})",
            "Tool 'nowhere/add' is not mounted for this server",
        ),
        (
            "await __toolcall__('nope', {})",
            "Tool 'nope' is not mounted for this server",
        ),
        (
            "await __toolcall__('shell_exec', {'code': 'print(1)'})",
            "Nested invocation of meta-tool 'shell_exec' is not allowed",
        ),
    ] {
        let result = client.check_error(code, error).await;
        assert_eq!(
            result.fields()["tool_calls_made"][0]["success"],
            false,
            "{result:?}"
        );
    }
    let code = "try:\n    await tools.stub.nope({})\nexcept Exception as e:\n    print('mounted' in str(e))";
    client.check(code, "True\n").await;
}

#[tokio::test]
async fn c059_a_failing_tool_is_catchable_and_listed() {
    let mut client = MetaToolsClient::with_stub().await;
    let code = "try:\n    await tools.stub.fail({'message':'nope'})\nexcept Exception as e:\n    print('caught', 'nope' in str(e))";
    let result = client.run(code).await;
    assert_eq!(
        (result.output(), result.is_error()),
        ("caught True\n", false),
        "{result:?}"
    );
    let [call] = result.fields()["tool_calls_made"].as_array().unwrap().as_slice() else {
        panic!("{result:?}");
    };
    let names: Vec<&String> = call.as_object().unwrap().keys().collect();
    assert_eq!(names, ["name", "started_at", "latency_ms", "success", "error"]);
    assert_eq!(
        (&call["name"], &call["success"]),
        (&json!("stub/fail"), &json!(false))
    );
    assert!(call["error"].as_str().unwrap().contains("nope"), "{call}");
    assert!(call["started_at"].as_str().unwrap().ends_with("+00:00"), "{call}");
    let metrics = &result.fields()["metrics"];
    assert_eq!(
        (&metrics["error_rate"], &metrics["tool_call_count"]),
        (&json!(1.0), &json!(1))
    );
}

#[tokio::test]
async fn parallel_calls_are_all_listed() {
    let mut client = MetaToolsClient::with_stub().await;
    let code = "import asyncio\nawait asyncio.gather(*(tools.stub.add(a=n, b=n) for n in range(20)))";
    let result = client.run(code).await;
    let calls = result.fields()["tool_calls_made"].as_array().unwrap();
    assert_eq!(calls.len(), 20, "{result:?}");
    let starts: Vec<&str> = calls
        .iter()
        .filter_map(|call| call["started_at"].as_str())
        .collect();
    assert!(starts.is_sorted(), "{starts:?}");
    assert!(
        calls
            .iter()
            .all(|call| call["error"] == Value::Null && call["success"] == true)
    );
}

#[tokio::test]
async fn c062_the_tool_policy_has_the_original_s_words() {
    let denied = Codeyard::with_stub()
        .unwrap()
        .settings("[policy]\ndeny = [\"stub.add\"]\n");
    let mut client = MetaToolsClient::of(denied).await;
    client
        .check_error(
            "await tools.stub.add({'a':1,'b':1})",
            "EACCES: tool 'stub/add' is denied by policy",
        )
        .await;
    client
        .check("print(await tools.stub.echo(message='x'))", "{'text': 'x'}\n")
        .await;
    let allowed = Codeyard::with_stub()
        .unwrap()
        .settings("[policy]\nallow = [\"stub.echo\"]\n");
    let mut client = MetaToolsClient::of(allowed).await;
    client
        .check_error(
            "await tools.stub.add({'a':1,'b':1})",
            "EACCES: tool 'stub/add' is not allowed by policy",
        )
        .await;
}

#[tokio::test]
async fn real_servers_work() {
    let mut client = MetaToolsClient::of(Codeyard::new().unwrap().real_servers().unwrap()).await;
    let servers = client.call("fs_browse", json!({})).await;
    assert!(servers.names().len() >= 9, "{servers:?}");
    // Nine servers start at once; on a slow machine, their tools appear later.
    let began = Instant::now();
    let mut listed = client.run("ls /tools/time").await;
    while !listed.output().contains("convert_time.py") && began.elapsed() < Duration::from_secs(60) {
        listed = client.run("ls /tools/time").await;
    }
    let has = |name| listed.output().lines().any(|line| line == name);
    assert!(has("convert_time.py") && has("get_current_time.py"), "{listed:?}");
    let found = client
        .run("grep -r convert_time /tools/time --include='*.py' -l")
        .await;
    assert!(
        found.output().contains("/tools/time/convert_time.py\n"),
        "{found:?}"
    );
    let code = "r = await tools.time.convert_time(source_timezone='UTC', time='12:00', target_timezone='Asia/Tokyo')\n\
                write_file('/results/time.json', json.dumps(r))\nprint(r['time_difference'])";
    client.check(code, "+9.0h\n").await;
    client
        .check("cat /results/time.json | jq '.target.timezone'", "Asia/Tokyo\n")
        .await;
}
