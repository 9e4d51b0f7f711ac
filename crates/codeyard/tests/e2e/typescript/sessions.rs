//! A session in both languages: variables of each last, files are shared.

use serde_json::{Value, json};
use test_support::{CodeClient, Codeyard};

use super::{check, check_fails, run};

#[tokio::test]
async fn declarations_of_a_program_last() {
    let mut client = CodeClient::with_stub().await;
    let client = &mut client;
    run(client, "let n = 1; const f = () => ++n; class A { m() { return 'm' } }\nfunction g() { return f() + 1 }\nimport { join } from 'node:path';").await;
    check(
        client,
        "[f(), g(), new A().m(), join('a', 'b')]",
        json!([2, 4, "m", "a/b"]),
    )
    .await;
    check(client, "const n = 10; n", json!(10)).await;
    check(client, "const [x, {y = 2}] = [1, {}]; x + y", json!(3)).await;
    check(client, "x + y", json!(3)).await;
    check_fails(client, "undeclared = 1", &["ReferenceError"]).await;
    check_fails(client, "const half = 1; throw new Error('x')", &["Error: x"]).await;
    check(client, "half", json!(1)).await;
}

#[tokio::test]
async fn no_process_continues_after_a_run() {
    let mut client = CodeClient::with_stub().await;
    let client = &mut client;
    run(client, "globalThis.ticks = 0; setInterval(() => ticks++, 1)").await;
    let before = run(client, "ticks").await;
    check(
        client,
        "await new Promise((r) => setTimeout(r, 30)); ticks",
        before.result().clone(),
    )
    .await;
    check(
        client,
        "let late = 0; setTimeout(() => late = 1, 20); 'waits'",
        json!("waits"),
    )
    .await;
    check(client, "late", json!(1)).await;
}

#[tokio::test]
async fn both_languages_share_the_files_of_a_session() {
    let mut client = CodeClient::with_stub().await;
    let client = &mut client;
    check(
        client,
        "await writeFile('data/a.json', JSON.stringify({n: 1})); listDirectory('.')",
        json!(["data"]),
    )
    .await;
    let python = "import json, pathlib\nd = json.load(open('data/a.json'))\npathlib.Path('b.txt').write_text(str(d['n'] + 1))\nd['n']";
    let ran = client.run(python).await;
    assert_eq!(ran.result(), &json!(1), "{ran:?}");
    check(client, "await readFile('b.txt')", json!("2")).await;
    // A lost guest of one language does not affect the other.
    client.run("kept = 5").await;
    check(client, "const kept = 6; kept", json!(6)).await;
    let ran = client.run("import os\nos._exit(1)").await;
    assert_eq!(ran.fields()["session_state"], "lost", "{ran:?}");
    check(client, "[kept, await readFile('b.txt')]", json!([6, "2"])).await;
}

#[tokio::test]
async fn modules_of_the_workspace_can_be_imported() {
    let mut client = CodeClient::with_stub().await;
    let client = &mut client;
    run(client, "await writeFile('lib/a.ts', 'import { b } from \"./b\"; export const a: number = b + 1;');\nawait writeFile('lib/b.ts', 'export const b: number = 1; export default \"B\";');").await;
    check(client, "import { a } from './lib/a.ts'; a", json!(2)).await;
    check(client, "(await import('./lib/b.ts')).default", json!("B")).await;
    check_fails(
        client,
        "import { c } from './lib/b.ts'",
        &["has no export 'c'; it has: b, default"],
    )
    .await;
    check_fails(
        client,
        "import x from './nothing.ts'",
        &["Cannot find module './nothing.ts'"],
    )
    .await;
    run(client, "await writeFile('wrong.ts', 'export const a: = 1;')").await;
    check_fails(client, "await import('./wrong.ts')", &["/workspace/wrong.ts:1"]).await;
}

#[tokio::test]
async fn written_files_are_listed() {
    let mut client = CodeClient::with_stub().await;
    let ran = run(&mut client, "await writeFile('/results/a.csv', 'a,b\\n1,2\\n')").await;
    let artifacts: Vec<Value> = ran.fields()["artifacts"].as_array().cloned().unwrap_or_default();
    assert!(
        artifacts.iter().any(|file| file.to_string().contains("a.csv")),
        "{ran:?}"
    );
}

/// Sessions are clones of one process, but each draws different random numbers.
#[tokio::test]
async fn sessions_draw_different_random_numbers() {
    let mut client = CodeClient::with_stub().await;
    let mut drawn = Vec::new();
    for session in ["one", "two", "three"] {
        let code = "[Math.random(), crypto.randomUUID()]";
        let asked = json!({"code": code, "language": "typescript", "session": session});
        drawn.push(client.execute(asked).await.result().clone());
    }
    assert!(
        drawn[0] != drawn[1] && drawn[1] != drawn[2] && drawn[0][0] != drawn[1][0],
        "{drawn:?}"
    );
}

/// S0-09, S3-30: the command line derives the language from the file's name.
#[tokio::test]
async fn the_command_line_derives_the_language_from_the_file_name() {
    let codeyard = Codeyard::with_stub().unwrap();
    let file = codeyard.work_directory().join("x.ts");
    std::fs::write(
        &file,
        "const { sum }: { sum: number } = await tools.stub.add({ a: 1, b: 2 });\nconsole.log(sum);",
    )
    .unwrap();
    let output = codeyard.run(["run", "x.ts"]).await.unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "3\n", "{output:?}");
    let output = codeyard
        .run(["run", "--language", "typescript", "-c", "[1, 2].length"])
        .await
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "2\n", "{output:?}");
    let output = codeyard
        .run(["run", "--language", "ruby", "-c", "1"])
        .await
        .unwrap();
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("use 'python', 'typescript' or 'shell'"),
        "{output:?}"
    );
}

#[tokio::test]
async fn typescript_needs_no_python() {
    let empty = tempfile::tempdir().unwrap();
    let codeyard = Codeyard::with_stub().unwrap().env("PATH", empty.path());
    let mut client = CodeClient::of(codeyard).await;
    let client = &mut client;
    check(client, "(await tools.stub.add({a: 1, b: 2})).sum", json!(3)).await;
    let python = client.run("1").await;
    assert!(
        python.error().contains("no Python 3.10 or newer can be used"),
        "{python:?}"
    );
    check(
        client,
        "await writeFile('x.txt', 'x'); await readFile('x.txt')",
        json!("x"),
    )
    .await;
}
