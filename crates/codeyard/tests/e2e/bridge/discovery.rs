//! Finding servers and tools from a program, before and after they are loaded.

use test_support::{BridgeClient, Codeyard, ServerDefinition};

use crate::bridge::{check, installation};

#[tokio::test]
async fn c301_access_patterns() {
    for (call, message) in [
        ("mcp_stub.echo(message='a')", "a"),
        ("mcp_servers['stub'].echo(message='b')", "b"),
        ("mcp.runtime.call_tool('stub','echo',{'message':'d'})", "d"),
        ("runtime.call_tool('stub','echo',{'message':'e'})", "e"),
    ] {
        check(
            &format!("r = await {call}\nprint(r['content'][0]['text'], r)"),
            &format!("{message} {message}"),
        )
        .await;
    }
    check(
        "from mcp.servers.stub import *\nr = await echo(message='c')\nprint(r['content'][0]['text'])",
        "c",
    )
    .await;
}

#[tokio::test]
async fn c302_the_advertised_names_exist() {
    let known = "('other', 'stub')";
    let mut client = BridgeClient::with_stub().await;
    for program in [
        "print(runtime.discovered_servers())",
        "from mcp import runtime\nprint(runtime.discovered_servers())",
        "import mcp.runtime as runtime\nprint(runtime.discovered_servers())",
        "print(mcp.runtime.discovered_servers())",
    ] {
        assert_eq!(client.run(program).await.text(), known, "{program}");
    }
    let code = "print(callable(save_tool), list(mcp_servers), LOADED_MCP_SERVERS)";
    client.check(code, "True ['stub'] ('stub',)").await;
}

#[tokio::test]
async fn c303_discovered_servers_in_detail() {
    let mut client = BridgeClient::with_stub().await;
    let code =
        "print({'name': 'stub', 'description': 'Stub server'} in runtime.discovered_servers(detailed=True))";
    assert_eq!(client.run(code).await.text(), "True");
    let servers = test_support::descendants(client.mcp.pid().unwrap());
    let started: Vec<_> = servers
        .iter()
        .filter(|process| process.command.contains("stub-server"))
        .collect();
    assert!(started.is_empty(), "{started:?}");
}

#[tokio::test]
async fn c304_everything_about_a_server() {
    let code = include_str!("discovery/describe_servers.py");
    let text = "('stub',) ('stub',)\n[('stub', 'stub', True)]\n\
                ['alias', 'cwd', 'description', 'name', 'tools'] ['alias', 'description', 'input_schema', 'name']\nlist_things\nTrue\nTrue\n\
                list_tools_sync(server) requires a server name";
    check(code, text).await;
}

#[tokio::test]
async fn c305_docs() {
    let code = "docs = await runtime.query_tool_docs('stub')\n\
                print(isinstance(docs, list), all('inputSchema' not in doc for doc in docs), sorted(docs[0]))\n\
                one = await runtime.query_tool_docs('stub', tool='echo', detail='full')\n\
                print(one['tool'], 'message' in one['inputSchema']['properties'])\n\
                print(await runtime.query_tool_docs('stub', detail='weird') == docs, runtime.query_tool_docs_sync('stub') == docs)\n\
                for server, tool in [('stub', 'nope'), ('other', None), ('stub', 5)]:\n    \
                try: await runtime.query_tool_docs(server, tool=tool)\n    \
                except mcp.runtime.MCPError as e: print(str(e).partition(' (')[0])";
    let text = "True True ['description', 'server', 'serverAlias', 'tool', 'toolAlias']\necho True\nTrue True\n\
                Tool 'nope' not found for server stub\nServer 'other' is not available\n'tool' must be a string when provided";
    check(code, text).await;
}

#[tokio::test]
async fn c306_search() {
    let servers = [
        ("stub", ServerDefinition::stub()),
        ("big", ServerDefinition::replay("playwright")),
    ];
    let codeyard = Codeyard::new().unwrap().definition("all.json", &servers).unwrap();
    let mut client = BridgeClient::of(codeyard).await;
    let code = "names = lambda hits: [hit['tool'] for hit in hits]\n\
                print('echo' in names(await runtime.search_tool_docs('echo stub')), 'echo' in names(await runtime.search_tool_docs('ECHO')))\n\
                print(len(await runtime.search_tool_docs('browser', limit=0)), len(await runtime.search_tool_docs('browser', limit=100)))\n\
                print(names(await runtime.search_tool_docs('browser')) == names(runtime.search_tool_docs_sync('browser')))\n\
                print(runtime.search_tool_docs_sync(''), 'inputSchema' in runtime.search_tool_docs_sync('echo', detail='full')[0])\n\
                for query, limit in [('', 5), (' ', 5), ('echo', 'x')]:\n    \
                try: await runtime.search_tool_docs(query, limit=limit)\n    \
                except mcp.runtime.MCPError as e: print(e)";
    let answer = client.run_with(&["stub", "big"], code).await;
    let text = "True True\n1 20\nTrue\n[] True\nMissing 'query' value\nMissing 'query' value\n'limit' must be an integer";
    assert_eq!(answer.text(), text, "{answer:?}");
    // The search covers loaded servers only.
    let answer = client
        .run_with(&["stub"], "print(len(await runtime.search_tool_docs('browser')))")
        .await;
    assert_eq!(answer.text(), "0", "{answer:?}");
}

#[tokio::test]
async fn c308_capability_summary() {
    let mut client = BridgeClient::with_stub().await;
    let answer = client.run("print(runtime.capability_summary())").await;
    let text = answer.text();
    assert!(text.len() < 2_000, "{} bytes", text.len());
    for said in ["PYTHON SANDBOX MANUAL", "discovered_servers", "mcp_", "save_tool"] {
        assert!(text.contains(said), "no {said:?} in {text}");
    }
}

#[tokio::test]
async fn c309_unloaded_and_unknown() {
    let mut client = BridgeClient::with_stub().await;
    for call in [
        "await runtime.call_tool('stub','echo',{'message':'x'})",
        "await mcp_stub.echo(message='x')",
        "from mcp.servers.stub import echo\nawait echo(message='x')",
        "await runtime.list_tools('stub')",
    ] {
        let answer = client.run(call).await;
        assert!(
            answer.is_error() && answer.text().contains("Server 'stub' is not available"),
            "{call}: {answer:?}"
        );
    }
    let answer = client.run("runtime.describe_server('stub')").await;
    assert!(
        answer.is_error() && answer.text().contains("Server 'stub' is not loaded"),
        "{answer:?}"
    );
    let answer = client.run_with(&["nope"], "print(1)").await;
    assert!(
        answer.is_error() && answer.text().contains("Unknown MCP server: nope"),
        "{answer:?}"
    );
    client.check_healthy().await;
}

#[tokio::test]
async fn a_missing_tool_is_named() {
    let mut client = BridgeClient::with_stub().await;
    client
        .check_error("await mcp_stub.ecko(message='x')", &["ecko", "echo"])
        .await;
}

#[tokio::test]
async fn proxies_describe_themselves() {
    let code = "named = lambda tools: 'list-things' in [tool['name'] for tool in tools]\n\
                print(named(mcp_stub.list_tools()), named(mcp_stub.TOOLS), mcp_stub.TOOL_MAP['list_things']['name'])\n\
                print('message' in mcp_stub.echo.__doc__, mcp_stub.__doc__)";
    check(code, "True True list-things\nTrue Stub server").await;
}

#[tokio::test]
async fn aliases() {
    let stub = ServerDefinition::stub;
    let servers = [
        ("My Server", stub()),
        ("my-server", stub()),
        ("2fast", stub()),
        ("class", stub()),
    ];
    let codeyard = installation().definition("names.json", &servers).unwrap();
    let mut client = BridgeClient::of(codeyard).await;
    let names: Vec<&str> = servers.iter().map(|(name, _)| *name).collect();
    let code = "print([(m['name'], m['alias']) for m in runtime.list_loaded_server_metadata()])\n\
                print(await mcp__2fast.echo(message='a'), await mcp_class.echo(message='b'), await mcp_my_server_2.echo(message='c'))";
    let answer = client.run_with(&names, code).await;
    let named = "[('2fast', '_2fast'), ('My Server', 'my_server'), ('class', 'class_'), ('my-server', 'my_server_2')]";
    assert_eq!(answer.text(), format!("{named}\na b c"), "{answer:?}");
}
