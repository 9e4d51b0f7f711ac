//! Programs on the optional engines Node and Deno: results equal to the default engine's, and packages.

use std::fs;
use std::path::Path;

use serde_json::json;
use test_support::{CodeClient, Codeyard, Mode, run as ended};

use super::{blind, check, check_fails, check_printed, run};

/// Programs with their results on every engine. Later programs use the variables of earlier ones.
const RESULTS: [(&str, &str); 21] = [
    ("const a: number = 1; a + 1", "2"),
    (
        "let n = 1; function f() { return ++n } class A { m() { return 'm' } }\nf()",
        "2",
    ),
    ("[f(), new A().m(), a]", r#"[3, "m", 1]"#),
    ("(await tools.stub.add({a: 2, b: 3})).sum", "5"),
    ("(await tools['stub']['add']({a: 2, b: 3})).sum", "5"),
    (
        "import { add } from '/tools/stub/add.ts'; (await add({a: 1, b: 1})).sum",
        "2",
    ),
    (
        "import * as stub from '/servers/stub'; (await stub.add({a: 1, b: 2})).sum",
        "3",
    ),
    (
        "const { add: plus } = await import('/tools/stub'); (await plus({a: 2, b: 2})).sum",
        "4",
    ),
    (
        "(await Promise.all([1, 2, 3].map((a) => tools.stub.add({a, b: 0})))).map((r) => r.sum)",
        "[1, 2, 3]",
    ),
    (
        "try { await tools.stub.fail({message: 'no'}) } catch (e) { return [e instanceof ToolError, e.server] }",
        r#"[true, "stub"]"#,
    ),
    (
        "await writeFile('dir/x.txt', 'text'); [await readFile('dir/x.txt'), await listDirectory('dir')]",
        r#"["text", ["x.txt"]]"#,
    ),
    (
        "import fs from 'node:fs/promises'; (await fs.readdir('dir')).length",
        "1",
    ),
    ("require('node:path').join('a', 'b')", r#""a/b""#),
    (
        "import { toolcall } from '/tools/_runtime.ts'; (await toolcall('stub', 'add', {a: 3, b: 2})).sum",
        "5",
    ),
    (
        "await writeFile('lib/b.ts', 'import { add } from \"/tools/stub/add.ts\"; export const b = async (a: number) => (await add({a, b: 1})).sum'); 0",
        "0",
    ),
    (
        "await writeFile('lib/a.ts', 'import { b } from \"./b\"; import d from \"./d.json\" with { type: \"json\" }; export const a = async () => await b(d.n)'); await writeFile('lib/d.json', '{\"n\": 41}'); 0",
        "0",
    ),
    (
        "import { a as fromFile } from './lib/a.ts'; await fromFile()",
        "42",
    ),
    ("let late = 0; setTimeout(() => { late = 1 }, 20); late", "0"),
    ("late", "1"),
    (
        "[process.cwd(), Object.keys(process.env).length]",
        r#"["/workspace", 0]"#,
    ),
    ("new Map([['k', 2n]])", r#"{"k": 2}"#),
];

/// Programs with parts of their errors.
const ERRORS: [(&str, &[&str]); 9] = [
    ("const x: number = ;", &["SyntaxError", "(line 1)"]),
    (
        "const m = 1;\nthrow new RangeError('bad' as string)",
        &["<program>:2", "RangeError: bad"],
    ),
    ("await fetch('http://localhost')", &["no network; use a tool"]),
    (
        "const name = 'stub'; tools[name].add({a: 1, b: 2}); 1",
        &["tools.stub.add(...) was never awaited"],
    ),
    ("Promise.reject(new TypeError('lost')); 1", &["TypeError: lost"]),
    (
        "setTimeout(() => { throw new Error('in a timer') }, 1); 1",
        &["in a timer"],
    ),
    ("process.exit(3)", &["SystemExit", "exit status 3"]),
    ("await tools.stub.nothing({})", &["nothing"]),
    ("import './none.ts'", &["Cannot find module './none.ts'"]),
];

/// An installation with this engine; `None` where the engine must refuse, after a check of the refusal.
async fn with(engine: &str, codeyard: Codeyard) -> Option<CodeClient> {
    let has_groups = Mode::of(&codeyard).await.unwrap().groups;
    let codeyard = codeyard.settings(&format!("[typescript]\nengine = \"{engine}\""));
    if !has_groups {
        let mut client = CodeClient::of(codeyard).await;
        check_fails(
            &mut client,
            "1",
            &["needs control groups", "engine = \"quickjs\""],
        )
        .await;
        return None;
    }
    let synced = codeyard.run(["typescript", "sync"]).await.unwrap();
    assert!(
        synced.status.success(),
        "{}",
        String::from_utf8_lossy(&synced.stderr)
    );
    Some(CodeClient::of(codeyard).await)
}

async fn check_engine(engine: &str) {
    let Some(mut client) = with(engine, Codeyard::with_stub().unwrap()).await else {
        return;
    };
    let client = &mut client;
    for (code, expected) in RESULTS {
        check(client, code, serde_json::from_str(expected).unwrap()).await;
    }
    for (code, expected) in ERRORS {
        check_fails(client, code, expected).await;
    }
    check(client, "[a, process.exitCode ?? null]", json!([1, null])).await;
    check_printed(
        client,
        "console.log('a'); console.error('b'); process.stdout.write('c\\n')",
        "a\nc\n",
    )
    .await;
    let ran = run(client, "console.log('x'.repeat(2_000_000)); 1").await;
    assert!(ran.shown().contains("/results/stdout-ts"), "{}", ran.shown());
    let ran = run(client, "await writeFile('new.txt', 'x'.repeat(7)); 1").await;
    assert!(
        ran.shown().contains("/workspace/new.txt (txt, 7 B)"),
        "{}",
        ran.shown()
    );
    let python = client.run("return open('new.txt').read()").await;
    assert_eq!(python.result(), "xxxxxxx", "{python:?}");
}

#[tokio::test]
async fn node_runs_the_programs_of_the_default_engine() {
    check_engine("node").await;
}

#[tokio::test]
async fn deno_runs_the_programs_of_the_default_engine() {
    check_engine("deno").await;
}

#[tokio::test]
async fn nearly_all_of_forty_programs_work_on_each() {
    for engine in ["node", "deno"] {
        let codeyard = Codeyard::new().unwrap().real_servers().unwrap();
        let data = codeyard.upstreams_data();
        if let Some(mut client) = with(engine, codeyard).await {
            for programs in [&blind::FIRST, &blind::SECOND] {
                blind::check_programs(&mut client, &data, programs).await;
            }
        }
    }
}

/// A program that exceeds a limit ends; its session ends too if nothing else stops it.
#[tokio::test]
async fn limits_bind() {
    for engine in ["node", "deno"] {
        let codeyard = Codeyard::with_stub().unwrap();
        let codeyard = codeyard.settings("[limits]\nmemory = \"320 MiB\"\nhost_calls = 5");
        let Some(mut client) = with(engine, codeyard).await else {
            return;
        };
        let client = &mut client;
        check(client, "const kept = 'before'; kept", json!("before")).await;
        for (code, state) in [
            (
                "await new Promise((resolve) => setTimeout(resolve, 60_000))",
                "before",
            ),
            ("await tools.stub.slow({seconds: 60})", "before"),
            ("while (true) {}", "undefined"),
        ] {
            let asked = json!({"code": code, "language": "typescript", "timeout_ms": 1000});
            let ran = client.execute(asked).await;
            assert_eq!(ran.status(), "timed_out", "{engine} {code}\n{ran:?}");
            check(
                client,
                "typeof kept === 'undefined' ? 'undefined' : kept",
                json!(state),
            )
            .await;
        }
        let ran = run(
            client,
            "const all = []; while (true) all.push(new Array(100_000).fill(1.5));",
        )
        .await;
        assert_eq!(ran.status(), "limit_exceeded", "{engine}\n{ran:?}");
        let code = "let made = 0; try { for (;;) { await tools.stub.add({a: 1, b: 1}); made++ } } catch (e) { return [made, e.kind] }";
        check(client, code, json!([5, "limit"])).await;
        // At a run's answer, none of its processes is alive; only the engine itself is.
        let code =
            "const started = require('node:child_process').spawn('/bin/sleep', ['60']); started.pid > 0";
        check(client, code, json!(true)).await;
        let code = "const fs = require('node:fs'); fs.readdirSync('/proc').filter((p) => /^\\d+$/.test(p)).filter((p) => { \
                    try { return fs.readFileSync(`/proc/${p}/cmdline`, 'utf8').includes('sleep') } catch { return false } })";
        check(client, code, json!([])).await;
    }
}

/// Writes an archive of a package whose installation script would leave a file, and the lists that name the package.
fn write_packages(directory: &Path) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/e2e/typescript/packages.py");
    fs::create_dir(directory).unwrap();
    #[expect(clippy::disallowed_methods, reason = "it ends before this function does")]
    let made = std::process::Command::new("python3")
        .arg(script)
        .arg(directory)
        .status();
    assert!(made.unwrap().success());
}

#[tokio::test]
async fn packages_of_a_lock_file_can_be_imported_and_none_runs_a_script() {
    for engine in ["node", "deno"] {
        let codeyard = Codeyard::with_stub().unwrap();
        let directory = codeyard.directory().join("packages");
        write_packages(&directory);
        let codeyard = codeyard.settings(&format!(
            "[typescript]\npackages = {directory:?}\nengine = \"{engine}\""
        ));
        if !Mode::of(&codeyard).await.unwrap().groups {
            return;
        }
        let info = ended(&codeyard, &["typescript", "info"], "").await;
        assert!(
            info.code != 0 && info.err.contains("`codeyard typescript sync`"),
            "{info:?}"
        );
        // The second of two syncs waits for the first.
        let sync = || ended(&codeyard, &["typescript", "sync"], "");
        let (synced, other) = tokio::join!(sync(), sync());
        assert_eq!(other.code, 0, "{other:?}");
        assert!(synced.code == 0 && synced.out.contains("1 package"), "{synced:?}");
        let info = ended(&codeyard, &["typescript", "info"], "").await;
        assert!(info.out.contains("tiny  1.0.0"), "{info:?}");
        assert!(!directory.join("ran").exists());
        let mut client = CodeClient::of(codeyard).await;
        check(&mut client, "import { answer } from 'tiny'; answer", json!(42)).await;
        check_fails(&mut client, "import 'none-such'", &["none-such"]).await;
    }
}

#[tokio::test]
async fn missing_parts_are_reported_with_their_remedy() {
    let empty = tempfile::tempdir().unwrap();
    for (engine, expected) in [
        ("deno", "Deno is not installed; run `codeyard typescript sync`"),
        ("node", "no Node.js is on PATH"),
    ] {
        let codeyard = Codeyard::new().unwrap().env("PATH", empty.path());
        let codeyard = codeyard.settings(&format!("[typescript]\nengine = \"{engine}\""));
        let info = ended(&codeyard, &["typescript", "info"], "").await;
        assert!(info.err.contains(expected), "{info:?}");
        let looked = ended(&codeyard, &["doctor"], "").await;
        assert!(looked.out.contains(expected), "{looked:?}");
        if engine == "deno" {
            let synced = ended(&codeyard, &["typescript", "sync"], "").await;
            assert!(synced.err.contains("npm is not on PATH"), "{synced:?}");
        }
        // Only TypeScript programs fail.
        if Mode::of(&codeyard).await.is_ok_and(|mode| mode.groups) {
            let mut client = CodeClient::of(codeyard).await;
            check_fails(&mut client, "1", &[expected]).await;
        }
    }
    let codeyard = Codeyard::new()
        .unwrap()
        .settings("[typescript]\nengine = \"denno\"");
    let told = ended(&codeyard, &["config", "check"], "").await;
    assert!(
        told.err.contains("typescript.engine") && told.err.contains("did you mean `deno`?"),
        "{told:?}"
    );
    let codeyard = Codeyard::new()
        .unwrap()
        .settings("[typescript]\npackages = \"p\"");
    let told = ended(&codeyard, &["config", "check"], "").await;
    assert!(
        told.err.contains("the engine `quickjs` imports no packages"),
        "{told:?}"
    );
}
