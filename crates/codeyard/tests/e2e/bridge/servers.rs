//! Upstream servers: warm, dead, hung, large, many, and different ones in each call.

use serde_json::json;
use test_support::{BridgeClient, Codeyard, ServerDefinition};

use crate::bridge::{check, installation, within};

#[tokio::test]
async fn c311_warm_clients() {
    let mut client = BridgeClient::with_stub().await;
    let code = "print((await mcp_stub.pid())['pid'])";
    let first = client.run_with(&["stub"], code).await;
    assert!(first.text().parse::<u32>().is_ok(), "{first:?}");
    client.check(code, first.text()).await;
}

#[tokio::test]
async fn c312_a_crash() {
    let mut client = BridgeClient::with_stub().await;
    let crashed = client.check_error("await mcp_stub.crash()", &["stub"]);
    let crashed = within(5.0, crashed).await;
    assert!(crashed.text().contains("crash was called"), "{crashed:?}");
    client.check("print(await mcp_stub.echo(message='x'))", "x").await;
}

#[tokio::test]
async fn c313_a_hung_call() {
    let mut client = BridgeClient::with_stub().await;
    let hung = json!({"code": "print('before')\nawait mcp_stub.slow(seconds=600)", "servers": ["stub"], "timeout": 3});
    let answer = within(6.0, client.call(hung)).await;
    assert_eq!(
        answer.text(),
        "[status: timeout]\nbefore\nerror: Execution timed out after 3s"
    );
    let fields = json!({
        "status": "timeout", "summary": "Timeout: execution exceeded 3s", "servers": ["stub"], "stdout": ["before"],
        "error": "Execution timed out after 3s", "timeoutSeconds": 3,
    });
    assert_eq!((answer.fields(), answer.is_error()), (&fields, true));
    client.check("print(await mcp_stub.echo(message='x'))", "x").await;
}

#[tokio::test]
async fn a_hung_server_holds_up_no_other() {
    let servers = [
        ("hung", ServerDefinition::hostile("hang")),
        ("stub", ServerDefinition::stub()),
    ];
    let codeyard = Codeyard::new().unwrap().definition("all.json", &servers).unwrap();
    let mut client = BridgeClient::of(codeyard).await;
    let code = "import asyncio\n\
                hung = asyncio.ensure_future(mcp_hung.echo(message='x'))\n\
                print(await mcp_stub.echo(message='y'))";
    let call = json!({"code": code, "servers": ["hung", "stub"], "timeout": 20});
    let answer = within(10.0, client.call(call)).await;
    assert_eq!(answer.lines("stdout"), "y", "{answer:?}");
}

#[tokio::test]
async fn c338_a_server_that_exits_at_once() {
    let gateway = ServerDefinition::new("sh", &["-c", "echo 'docker: no MCP gateway here' >&2; exit 1"]);
    let codeyard = installation()
        .definition("gateway.json", &[("gateway", gateway)])
        .unwrap();
    let mut client = BridgeClient::of(codeyard).await;
    let answer = within(10.0, client.run_with(&["gateway"], "await mcp_gateway.run()")).await;
    assert!(answer.is_error(), "{answer:?}");
    for said in ["gateway", "docker: no MCP gateway here"] {
        assert!(answer.text().contains(said), "no {said:?} in {answer:?}");
    }
    client.check_healthy().await;
}

#[tokio::test]
async fn c342_an_error_that_a_tool_reports_is_returned() {
    let code = "r = await mcp_stub.fail(message='no')\nprint(r['isError'], r['content'][0]['text'])";
    check(code, "True no").await;
}

#[tokio::test]
async fn c377_a_large_catalogue() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("tools.json");
    let filler = "x".repeat(2_000);
    let tools: Vec<_> = (0..3_000)
        .map(|number| {
            let schema =
                json!({"type": "object", "properties": {"q": {"type": "string", "description": filler}}});
            json!({"name": format!("tool_{number}"), "description": "One of many.", "inputSchema": schema})
        })
        .collect();
    std::fs::write(&file, json!(tools).to_string()).unwrap();
    let mut stub = ServerDefinition::replay("filesystem");
    stub.args = vec!["replay".to_owned(), file.to_string_lossy().into_owned()];
    let codeyard = Codeyard::new()
        .unwrap()
        .definition("stub.json", &[("stub", stub)])
        .unwrap();
    let mut client = BridgeClient::of(codeyard).await;
    client
        .check("print(len(runtime.list_tools_sync('stub')))", "3000")
        .await;
    // A large catalogue does not prevent a program from starting processes.
    client.check("import subprocess\nprint(subprocess.run(['echo', 'ok'], capture_output=True, text=True).stdout, end='')", "ok").await;
    client
        .check("print((await mcp_stub.tool_2999(q='a'))['tool'])", "tool_2999")
        .await;
}

#[tokio::test]
async fn gather_runs_side_by_side() {
    let code = "import asyncio, time\nbegun = time.monotonic()\n\
                r = await asyncio.gather(*[mcp_stub.slow(seconds=0.5) for _ in range(10)])\n\
                print(len(r), time.monotonic() - begun < 3)";
    check(code, "10 True").await;
}

#[tokio::test]
async fn servers_change_from_call_to_call() {
    let mut client = BridgeClient::with_stub().await;
    client
        .check("kept = mcp_stub\nprint(await kept.echo(message='1'))", "1")
        .await;
    let answer = client
        .run_with(
            &["other"],
            "print(await mcp_other.echo(message='2'), await runtime.list_servers())",
        )
        .await;
    assert_eq!(answer.text(), "2 ('other',)");
    for gone in ["await kept.echo(message='3')", "await mcp_stub.echo(message='3')"] {
        let answer = client.run_with(&["other"], gone).await;
        assert!(
            answer.text().contains("Server 'stub' is not available"),
            "{gone}: {answer:?}"
        );
    }
    let both = "print(await kept.echo(message='4'), await mcp_other.echo(message='5'))";
    let answer = client.run_with(&["other", "stub", "stub"], both).await;
    assert_eq!(
        (answer.text(), &answer.fields()["servers"]),
        ("4 5", &json!(["other", "stub"])),
        "{answer:?}"
    );
}

#[tokio::test]
async fn two_calls_at_once_do_not_mix() {
    let mut client = BridgeClient::with_stub().await;
    let program = |mark: &str| {
        let code = format!(
            "import asyncio\nfor number in range(50):\n    print('{mark}', number)\n    \
             await mcp_stub.echo(message='{mark}')\nprint(len(LOADED_MCP_SERVERS))"
        );
        json!({"code": code, "servers": ["stub"]})
    };
    let first = client.start(program("a")).await;
    let second = client.start(program("b")).await;
    for (id, mark) in [(second, "b"), (first, "a")] {
        let expected: Vec<String> = (0..50)
            .map(|number| format!("{mark} {number}"))
            .chain(["1".to_owned()])
            .collect();
        assert_eq!(client.answered(&id).await.text(), expected.join("\n"));
    }
}

#[tokio::test]
async fn policies_hold_here_too() {
    let codeyard = installation().settings("[policy]\ndeny = [\"stub.send\"]");
    let mut client = BridgeClient::of(codeyard).await;
    client
        .check_error("await mcp_stub.send(to='x')", &["stub.send"])
        .await;
    client
        .check(
            "print('send' in [tool['name'] for tool in runtime.list_tools_sync('stub')])",
            "False",
        )
        .await;
}

#[tokio::test]
async fn rules_of_a_definition_hold_as_soon_as_they_are_written() {
    let with = |rules: serde_json::Value| [("stub", ServerDefinition::stub().field("deny", rules))];
    let codeyard = Codeyard::new()
        .unwrap()
        .definition("all.json", &with(json!(["send"])))
        .unwrap();
    let mut client = BridgeClient::of(codeyard).await;
    let send = "await mcp_stub.send(to='x')";
    client
        .check_error(send, &["(deny rule 'send' of ", "all.json"])
        .await;
    client
        .check(
            "names = [tool['name'] for tool in runtime.list_tools_sync('stub')]\nprint('send' in names, 'add' in names)",
            "False True",
        )
        .await;
    client.codeyard = client
        .codeyard
        .definition("all.json", &with(json!(["add"])))
        .unwrap();
    client.check(&format!("print({send} != None)"), "True").await;
    client
        .check_error("await mcp_stub.add(a=1, b=2)", &["(deny rule 'add' of "])
        .await;
}

#[tokio::test]
async fn a_call_without_await_fails_and_says_so() {
    let mut client = BridgeClient::with_stub().await;
    client
        .check_error(
            "mcp_stub.echo(message='x')\nprint('done')",
            &["mcp_stub.echo(...) on line 1 was never awaited"],
        )
        .await;
}

#[tokio::test]
async fn keys_of_the_raw_result_go_before_those_of_the_value() {
    let codeyard = Codeyard::new().unwrap();
    let mut servers = test_support::real_servers(codeyard.directory()).unwrap();
    servers.retain(|name, _| name == "filesystem");
    let data = codeyard.directory().join("upstreams");
    std::fs::write(data.join("note.txt"), "a note").unwrap();
    let codeyard = codeyard
        .home_file("MCPs/real.json", &json!({"mcpServers": servers}).to_string())
        .unwrap();
    let mut client = BridgeClient::of(codeyard).await;
    let code = format!(
        "r = await mcp_filesystem.read_text_file(path={:?})\nprint(r['content'][0]['text'], r.content)",
        data.join("note.txt")
    );
    let answer = client.run_with(&["filesystem"], &code).await;
    assert_eq!(answer.text(), "a note a note", "{answer:?}");
}
