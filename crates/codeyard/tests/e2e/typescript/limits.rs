//! Programs that exceed limits, and their sessions afterwards.

use serde_json::json;
use test_support::{CodeClient, Codeyard};

use super::{check, run};

async fn with_limits(limits: &str) -> CodeClient {
    let codeyard = Codeyard::with_stub().unwrap();
    CodeClient::of(codeyard.settings(&format!("[limits]\n{limits}"))).await
}

/// Checks a run's end after half a second, and that its session keeps its variables.
async fn check_interrupted(client: &mut CodeClient, code: &str) {
    let asked = json!({"code": code, "language": "typescript", "timeout_ms": 500});
    let ran = client.execute(asked).await;
    assert_eq!(ran.status(), "timed_out", "{code}\n{ran:?}");
    check(client, "kept", json!("before")).await;
}

#[tokio::test]
async fn an_interrupted_session_keeps_its_variables() {
    let mut client = CodeClient::with_stub().await;
    let client = &mut client;
    check(client, "const kept = 'before'; kept", json!("before")).await;
    check_interrupted(client, "while (true) {}").await;
    check_interrupted(client, "/^(a+)+$/.test('a'.repeat(40) + '!')").await;
    check_interrupted(
        client,
        "await new Promise((resolve) => setTimeout(resolve, 60_000))",
    )
    .await;
    check_interrupted(client, "await tools.stub.slow({seconds: 60})").await;
    check_interrupted(client, "try { while (true) {} } finally { while (true) {} }").await;
    check_interrupted(
        client,
        "setInterval(() => {}, 1); await new Promise((r) => setTimeout(r, 60_000))",
    )
    .await;
    // Endless jobs end with their session.
    let code = "(function f() { Promise.resolve().then(f) })(); await new Promise(() => {})";
    let asked = json!({"code": code, "language": "typescript", "timeout_ms": 500});
    let ran = client.execute(asked).await;
    assert_eq!(
        (ran.status(), ran.fields()["session_state"].as_str()),
        ("timed_out", Some("lost")),
        "{ran:?}"
    );
    check(client, "typeof kept", json!("undefined")).await;
}

#[tokio::test]
async fn memory_is_bound() {
    let mut client = with_limits("memory = \"256 MiB\"").await;
    let client = &mut client;
    for code in [
        "const all = []; while (true) all.push(new Array(100_000).fill(1.5));",
        "const all = []; while (true) all.push(Buffer.alloc(1_000_000));",
        "let text = 'x'; const all = []; while (true) { text += text.slice(0, 1_000_000); all.push(text + all.length); }",
    ] {
        let ran = run(client, code).await;
        assert_eq!(ran.status(), "limit_exceeded", "{code}\n{ran:?}");
        check(client, "1 + 1", json!(2)).await;
    }
    let ran = run(client, "'x'.repeat(2 ** 30)").await;
    assert_eq!(ran.status(), "failed", "{ran:?}");
    let ran = run(client, "(function f() { f() })()").await;
    assert!(
        ran.error().contains("Maximum call stack size exceeded"),
        "{ran:?}"
    );
}

#[tokio::test]
async fn calls_are_bound() {
    let mut client = with_limits("host_calls = 3\nconcurrent_host_calls = 2").await;
    let client = &mut client;
    let code = "let made = 0; try { for (;;) { await tools.stub.add({a: 1, b: 1}); made++ } } catch (e) { return [made, e.kind] }";
    check(client, code, json!([3, "limit"])).await;
    check(
        client,
        "(await Promise.all([1, 2, 3].map((a) => tools.stub.add({a, b: 0})))).length",
        json!(3),
    )
    .await;
}

#[tokio::test]
async fn output_and_disk_are_bound() {
    let mut client = with_limits("output = \"64 KiB\"\ndisk = \"4 MiB\"\nfile_size = \"2 MiB\"").await;
    let client = &mut client;
    let ran = run(
        client,
        "for (let n = 0; n < 20_000; n++) console.log('a line of output')",
    )
    .await;
    assert!(ran.stdout().len() <= 64 * 1024 + 200, "{}", ran.stdout().len());
    let code = "const fs = require('node:fs'); try { for (let n = 0; ; n++) fs.writeFileSync('/tmp/f' + n, Buffer.alloc(1e6)) } catch (e) { return e.code }";
    check(client, code, json!("ENOSPC")).await;
    let code = "try { require('node:fs').writeFileSync('/workspace/f', Buffer.alloc(3e6)) } catch (e) { return e.code }";
    check(client, code, json!("EFBIG")).await;
}
