//! Errors show the lines of the program, and a remedy.

use serde_json::json;
use test_support::CodeClient;

use super::{check, check_fails, run};

/// C047.
#[tokio::test]
async fn c047_a_throw_fails_the_run() {
    let mut client = CodeClient::with_stub().await;
    let ran = run(&mut client, "throw new Error(\"boom\")").await;
    assert_eq!((ran.status(), ran.is_error()), ("failed", true), "{ran:?}");
    assert!(ran.error().contains("Error: boom"), "{ran:?}");
}

#[tokio::test]
async fn positions_are_those_of_the_text() {
    let mut client = CodeClient::with_stub().await;
    let client = &mut client;
    let code = "interface A {\n  a: string\n}\nfunction f(a: A): never {\n  throw new RangeError(a.a);\n}\nf({a: 'x'});";
    check_fails(
        client,
        code,
        &[
            "<program>:5\n  throw new RangeError(a.a);",
            "at f (<program>:5:",
            "at <program>:7:",
            "RangeError: x",
        ],
    )
    .await;
    check_fails(
        client,
        "const a = 1;\nconst b = ;",
        &["<program>:2:11\nconst b = ;\n          ^", "SyntaxError"],
    )
    .await;
    check_fails(
        client,
        "throw new Error('outer', {cause: new TypeError('inner')})",
        &["TypeError: inner", "cause", "Error: outer"],
    )
    .await;
    check_fails(client, "throw 'a text'", &["a text"]).await;
    check_fails(client, "undefined.x", &["TypeError"]).await;
    check_fails(
        client,
        "const [first] = ({} as any).none",
        &["TypeError: undefined is not iterable"],
    )
    .await;
}

#[tokio::test]
async fn forgotten_promises_are_reported() {
    let mut client = CodeClient::with_stub().await;
    let client = &mut client;
    check_fails(
        client,
        "const later = [tools.stub.add].map((f) => f({a: 1, b: 2}));\n1",
        &["tools.stub.add(...) was never awaited", "<program>:1"],
    )
    .await;
    check_fails(
        client,
        "Promise.reject(new TypeError('lost'));\n1",
        &["TypeError: lost"],
    )
    .await;
    check_fails(
        client,
        "await new Promise(() => {})",
        &["NeverSettled", "no call, timer or other job is left"],
    )
    .await;
    check_fails(client, "process.exit(3)", &["exit status 3"]).await;
    check(client, "console.log('x'); process.exit(0)", json!(null)).await;
}

/// C050.
#[tokio::test]
async fn c050_there_is_no_network() {
    let mut client = CodeClient::with_stub().await;
    let client = &mut client;
    let code = "try { await fetch('http://127.0.0.1:18099/'); return 'LEAK' } catch (e) { return e.message }";
    let ran = run(client, code).await;
    assert!(
        ran.result()
            .as_str()
            .is_some_and(|text| text.contains("no network; use a tool")),
        "{ran:?}"
    );
    check_fails(
        client,
        "require('node:net')",
        &["The sandbox has no network", "use a tool"],
    )
    .await;
    check_fails(
        client,
        "import { spawn } from 'child_process'",
        &["starts no processes"],
    )
    .await;
    check_fails(client, "import x from 'lodash'", &["has no packages"]).await;
    check(client, "Object.keys(process.env)", json!([])).await;
}
