//! A confined server tries to read, write and connect beyond its definition.

use std::fs;
use std::net::TcpListener;

use jail::confinement::Confinement;
use serde_json::{Value, json};
use test_support::{ServerDefinition, stub_server};
use upstream::Hub;

use crate::{call, hub_of, stdio, text};

async fn said(hub: &Hub, tool: &str, arguments: Value) -> String {
    let answer = call(hub, "server", tool, arguments).await.expect("an answer");
    text(&answer).to_owned()
}

/// A server with this confinement; prints a note and returns `None` if the kernel cannot
/// confine.
async fn confined(confinement: Confinement) -> Option<Hub> {
    let hub = hub_of(&ServerDefinition::stub_with_extras(), |server| {
        stdio(server).sandbox = Some(confinement);
    });
    match call(&hub, "server", "echo", json!({"message": "x"})).await {
        Ok(_) => Some(hub),
        Err(error) => {
            assert!(
                error.to_string().contains("this kernel cannot confine"),
                "{error}"
            );
            None
        }
    }
}

#[tokio::test]
async fn it_reaches_what_is_named_and_nothing_else() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = |name: &str| directory.path().join(name);
    for name in ["read", "write", "other"] {
        fs::create_dir(path(name)).expect("made");
        fs::write(path(name).join("file"), name).expect("written");
    }
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    for network in [false, true] {
        let confinement = Confinement {
            read: vec![path("read")],
            write: vec![path("write")],
            network,
        };
        let Some(hub) = confined(confinement).await else {
            return;
        };
        for (tool, place, expected) in [
            ("read", "read/file", "read"),
            ("read", "write/file", "write"),
            ("read", "other/file", "Permission denied"),
            ("write", "write/new", "written"),
            ("write", "read/new", "Permission denied"),
            ("write", "other/new", "Permission denied"),
        ] {
            let answer = said(&hub, tool, json!({"path": path(place)})).await;
            assert!(answer.starts_with(expected), "{tool} {place}: {answer}");
        }
        for secret in [
            "/etc/shadow",
            "/proc/1/environ",
            &format!("/proc/{}/environ", std::process::id()),
        ] {
            let answer = said(&hub, "read", json!({"path": secret})).await;
            assert!(answer.starts_with("Permission denied"), "{secret}: {answer}");
        }
        let answer = said(&hub, "connect", json!({"address": address})).await;
        let expected = if network {
            "connected"
        } else {
            "Operation not permitted"
        };
        assert!(answer.starts_with(expected), "{answer}");
        hub.shutdown().await;
    }
}

#[tokio::test]
async fn a_path_that_is_not_there_stops_the_start_with_its_name() {
    let missing = stub_server().with_file_name("no such directory");
    let hub = hub_of(&ServerDefinition::stub(), |server| {
        stdio(server).sandbox = Some(Confinement {
            write: vec![missing],
            ..Confinement::default()
        });
    });
    let error = hub.list("server").await.expect_err("not started").to_string();
    let expected = [
        "no such directory, which cannot be opened",
        "this kernel cannot confine",
    ];
    assert!(expected.iter().any(|words| error.contains(words)), "{error}");
    assert!(error.contains("server 'server' did not start"), "{error}");
}
