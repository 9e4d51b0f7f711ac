//! Tools as functions, and the check of their calls before the run.

use serde_json::json;
use test_support::{CodeClient, Codeyard};

use super::{check, check_fails, check_printed, run};

/// C055: every form of a call reaches the same tool.
#[tokio::test]
async fn c055_every_form_of_a_call() {
    let mut client = CodeClient::with_stub().await;
    for code in [
        "(await tools.stub.add({a: 2, b: 3})).sum",
        "(await tools['stub']['add']({a: 2, b: 3})).sum",
        "const { add } = tools.stub; (await add({a: 2, b: 3})).sum",
        "import { add } from '/tools/stub/add.ts';\n(await add({a: 2, b: 3})).sum",
        "import stub from '/tools/stub';\n(await stub.add({a: 2, b: 3})).sum",
        "(await (await import('/servers/stub/add.ts')).add({a: 2, b: 3})).sum",
        "(await __toolcall__('stub.add', {a: 2, b: 3})).sum",
        "(await __toolcall__('stub', 'add', {a: 2, b: 3})).sum",
        "import { toolcall, type ToolResult } from '/tools/_runtime.ts';\n((await toolcall('stub', 'add', {a: 2, b: 3})) as ToolResult).sum",
        "await writeFile('stub.ts', await readFile('/tools/stub/add.ts')); (await (await import('./stub.ts')).add({a: 2, b: 3})).sum",
    ] {
        check(&mut client, code, json!(5)).await;
    }
}

/// S3-20 to S3-22.
#[tokio::test]
async fn s3_tools_are_found_step_by_step() {
    let mut client = CodeClient::with_stub().await;
    let client = &mut client;
    check_printed(
        client,
        "console.log('Available servers:', await listDirectory('/tools'))",
        "Available servers: [ 'stub' ]\n",
    )
    .await;
    check(
        client,
        "(await readFile('/tools/stub/index.d.ts')).includes('export declare function add(')",
        json!(true),
    )
    .await;
    check(
        client,
        "const m = await import('/servers/stub/add.ts'); m.add.name",
        json!("add"),
    )
    .await;
    check(
        client,
        "(await searchTools('add two numbers', 1))[0].signature",
        json!("tools.stub.add({ a: number, b: number }): Promise<{ sum: number }>"),
    )
    .await;
    check(
        client,
        "(await listServers()).map((s) => s.name)",
        json!(["stub"]),
    )
    .await;
    check(client, "(await manual()).includes('Call tools')", json!(true)).await;
}

#[tokio::test]
async fn calls_run_in_parallel() {
    let mut client = CodeClient::with_stub().await;
    let code = "const t = performance.now();\n\
                await Promise.all([1, 2, 3, 4].map(() => tools.stub.slow({seconds: 0.4})));\n\
                performance.now() - t < 1200";
    check(&mut client, code, json!(true)).await;
}

#[tokio::test]
async fn errors_of_tools_can_be_caught() {
    let mut client = CodeClient::with_stub().await;
    let client = &mut client;
    let code = "try { await tools.stub.fail({message: 'nope'}) } catch (e) { return [e instanceof ToolError, e.kind, e.message] }";
    check(client, code, json!([true, "tool", "nope"])).await;
    check_fails(
        client,
        "await tools.stub.fail({message: 'nope'})",
        &["ToolError: nope", "<program>:1"],
    )
    .await;
}

#[tokio::test]
async fn wrong_calls_are_refused_before_the_run() {
    let mut client = CodeClient::with_stub().await;
    let client = &mut client;
    for (call, expected) in [
        (
            "tools.stub.ad({a: 1, b: 2})",
            "tools.stub.ad does not exist; write tools.stub.add({ a: number, b: number })",
        ),
        ("tools.stab.add({a: 1, b: 2})", "there is no server 'stab'"),
        ("tools.stub.add({a: 1})", "missing required argument 'b'"),
        ("tools.stub.add({a: 'x', b: 2})", "argument 'a' must be"),
        ("tools.stub.add(1)", "takes one object of arguments, not a number"),
    ] {
        let code = format!("await writeFile('made', '');\nawait {call};");
        let ran = run(client, &code).await;
        assert_eq!(ran.status(), "refused", "{ran:?}");
        assert!(
            ran.error().contains(expected) && ran.error().contains("line 2"),
            "{}",
            ran.error()
        );
        check(client, "require('node:fs').existsSync('made')", json!(false)).await;
    }
    check_fails(
        client,
        "tools.stub.add({a: 1, b: 2});\n1",
        &["is never awaited; write await"],
    )
    .await;
    // With the check off, and with a mistake that the text does not show.
    let warned = json!({"code": "await tools.stub.ad({})", "language": "typescript", "check": "warn"});
    let ran = client.execute(warned).await;
    assert_eq!(ran.status(), "failed", "{ran:?}");
    check_fails(
        client,
        "const name = 'ad'; await tools.stub[name]({})",
        &["ToolError"],
    )
    .await;
}

/// A program's changes do not reach the runtime.
#[tokio::test]
async fn replaced_methods_change_no_call() {
    let mut client = CodeClient::with_stub().await;
    let code = include_str!("pollution.ts");
    check(&mut client, code, json!(3)).await;
}

/// The names of real servers, with hyphens.
#[tokio::test]
async fn real_servers_answer() {
    let codeyard = Codeyard::new().unwrap().real_servers().unwrap();
    let mut client = CodeClient::of(codeyard).await;
    let client = &mut client;
    check(
        client,
        "await tools.everything.get_sum({a: 2, b: 3})",
        json!("The sum of 2 and 3 is 5."),
    )
    .await;
    check(
        client,
        "await tools.everything['get-sum']({a: 2, b: 3})",
        json!("The sum of 2 and 3 is 5."),
    )
    .await;
    check(
        client,
        "(await tools.time.get_current_time({timezone: 'UTC'})).timezone",
        json!("UTC"),
    )
    .await;
}
