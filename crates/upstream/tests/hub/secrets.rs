//! Values of a definition's `env` that its server prints: no warning, error or log shows them.

use std::path::Path;

use serde_json::json;
use test_support::{ServerDefinition, stub_server, wait_until};
use upstream::{Hub, HubConfig};
use upstream_wire::log_file;

use crate::{call, config, state};

const KEY: &str = "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END KEY-----";

/// A server that first runs this script, with secrets in its variables.
fn hub(script: &str, logs: &Path) -> Hub {
    let definition = ServerDefinition::new("/bin/sh", &["-c", script])
        .env("API_USER", "github")
        .env("TOKEN", "github_pat_s3cret")
        .env("KEY", KEY);
    Hub::new(HubConfig {
        log_dir: Some(logs.to_owned()),
        ..config(&[("server", definition)])
    })
}

#[tokio::test]
async fn what_a_server_prints_shows_no_value_of_its_variables() {
    let logs = tempfile::tempdir().expect("a temporary directory");
    let stub = stub_server();
    let script = format!(
        "echo \"debug token=$TOKEN\"
         echo \"bad $TOKEN of $API_USER\" >&2
         echo \"$KEY\" >&2
         head -c 65530 /dev/zero | tr '\\0' x >&2
         sleep 0.2
         echo \"$TOKEN\" >&2
         echo done >&2
         exec '{}' stub",
        stub.display()
    );
    let hub = hub(&script, logs.path());
    call(&hub, "server", "echo", json!({"message": "x"}))
        .await
        .expect("an answer");
    let warnings = state(&hub, "server").warnings.join("\n");
    assert!(warnings.ends_with("debug token=[hidden]"), "{warnings}");
    let file = log_file(logs.path(), "server");
    let log = wait_until("the log is written", || {
        let log = std::fs::read_to_string(&file).ok()?;
        log.contains("done\n").then_some(log)
    })
    .await;
    assert!(log.contains("bad [hidden] of [hidden]\n"), "{log}");
    assert!(!KEY.lines().any(|line| log.contains(line)), "{log}");
    assert!(log.ends_with("xxx[hidden]\ndone\n"), "{log}");
    hub.shutdown().await;
}

#[tokio::test]
async fn an_error_of_its_start_shows_none_either() {
    let logs = tempfile::tempdir().expect("a temporary directory");
    let refusal = r#"{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"no: '"$TOKEN"'"}}\n"#;
    let script = format!(
        "while read -r line; do id=${{line#*\\\"id\\\":}}; id=${{id%%[,\\}}]*}}; printf '{refusal}' \"$id\"; done"
    );
    let hub = hub(&script, logs.path());
    let error = hub.list("server").await.expect_err("refused").to_string();
    assert!(
        error.contains("it refused the handshake: ") && error.contains("no: [hidden]"),
        "{error}"
    );
    hub.shutdown().await;
}
