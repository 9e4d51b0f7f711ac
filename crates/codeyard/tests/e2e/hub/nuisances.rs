//! Servers that are slow, hang, list too much or change constantly: others are not delayed, and everything is
//! bounded.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use test_support::{CodeClient, Codeyard, ServerDefinition, status_field};

use crate::hub::completed;

#[tokio::test]
async fn slow_and_hanging_servers_delay_only_their_own_calls() {
    let codeyard = Codeyard::with_stub()
        .unwrap()
        .server("late", &ServerDefinition::hostile("slow-start:3"))
        .server("hung", &ServerDefinition::hostile("hang").timeout(4_000))
        .server("deaf", &ServerDefinition::hostile("deaf").timeout(1_000));
    let mut client = CodeClient::of(codeyard).await;
    let code = include_str!("nuisances/call_all_at_once.py");
    let ran = client.run(code).await;
    let order: Vec<&str> = completed(&ran)
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    assert_eq!(order[0], "stub", "{order:?}");
    assert!(order.contains(&"late"), "{order:?}");
    for words in [
        "server 'hung' did not answer its start within",
        "server 'deaf' did not answer the call of 'echo' within",
    ] {
        assert!(
            order.iter().any(|line| line.contains(words)),
            "{words}: {order:?}"
        );
    }
}

#[tokio::test]
async fn a_search_waits_once_for_a_hanging_server_and_names_it_each_time() {
    let mut codeyard = Codeyard::with_stub().unwrap();
    for number in 0..10 {
        codeyard = codeyard.server(&format!("hung{number}"), &ServerDefinition::hostile("hang"));
    }
    let mut client = CodeClient::of(codeyard).await;
    let search = json!({"query": "echo a message", "limit": 1});
    let mut took = Vec::new();
    for _ in 0..4 {
        let start = Instant::now();
        let found = client.search(search.clone()).await;
        took.push(start.elapsed());
        let found = &found["structuredContent"];
        assert_eq!(found["pending"].as_array().unwrap().len(), 10, "{found}");
        assert_eq!(found["tools"][0]["tool"], "echo", "{found}");
    }
    // The first search waits for five seconds; three more waits would take fifteen.
    let later: Duration = took[1..].iter().sum();
    assert!(later < Duration::from_secs(5), "{took:?}");
}

#[tokio::test]
async fn excessive_lists_are_bounded_and_affect_no_other_server() {
    let codeyard = Codeyard::with_stub()
        .unwrap()
        .server("crowd", &ServerDefinition::hostile("crowd"))
        .server("wordy", &ServerDefinition::hostile("wordy"))
        .server("restless", &ServerDefinition::hostile("restless"));
    let mut client = CodeClient::of(codeyard).await;
    let start = Instant::now();
    let code = "import asyncio\n\
                answers = [await tools[s].echo(message='x') for s in ('crowd', 'restless', 'stub')]\n\
                return answers + [await tools.wordy.echo(message='x'), len(await runtime.list_tools('crowd'))]";
    let ran = client.execute(json!({"code": code, "timeout_ms": 120_000})).await;
    assert_eq!(completed(&ran), &json!(["x", "x", "x", "echo", 10_000]));

    // Codeyard follows the restless list at a limited rate during the flood; others answer in between.
    let code = include_str!("nuisances/follow_the_list.py");
    let ran = client.execute(json!({"code": code, "timeout_ms": 120_000})).await;
    let (calls, lists) = (&completed(&ran)[0], completed(&ran)[1].as_u64().unwrap());
    assert_eq!(calls, true);
    assert!(
        lists <= start.elapsed().as_secs() + 1,
        "{lists} lists in {:?}",
        start.elapsed()
    );

    let found = client
        .search(json!({"query": "add two numbers", "limit": 1}))
        .await;
    assert_eq!(
        found["structuredContent"]["tools"][0]["server"], "stub",
        "{found}"
    );
    let found = client
        .search(json!({"query": "word", "limit": 1, "detail": "full"}))
        .await;
    let text = found["content"][0]["text"].as_str().unwrap();
    assert!(
        text.contains("tools.wordy.long") && text.len() < 64 * 1024,
        "{} bytes",
        text.len()
    );
    let memory = status_field(client.mcp.pid().unwrap(), "VmRSS").unwrap();
    let memory = memory.trim_end_matches(" kB").parse::<u64>().unwrap() / 1024;
    assert!(memory < 250, "{memory} MB");
}
