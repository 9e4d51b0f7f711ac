//! Failed calls: before they are sent, at the server, or abandoned.

use std::fs;

use serde_json::json;
use test_support::{CodeClient, CodeResult, Codeyard, ServerDefinition};

/// Runs a call that must raise `ToolError`; compares kind, retryability and text.
async fn fails(client: &mut CodeClient, call: &str, expected: &str) {
    let code = format!(
        "try:\n    {call}\nexcept ToolError as e:\n    print(e.kind, e.retryable, e.server, e.tool, '|', e)\nelse:\n    print('no error')"
    );
    let ran = client.run(&code).await;
    assert_eq!(ran.stdout().trim_end(), expected, "{call}: {ran:?}");
}

/// Runs a program that the check before the run would refuse.
async fn unchecked(client: &mut CodeClient, code: &str) -> CodeResult {
    client.execute(json!({"code": code, "check": "off"})).await
}

#[tokio::test]
async fn errors_of_unknown_names_suggest_the_nearest() {
    let codeyard = Codeyard::with_stub()
        .unwrap()
        .server("calendar", &ServerDefinition::replay("time"));
    let mut client = CodeClient::of(codeyard).await;
    for (call, expected) in [
        (
            "await tools.stub.ad(a=1, b=2)",
            "unknown_tool False stub ad | server 'stub' has no tool 'ad' (did you mean 'add'?)",
        ),
        (
            "await tools.stub.list_thing()",
            "unknown_tool False stub list_thing | server 'stub' has no tool 'list_thing' (did you mean 'list-things'?)",
        ),
        (
            "await tools.calender.get_current_time(timezone='UTC')",
            "unknown_tool False calender  | there is no server 'calender'; did you mean 'calendar'?",
        ),
        (
            "await mcp_stub.ecko(message='x')",
            "unknown_tool False stub ecko | server 'stub' has no tool 'ecko' (did you mean 'echo'?)",
        ),
        (
            "servers.stub.ecko(message='x')",
            "unknown_tool False stub ecko | server 'stub' has no tool 'ecko' (did you mean 'echo'?)",
        ),
    ] {
        fails(&mut client, call, expected).await;
    }
    // Uncaught, the model reads the same message, with the program's line.
    let ran = unchecked(&mut client, "x = 1\nawait tools.stub.ad(a=1, b=2)").await;
    assert_eq!(ran.status(), "failed");
    for part in [
        "line 2",
        "ToolError",
        "server 'stub' has no tool 'ad'",
        "did you mean 'add'?",
    ] {
        assert!(ran.error().contains(part), "{part}: {}", ran.error());
    }
}

#[tokio::test]
async fn arguments_are_checked_before_the_call_is_sent() {
    let log = tempfile::NamedTempFile::new().unwrap();
    let stub = ServerDefinition::stub_with_extras().env("STUB_LOG", log.path().to_string_lossy());
    let mut client = CodeClient::of(Codeyard::new().unwrap().server("stub", &stub)).await;
    client
        .check("print((await tools.stub.calls()).calls)", "1\n")
        .await;
    for (call, expected) in [
        (
            "await tools.stub.send()",
            "invalid_arguments False stub send | stub.send: missing required argument 'to': str (send(to: str))",
        ),
        (
            "await tools.stub.send(too='ana')",
            "invalid_arguments False stub send | stub.send: missing required argument 'to': str ('too' is not a parameter of this tool) (send(to: str))",
        ),
        (
            "await tools.stub.send(to=5)",
            "invalid_arguments False stub send | stub.send: argument 'to' must be str, not int 5 (send(to: str))",
        ),
        (
            "await tools.stub.add(a=1, b='2')",
            "invalid_arguments False stub add | stub.add: argument 'b' must be float, not str '2' (add(a: float, b: float))",
        ),
        (
            "servers.stub.send(to=None)",
            "invalid_arguments False stub send | stub.send: argument 'to' must be str, not None (send(to: str))",
        ),
    ] {
        fails(&mut client, call, expected).await;
    }
    assert_eq!(fs::read_to_string(log.path()).unwrap(), "", "nothing was sent");
    client
        .check("print((await tools.stub.calls()).calls)", "2\n")
        .await;
    client
        .check("print(await tools.stub.send(to='ana'))", "sent\n")
        .await;
    assert_eq!(fs::read_to_string(log.path()).unwrap(), "ana\n");
}

#[tokio::test]
async fn invalid_forms_of_arguments_are_type_errors() {
    let mut client = CodeClient::with_stub().await;
    for call in [
        "tools.stub.echo('x')",
        "tools.stub.echo({'message': 'x'}, 1)",
        "tools.stub.echo({'message': 'x'}, a=1)",
    ] {
        let ran = unchecked(&mut client, &format!("await {call}")).await;
        assert!(
            ran.error()
                .contains("TypeError: tools.stub.echo takes keyword arguments or one mapping"),
            "{call}: {ran:?}"
        );
    }
    let ran = client.run("await tools.stub.echo(message=object())").await;
    assert!(ran.is_error() && ran.error().contains("message"), "{ran:?}");
}

#[tokio::test]
async fn a_tools_own_error_is_raised_with_its_words() {
    let codeyard = Codeyard::new()
        .unwrap()
        .server("stub", &ServerDefinition::stub_with_extras());
    let mut client = CodeClient::of(codeyard).await;
    fails(
        &mut client,
        "await tools.stub.fail(message='no such person')",
        "tool False stub fail | no such person",
    )
    .await;
    fails(
        &mut client,
        "await tools.stub.refuse(code=-32000, message='not today')",
        "upstream False stub refuse | server 'stub' refused the call of 'refuse': not today (code -32000)",
    )
    .await;
    let code = "import asyncio\nresults = await asyncio.gather(tools.stub.echo(message='fine'), tools.stub.fail(message='bad'), \
                return_exceptions=True)\nprint(results[0], type(results[1]).__name__)";
    client.check(code, "fine ToolError\n").await;
}

#[tokio::test]
async fn a_call_that_nobody_awaits_fails_the_run() {
    let log = tempfile::NamedTempFile::new().unwrap();
    let stub = ServerDefinition::stub().env("STUB_LOG", log.path().to_string_lossy());
    let mut client = CodeClient::of(Codeyard::new().unwrap().server("stub", &stub)).await;
    let ran = unchecked(&mut client, "x = 1\ntools.stub.send(to='ana')\nprint('done')").await;
    assert_eq!((ran.status(), ran.stdout()), ("failed", "done\n"), "{ran:?}");
    assert!(
        ran.error()
            .contains("tools.stub.send(...) on line 2 was never awaited; write `await tools.stub.send(...)`"),
        "{}",
        ran.error()
    );
    assert_eq!(fs::read_to_string(log.path()).unwrap(), "");
    let ran = unchecked(&mut client, "return tools.stub.echo(message='x')").await;
    assert_eq!(ran.status(), "failed", "{ran:?}");
    assert!(ran.error().contains("never awaited"), "{}", ran.error());
    // A call stored in a variable and awaited later is fine.
    client
        .check(
            "call = tools.stub.echo(message='later')\nprint(await call)",
            "later\n",
        )
        .await;
}

#[tokio::test]
async fn a_failure_midway_names_the_earlier_calls() {
    let mut client = CodeClient::with_stub().await;
    let code = "for word in 'ab': await tools.stub.echo(message=word)\nawait tools.stub.add(a=1, b=2)\n1 / 0";
    let ran = client.run(code).await;
    let told =
        "before it failed, these calls had succeeded and may have changed something: stub.echo (2 times)";
    // `stub.add` is declared read-only.
    assert_eq!(ran.shown().lines().last(), Some(told), "{ran:?}");
    assert_eq!(ran.fields()["changes"], told);
    for code in [
        "await tools.stub.echo(message='x')",
        "await tools.stub.add(a=1, b=2)\n1 / 0",
    ] {
        let ran = client.run(code).await;
        assert_eq!(ran.fields().get("changes"), None, "{ran:?}");
    }
}
