//! Credentials and addresses: credentials are sent and never shown, and no name leads to an internal address.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};
use test_support::{CodeClient, Codeyard, RemoteServer, Way};

use crate::remote::{WAYS, check, with_entry};

/// The error of a program that calls the server.
async fn error(entry: Value) -> String {
    let mut client = with_entry(entry).await;
    let ran = client.run("return await tools.far.echo(message='x')").await;
    assert!(ran.is_error(), "{}", ran.shown());
    ran.error().to_owned()
}

#[tokio::test]
async fn tokens_are_sent_from_headers_variables_and_files() {
    let server = RemoteServer::start(Way::Legacy).await.unwrap();
    server.require_token("s3cret-token");
    let codeyard = Codeyard::new().unwrap();
    let file = codeyard.directory().join("token");
    std::fs::write(&file, "s3cret-token\n").unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    let codeyard = codeyard
        .env("FAR_TOKEN", "s3cret-token")
        .server_json(
            "variable",
            json!({"url": server.url(), "headers": {"Authorization": "Bearer ${FAR_TOKEN}"}}),
        )
        .server_json("file", json!({"url": server.url(), "bearerTokenFile": file}));
    let mut client = CodeClient::of(codeyard).await;
    let ran = client
        .run("return [await tools.variable.echo(message='a'), await tools.file.echo(message='b')]")
        .await;
    check(&ran, &json!(["a", "b"]));
    // Read for each request.
    std::fs::write(&file, "another").unwrap();
    let ran = client.run("return await tools.file.echo(message='b')").await;
    assert!(
        ran.error().contains("does not accept the credentials")
            && ran.error().contains("the token has expired"),
        "{}",
        ran.shown()
    );
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    let ran = client.run("return await tools.file.echo(message='b')").await;
    assert!(
        ran.error().contains("others may read it; run `chmod 600` on it"),
        "{}",
        ran.shown()
    );
    std::fs::write(&file, "s3cret-token").unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    check(
        &client.run("return await tools.file.echo(message='c')").await,
        &json!("c"),
    );
}

#[tokio::test]
async fn without_credentials_the_error_names_their_place() {
    for way in WAYS {
        let server = RemoteServer::start(way).await.unwrap();
        server.require_token("x");
        let error = error(json!({"url": server.url()})).await;
        assert!(
            error.contains(
                "it asks for credentials (HTTP 401); log in with `codeyard login far`, or give a token in `bearerTokenFile` or in `headers`"
            ),
            "{error}"
        );
    }
}

#[tokio::test]
async fn an_unreachable_server_is_reported_at_once() {
    let port = RemoteServer::start(Way::Legacy).await.unwrap().port();
    let told = error(json!({"url": format!("http://127.0.0.1:{port}/mcp")})).await;
    assert!(
        told.contains("it cannot be reached") && told.contains("refused"),
        "{told}"
    );
    let told = error(json!({"url": "https://nowhere.example/mcp?key=s3cret"})).await;
    assert!(told.contains("the name nowhere.example was not found"), "{told}");
    assert!(!told.contains("s3cret"), "{told}");
}

#[tokio::test]
async fn a_server_without_tls_is_distinguished_from_one_with_tls() {
    let server = RemoteServer::start(Way::Legacy).await.unwrap();
    let told = error(json!({"url": server.url().replace("http:", "https:")})).await;
    assert!(
        told.contains("it does not speak TLS there; is it `http:`?"),
        "{told}"
    );
}

#[tokio::test]
async fn a_server_that_echoes_its_request_shows_no_token() {
    let server = RemoteServer::start(Way::Legacy).await.unwrap();
    let headers = json!({"X-Key": "k3y-of-mine", "Authorization": "Bearer s3cret-token"});
    let codeyard = Codeyard::new().unwrap();
    let file = codeyard.directory().join("token");
    std::fs::write(&file, "t0ken-of-a-file\n").unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    let codeyard = codeyard
        .server_json("far", json!({"url": server.url(), "headers": headers}))
        .server_json("file", json!({"url": server.url(), "bearerTokenFile": file}));
    let mut client = CodeClient::of(codeyard).await;
    for tools in ["far", "file"] {
        for word in ["headers", "headers in an error", "headers in a challenge"] {
            let ran = client
                .run(&format!("return await tools.{tools}.echo(message={word:?})"))
                .await;
            assert!(ran.is_error(), "{}", ran.shown());
            for secret in ["s3cret", "k3y-of", "t0ken-of"] {
                assert!(!ran.shown().contains(secret), "{tools}, {word}: {}", ran.shown());
            }
            assert!(
                word == "headers in a challenge" || ran.error().contains("[hidden]"),
                "{}",
                ran.shown()
            );
        }
    }
    let logged = client.mcp.stderr();
    for secret in ["s3cret", "k3y-of", "t0ken-of"] {
        assert!(!logged.contains(secret), "{logged}");
    }
}

/// C344: the same result over each transport, with a required header.
#[tokio::test]
async fn the_same_result_over_each_transport() {
    let mut codeyard = Codeyard::with_stub().unwrap();
    let mut servers = Vec::new();
    for (name, way) in [
        ("modern", Way::Modern),
        ("legacy", Way::Legacy),
        ("sse", Way::Sse),
    ] {
        let server = RemoteServer::start(way).await.unwrap();
        server.require_token("right");
        let entry = |token: &str| json!({"url": server.url(), "headers": {"Authorization": format!("Bearer {token}")}});
        codeyard = codeyard
            .server_json(name, entry("right"))
            .server_json(&format!("wrong_{name}"), entry("wr0ng"));
        servers.push(server);
    }
    let mut client = CodeClient::of(codeyard).await;
    let ran = client
        .run(
            "results = []\n\
             for server in [tools.stub, tools.modern, tools.legacy, tools.sse]:\n\
             \x20   results.append(await server.add(a=2, b=3))\n\
             return results",
        )
        .await;
    let sum = json!({"sum": 5});
    check(&ran, &json!([sum, sum, sum, sum]));
    for name in ["modern", "legacy", "sse"] {
        let ran = client
            .run(&format!("return await tools.wrong_{name}.add(a=2, b=3)"))
            .await;
        let told = ran.error();
        assert!(
            told.contains(
                "it does not accept the credentials of the definition (HTTP 401: the token has expired)"
            ),
            "{told}"
        );
        assert!(!told.contains("wr0ng"), "{told}");
    }
}
