//! Resources and prompts of servers, from programs.

use test_support::{CodeClient, Codeyard, Era, ServerDefinition, peak_memory};

fn two() -> Codeyard {
    let stub = |name, era| {
        ServerDefinition::stub_with_extras()
            .era(era)
            .env("STUB_NAME", name)
    };
    Codeyard::new()
        .unwrap()
        .server("one", &stub("one", Era::Legacy))
        .server("two", &stub("two", Era::Modern))
}

#[tokio::test]
async fn resources_are_listed_and_read_in_both_forms() {
    let mut client = CodeClient::of(two()).await;
    for (code, stdout) in [
        (
            "from mcp import resources\nprint([(r.server, r.uri) for r in await resources.list()])",
            "[('one', 'one://note'), ('one', 'shared://same'), ('two', 'two://note'), ('two', 'shared://same')]\n",
        ),
        (
            "print([r['uri'] for r in mcp.resources.list_sync('two')], mcp.resources.list_sync('two')[0].vendor)",
            "['two://note', 'shared://same'] {'z': 1}\n",
        ),
        (
            "print([t.uriTemplate for t in (await mcp.resources.list()).templates])",
            "['one://page/{number}', 'two://page/{number}']\n",
        ),
        (
            "print(await mcp.resources.read('two://note'))",
            "two has two://note\n",
        ),
        (
            "print(mcp.resources.read_sync('one://page/3').upper())",
            "ONE HAS ONE://PAGE/3\n",
        ),
        (
            "r = mcp.resources.read_sync('one://x', server='one')\nprint(r.raw['contents'][0]['extra'])",
            "[1.5]\n",
        ),
    ] {
        client.check(code, stdout).await;
    }
}

#[tokio::test]
async fn prompts_are_listed_and_filled_in() {
    let mut client = CodeClient::of(two()).await;
    for (code, stdout) in [
        (
            "from mcp import prompts\nprint([(p.server, p.name) for p in prompts.list_sync()])",
            "[('one', 'greet'), ('two', 'greet')]\n",
        ),
        (
            "p = await mcp.prompts.get('two', 'greet', {'who': 'Ann'})\nprint(p.messages[0]['content']['text'])",
            "two greets Ann\n",
        ),
        (
            "import mcp.prompts\nprint(mcp.prompts.get_sync('one', 'greet')['messages'][0]['role'])",
            "user\n",
        ),
        (
            "print(await prompts.complete('two', 'greet', 'who', 'A', {'tone': 'kind'}))",
            "['greet', 'two']\n",
        ),
        (
            "print(mcp.resources.complete_sync('one://page/{number}', 'number'))",
            "['one://page/{number}', 'one']\n",
        ),
    ] {
        client.check(code, stdout).await;
    }
}

#[tokio::test]
async fn mistakes_are_reported() {
    let mut client = CodeClient::of(two().settings("[policy]\ndeny = [\"two.prompts/get\"]\n")).await;
    for (call, kind, words) in [
        (
            "mcp.resources.read_sync('no://where')",
            "invalid_arguments",
            "name its server",
        ),
        (
            "mcp.resources.read_sync('no://where', 'one')",
            "upstream",
            "no such resource",
        ),
        (
            "mcp.resources.read_sync(5)",
            "invalid_arguments",
            "'uri' must be a string, not int",
        ),
        (
            "mcp.resources.read_sync(None)",
            "invalid_arguments",
            "'uri' is missing",
        ),
        ("mcp.resources.list_sync('nobody')", "unknown_tool", "nobody"),
        (
            "mcp.prompts.get_sync('one', None)",
            "invalid_arguments",
            "'name' is missing",
        ),
        (
            "mcp.prompts.get_sync('two', 'greet')",
            "denied",
            "denied by policy",
        ),
    ] {
        let code =
            format!("try:\n    {call}\nexcept ToolError as e:\n    print(e.kind, {words:?} in str(e), e)");
        let ran = client.run(&code).await;
        assert!(
            ran.stdout().starts_with(&format!("{kind} True")),
            "{call}: {ran:?}"
        );
    }
}

#[tokio::test]
async fn an_endless_list_is_refused_and_the_others_stay() {
    let codeyard = two().server("endless", &ServerDefinition::hostile("endless-pages"));
    let mut client = CodeClient::of(codeyard).await;
    let ran = client.run("return mcp.resources.list_sync('endless')").await;
    let expected = "server 'endless' answers resources/list with more than 100 pages or 32 MiB";
    assert!(ran.error().contains(expected), "{}", ran.shown());
    client
        .check(
            "print([r.uri for r in mcp.resources.list_sync()])",
            "['one://note', 'shared://same', 'two://note', 'shared://same']\n",
        )
        .await;
    let kib = peak_memory(client.mcp.pid().unwrap()).unwrap();
    assert!(kib < 256 * 1024, "{kib} KiB");
}
