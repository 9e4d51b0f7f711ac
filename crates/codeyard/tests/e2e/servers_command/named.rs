//! Servers that variables name, and the words for types and names that are none.

use serde_json::json;
use test_support::{Codeyard, RemoteServer, Way, run};

/// C364: a server by a variable alone, a type that is none, a name that is not there.
#[tokio::test]
async fn c364_a_variable_names_a_server_and_wrong_types_and_names_are_told() {
    let server = RemoteServer::start(Way::Sse).await.unwrap();
    let url = format!("{}?key=s3cret", server.url());
    let codeyard = Codeyard::new().unwrap().env("MCP_SERVER_STUB_URL", &url);
    let called = run(&codeyard, &["call", "stub.add", "{\"a\": 1, \"b\": 2}"], "").await;
    assert!(
        called.code == 0 && called.out.contains("\"sum\": 3"),
        "{called:?}"
    );
    let program = "return await tools.stub.echo(message='named')";
    let ran = run(&codeyard, &["run", "-"], program).await;
    assert_eq!((ran.out.as_str(), ran.code), ("named\n", 0), "{ran:?}");
    let listed = run(&codeyard, &["servers", "--json"], "").await;
    let stub = &listed.json()["servers"][0];
    assert_eq!(
        (&stub["name"], &stub["file"], &stub["use"], &stub["transport"]),
        (
            &json!("stub"),
            &json!("MCP_SERVER_STUB_URL"),
            &json!("used"),
            &json!("http")
        )
    );
    let shown = run(&codeyard, &["config", "show"], "").await;
    assert!(shown.out.contains("MCP_SERVER_STUB_URL"), "{shown:?}");
    assert!(!format!("{listed:?}{shown:?}").contains("s3cret"), "{shown:?}");
    let removed = run(&codeyard, &["servers", "remove", "stub", "--yes"], "").await;
    assert!(
        removed.code == 2 && removed.err.contains("`stub` is defined in MCP_SERVER_STUB_URL"),
        "{removed:?}"
    );
    for args in [
        &["servers", "test", "zzz"][..],
        &["servers", "logs", "zzz"],
        &["call", "zzz.add", "{}"],
        &["tools", "show", "zzz.add"],
    ] {
        let ended = run(&codeyard, args, "").await;
        let told = ended.err.contains("MCP server 'zzz' not found in configuration");
        assert!(ended.code == 2 && told, "{args:?}: {ended:?}");
    }
    // Files go first; what cannot be used stops nothing.
    let codeyard = codeyard
        .server_json(
            "stub",
            json!({"command": test_support::stub_server(), "args": ["stub"]}),
        )
        .env("MCP_SERVER_PLAIN_URL", "http://example.com/mcp?key=s3cret");
    let listed = run(&codeyard, &["tools"], "").await;
    assert!(
        listed.code == 0
            && listed.err.contains("MCP_SERVER_STUB_URL: is not used: ")
            && listed
                .err
                .contains("MCP_SERVER_PLAIN_URL: is not used: its value is plain HTTP")
            && !listed.err.contains("s3cret"),
        "{listed:?}"
    );
    for entry in [
        json!({"type": "ftp", "url": server.url()}),
        json!({"connection_type": "ftp", "url": server.url()}),
        json!({"type": "ftp"}),
    ] {
        let codeyard = Codeyard::new().unwrap().server_json("stub", entry.clone());
        let refused = run(&codeyard, &["tools"], "").await;
        let told = "Invalid connection type: ftp. Must be sse, stdio, or http";
        assert!(
            refused.code == 2 && refused.err.contains(told),
            "{entry}: {refused:?}"
        );
    }
}
