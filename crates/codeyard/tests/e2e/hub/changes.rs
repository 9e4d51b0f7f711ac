//! Servers that change their tools, clash in names, or die: the effect on programs' search and calls.

use serde_json::json;
use test_support::{CodeClient, Codeyard, Era, ServerDefinition};

use crate::hub::completed;

/// Waits in the program until the list of `stub` has this many added tools.
const UNTIL_GROWN: &str = "import time\n\
    def grown():\n    return sorted(t['name'] for t in runtime.list_tools_sync('stub') if t['name'].startswith('grown_'))\n\
    def until(names):\n    end = time.monotonic() + 30\n    while grown() != names:\n        \
    assert time.monotonic() < end, grown()\n        time.sleep(0.02)\n";

#[tokio::test]
async fn tools_are_found_and_called_only_while_listed() {
    for era in [Era::Legacy, Era::Modern] {
        let definition = ServerDefinition::stub_with_extras().era(era);
        let codeyard = Codeyard::new().unwrap().server("stub", &definition);
        let mut client = CodeClient::of(codeyard).await;
        client.check(UNTIL_GROWN, "").await;
        let code = "until([])\nfor _ in range(2): await tools.stub.grow()\nuntil(['grown_1', 'grown_2'])\n\
                    print(await tools.stub.grown_1(), await tools.stub.grown_2(), sep=',')";
        client.check(code, "grown_1,grown_2\n").await;
        let query = json!({"query": "grown 2", "limit": 1});
        let found = client.search(query.clone()).await;
        assert_eq!(
            found["structuredContent"]["tools"][0]["tool"], "grown_2",
            "{found}"
        );
        // Another session sees the tool too, and its removal.
        let code = "print(await tools.stub.grown_2())";
        assert_eq!(client.run_in("other", code).await.stdout(), "grown_2\n");
        client
            .check("await tools.stub.shrink()\nuntil(['grown_1'])", "")
            .await;
        for session in ["default", "other"] {
            let ran = client.run_in(session, "await tools.stub.grown_2()").await;
            let error = "tools.stub.grown_2 does not exist";
            assert!(ran.error().contains(error), "{era:?} {session}: {}", ran.error());
        }
        let found = client.search(query).await;
        assert_eq!(
            found["structuredContent"]["tools"][0]["tool"], "grown_1",
            "{found}"
        );
        client
            .check("print(await tools.stub.grown_1())", "grown_1\n")
            .await;
    }
}

#[tokio::test]
async fn a_list_is_requested_again_after_its_time_to_live() {
    let definition = ServerDefinition::stub_with_extras()
        .era(Era::Modern)
        .env("STUB_TTL", "1000");
    let codeyard = Codeyard::new().unwrap().server("stub", &definition);
    let mut client = CodeClient::of(codeyard).await;
    client.check(UNTIL_GROWN, "").await;
    // The server announces no change.
    let code = "await tools.stub.grow()\nuntil(['grown_1'])\nprint(await tools.stub.grown_1())";
    client.check(code, "grown_1\n").await;
}

#[tokio::test]
async fn clashing_names_are_numbered_and_all_reachable() {
    let mut codeyard = Codeyard::new().unwrap();
    for name in ["my-stub", "my_stub", "My Stub", "my.stub"] {
        codeyard = codeyard.server(name, &ServerDefinition::stub());
    }
    codeyard = codeyard.server("clashing", &ServerDefinition::hostile("wordy"));
    let mut client = CodeClient::of(codeyard).await;
    // A name equal to its alias stays; the others are numbered in order.
    let code = "by_alias = [(await getattr(tools, alias).pid()).pid for alias in ('my_stub', 'my_stub_2', 'my_stub_3', 'my_stub_4')]\n\
                servers = ['my_stub'] + [s for s in runtime.discovered_servers() if s not in ('my_stub', 'clashing')]\n\
                by_name = [(await tools[name].pid()).pid for name in servers]\n\
                return [len(set(by_alias)), by_alias == by_name]";
    let ran = client.run(code).await;
    assert_eq!(completed(&ran), &json!([4, true]));
    let code = "return [await tools.clashing.do_it(), await tools.clashing.do_it_2(), await tools.clashing.do_it_3(),\n\
                await runtime.call_tool('clashing', 'do it', {}), await runtime.call_tool('clashing', 'do-it', {})]";
    let ran = client.run(code).await;
    assert_eq!(
        completed(&ran),
        &json!(["do_it", "do-it", "do it", "do it", "do-it"])
    );
    let found = client.search(json!({"query": "pid", "limit": 10})).await;
    let signatures: Vec<&str> = found["structuredContent"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|hit| hit["signature"].as_str()?.split_once('('))
        .map(|(call, _)| call)
        .collect();
    for call in [
        "tools.my_stub.pid",
        "tools.my_stub_2.pid",
        "tools.my_stub_3.pid",
        "tools.my_stub_4.pid",
    ] {
        assert!(signatures.contains(&call), "{call}: {signatures:?}");
    }
}

#[tokio::test]
async fn a_dead_server_is_restarted_while_the_others_continue() {
    let codeyard = Codeyard::new()
        .unwrap()
        .server("frail", &ServerDefinition::stub())
        .server("sturdy", &ServerDefinition::stub().era(Era::Modern));
    let mut client = CodeClient::of(codeyard).await;
    let code = "import asyncio\n\
                before = [(await tools[s].pid()).pid for s in ('frail', 'sturdy')]\n\
                long = asyncio.ensure_future(tools.sturdy.slow(seconds=1))\n\
                crashed = await asyncio.gather(tools.frail.crash(), return_exceptions=True)\n\
                answers = [await tools.sturdy.echo(message=f'm{n}') for n in range(5)]\n\
                after = [(await tools[s].pid()).pid for s in ('frail', 'sturdy')]\n\
                return ['frail' in str(crashed[0]), answers, before[0] != after[0], before[1] == after[1], await long]";
    let ran = client.run(code).await;
    let expected = json!([true, ["m0", "m1", "m2", "m3", "m4"], true, true, "done"]);
    assert_eq!(completed(&ran), &expected);
}

#[tokio::test]
async fn a_session_survives_the_deletion_of_tool_files() {
    let definition = ServerDefinition::stub_with_extras();
    let codeyard = Codeyard::new().unwrap().server("stub", &definition);
    let mut client = CodeClient::of(codeyard).await;
    let look = "import os\nprint('grown_1.py' in os.listdir('/tools/stub'))";
    client.check(look, "False\n").await;
    assert_eq!(client.run_in("other", UNTIL_GROWN).await.error(), "");
    // As after many changes, which make codeyard sweep the tree.
    let trees = client.codeyard.data_directory().join("trees");
    for tree in std::fs::read_dir(trees).unwrap() {
        let writable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        let tree = tree.unwrap().path();
        for directory in [tree.clone(), tree.join("tools"), tree.join("tools/stub")] {
            std::fs::set_permissions(directory, Clone::clone(&writable)).unwrap();
        }
        std::fs::set_permissions(tree.join("skills"), writable).unwrap();
        std::fs::remove_dir_all(tree).unwrap();
    }
    let grow = "await tools.stub.grow()\nuntil(['grown_1'])";
    assert_eq!(client.run_in("other", grow).await.error(), "");
    client.check(look, "True\n").await;
}
