//! The check before a run: a refused program has done nothing.

use serde_json::json;
use test_support::{CodeClient, Codeyard};

/// The lines of a refusal, without the first and the last.
fn findings(text: &str) -> Vec<&str> {
    let lines: Vec<&str> = text.lines().collect();
    assert!(
        lines[0].contains("was not run and nothing has happened"),
        "{text}"
    );
    assert!(lines[lines.len() - 1].contains("check: \"warn\""), "{text}");
    lines[1..lines.len() - 1].to_vec()
}

#[tokio::test]
async fn all_failing_calls_are_reported_at_once_and_nothing_has_happened() {
    let mut client = CodeClient::with_stub().await;
    client.check("kept = 5\nwritten = 0", "").await;
    let code = "written = 1\nawait tools.stub.echo(message='first')\nawait tools.stub.ad(a=1, b=2)\nawait tools.stub.add(a='x')";
    let ran = client.run(code).await;
    assert_eq!(ran.status(), "refused", "{ran:?}");
    assert!(ran.is_error());
    let told = ran.fields()["error"].as_str().unwrap().to_owned();
    assert_eq!(
        findings(&told),
        [
            "line 3: tools.stub.ad does not exist; write tools.stub.add(a: float, b: float)",
            "line 4: tools.stub.add: missing required argument 'b': float; argument 'a' must be float, not str 'x'; write \
             tools.stub.add(a: float, b: float)",
        ]
    );
    assert_eq!(ran.fields()["check"], json!(findings(&told)));
    client.check("print(kept, written)", "5 0\n").await;
    client.check_healthy().await;
}

#[tokio::test]
async fn a_call_that_may_never_run_causes_only_a_warning() {
    let mut client = CodeClient::with_stub().await;
    for code in [
        "tries = [lambda: tools.stub.ad(a=1, b=2)]\nfor each in tries:\n    try:\n        await each()\n    except ToolError as error:\n        print(error.kind)",
        "async def later():\n    await tools.stub.ad(a=1, b=2)\nprint('unknown_tool')",
    ] {
        let ran = client.run(code).await;
        assert_eq!(
            (ran.status(), ran.stdout()),
            ("completed", "unknown_tool\n"),
            "{ran:?}"
        );
        let check = ran.fields()["check"][0].as_str().unwrap();
        assert!(
            check.contains(": warning: tools.stub.ad does not exist; "),
            "{check}"
        );
    }
    let ran = client
        .run("async def now():\n    await tools.stub.ad(a=1, b=2)\nawait now()")
        .await;
    assert_eq!(ran.status(), "refused", "{ran:?}");
}

#[tokio::test]
async fn a_program_runs_with_warn_and_off() {
    let mut client = CodeClient::with_stub().await;
    let code = "print('begun')\nawait tools.stub.ad(a=1, b=2)";
    let warned = client.execute(json!({"code": code, "check": "warn"})).await;
    assert_eq!(
        (warned.status(), warned.stdout()),
        ("failed", "begun\n"),
        "{warned:?}"
    );
    let line = "line 2: tools.stub.ad does not exist; write tools.stub.add(a: float, b: float)";
    assert_eq!(warned.fields()["check"], json!([line]));
    let off = client.execute(json!({"code": code, "check": "off"})).await;
    assert_eq!((off.status(), off.stdout()), ("failed", "begun\n"), "{off:?}");
    assert!(off.fields().get("check").is_none(), "{off:?}");
}

#[tokio::test]
async fn errors_that_the_check_cannot_see_appear_in_the_run() {
    let mut client = CodeClient::with_stub().await;
    let code = "name = 'a' + 'd'\ntry:\n    await tools.stub[name](a=1)\nexcept ToolError as error:\n    print(error.kind)";
    client.check(code, "unknown_tool\n").await;
    client
        .check(
            "tools_of = tools\ntools = {'stub': 1}\nprint(tools['stub'])",
            "1\n",
        )
        .await;
    // An earlier run has redefined the name.
    let ran = client.run("tools.stub.nope()").await;
    assert_eq!(ran.status(), "failed", "{ran:?}");
}

#[tokio::test]
async fn a_call_of_a_denied_tool_fails_in_the_run() {
    let codeyard = Codeyard::with_stub()
        .unwrap()
        .settings("[policy]\ndeny = [\"stub.add\"]");
    let mut client = CodeClient::of(codeyard).await;
    // The call starts the server, so that its tools are known.
    client.check("r = await tools.stub.echo(message='x')", "").await;
    let code = "try:\n    await tools.stub.add(a=1, b=2)\nexcept ToolError as error:\n    print(error.kind)";
    client.check(code, "denied\n").await;
    let ran = client.run("print(1)\nawait tools.stub.add(a=1, b=2)").await;
    assert_eq!((ran.status(), ran.stdout()), ("failed", "1\n"), "{ran:?}");
}

#[tokio::test]
async fn the_settings_are_the_default_of_a_call() {
    let codeyard = Codeyard::with_stub()
        .unwrap()
        .settings("[check]\ndefault = \"off\"");
    let mut client = CodeClient::of(codeyard).await;
    let ran = client.run("print(1)\nawait tools.stub.nope()").await;
    assert_eq!((ran.status(), ran.stdout()), ("failed", "1\n"), "{ran:?}");
}

#[tokio::test]
async fn hostile_programs_are_answered_as_before() {
    let mut client = CodeClient::with_stub().await;
    for code in [
        "(".repeat(100_000),
        "x = 'a\0b'".to_owned(),
        "def f(:\n    pass".to_owned(),
    ] {
        let ran = client.run(&code).await;
        assert_eq!(ran.status(), "failed", "{ran:?}");
        assert!(
            ran.fields()["error"].as_str().unwrap().contains("SyntaxError"),
            "{ran:?}"
        );
    }
    let long = format!("{}print(1)", "x = 1\n".repeat(150_000));
    client.check(&long, "1\n").await;
    client.check_healthy().await;
}
