//! `search_tools`: its hits, its detail, and its behaviour while servers start.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use test_support::{CodeClient, Codeyard, ServerDefinition, descendants};

fn names(found: &Value) -> Vec<&str> {
    let tools = found["structuredContent"]["tools"].as_array().unwrap();
    tools.iter().map(|tool| tool["tool"].as_str().unwrap()).collect()
}

fn keys(tool: &Value) -> Vec<&str> {
    tool.as_object().unwrap().keys().map(String::as_str).collect()
}

#[tokio::test]
async fn hits_have_a_signature_and_the_requested_detail() {
    let mut client = CodeClient::with_stub().await;
    let found = client.search(json!({"query": "add two numbers"})).await;
    let best = &found["structuredContent"]["tools"][0];
    assert_eq!(
        keys(best),
        ["server", "tool", "signature", "description", "score"]
    );
    assert_eq!(
        (
            &best["server"],
            &best["tool"],
            &best["signature"],
            &best["description"]
        ),
        (
            &json!("stub"),
            &json!("add"),
            &json!("tools.stub.add(a: float, b: float) -> {sum: float}"),
            &json!("Adds two numbers.")
        )
    );
    assert_eq!(found["isError"], false);
    let text = found["content"][0]["text"].as_str().unwrap();
    assert!(
        text.starts_with("tools.stub.add(a: float, b: float) -> {sum: float}  # Adds two numbers."),
        "{text}"
    );

    let found = client
        .search(json!({"query": "add two numbers", "detail": "name"}))
        .await;
    assert_eq!(keys(&found["structuredContent"]["tools"][0]), ["server", "tool"]);

    let found = client
        .search(json!({"query": "add two numbers", "detail": "full"}))
        .await;
    let best = &found["structuredContent"]["tools"][0];
    assert_eq!(keys(best), ["server", "tool", "signature", "score", "stub"]);
    assert_eq!(best["signature"], "tools.stub.add(…)");
    let stub = best["stub"].as_str().unwrap();
    assert!(
        stub.contains("async def add(") && stub.contains("a: float"),
        "{stub}"
    );
    // The stub's description appears only once.
    let text = found["content"][0]["text"].as_str().unwrap();
    assert!(
        text.starts_with(&format!("tools.stub.add(…)\n{}", stub.trim_end())),
        "{text}"
    );
    assert_eq!(text.matches("Adds two numbers.").count(), 1, "{text}");
}

#[tokio::test]
async fn full_describes_the_fields_of_objects() {
    let codeyard = Codeyard::new()
        .unwrap()
        .server("excel", &ServerDefinition::replay("excel"));
    let mut client = CodeClient::of(codeyard).await;
    let asked = json!({"query": "set_sheet_layout", "detail": "full", "limit": 1});
    let found = client.search(asked).await;
    let text = found["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("tools.excel.set_sheet_layout(…)\n"), "{text}");
    assert!(
        text.contains("autofit_columns: list[str]  # Column letters sized to their text.\n"),
        "{text}"
    );
    assert!(text.len() < 8 * 1024, "{} bytes", text.len());
}

#[tokio::test]
async fn an_undeclared_result_is_described_as_text() {
    const NOTE: &str = "Text: a str with its blocks (such as images) at .content; its value where it is JSON";
    let mut client = CodeClient::with_stub().await;
    let found = client
        .search(json!({"query": "echo the message", "limit": 2}))
        .await;
    let fields = &found["structuredContent"];
    assert_eq!(
        fields["tools"][0]["signature"],
        "tools.stub.echo(message: str) -> Text"
    );
    assert_eq!(fields["note"], NOTE);
    let text = found["content"][0]["text"].as_str().unwrap();
    assert_eq!(text.lines().last(), Some(NOTE), "{text}");
    let full = client
        .search(json!({"query": "echo the message", "detail": "full", "limit": 1}))
        .await;
    let text = full["content"][0]["text"].as_str().unwrap();
    let declared = format!("Text = Any  # {}", &NOTE["Text: ".len()..]);
    assert!(
        text.contains(&declared) && text.contains("(*, message: str) -> Text:"),
        "{text}"
    );
    // Answers whose signatures do not use `Text` have no note.
    for asked in [
        json!({"query": "add two numbers", "limit": 1}),
        json!({"query": "echo the message", "detail": "name"}),
    ] {
        let found = client.search(asked).await;
        assert_eq!(found["structuredContent"].get("note"), None, "{found}");
    }
    // The note is true of a text, and of a text that is JSON.
    let code = "echo = await tools.stub.echo(message='words')\n\
                things = await tools.stub.list_things()\n\
                print(isinstance(echo, str), echo.content[0].type, type(things['things']))";
    client.check(code, "True text <class 'list'>\n").await;
}

/// Searches until no server is still starting.
async fn search_of_all(client: &mut CodeClient, query: &Value) -> Value {
    let start = Instant::now();
    loop {
        let found = client.search(query.clone()).await;
        if found["structuredContent"].get("pending").is_none() {
            return found;
        }
        assert!(start.elapsed() < Duration::from_secs(60), "{found}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn limit_bounds_the_answer_and_more_counts_the_rest() {
    let mut client = CodeClient::of(Codeyard::new().unwrap().catalogue()).await;
    let found = search_of_all(&mut client, &json!({"query": "create issue", "limit": 3})).await;
    assert_eq!(names(&found).len(), 3, "{found}");
    let more = found["structuredContent"]["more"].as_u64().unwrap();
    assert!(more > 10, "{found}");
    let text = found["content"][0]["text"].as_str().unwrap();
    assert!(
        text.contains(&format!(
            "{more} more tools match; narrow the query or raise limit"
        )),
        "{text}"
    );
    let found = client.search(json!({"query": "create issue", "limit": 50})).await;
    assert_eq!(names(&found).len(), 50);
    // The search covers names, descriptions and parameters; the best match of all servers comes first.
    for (query, expected) in [
        ("create a new github issue", "ref-github"),
        ("list kubernetes pods in a namespace", "kubernetes"),
        ("convert time between timezones", "time"),
    ] {
        let found = client.search(json!({"query": query, "limit": 5})).await;
        let servers = found["structuredContent"]["tools"].as_array().unwrap();
        assert!(
            servers
                .iter()
                .any(|tool| tool["server"].as_str().unwrap().starts_with(expected)),
            "{query}: {found}"
        );
    }
}

#[tokio::test]
async fn nothing_found_is_no_error() {
    let mut client = CodeClient::with_stub().await;
    let found = client.search(json!({"query": "zzzzqqq"})).await;
    let fields = &found["structuredContent"];
    assert_eq!((&fields["tools"], &fields["more"]), (&json!([]), &json!(0)));
    let text = found["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("no tool"), "{text}");
    assert_eq!(found["isError"], json!(false));
    let mut client = CodeClient::of(Codeyard::new().unwrap()).await;
    let found = client.search(json!({"query": "anything"})).await;
    assert_eq!(found["structuredContent"], json!({"tools": [], "more": 0}));
}

#[tokio::test]
async fn servers_that_are_slow_to_start_are_pending_and_come_later() {
    let codeyard = Codeyard::with_stub()
        .unwrap()
        .server("late", &ServerDefinition::hostile("slow-start:7"))
        .server("broken", &ServerDefinition::hostile("exit"));
    let mut client = CodeClient::of(codeyard).await;
    let asked = Instant::now();
    let found = client.search(json!({"query": "echo a message"})).await;
    assert!(
        asked.elapsed() < Duration::from_millis(6900),
        "{:?}",
        asked.elapsed()
    );
    assert_eq!(found["structuredContent"]["pending"], json!(["late"]), "{found}");
    assert_eq!(names(&found)[0], "echo", "{found}");
    let text = found["content"][0]["text"].as_str().unwrap();
    assert!(
        text.contains("\nstill starting, search again for their tools: late\n"),
        "{text}"
    );
    // A later search does not wait for it again; eventually the server is there.
    let found = search_of_all(&mut client, &json!({"query": "echo a message"})).await;
    assert_eq!(names(&found)[..2], ["echo", "echo"], "{found}");
}

#[tokio::test]
async fn lists_are_cached_on_disk_so_that_the_next_search_starts_nothing() {
    let codeyard = Codeyard::with_stub().unwrap();
    let mut first = codeyard.mcp(test_support::Era::Legacy).await.unwrap();
    let query = json!({"query": "returns the message"});
    let before = first.call_tool("search_tools", query.clone()).await.unwrap();
    assert!(first.finish().await.unwrap().success());
    let mut second = CodeClient::of(codeyard).await;
    let after = second.search(query).await;
    assert_eq!(after, before);
    let running = descendants(second.mcp.pid().unwrap());
    assert!(
        !running.iter().any(|process| process.command.contains("stub")),
        "{running:?}"
    );
}
