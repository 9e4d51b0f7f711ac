//! Search from a client, a program and the command line: equal hits, equal refusals, equal empty results.

use serde_json::{Value, json};
use test_support::{CodeClient, Codeyard, ServerDefinition};

/// Server, tool and score of each hit, as text.
fn listed(tools: &Value) -> Vec<String> {
    let tools = tools.as_array().unwrap();
    let line = |tool: &Value| format!("{} {} {}", tool["server"], tool["tool"], tool["score"]);
    tools.iter().map(line).collect()
}

/// The command's output, and whether it succeeded.
async fn told(codeyard: &Codeyard, args: &[&str]) -> (String, bool) {
    let output = codeyard.command(args).unwrap().output().await.unwrap();
    let text = [output.stdout, output.stderr].concat();
    (String::from_utf8(text).unwrap(), output.status.success())
}

fn three_servers() -> Codeyard {
    Codeyard::with_stub()
        .unwrap()
        .server("clock", &ServerDefinition::replay("time"))
        .server("files", &ServerDefinition::replay("filesystem"))
}

#[tokio::test]
async fn clients_programs_and_the_command_line_find_the_same_tools() {
    let codeyard = three_servers();
    let mut client = CodeClient::of(codeyard).await;
    // C184, second half: a search for a job without a tool reports that there is none.
    for query in [
        "convert a time between time zones",
        "read a file",
        "water my plants with the garden hose",
        "qzxv",
    ] {
        let asked = json!({"query": query, "limit": 4});
        let found = client.search(asked.clone()).await["structuredContent"].clone();
        let code = format!(
            "hits = runtime.search_tools({query:?}, limit=4)\n\
             return {{'tools': list(hits), 'more': hits.more, 'nearest': list(hits.nearest)}}"
        );
        let mut ran = client.run(&code).await.result().clone();
        if found.get("nearest").is_none() {
            assert_eq!(ran["nearest"].take(), json!([]), "{query}");
            ran.as_object_mut().unwrap().remove("nearest");
        }
        assert_eq!(ran, found, "{query}");
        let (text, _) = told(&client.codeyard, &["tools", "--json", "--limit", "4", query]).await;
        let said: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(said, found, "{query}");
        assert_eq!(
            listed(&found["tools"]).is_empty(),
            query.starts_with(['w', 'q']),
            "{query}: {found}"
        );
    }
    let found = client
        .search(json!({"query": "water my plants with the garden hose"}))
        .await;
    let text = found["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("no tool "), "{text}");
    let (text, content) = told(
        &client.codeyard,
        &["tools", "water my plants with the garden hose"],
    )
    .await;
    assert!(text.contains("no tool ") && content, "{text}");
}

#[tokio::test]
async fn bad_queries_and_limits_are_refused_alike() {
    let codeyard = Codeyard::with_stub().unwrap();
    let mut client = CodeClient::of(codeyard).await;
    let long = "x".repeat(100_000);
    for (query, limit, about) in [
        (json!(long), json!(5), "query"),
        (json!("echo"), json!(-1), "limit"),
        (json!("echo"), json!(10_000), "limit"),
        (json!("echo"), json!("x"), "limit"),
    ] {
        let found = client.search(json!({"query": query, "limit": limit})).await;
        let text = found["content"][0]["text"].as_str().unwrap();
        assert!(
            found["isError"] == true && text.contains(about),
            "{limit}: {text}"
        );
        let code = format!(
            "try: runtime.search_tools({query}, limit={limit})\nexcept Exception as e: return [type(e).__name__, str(e)]"
        );
        let ran = client.run(&code).await;
        assert_eq!(ran.result()[0], "MCPError", "{limit}: {ran:?}");
        let said = ran.result()[1].as_str().unwrap();
        assert!(said.contains(about) && said.len() < 200, "{said}");
        let (query, limit) = (query.as_str().unwrap(), limit.to_string().replace('"', ""));
        let (text, content) = told(&client.codeyard, &["tools", &format!("--limit={limit}"), query]).await;
        assert!(!content && text.to_lowercase().contains(about), "{limit}: {text}");
    }
    // A query without a word is valid, and finds nothing.
    for query in [
        "\u{0}\u{1b}[31m\u{7f}",
        "?!",
        "\u{1f600}",
        "\u{706f}\u{3092}\u{3064}\u{3051}\u{3066}",
    ] {
        let found = client.search(json!({"query": query})).await;
        assert_eq!(found["structuredContent"]["tools"], json!([]), "{query:?}");
        assert!(
            found["content"][0]["text"]
                .as_str()
                .unwrap()
                .starts_with("no tool "),
            "{found}"
        );
        assert_eq!(found["isError"], false);
    }
}

#[tokio::test]
async fn one_server_under_two_names_is_found_twice_and_hidden_tools_never() {
    let codeyard = three_servers()
        .server("again", &ServerDefinition::stub())
        .settings("[policy]\ndeny = [\"*.send\", \"clock.*\"]");
    let mut client = CodeClient::of(codeyard).await;
    let found = client.search(json!({"query": "echo a message"})).await;
    let names = listed(&found["structuredContent"]["tools"]).join(" ");
    assert!(
        names.contains("\"stub\" \"echo\"") && names.contains("\"again\" \"echo\""),
        "{names}"
    );
    for query in [
        "send a message to somebody",
        "convert a time between time zones",
        "water my plants",
    ] {
        let asked = json!({"query": query, "limit": 50, "detail": "full"});
        let found = client.search(asked).await["structuredContent"].to_string();
        assert!(
            !found.contains("convert_time") && !found.contains("\"tool\":\"send\""),
            "{query}: {found}"
        );
        let (text, _) = told(&client.codeyard, &["tools", "--json", "--limit", "50", query]).await;
        assert!(
            !text.contains("convert_time") && !text.contains("\"tool\":\"send\""),
            "{query}: {text}"
        );
    }
}

#[tokio::test]
async fn servers_and_tools_are_browsed_by_programs_and_on_the_command_line() {
    let codeyard = three_servers();
    let mut client = CodeClient::of(codeyard).await;
    let code = "one = runtime.describe('clock.convert_time')\n\
                return [[s['name'] for s in runtime.servers()], [t['name'] for t in runtime.tools('clock')],\n        \
                one['server'], one['tool'], one['inputSchema']['required'], one['signature'].startswith('convert_time(')]";
    let expected = json!([
        ["clock", "files", "stub"],
        ["get_current_time", "convert_time"],
        "clock",
        "convert_time",
        ["source_timezone", "time", "target_timezone"],
        true
    ]);
    let ran = client.run(code).await;
    let mut servers: Vec<&str> = ran.result()[0]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    servers.sort_unstable();
    assert_eq!(json!(servers), expected[0], "{ran:?}");
    assert_eq!(
        ran.result().as_array().unwrap()[1..],
        expected.as_array().unwrap()[1..],
        "{ran:?}"
    );
    let (text, content) = told(&client.codeyard, &["tools", "clock"]).await;
    assert!(
        content && text.contains("tools.clock.convert_time(") && text.contains("2 tools of 1 server"),
        "{text}"
    );
    assert!(!text.contains("tools.stub."), "{text}");
    let (text, content) = told(&client.codeyard, &["tools", "clock.convert_time"]).await;
    assert!(
        content && text.contains("arguments") && text.contains("source_timezone"),
        "{text}"
    );
    let (text, content) = told(&client.codeyard, &["tools", "clock.nope"]).await;
    assert!(!content && text.contains("nope"), "{text}");
}

#[tokio::test]
async fn the_host_describes_one_tool_and_corrects_a_wrong_name() {
    let codeyard = three_servers().settings("[policy]\ndeny = [\"stub.send\"]");
    let mut client = CodeClient::of(codeyard).await;
    for (asked, about) in [
        ("'clock.convert_tme'", "convert_time"),
        ("'clock', 'convert_tme'", "convert_time"),
        ("'clok.convert_time'", "clock"),
        ("'convert_time'", "server.tool"),
        ("'stub.send'", "policy"),
        ("5", "must be a string"),
        ("'clock', 5", "must be a string"),
        ("None", "'tool'"),
        ("'.' * 100000", "unknown server"),
    ] {
        let code = format!(
            "try: runtime.describe({asked})\nexcept Exception as e: return [type(e).__name__, str(e)]"
        );
        let ran = client.run(&code).await;
        assert_eq!(ran.result()[0], "MCPError", "{asked}: {ran:?}");
        assert!(
            ran.result()[1].as_str().unwrap().contains(about),
            "{asked}: {ran:?}"
        );
    }
    let code =
        "return [runtime.describe(*a)['tool'] for a in [('clock.convert_time',), ('clock', 'convert_time')]]";
    let ran = client.run(code).await;
    assert_eq!(*ran.result(), json!(["convert_time", "convert_time"]), "{ran:?}");
    let code =
        "try: runtime.search_tool_docs_sync('x' * 5000)\nexcept Exception as e: return type(e).__name__";
    assert_eq!(*client.run(code).await.result(), "MCPError");
}

#[tokio::test]
async fn the_command_line_searches_text_and_marks_denied_tools() {
    let codeyard = three_servers().settings("[policy]\ndeny = [\"clock.convert_time\"]");
    // The text begins with a server's name and a dot, but is still a search.
    let (text, content) = told(&codeyard, &["tools", "clock.time what is the current time"]).await;
    assert!(content && text.contains("get_current_time"), "{text}");
    let (text, _) = told(&codeyard, &["tools", "clock"]).await;
    let line = |name: &str| text.lines().find(|line| line.contains(name)).unwrap();
    assert!(line("clock.convert_time(").contains("denied by policy"), "{text}");
    assert!(!line("clock.get_current_time(").contains("denied"), "{text}");
    let (text, _) = told(&codeyard, &["tools", "--json", "clock"]).await;
    let listing: Value = serde_json::from_str(&text).unwrap();
    let tools = listing["servers"][0]["tools"].as_array().unwrap();
    let denied: Vec<bool> = tools.iter().map(|tool| tool["denied"] == true).collect();
    assert_eq!(denied, [false, true], "{listing}");
}

#[tokio::test]
async fn a_general_question_lists_the_servers() {
    let codeyard = three_servers().server("broken", &ServerDefinition::new("/nonexistent/server", &[]));
    let mut client = CodeClient::of(codeyard).await;
    for asked in [
        json!({}),
        json!({"query": ""}),
        json!({"query": " * "}),
        json!({"query": "What tools are there?"}),
        json!({"query": "list all available tools", "detail": "name"}),
    ] {
        let found = client.search(asked.clone()).await;
        let text = found["content"][0]["text"].as_str().unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let broken = "broken: does not work: ";
        assert!(
            lines[0].starts_with(broken) && lines[0].contains("/nonexistent/server"),
            "{asked}: {text}"
        );
        assert!(lines[1].starts_with("clock: 2 tools"), "{asked}: {text}");
        assert!(lines[2].starts_with("files: "), "{asked}: {text}");
        assert!(lines[4].contains("dir(tools.NAME)"), "{asked}: {text}");
        let servers = found["structuredContent"]["servers"].as_array().unwrap();
        assert_eq!((servers.len(), &servers[1]["tools"]), (4, &json!(2)), "{asked}");
    }
    let found = client.search(json!({"query": "list all files"})).await;
    assert!(
        found["structuredContent"]["tools"]
            .as_array()
            .is_some_and(|tools| !tools.is_empty())
    );
}
