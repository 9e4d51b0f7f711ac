//! Catalogs and searches while lists change.

use std::time::Instant;

use serde_json::json;
use serde_json::value::to_raw_value;
use tool_files::Scanner;
use types::Tool;

use super::*;
use crate::local::Local;

fn server(name: &str, tools: impl Iterator<Item = String>) -> ServerTools {
    let tool = |name: String| {
        let description = format!("Does {name} for whoever asks for it");
        let definition = json!({"name": name, "description": description, "inputSchema": {}});
        Arc::new(Tool::parse(to_raw_value(&definition).expect("JSON")).expect("a definition"))
    };
    ServerTools {
        name: name.to_owned(),
        description: None,
        cwd: None,
        tools: Some(tools.map(tool).collect()),
    }
}

fn lists(tools: &[&str]) -> Arc<Vec<ServerTools>> {
    Arc::new(vec![server("stub", tools.iter().map(|tool| (*tool).to_owned()))])
}

fn snapshot(servers: watch::Receiver<Arc<Vec<ServerTools>>>) -> Snapshot {
    Snapshot::new(Local::new(Scanner::new(Vec::new())).beside(servers))
}

fn found(searched: &Searched, query: &str) -> Vec<String> {
    let found = searched.search.find(query, |_| true);
    found.hits.iter().map(|hit| hit.entry.tool.to_string()).collect()
}

#[tokio::test]
async fn the_catalog_follows_the_lists() {
    let (sender, receiver) = watch::channel(lists(&["a"]));
    let snapshot = snapshot(receiver);
    let first = snapshot.current().await;
    assert!(first.resolve("stub", "a").is_ok());
    assert!(Arc::ptr_eq(&first, &snapshot.current().await));

    sender.send(lists(&["b"])).expect("a receiver");
    let second = snapshot.current().await;
    assert!(second.resolve("stub", "b").is_ok() && second.resolve("stub", "a").is_err());

    drop(sender);
    assert!(Arc::ptr_eq(&second, &snapshot.current().await));
}

#[tokio::test]
async fn all_waiting_callers_share_one_catalog() {
    let (_sender, receiver) = watch::channel(lists(&["a"]));
    let snapshot = snapshot(receiver);
    let (a, b, c) = tokio::join!(snapshot.current(), snapshot.current(), snapshot.current());
    assert!(Arc::ptr_eq(&a, &b) && Arc::ptr_eq(&b, &c));
}

#[tokio::test]
async fn the_search_follows_the_lists_and_outlives_the_hub() {
    let (sender, receiver) = watch::channel(lists(&["paint"]));
    let snapshot = snapshot(receiver);
    assert_eq!(found(&*snapshot.newest_search().await, "paint"), ["stub.paint"]);

    sender.send(lists(&["sing"])).expect("a receiver");
    let searched = snapshot.search_of_present_lists().await;
    assert_eq!(found(&searched, "sing"), ["stub.sing"]);
    assert!(found(&searched, "paint").is_empty());

    drop(sender);
    assert_eq!(found(&*snapshot.newest_search().await, "sing"), ["stub.sing"]);
}

/// Two servers come and go among 20,000 tools while searches run.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_search_waits_while_servers_come_and_go() {
    let crowd: Vec<ServerTools> = (0..20)
        .map(|number| {
            server(
                &format!("crowd{number}"),
                (0..1_000).map(move |tool| format!("task_{number}_{tool}")),
            )
        })
        .collect();
    let toggled = [
        server("painter", ["paint".to_owned()].into_iter()),
        server("singer", ["sing".to_owned()].into_iter()),
    ];
    let with = |painter: bool, singer: bool| {
        let there = toggled.iter().zip([painter, singer]).filter(|(_, there)| *there);
        Arc::new(
            crowd
                .iter()
                .chain(there.map(|(server, _)| server))
                .cloned()
                .collect::<Vec<_>>(),
        )
    };
    let (sender, receiver) = watch::channel(with(true, true));
    let snapshot = Arc::new(snapshot(receiver));
    let start = Instant::now();
    snapshot.newest_search().await;
    let whole_build = start.elapsed();
    let mut waits = Vec::new();
    for (painter, singer) in [
        (false, true),
        (true, true),
        (true, false),
        (false, false),
        (true, true),
    ] {
        let number = snapshot.newest_search().await.number;
        let mut asked = Instant::now();
        sender.send(with(painter, singer)).expect("a receiver");
        // During the build, searches answer at once from the old index, without removed tools.
        loop {
            let searched = snapshot.newest_search().await;
            let lists = snapshot.lists();
            let present = searched.search.catalog().present(&lists);
            waits.push(asked.elapsed());
            let is_found = |query: &str, name: &str| {
                let found = searched.search.find(query, |entry| present.lists(&entry.tool));
                found.hits.iter().any(|hit| hit.entry.tool.to_string() == name)
            };
            assert!(is_found("task_3_7", "crowd3.task_3_7"));
            let is_newest = searched.number > number;
            for (server, name, query) in [
                (painter, "painter.paint", "painter paint"),
                (singer, "singer.sing", "singer sing"),
            ] {
                let is_found = is_found(query, name);
                assert!(if server { is_found || !is_newest } else { !is_found }, "{name}");
            }
            if is_newest {
                break;
            }
            asked = Instant::now();
        }
    }
    let longest = waits.iter().max().expect("waits");
    assert!(waits.len() > 10, "{} searches", waits.len());
    assert!(*longest < whole_build / 4, "{longest:?} of {whole_build:?}");
}
