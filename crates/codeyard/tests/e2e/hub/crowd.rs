//! Nine real and 46 replayed servers in one process: starts, search and memory.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use test_support::{CodeClient, Codeyard, Era, ServerDefinition, catalogue, status_field};

use crate::hub::{completed, running_servers};

/// Nine real servers, and 46 replays of real lists, in both eras.
fn installation() -> Codeyard {
    let mut codeyard = Codeyard::new().unwrap().real_servers().unwrap();
    for (number, name) in catalogue::servers().iter().enumerate() {
        let era = if number % 2 == 0 { Era::Modern } else { Era::Legacy };
        let definition = ServerDefinition::replay(name).era(era);
        codeyard = codeyard.server(&format!("replayed {name}"), &definition);
    }
    codeyard
}

/// Searches until no server is still starting.
async fn search(client: &mut CodeClient, query: &str) -> Value {
    let start = Instant::now();
    loop {
        let found = client.search(json!({"query": query, "limit": 3})).await;
        let found = &found["structuredContent"];
        if found.get("pending").is_none() {
            return found.clone();
        }
        assert!(start.elapsed() < Duration::from_secs(240), "{found}");
    }
}

/// Resident memory in megabytes, without the program file's pages, of which an unoptimised build has many.
fn resident(client: &CodeClient) -> u64 {
    let value = status_field(client.mcp.pid().unwrap(), "RssAnon").unwrap();
    value.trim_end_matches(" kB").parse::<u64>().unwrap() / 1024
}

#[tokio::test]
async fn nine_real_and_46_replayed_servers_in_one_process() {
    let codeyard = installation();
    let mut client = CodeClient::of(codeyard).await;
    assert_eq!(running_servers(&client), 0);

    // The first program starts only the servers that it calls.
    let code = "return (await tools.time.convert_time(source_timezone='UTC', time='12:00', target_timezone='Asia/Tokyo')).time_difference";
    let ran = client.run(code).await;
    assert_eq!(completed(&ran), "+9.0h");
    assert_eq!(running_servers(&client), 1);

    // A search lists all other servers; every tool is found.
    search(&mut client, "anything").await;
    let count = "return sum([len(await runtime.list_tools(s)) for s in runtime.discovered_servers()])";
    let all = completed(&client.run(count).await).as_u64().unwrap();
    assert!(all > 2_040 + 100, "{all}");
    for (query, server, tool) in [
        (
            "fork a repository on github",
            "replayed ref-github",
            "fork_repository",
        ),
        (
            "take a screenshot of the page",
            "replayed playwright",
            "browser_take_screenshot",
        ),
        ("add insight sqlite", "sqlite", "append_insight"),
    ] {
        let found = search(&mut client, query).await;
        let tools = found["tools"].as_array().unwrap();
        let is_found = tools
            .iter()
            .any(|hit| hit["server"] == server && hit["tool"] == tool);
        assert!(is_found, "{query}: {found}");
    }
    assert_eq!(running_servers(&client), 55);

    // Sessions and runs share one process of each server.
    let code = "import asyncio\nservers = [s for s in runtime.discovered_servers() if s.startswith('replayed')]\n\
                async def first(server):\n    tool = (await runtime.list_tools(server))[0]['name']\n    \
                return (await runtime.call_tool(server, tool, {})) is not None\n\
                answers = await asyncio.gather(*map(first, servers), return_exceptions=True)\n\
                return [len(answers), await tools.calculator.calculate(expression='6*7')]";
    let ids = [
        client
            .start(json!({"code": code, "session": "a", "timeout_ms": 120_000}))
            .await,
        client
            .start(json!({"code": code, "session": "b", "timeout_ms": 120_000}))
            .await,
    ];
    for id in &ids {
        assert_eq!(completed(&client.ran(id).await), &json!([46, {"result": "42"}]));
    }
    assert_eq!(running_servers(&client), 55);
    let memory = resident(&client);
    assert!(memory < 90, "{memory} MB");

    // The next process has all lists without a start.
    let codeyard = client.codeyard;
    assert!(client.mcp.finish().await.unwrap().success());
    let mut client = CodeClient::of(codeyard).await;
    search(&mut client, "anything").await;
    assert_eq!(completed(&client.run(count).await), &json!(all));
    assert_eq!(running_servers(&client), 0);
    let memory = resident(&client);
    assert!(memory < 60, "{memory} MB");
}
