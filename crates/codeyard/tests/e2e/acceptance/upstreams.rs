//! Tools of upstream servers in programs.

use serde_json::json;
use test_support::{CodeClient, Codeyard, ServerDefinition};

use crate::acceptance::{check, fails, within};

#[tokio::test]
async fn c053_stub_import() {
    let mut client = CodeClient::with_stub().await;
    let ran = client
        .run("import os\nreturn sorted(os.listdir('/tools/stub'))")
        .await;
    assert!(
        ran.result().as_array().unwrap().contains(&json!("add.py")),
        "{ran:?}"
    );
    let code = "from tools.stub.add import add\nprint((await add({'a':1,'b':1}))['sum'])";
    client.check(code, "2\n").await;
    let code = "from tools._runtime import toolcall\nprint((await toolcall('stub', 'add', {'a': 1, 'b': 1}))['sum'])";
    client.check(code, "2\n").await;
}

#[tokio::test]
async fn c054_hyphenated_names() {
    let codeyard = Codeyard::new()
        .unwrap()
        .server("my-stub", &ServerDefinition::stub());
    let mut client = CodeClient::of(codeyard).await;
    // The import takes the names from the listing alone.
    let code = "import importlib, os\nserver, = [name for name in os.listdir('/tools') if 'my' in name]\n\
                tool, = [name[:-3] for name in os.listdir(f'/tools/{server}') if name.startswith('list') and name.endswith('.py')]\n\
                function = getattr(importlib.import_module(f'tools.{server}.{tool}'), tool)\n\
                print(server, tool, (await function())['things'])";
    client
        .check(code, "my_stub list_things ['lamp', 'table', 'chair']\n")
        .await;
}

#[tokio::test]
async fn c058_no_recursion() {
    for own in ["shell_exec", "execute_code", "search_tools", "run_python"] {
        let ran = fails(&format!("await __toolcall__('{own}',{{'code':'print(1)'}})")).await;
        assert!(
            ran.error()
                .contains(&format!("Nested invocation of meta-tool '{own}' is not allowed")),
            "{}",
            ran.error()
        );
        assert_eq!(ran.stdout(), "", "nothing was run");
    }
}

#[tokio::test]
async fn c059_a_failing_tool_is_catchable() {
    let code = "try:\n    await tools.stub.fail({'message':'nope'})\nexcept Exception as e:\n    print('caught', 'nope' in str(e))";
    check(code, "caught True\n").await;
}

#[tokio::test]
async fn c311_warm_clients() {
    let mut client = CodeClient::with_stub().await;
    let first = client.run("return await mcp_stub.pid()").await;
    let second = client.run_in("other", "return await mcp_stub.pid()").await;
    assert!(first.result()["pid"].is_u64(), "{first:?}");
    assert_eq!(first.result(), second.result());
}

#[tokio::test]
async fn c312_upstream_crash() {
    let mut client = CodeClient::with_stub().await;
    let ran = within(5.0, client.run("await mcp_stub.crash()")).await;
    assert!(ran.is_error());
    for part in [
        "server 'stub' ended during the call of 'crash'",
        "SIGABRT",
        "stub: crash was called",
    ] {
        assert!(ran.error().contains(part), "{part}: {}", ran.error());
    }
    client.check_healthy().await;
    client
        .check("print(await mcp_stub.echo(message='x'))", "x\n")
        .await;
}

#[tokio::test]
async fn c316_large_tool_result() {
    check(
        "r=await mcp_stub.big(bytes=5000000); print(len(r['content'][0]['text']))",
        "5000000\n",
    )
    .await;
}
