//! `[surface.sandbox_policy]`: system 0's policy as limits that bind.

use serde_json::json;
use test_support::{Codeyard, MetaTools as _, MetaToolsClient};

async fn client(policy: &str) -> MetaToolsClient {
    let settings = format!("[surface.sandbox_policy]\nruntime = \"python\"\n{policy}");
    MetaToolsClient::of(Codeyard::with_stub().unwrap().settings(&settings)).await
}

#[tokio::test]
async fn s0_11_a_policy_binds_time_memory_and_files() {
    let mut client = client("max_execution_time_ms = 1500\nmax_memory_mb = 96\nmax_file_size_mb = 1").await;
    let looped = client.run("print('begun', flush=True)\nwhile True: pass").await;
    assert_eq!(looped.output(), "begun\n", "{looped:?}");
    assert!(
        looped.error().contains("Execution timed out after 1500ms"),
        "{looped:?}"
    );
    let asked = json!({"code": "while True: pass", "language": "python", "timeout_ms": 60_000});
    let clamped = client.call("shell_exec", asked).await;
    assert!(
        clamped.error().contains("Execution timed out after 1500ms"),
        "{clamped:?}"
    );
    let grown = client
        .run("x = bytearray(300 * 1024 * 1024)\nprint(len(x))")
        .await;
    assert!(
        grown.is_error() && !grown.output().contains("314572800"),
        "{grown:?}"
    );
    let write = |size: usize| json!({"path": "/scratch/f", "content": "x".repeat(size)});
    assert!(!client.call("fs_write", write(1024 * 1024)).await.is_error());
    let large = client.call("fs_write", write(1024 * 1024 + 1)).await;
    assert!(
        large
            .error()
            .contains("Content too large (1048577 bytes, limit 1048576)"),
        "{large:?}"
    );
}

#[tokio::test]
async fn a_policy_s_runtime_is_the_usual_language() {
    let codeyard = Codeyard::with_stub()
        .unwrap()
        .settings("[surface.sandbox_policy]\nruntime = \"deno\"\n");
    let mut client = MetaToolsClient::of(codeyard).await;
    let printed = client
        .call(
            "shell_exec",
            json!({"code": "const n: number = 1; console.log(n + 1)"}),
        )
        .await;
    assert_eq!((printed.output(), printed.error()), ("2\n", ""));
}

#[tokio::test]
async fn results_report_that_an_allowed_network_is_missing() {
    const NOTE: &str = "programs have no network here; use a tool";
    for (policy, is_told) in [
        ("", false),
        ("allow_raw_http = true", true),
        ("max_network_connections = 4", true),
    ] {
        let mut client = client(policy).await;
        let ran = client.run("print(1)").await;
        assert_eq!(ran.output(), "1\n");
        assert_eq!(
            ran.0["content"].to_string().contains(NOTE),
            is_told,
            "{policy}: {ran:?}"
        );
    }
}
