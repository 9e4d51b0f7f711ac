//! How tool lists are learned, checked, cached and refreshed.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use test_support::{ServerDefinition, catalogue, servers, wait_until};
use upstream::{Hub, HubConfig, Status};

use crate::{call, config, hub, is_running, snapshot, state, tool_names};

const WAIT: Duration = Duration::from_secs(30);

#[tokio::test]
async fn nothing_starts_before_its_first_use() {
    let hub = hub(&[("stub", ServerDefinition::stub())]);
    hub.ready().await;
    assert_eq!(snapshot(&hub, "stub").tools, None);
    assert_eq!(snapshot(&hub, "stub").description.as_deref(), Some("Stub server"));
    assert_eq!(state(&hub, "stub").status, Status::Idle);
    assert_eq!(state(&hub, "stub").pid, None);
}

#[tokio::test]
async fn every_definition_of_46_real_servers_arrives_as_it_was_sent() {
    let names = catalogue::servers();
    assert_eq!(names.len(), 46);
    let definitions: Vec<(&str, ServerDefinition)> = names
        .iter()
        .enumerate()
        .map(|(index, name)| {
            let era = if index % 2 == 0 {
                servers::Era::Modern
            } else {
                servers::Era::Legacy
            };
            (
                name.as_str(),
                ServerDefinition::replay(name).era(era).arg("--page").arg("50"),
            )
        })
        .collect();
    let hub = hub(&definitions);
    assert_eq!(hub.discover(Duration::from_secs(60)).await, [""; 0]);
    let mut count = 0;
    for name in &names {
        let file = std::fs::read(catalogue::file(name)).expect("readable");
        let sent: Vec<Value> = serde_json::from_slice(&file).expect("JSON");
        let listed = snapshot(&hub, name).tools.expect("listed");
        assert!(
            listed
                .iter()
                .map(|tool| tool.definition().get())
                .eq(sent.iter().map(Value::to_string)),
            "{name}: definitions differ"
        );
        for (tool, sent) in listed.iter().zip(&sent) {
            assert_eq!(tool.input_schema(), sent["inputSchema"]);
            assert_eq!(tool.output_schema().as_ref(), sent.get("outputSchema"));
        }
        count += listed.len();
    }
    assert_eq!(count, 2040);
    let order: Vec<String> = hub
        .tools()
        .borrow()
        .iter()
        .map(|server| server.name.clone())
        .collect();
    assert_eq!(order, names);
    hub.shutdown().await;
}

#[tokio::test]
async fn a_bad_definition_alone_is_left_out() {
    let hub = hub(&[("odd", ServerDefinition::hostile("no-schema"))]);
    hub.list("odd").await.expect("listed");
    assert_eq!(tool_names(&hub, "odd").expect("listed"), ["echo"]);
    let warnings = state(&hub, "odd").warnings;
    assert_eq!(
        warnings,
        [
            "tool 'bare' is left out: it has no inputSchema",
            "a tool without a name is left out"
        ]
    );
}

#[tokio::test]
async fn odd_lists_end() {
    let hub = hub(&[
        ("circular", ServerDefinition::hostile("circular-pages")),
        ("none", ServerDefinition::hostile("no-tools")),
    ]);
    hub.list("circular").await.expect("listed");
    assert_eq!(
        tool_names(&hub, "circular").expect("listed"),
        ["echo_first", "echo_again"]
    );
    hub.list("none").await.expect("listed");
    assert_eq!(tool_names(&hub, "none").expect("listed"), [""; 0]);
}

#[tokio::test]
async fn an_unavailable_list_states_the_reason() {
    let hub = hub(&[("bad", ServerDefinition::hostile("exit"))]);
    let error = hub.list("bad").await.expect_err("it does not start").to_string();
    assert!(
        error.contains("server 'bad'") && error.contains("the API key is missing"),
        "{error}"
    );
    assert_eq!(
        hub.list("nobody").await.expect_err("unknown").to_string(),
        "no server named 'nobody' is configured"
    );
}

#[tokio::test]
async fn changes_of_a_list_arrive_in_both_eras() {
    for era in [servers::Era::Legacy, servers::Era::Modern] {
        let hub = hub(&[("stub", ServerDefinition::stub_with_extras().era(era))]);
        hub.list("stub").await.expect("listed");
        let before = tool_names(&hub, "stub").expect("listed").len();
        let mut changes = hub.tools();
        changes.borrow_and_update();
        call(&hub, "stub", "grow", json!({})).await.expect("an answer");
        changes.changed().await.expect("the hub lives");
        let after = tool_names(&hub, "stub").expect("listed");
        assert_eq!(
            (after.len(), after.last().map(String::as_str)),
            (before + 1, Some("grown_1")),
            "{era:?}"
        );
        hub.shutdown().await;
    }
}

fn cached(definitions: &[(&str, ServerDefinition)], directory: &std::path::Path) -> Hub {
    Hub::new(HubConfig {
        cache_dir: Some(directory.join("tools")),
        log_dir: None,
        ..config(definitions)
    })
}

#[tokio::test]
async fn a_known_list_is_there_in_the_next_process_without_a_start() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let definitions = [("stub", ServerDefinition::replay("git").era(servers::Era::Modern))];
    let first = cached(&definitions, directory.path());
    assert_eq!(first.discover(WAIT).await, [""; 0]);
    let learned = snapshot(&first, "stub");
    first.shutdown().await;

    let second = cached(&definitions, directory.path());
    second.ready().await;
    assert_eq!(snapshot(&second, "stub"), learned);
    assert_eq!(
        learned.description.as_deref(),
        Some("Lists the tools of a real server.")
    );
    assert_eq!(second.discover(WAIT).await, [""; 0]);
    second.list("stub").await.expect("known");
    assert_eq!(state(&second, "stub").status, Status::Idle);
    assert_eq!(state(&second, "stub").era, Some(upstream_wire::Era::Modern));

    // A new definition under the same name is a new server.
    let other = cached(&[("stub", ServerDefinition::replay("time"))], directory.path());
    other.ready().await;
    assert_eq!(snapshot(&other, "stub").tools, None);
}

#[tokio::test]
async fn a_damaged_or_outdated_cache_does_no_harm() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let definitions = [("stub", ServerDefinition::stub())];
    let hub = cached(&definitions, directory.path());
    hub.list("stub").await.expect("listed");
    hub.shutdown().await;
    let mut files = std::fs::read_dir(directory.path().join("tools")).expect("a cache");
    let file = files.next().expect("one file").expect("readable").path();

    std::fs::write(&file, b"{\"format\":1,\"era\":\"leg").expect("written");
    let hub = cached(&definitions, directory.path());
    hub.ready().await;
    assert_eq!(snapshot(&hub, "stub").tools, None);
    hub.list("stub").await.expect("asked again");
    hub.shutdown().await;

    // The server has since changed its lifecycle and its tools.
    let outdated = json!({"format": 1, "era": "modern", "description": null,
        "tools": [{"name": "old", "inputSchema": {}}, {"name": "no schema"}]});
    std::fs::write(&file, outdated.to_string()).expect("written");
    let hub = cached(&definitions, directory.path());
    hub.ready().await;
    assert_eq!(tool_names(&hub, "stub").expect("cached"), ["old"]);
    call(&hub, "stub", "echo", json!({"message": "x"}))
        .await
        .expect("an answer");
    wait_until("the list is fresh", || {
        tool_names(&hub, "stub").filter(|names| names.len() == 11)
    })
    .await;
    assert_eq!(state(&hub, "stub").era, Some(upstream_wire::Era::Legacy));
}

#[tokio::test]
async fn a_cache_that_cannot_be_written_costs_nothing_but_the_cache() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    std::fs::write(
        directory.path().join("tools"),
        "a file where the directory should be",
    )
    .expect("written");
    let hub = cached(&[("stub", ServerDefinition::stub())], directory.path());
    hub.list("stub").await.expect("listed");
    assert_eq!(tool_names(&hub, "stub").expect("listed").len(), 11);
}

#[tokio::test]
async fn a_search_waits_a_limited_time_and_names_pending_servers() {
    let hub = hub(&[
        ("good", ServerDefinition::stub()),
        ("hung", ServerDefinition::hostile("hang")),
        ("bad", ServerDefinition::hostile("exit")),
        ("late", ServerDefinition::hostile("slow-start:3")),
    ]);
    let start = Instant::now();
    let pending = hub.discover(Duration::from_secs(2)).await;
    assert!(start.elapsed() < Duration::from_secs(3));
    assert_eq!(pending, ["hung", "late"]);
    assert_eq!(tool_names(&hub, "good").map(|names| names.len()), Some(11));
    // The start continues in the background.
    wait_until("the late server is there", || tool_names(&hub, "late")).await;
    assert_eq!(hub.discover(Duration::from_secs(1)).await, ["hung"]);
    hub.shutdown().await;
}

/// Most servers that start at the same time during `work`.
async fn most_starting<F: Future>(hub: &Hub, work: F) -> (usize, F::Output) {
    let starting = || {
        hub.states()
            .iter()
            .filter(|state| state.status == Status::Starting)
            .count()
    };
    let mut most = 0;
    tokio::pin!(work);
    loop {
        tokio::select! {
            done = &mut work => return (most, done),
            () = tokio::task::yield_now() => most = most.max(starting()),
        }
    }
}

#[tokio::test]
async fn at_most_eight_servers_start_at_once() {
    let names: Vec<String> = (0..12).map(|number| format!("s{number}")).collect();
    let definitions: Vec<_> = names
        .iter()
        .map(|name| (name.as_str(), ServerDefinition::hostile("slow-start:0.7")))
        .collect();
    // A search leaves two starts for calls.
    let searched = hub(&definitions);
    let (most, pending) = most_starting(&searched, searched.discover(WAIT)).await;
    assert_eq!((most, pending), (6, Vec::new()));
    assert!(names.iter().all(|name| is_running(&searched, name)));
    searched.shutdown().await;

    let called = hub(&definitions);
    let calls = names
        .iter()
        .map(|name| call(&called, name, "echo", json!({"message": "x"})));
    let (most, answers) = most_starting(&called, futures_util::future::join_all(calls)).await;
    assert_eq!(most, 8);
    assert!(answers.iter().all(Result::is_ok), "{answers:?}");
    called.shutdown().await;
}

#[tokio::test]
async fn a_server_that_fails_slowly_delays_only_one_search() {
    let script = "sleep 1; exit 3";
    let hub = hub(&[("bad", ServerDefinition::new("/bin/sh", &["-c", script]))]);
    assert_eq!(hub.discover(WAIT).await, [""; 0]);
    assert!(matches!(state(&hub, "bad").status, Status::Failed { .. }));
    wait_until("it is tried again, and nobody waits", || {
        let pending = futures_util::FutureExt::now_or_never(hub.discover(WAIT));
        assert_eq!(pending.as_deref(), Some(&[][..]));
        (state(&hub, "bad").status == Status::Starting).then_some(())
    })
    .await;
    hub.shutdown().await;
}

#[tokio::test]
async fn servers_that_hang_delay_neither_calls_nor_the_search_for_others() {
    let mut definitions: Vec<(String, ServerDefinition)> = (0..10)
        .map(|number| (format!("hung{number}"), ServerDefinition::hostile("hang")))
        .collect();
    definitions.push(("good".to_owned(), ServerDefinition::stub()));
    definitions.push(("called".to_owned(), ServerDefinition::stub()));
    let definitions: Vec<_> = definitions
        .iter()
        .map(|(name, definition)| (name.as_str(), definition.clone()))
        .collect();
    let hub = hub(&definitions);
    hub.ready().await;
    // A search that does not wait starts all servers, in the order of the configuration.
    assert_eq!(hub.discover(Duration::ZERO).await.len(), 12);
    let answer = call(&hub, "called", "echo", json!({"message": "x"})).await;
    assert!(answer.is_ok(), "{answer:?}");
    wait_until("the good one has its turn", || tool_names(&hub, "good")).await;
    // The first search waited for them in vain, so this one does not wait.
    let start = Instant::now();
    assert_eq!(hub.discover(Duration::from_secs(600)).await.len(), 10);
    assert!(start.elapsed() < Duration::from_secs(60));
    hub.shutdown().await;
}
