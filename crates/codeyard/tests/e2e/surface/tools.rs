//! Every way to reach a tool from a program, and its result.

use serde_json::json;
use test_support::{CodeClient, Codeyard, ServerDefinition};

#[tokio::test]
async fn every_form_of_access_reaches_the_same_tool() {
    let mut client = CodeClient::with_stub().await;
    for (code, stdout) in [
        ("print((await tools.stub.add(a=1, b=1))['sum'])", "2\n"),
        ("print((await tools.stub.add({'a': 1, 'b': 2})).sum)", "3\n"),
        ("print((await tools['stub']['add'](a=2, b=2)).sum)", "4\n"),
        ("print((await mcp_stub.add(a=2, b=3))['sum'])", "5\n"),
        ("print((await mcp_servers['stub'].add(a=3, b=3))['sum'])", "6\n"),
        (
            "from mcp.servers.stub import *\nprint((await add(a=3, b=4))['sum'])",
            "7\n",
        ),
        (
            "from tools.stub.add import add\nprint((await add(a=4, b=4))['sum'])",
            "8\n",
        ),
        (
            "import tools.stub\nprint((await tools.stub.add(a=4, b=5))['sum'])",
            "9\n",
        ),
        (
            "print((await __toolcall__('stub', 'add', {'a': 5, 'b': 5}))['sum'])",
            "10\n",
        ),
        (
            "print((await __toolcall__('add', {'a': 5, 'b': 6}))['sum'])",
            "11\n",
        ),
        (
            "from servers.stub import add\nprint(add(a=6, b=6)['sum'])",
            "12\n",
        ),
        (
            "from mcp import runtime\nprint((await runtime.call_tool('stub', 'add', {'a': 6, 'b': 7}))['sum'])",
            "13\n",
        ),
        (
            "print(await tools.stub.list_things())",
            "{'things': ['lamp', 'table', 'chair']}\n",
        ),
        (
            "print((await tools.stub['list-things']())['things'][0])",
            "lamp\n",
        ),
    ] {
        client.check(code, stdout).await;
    }
}

#[tokio::test]
async fn results_are_native_values_with_access_to_the_raw_result() {
    let mut client = CodeClient::with_stub().await;
    let code = "r = await tools.stub.echo(message='hello')\nprint(type(r) is str or isinstance(r, str), r.upper(), r.raw['content'])\n\
                s = await tools.stub.add(a=1.5, b=1)\nprint(s, s.sum, dict(s), s.raw['structuredContent'])\n\
                print(runtime.last_raw()['structuredContent'])\n\
                l = (await tools.stub.list_things()).things\nprint(len(l), l[-1], sorted(l))";
    client
        .check(
            code,
            "True HELLO [{'type': 'text', 'text': 'hello'}]\n{'sum': 2.5} 2.5 {'sum': 2.5} {'sum': 2.5}\n\
             {'sum': 2.5}\n3 chair ['chair', 'lamp', 'table']\n",
        )
        .await;
    let code = "r = await mcp_stub.echo(message='hello')\nprint(r['content'][0]['text'], r['isError'], r == 'hello')\n\
                s = await mcp_stub.add(a=1, b=1)\nprint(s['structuredContent'], s['sum'])";
    client.check(code, "hello False True\n{'sum': 2} 2\n").await;
}

#[tokio::test]
async fn json_in_a_text_becomes_a_value_and_unknown_fields_survive() {
    let codeyard = Codeyard::new()
        .unwrap()
        .server("stub", &ServerDefinition::stub_with_extras())
        .server("odd", &ServerDefinition::hostile("unknown-content"));
    let mut client = CodeClient::of(codeyard).await;
    let code = "raw = {'content': [{'type': 'text', 'text': '{\"rows\": [1, 2]}'}], 'vendor': {'a': None}, '_meta': {'t': 1}}\n\
                r = await tools.stub.raw(result=raw)\nprint(r.rows, r.raw == raw)\n\
                image = {'content': [{'type': 'image', 'data': 'AAAA', 'mimeType': 'image/png'}]}\n\
                print((await tools.stub.raw(result=image)).raw == image)\n\
                odd = await tools.odd.echo(message='x')\nprint(runtime.last_raw()['content'][0]['beams'][2], runtime.last_raw()['vendor'])";
    client
        .check(
            code,
            "[1, 2] True\nTrue\n12345678901234567890 {'z': 1, 'a': None}\n",
        )
        .await;
}

#[tokio::test]
async fn stubs_are_files_that_can_be_read() {
    let codeyard = Codeyard::with_stub()
        .unwrap()
        .server("My Server/2", &ServerDefinition::replay("time"));
    let mut client = CodeClient::of(codeyard).await;
    let ran = client
        .run("import os\nreturn [sorted(os.listdir('/tools')), sorted(os.listdir('/tools/stub'))]")
        .await;
    let files = [
        ".search_index",
        "_catalog.json",
        "_runtime.py",
        "_runtime.ts",
        "_schema.json",
        "my_server_2",
        "stub",
    ];
    assert_eq!(ran.result()[0], json!(files), "{ran:?}");
    let tools = [
        "add",
        "big",
        "contact",
        "crash",
        "cwd",
        "echo",
        "fail",
        "list_things",
        "pid",
        "send",
        "slow",
    ];
    let mut files: Vec<String> = ["__init__.py", "_meta.json", "index.d.ts"]
        .map(str::to_owned)
        .into();
    files.extend(
        tools
            .iter()
            .flat_map(|tool| [format!("{tool}.py"), format!("{tool}.ts")]),
    );
    files.sort();
    assert_eq!(ran.result()[1], json!(files));
    let code = "import ast, glob\nfor name in glob.glob('/tools/**/*.py', recursive=True): ast.parse(open(name).read())\n\
                print('def add(' in open('/tools/stub/add.py').read())\nopen('/tools/stub/new.py', 'w')";
    let ran = client.run(code).await;
    assert_eq!(ran.stdout(), "True\n", "{ran:?}");
    let code = "import subprocess\nprint(subprocess.run(['grep', '-rl', 'Adds two', '/tools'], capture_output=True, text=True).stdout)";
    assert!(client.run(code).await.stdout().contains("/tools/stub/add.py"));
}

#[tokio::test]
async fn runtime_finds_servers_and_tools() {
    let mut client = CodeClient::of(Codeyard::with_stub().unwrap().server(
        "clock",
        &ServerDefinition::replay("time").description("Tells the time"),
    ))
    .await;
    for (code, stdout) in [
        ("print(runtime.list_servers_sync())", "('clock', 'stub')\n"),
        ("print(await runtime.list_servers())", "('clock', 'stub')\n"),
        ("print(runtime.discovered_servers())", "('stub', 'clock')\n"),
        (
            "print([t['name'] for t in runtime.list_tools_sync('stub')][:3])",
            "['echo', 'add', 'slow']\n",
        ),
        (
            "print((await runtime.list_tools('clock'))[0]['name'])",
            "get_current_time\n",
        ),
        (
            "print([hit['tool'] for hit in runtime.search('add two numbers', limit=1)])",
            "['add']\n",
        ),
        (
            "print((await runtime.search_tool_docs('convert time zones'))[0]['server'])",
            "clock\n",
        ),
        (
            "print(runtime.query_tool_docs_sync('stub', 'add', detail='full')['inputSchema']['required'])",
            "['a', 'b']\n",
        ),
        (
            "print(runtime.describe_server('clock')['description'])",
            "Tells the time\n",
        ),
        (
            "print(dir(tools), 'add' in dir(tools.stub))",
            "['clock', 'stub'] True\n",
        ),
        (
            "print(tools.stub.add.__doc__.splitlines()[-1])",
            "Adds two numbers.\n",
        ),
        (
            "print('runtime.search' in runtime.capability_summary())",
            "True\n",
        ),
    ] {
        client.check(code, stdout).await;
    }
    let ran = client.run("print(runtime.manual())").await;
    for needed in [
        "await tools.",
        "/results",
        "asyncio.gather",
        "ToolError",
        "session",
        "timeout_ms",
        "search",
    ] {
        assert!(
            ran.stdout().contains(needed),
            "the manual lacks {needed}: {}",
            ran.stdout()
        );
    }
}

#[tokio::test]
async fn gathered_calls_run_in_parallel() {
    let mut client = CodeClient::with_stub().await;
    let code = "import asyncio, time\nstart = time.monotonic()\n\
                done = await asyncio.gather(*(tools.stub.slow(seconds=0.25) for _ in range(100)))\n\
                return [len(done), set(done) == {'done'}, time.monotonic() - start]";
    let ran = client.run(code).await;
    assert_eq!(
        (&ran.result()[0], &ran.result()[1]),
        (&json!(100), &json!(true)),
        "{ran:?}"
    );
    // In sequence they take 25 s; 32 at once take 1 s and the delay of a busy machine.
    let seconds = ran.result()[2].as_f64().unwrap();
    assert!(seconds < 5.0, "{seconds} s");
    let order = "return await asyncio.gather(*(tools.stub.echo(message=f'm{n}') for n in range(6)))";
    assert_eq!(
        client.run(order).await.result(),
        &json!(["m0", "m1", "m2", "m3", "m4", "m5"])
    );
    // Calls from threads run in parallel, too.
    let code = "from concurrent.futures import ThreadPoolExecutor\nfrom servers.stub import slow\nstart = time.monotonic()\n\
                with ThreadPoolExecutor(8) as pool: list(pool.map(lambda _: slow(seconds=0.25), range(24)))\n\
                return time.monotonic() - start";
    let ran = client.run(code).await;
    assert!(
        ran.result().as_f64().is_some_and(|seconds| seconds < 3.0),
        "{ran:?}"
    );
}

#[tokio::test]
async fn concurrent_calls_are_limited_by_the_settings() {
    let codeyard = Codeyard::with_stub()
        .unwrap()
        .settings("[limits]\nconcurrent_host_calls = 2\nhost_calls = 10");
    let mut client = CodeClient::of(codeyard).await;
    let code = "import asyncio, time\nstart = time.monotonic()\n\
                await asyncio.gather(*(tools.stub.slow(seconds=0.2) for _ in range(6)))\nreturn time.monotonic() - start";
    let ran = client.run(code).await;
    assert!(ran.result().as_f64().unwrap() >= 0.6, "{ran:?}");
    let ran = client
        .run("for n in range(20): await tools.stub.echo(message=str(n)); print(n)")
        .await;
    assert_eq!(ran.status(), "limit_exceeded", "{ran:?}");
    assert_eq!(ran.fields()["limit"], "host_calls", "{ran:?}");
    assert!(ran.stdout().ends_with("9\n"), "{ran:?}");
}
