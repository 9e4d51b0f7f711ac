//! Saved tools and memories in later sessions, separate for each principal, and their commands.

use serde_json::json;
use test_support::{BridgeClient, Codeyard};

use crate::bridge::installation;

/// Ends the client's codeyard and restarts it.
async fn again(client: BridgeClient) -> BridgeClient {
    let BridgeClient { mcp, codeyard } = client;
    assert!(mcp.finish().await.unwrap().success());
    BridgeClient::of(codeyard).await
}

#[tokio::test]
async fn saved_tools_are_there_in_later_sessions() {
    let mut client = BridgeClient::with_stub().await;
    let code = "import statistics\ndef middle(values):\n    '''The median.'''\n    return statistics.median(values)\n\
                async def said(text): return (await mcp_stub.echo(message=text))\n\
                print(save_tool(middle))\nprint(runtime.save_tool(said))";
    let saved = |name: &str| format!("Tool '{name}' saved. It will be available in future sessions.");
    client
        .check(code, &format!("{}\n{}", saved("middle"), saved("said")))
        .await;
    let mut client = again(client).await;
    client
        .check(
            "print(middle([3, 1, 2]), await said('x'), middle.__doc__)",
            "2 x The median.",
        )
        .await;
    // A second save replaces the tool.
    client
        .check(
            "def middle(values): return 'new'\nprint(save_tool(middle))",
            &saved("middle"),
        )
        .await;
    let mut client = again(client).await;
    client.check("print(middle([]))", "new").await;
}

#[tokio::test]
async fn what_cannot_be_saved_says_why() {
    let mut client = BridgeClient::with_stub().await;
    for (what, reason) in [
        ("lambda x: x", "lambda"),
        ("type('K', (), {})", "class"),
        ("(lambda y: [f for f in [lambda: y]][0])(1)", "lambda"),
        ("len", "built"),
        ("5", "int"),
        ("closure()", "y"),
        ("renamed('../x')", "../x"),
        ("renamed('class')", "class"),
        ("renamed('a' * 300)", "300"),
        ("renamed('x\\0y')", "x"),
    ] {
        let code = format!(
            "def closure():\n    y = 1\n    def inner(): return y\n    return inner\n\
             def renamed(name):\n    def plain(): return 1\n    plain.__name__ = name\n    return plain\nsave_tool({what})"
        );
        client
            .check_error(&code, &["ValueError: save_tool expects a function", reason])
            .await;
    }
    let listed = client.codeyard.run(["saved", "--json"]).await.unwrap();
    let listed: serde_json::Value = serde_json::from_slice(&listed.stdout).unwrap();
    assert_eq!(listed["tools"], json!([]), "{listed}");
}

#[tokio::test]
async fn c322_memory() {
    let mut client = BridgeClient::with_stub().await;
    let code = "print(save_memory('a/b', {'n': [1, 2]}, metadata={'why': 'test'}))\nprint(save_memory('a_b', 'other'))\n\
                print(load_memory('a/b'), load_memory('a_b'), load_memory('none', default='d'))\n\
                print(update_memory('a/b', lambda old: {**old, 'more': True}) is not None, load_memory('a/b'))\n\
                print(memory_exists('a/b'), memory_exists('none'), get_memory_info('a/b')['metadata'])\n\
                print(sorted(entry['key'] for entry in list_memories()))\n\
                print(runtime.delete_memory('a_b'), delete_memory('a_b'))";
    let text = "Memory 'a/b' saved.\nMemory 'a_b' saved.\n{'n': [1, 2]} other d\nTrue {'n': [1, 2], 'more': True}\n\
                True False {'why': 'test'}\n['a/b', 'a_b']\nMemory 'a_b' deleted. Memory 'a_b' not found.";
    client.check(code, text).await;
    let mut client = again(client).await;
    client
        .check("print(load_memory('a/b'))", "{'n': [1, 2], 'more': True}")
        .await;
}

#[tokio::test]
async fn c322_keys_are_distinct_or_refused() {
    let mut client = BridgeClient::with_stub().await;
    let code = include_str!("saved/try_keys_and_values.py");
    let answer = client.run(code).await;
    let lines: Vec<&str> = answer.text().lines().collect();
    assert_eq!(
        (lines.len(), lines[0], lines.last()),
        (11, "True", Some(&"False")),
        "{answer:?}"
    );
    assert!(
        lines[1..10].iter().all(|line| line.ends_with(" True")),
        "{answer:?}"
    );
    assert!(!client.codeyard.directory().join("x").exists());
}

#[tokio::test]
async fn another_state_directory_is_another_memory() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let of =
        |state: &tempfile::TempDir| -> Codeyard { installation().env("MCP_BRIDGE_STATE_DIR", state.path()) };
    let mut client = BridgeClient::of(of(&one)).await;
    client
        .check("print(save_memory('k', 1))", "Memory 'k' saved.")
        .await;
    let mut other = BridgeClient::of(of(&two)).await;
    other.check("print(memory_exists('k'))", "False").await;
    let mut same = BridgeClient::of(of(&one)).await;
    same.check("print(load_memory('k'))", "1").await;
}

#[tokio::test]
async fn what_is_saved_is_listed_and_removed() {
    let mut client = BridgeClient::with_stub().await;
    let code = "def twice(x):\n    return 2 * x\nsave_tool(twice)\nsave_memory('notes', [1])\nprint('ok')";
    client.check(code, "ok").await;
    let codeyard = &client.codeyard;
    let listed = codeyard.run(["saved", "--json"]).await.unwrap();
    let listed: serde_json::Value = serde_json::from_slice(&listed.stdout).unwrap();
    assert_eq!(
        (&listed["tools"][0]["name"], &listed["memories"][0]["key"]),
        (&json!("twice"), &json!("notes")),
        "{listed}"
    );
    let shown = codeyard.run(["saved", "show", "twice"]).await.unwrap();
    assert!(
        String::from_utf8_lossy(&shown.stdout).contains("return 2 * x"),
        "{shown:?}"
    );
    let removed = codeyard
        .run(["saved", "remove", "twice", "notes", "--yes"])
        .await
        .unwrap();
    assert!(removed.status.success(), "{removed:?}");
    let mut client = again(client).await;
    client
        .check(
            "print('twice' in globals(), memory_exists('notes'))",
            "False False",
        )
        .await;
}

#[tokio::test]
async fn what_the_bridge_before_kept_is_taken_over() {
    let codeyard = installation()
        .home_file(
            "MCPs/memory/notes.json",
            r#"{"key": "notes", "value": [1, 2], "metadata": {}}"#,
        )
        .unwrap()
        .home_file(
            "MCPs/user_tools.py",
            "def bad(x=LIMIT):\n    return x\n\ndef good():\n    return 'good'\n",
        )
        .unwrap();
    let state = codeyard.home_directory().join("MCPs");
    let taken = codeyard
        .run([
            "saved".as_ref(),
            "import".as_ref(),
            state.as_os_str(),
            "--yes".as_ref(),
        ])
        .await
        .unwrap();
    assert!(taken.status.success(), "{taken:?}");
    let mut client = BridgeClient::of(codeyard).await;
    // The first program that names a broken tool gets its error; other programs still work.
    let answer = client
        .run("print(good(), load_memory('notes'), 'bad' in globals())")
        .await;
    assert_eq!(
        (answer.lines("stdout").as_str(), answer.is_error()),
        ("good [1, 2] False", false),
        "{answer:?}"
    );
    assert!(
        answer
            .lines("stderr")
            .contains("'bad' could not be loaded: NameError"),
        "{answer:?}"
    );
    client.check("print(good())", "good").await;
}
