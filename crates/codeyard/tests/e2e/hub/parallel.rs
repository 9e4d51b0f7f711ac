//! Many concurrent calls, sessions and clients.

use std::collections::BTreeSet;

use serde_json::json;
use test_support::{CodeClient, Codeyard, Era, ServerDefinition};

use crate::hub::{completed, running_servers};

/// Concurrent calls.
const CLIENTS: usize = 8;

/// Seconds of a program with this many gathered calls of `call`, after a first call that starts the server: the least
/// of some attempts, because the machine may be busy.
async fn gathered(client: &mut CodeClient, count: usize, call: &str) -> f64 {
    let code = format!(
        "import asyncio, time\nawait {call}\nattempts = []\n\
         for _ in range(3):\n    begin = time.monotonic()\n    \
         await asyncio.gather(*[{call} for _ in range({count})])\n    \
         attempts.append(time.monotonic() - begin)\nreturn min(attempts)"
    );
    let ran = client.execute(json!({"code": code, "timeout_ms": 120_000})).await;
    completed(&ran).as_f64().unwrap()
}

#[tokio::test]
async fn timed_ten_gathered_calls_of_one_second_take_less_than_two() {
    let codeyard = Codeyard::with_stub().unwrap().real_servers().unwrap();
    let mut client = CodeClient::of(codeyard).await;
    for call in [
        "tools.stub.slow(seconds=1)",
        "tools.everything.trigger_long_running_operation(duration=1, steps=1)",
    ] {
        let took = gathered(&mut client, 10, call).await;
        assert!((1.0..2.0).contains(&took), "{call}: {took} s");
    }
}

#[tokio::test]
async fn timed_a_hundred_gathered_calls_take_little_more_than_one() {
    let mut client = CodeClient::with_stub().await;
    let took = gathered(&mut client, 100, "tools.stub.slow(seconds=0.05)").await;
    // In sequence they would take five seconds; the benchmark measures the overhead.
    assert!((0.05..2.0).contains(&took), "{took} s");
}

#[tokio::test]
async fn eight_sessions_at_once_share_one_process_of_each_server() {
    let codeyard = Codeyard::new()
        .unwrap()
        .server("old", &ServerDefinition::stub().era(Era::Old))
        .server("legacy", &ServerDefinition::stub())
        .server("modern", &ServerDefinition::stub().era(Era::Modern));
    let mut client = CodeClient::of(codeyard).await;
    let code = "import asyncio\n\
                async def one(n):\n    server = tools[('old', 'legacy', 'modern')[n % 3]]\n    \
                answer = await server.echo(message=f'{name}-{n}')\n    assert answer == f'{name}-{n}', answer\n    \
                return (await server.pid()).pid\n\
                return sorted(set(await asyncio.gather(*map(one, range(60)))))";
    let mut ids = Vec::new();
    for number in 0..CLIENTS {
        let code = format!("name = 'session-{number}'\n{code}");
        let arguments = json!({"code": code, "session": format!("s{number}"), "timeout_ms": 120_000});
        ids.push(client.start(arguments).await);
    }
    let mut pids = BTreeSet::new();
    for id in &ids {
        let ran = client.ran(id).await;
        pids.extend(
            completed(&ran)
                .as_array()
                .unwrap()
                .iter()
                .map(|pid| pid.as_u64().unwrap()),
        );
    }
    assert_eq!((pids.len(), running_servers(&client)), (3, 3));
}

#[tokio::test]
async fn eight_processes_share_a_data_directory() {
    let mut codeyard = Codeyard::new().unwrap().server("stub", &ServerDefinition::stub());
    for name in ["git", "playwright", "notion"] {
        codeyard = codeyard.server(name, &ServerDefinition::replay(name));
    }
    let mut clients = Vec::new();
    for _ in 0..CLIENTS {
        clients.push(codeyard.mcp(Era::Legacy).await.unwrap());
    }
    let search = json!({"name": "search_tools", "arguments": {"query": "page", "limit": 1}});
    let call = json!({"name": "execute_code", "arguments": {
        "code": "return await tools.stub.echo(message='x')", "timeout_ms": 120_000}});
    let mut asked = Vec::new();
    for client in &mut clients {
        let searched = client.start("tools/call", search.clone()).await.unwrap();
        asked.push((searched, client.start("tools/call", call.clone()).await.unwrap()));
    }
    for (client, (searched, called)) in clients.iter_mut().zip(&asked) {
        let answer = client.answer(called).await.unwrap();
        assert_eq!(answer["result"]["structuredContent"]["result"], "x", "{answer}");
        let answer = client.answer(searched).await.unwrap();
        assert_eq!(
            answer["result"]["structuredContent"]["pending"],
            json!(null),
            "{answer}"
        );
    }
    for client in clients {
        assert!(client.finish().await.unwrap().success());
    }
    // Their concurrent writes are complete: the next process starts nothing.
    let mut next = CodeClient::of(codeyard).await;
    let found = next
        .search(json!({"query": "navigate the browser", "limit": 1}))
        .await;
    assert_eq!(
        found["structuredContent"]["tools"][0]["server"], "playwright",
        "{found}"
    );
    assert_eq!(running_servers(&next), 0);
}
