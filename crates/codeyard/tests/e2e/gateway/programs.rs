//! Programs over `/rpc`: output, errors, languages and calls of tools.

use serde_json::{Value, json};

use super::actors::ALICE;
use super::running::{Gateway, installation, stub};
use crate::server_surface::programs::FAILING;

pub async fn python(gateway: &Gateway) {
    let id = gateway.cs_a(&json!({})).await;
    for (code, output) in [
        // C028 to C031
        (
            "import asyncio\nawait asyncio.sleep(0.05)\nprint('awaited')",
            "awaited\n",
        ),
        (
            "class A:\n    def f(self): return 1\ntry:\n    {}['k']\nexcept KeyError as e:\n    \
             print(repr(e), isinstance(A(), A), list(map(str, range(2))))",
            "KeyError('k') True ['0', '1']\n",
        ),
        ("# nothing to do", ""),
        ("s='''a\nb'''\nprint(len(s))", "3\n"),
        // C038, C039
        ("class M:\n    def eval(self): return 5\nprint(M().eval())", "5\n"),
        (
            "import asyncio, json, re, math, datetime, time, uuid, collections, itertools, functools, statistics, typing\n\
             print('ok')",
            "ok\n",
        ),
        // C053: a program can import a tool's file.
        (
            "from tools.stub.add import add\nprint((await add({'a':1,'b':1}))['sum'])",
            "2\n",
        ),
    ] {
        gateway.check((&ALICE, &id), code, output).await;
    }
    let of_tools = [
        // C056, C058
        (
            "await tools.stub.nope({})",
            "",
            "Tool 'stub/nope' is not mounted for this server",
        ),
        (
            "await __toolcall__('shell_exec',{'code':'print(1)'})",
            "",
            "shell_exec",
        ),
    ];
    for (code, output, error) in FAILING.into_iter().chain(of_tools) {
        let ran = gateway.check_error((&ALICE, &id), code, error).await;
        assert_eq!(ran.output(), output, "{code}");
    }
}

#[tokio::test]
async fn c028_to_c039_c053_c056_c058_python() {
    python(&Gateway::with_stub().await).await;
}

#[tokio::test]
async fn c037_output_on_standard_error_does_not_fail_a_run() {
    let gateway = Gateway::with_stub().await;
    let id = gateway.cs_a(&json!({})).await;
    gateway
        .sh(&ALICE, &id, "import sys\nprint('e', file=sys.stderr)")
        .await;
    gateway.sh(&ALICE, &id, "def f(:").await;
    gateway.sh(&ALICE, &id, "raise SystemExit(3)").await;
    let runs = gateway.get(&ALICE, &format!("/servers/{id}/code/runs")).await;
    let statuses: Vec<&Value> = runs
        .as_array()
        .unwrap()
        .iter()
        .map(|run| &run["status"])
        .collect();
    assert_eq!(statuses, ["failed", "failed", "completed"]);
}

#[tokio::test]
async fn c040_c041_c045_large_outputs_and_the_hash() {
    let gateway = Gateway::with_stub().await;
    let id = gateway.cs_a(&json!({})).await;
    let large = gateway.sh(&ALICE, &id, "print('x'*1048576)").await;
    assert!(
        !large.is_error() && large.output().contains("cut here; all of it: /results/stdout-"),
        "{large:?}"
    );
    let error = gateway
        .sh(
            &ALICE,
            &id,
            "import sys\nsys.stderr.write('e'*300000)\nprint('done')",
        )
        .await;
    assert_eq!(error.output(), "done\n");
    let hashed = gateway.sh(&ALICE, &id, "print(1)").await;
    // Computed by sha256sum.
    let expected = "d287bb7f9d15abdc5b6e98536263815744b6ef21c8f3c839fc434ca70d8efe99";
    assert_eq!(hashed.fields()["metrics"]["code_hash"], expected);
}

#[tokio::test]
async fn c046_c047_c048_c055_typescript() {
    let gateway = Gateway::with_stub().await;
    let id = gateway.cs_a(&json!({})).await;
    let run = async |code: &str| {
        let arguments = json!({"code": code, "language": "typescript"});
        gateway.call(&ALICE, &id, "shell_exec", arguments).await
    };
    for (code, output) in [
        ("const x: number = 41; console.log('v', x+1);", "v 42\n"),
        ("return {a:1}", "{\"a\":1}\n"),
        (
            "const r = await tools.stub.add({a:2,b:3}); console.log(r.sum)",
            "5\n",
        ),
        // C050
        (
            "try { await fetch('http://127.0.0.1:9/'); console.log('LEAK'); } catch (e) { console.log('blocked'); }",
            "blocked\n",
        ),
    ] {
        let ran = run(code).await;
        assert_eq!(
            (ran.output(), ran.error(), ran.is_error()),
            (output, "", false),
            "{code}"
        );
    }
    let shown = run("console.log({a:1}, [1,2])").await;
    assert!(
        shown.output().contains('a') && !shown.output().contains("[object Object]"),
        "{shown:?}"
    );
    let thrown = run("throw new Error(\"boom\")").await;
    assert!(thrown.is_error() && thrown.error().contains("boom"), "{thrown:?}");
}

#[tokio::test]
async fn c054_a_name_with_a_hyphen_is_imported_by_its_file() {
    let codeyard = installation().server("my-stub", &stub());
    let gateway = Gateway::start(codeyard).await;
    let id = gateway.cs_a(&json!({})).await;
    let servers = gateway.call(&ALICE, &id, "fs_browse", json!({})).await;
    assert!(servers.names().contains(&"my_stub"), "{servers:?}");
    let files = gateway
        .call(&ALICE, &id, "fs_browse", json!({"path": "/tools/my_stub"}))
        .await;
    assert!(files.names().contains(&"list_things.py"), "{files:?}");
    let code =
        "from tools.my_stub.list_things import list_things\nprint(type(await list_things({})).__name__)";
    let ran = gateway.sh(&ALICE, &id, code).await;
    assert!(!ran.is_error() && !ran.output().is_empty(), "{ran:?}");
}

#[tokio::test]
async fn c059_a_failing_tool_can_be_caught() {
    let gateway = Gateway::with_stub().await;
    let id = gateway.cs_a(&json!({})).await;
    let code = "try:\n    await tools.stub.fail({'message':'nope'})\nexcept Exception as e:\n    print('caught', 'nope' in str(e))";
    let ran = gateway.check((&ALICE, &id), code, "caught True\n").await;
    let fields = ran.fields();
    let call = &fields["tool_calls_made"][0];
    assert_eq!(
        (&call["name"], &call["success"]),
        (&json!("stub/fail"), &json!(false)),
        "{fields}"
    );
    assert_eq!(fields["metrics"]["error_rate"], 1.0);
    let row = &gateway.get(&ALICE, &format!("/servers/{id}/code/runs")).await[0];
    assert_eq!(row["tool_calls_made"][0]["success"], false, "{row}");
    assert_eq!(row["metrics"]["error_rate"], 1.0, "{row}");
}

#[tokio::test]
async fn c088_a_time_out_keeps_output_and_is_recorded() {
    let gateway = Gateway::with_stub().await;
    let id = gateway
        .cs_a(&json!({"sandbox_policy": {"max_execution_time_ms": 1500}}))
        .await;
    let code = "print('partial', flush=True)\nimport time\ntime.sleep(30)";
    let arguments = json!({"code": code, "language": "python", "timeout_ms": 60_000});
    let ran = gateway.call(&ALICE, &id, "shell_exec", arguments).await;
    assert_eq!(
        (ran.output(), ran.error()),
        ("partial\n", "Execution timed out after 1500ms")
    );
    let row = &gateway.get(&ALICE, &format!("/servers/{id}/code/runs")).await[0];
    assert_eq!(row["status"], "timed_out", "{row}");
}

#[tokio::test]
async fn c110_c114_c115_programs_see_nothing_of_the_gateway() {
    let codeyard = installation().env("CANARY_ENV", "canary-7f3a");
    let gateway = Gateway::start(codeyard).await;
    let id = gateway.cs_a(&json!({})).await;
    let code = "\
import os
print(dict(os.environ))
for process in ('self', '1', str(os.getppid())):
    try:
        print(open(f'/proc/{process}/environ').read())
    except OSError as error:
        print(type(error).__name__)";
    let ran = gateway.sh(&ALICE, &id, code).await;
    assert!(!ran.is_error(), "{ran:?}");
    for secret in ["canary-7f3a", "cyd_", "DATABASE", "CODE_EXECUTION"] {
        assert!(!ran.output().contains(secret), "{secret}: {}", ran.output());
    }
    let status = "\
status = dict(line.split(':\\t') for line in open('/proc/self/status').read().splitlines() if ':\\t' in line)
print(status['CapEff'], status['NoNewPrivs'], status['Seccomp'])";
    gateway
        .check((&ALICE, &id), status, "0000000000000000 1 2\n")
        .await;
}

#[tokio::test]
async fn c111_programs_reach_no_address() {
    let gateway = Gateway::with_stub().await;
    let id = gateway.cs_a(&json!({})).await;
    // Not even the gateway's own address.
    let (host, port) = gateway.address.split_once(':').unwrap();
    let code = format!(
        "import socket\ntry:\n    socket.create_connection(('{host}', {port}), 2)\n    print('LEAK')\n\
         except OSError:\n    print('blocked')"
    );
    gateway.check((&ALICE, &id), &code, "blocked\n").await;
}

#[tokio::test]
async fn c128_a_program_that_ends_its_process_ends_nothing_else() {
    let gateway = Gateway::with_stub().await;
    let id = gateway.cs_a(&json!({})).await;
    let ended = gateway.sh(&ALICE, &id, "import os; os._exit(7)").await;
    assert!(ended.is_error(), "{ended:?}");
    gateway
        .check((&ALICE, &id), "print('healthy')", "healthy\n")
        .await;
}
