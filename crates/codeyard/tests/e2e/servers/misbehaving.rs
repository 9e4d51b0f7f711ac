//! Misbehaving servers fail only their own calls: the error names the server and the cause, and everything else
//! works.

use serde_json::json;
use test_support::{CodeClient, CodeResult, Codeyard, ServerDefinition, peak_memory};

/// Most memory of a misbehaving server: a few messages of the longest kind.
const MAX_KIB: u64 = 192 * 1024;

/// A codeyard with the good `stub`, a server `bad` of this mode, and a session with a variable.
async fn with(mode: &str, timeout: Option<u64>) -> CodeClient {
    let mut bad = ServerDefinition::hostile(mode);
    bad.timeout = timeout;
    let codeyard = Codeyard::with_stub().unwrap().server("bad", &bad);
    let mut client = CodeClient::of(codeyard).await;
    client.check("kept = 'kept'", "").await;
    client
}

/// Calls the bad server concurrently with the good one.
async fn call_both(client: &mut CodeClient) -> CodeResult {
    let code = "import asyncio\nbad, good = await asyncio.gather(tools.bad.echo(message='b'), tools.stub.echo(message='g'), \
                return_exceptions=True)\n\
                return [good, kept, getattr(bad, 'kind', None), getattr(bad, 'retryable', None), str(bad)]";
    let ran = client.run(code).await;
    assert_eq!(ran.status(), "completed", "{ran:?}");
    let kib = peak_memory(client.mcp.pid().unwrap()).unwrap();
    assert!(kib < MAX_KIB, "{kib} KiB");
    assert_eq!(
        (&ran.result()[0], &ran.result()[1]),
        (&json!("g"), &json!("kept")),
        "{ran:?}"
    );
    ran
}

/// The bad server's call fails with this kind and these words; the good server and the session still work.
async fn check(mode: &str, timeout: Option<u64>, kind: &str, expected: &[&str]) {
    let mut client = with(mode, timeout).await;
    let ran = call_both(&mut client).await;
    let error = ran.result()[4].as_str().unwrap();
    assert_eq!(ran.result()[2], kind, "{mode}: {error}");
    for words in ["server 'bad'"].iter().chain(expected) {
        assert!(error.contains(words), "{mode}: {words}: {error}");
    }
    // Uncaught, the model reads the same message.
    let ran = client.run("await tools.bad.echo(message='b')").await;
    assert!(
        ran.is_error() && ran.error().contains("server 'bad'"),
        "{mode}: {ran:?}"
    );
    client
        .check(
            "print(kept, await tools.stub.echo(message='after'))",
            "kept after\n",
        )
        .await;
}

/// The bad server's call succeeds.
async fn works(mode: &str, expected: &str) {
    let mut client = with(mode, None).await;
    for _ in 0..3 {
        let ran = call_both(&mut client).await;
        assert_eq!(
            (&ran.result()[2], &ran.result()[4]),
            (&json!(null), &json!(expected)),
            "{mode}: {ran:?}"
        );
    }
}

#[tokio::test]
async fn exits_at_start() {
    check(
        "exit",
        None,
        "upstream",
        &["did not start", "status 1", "fatal: the API key is missing"],
    )
    .await;
}

#[tokio::test]
async fn hangs_at_start() {
    check(
        "hang",
        Some(1_000),
        "timeout",
        &["did not answer its start within", "still starting"],
    )
    .await;
}

#[tokio::test]
async fn prints_noise() {
    works("noise", "b").await;
}

#[tokio::test]
async fn answers_garbage() {
    let words = "answered the call of 'echo' with something other than a result";
    check(
        "garbage",
        None,
        "upstream",
        &[words, "{\"jsonrpc\":\"2.0\",\"id\":"],
    )
    .await;
    check("no-result", None, "upstream", &[words]).await;
    check(
        "answers-numbers",
        None,
        "upstream",
        &["the result is not an object"],
    )
    .await;
}

#[tokio::test]
async fn lists_a_tool_without_schema() {
    works("no-schema", "b").await;
    let mut client = with("no-schema", None).await;
    let ran = client.run("await tools.bad.bare()").await;
    assert!(ran.error().contains("tools.bad.bare does not exist"), "{ran:?}");
}

#[tokio::test]
async fn answers_with_unknown_content() {
    let mut client = with("unknown-content", None).await;
    let code = "r = await tools.bad.echo(message='x')\nraw = runtime.last_raw()\n\
                return [raw['content'][0]['type'], raw['content'][0]['beams'], raw['vendor'], raw['_meta']]";
    let expected =
        json!(["hologram", [1, 2.5, 12_345_678_901_234_567_890_u64], {"z": 1, "a": null}, {"trace": "t-1"}]);
    assert_eq!(client.run(code).await.result(), &expected);
}

#[tokio::test]
async fn answers_with_fifty_megabytes() {
    check(
        "huge",
        None,
        "upstream",
        &[
            "52428873 bytes, more than the 16777216",
            "ask it for less at a time",
        ],
    )
    .await;
}

#[tokio::test]
async fn prints_a_line_of_fifty_megabytes() {
    check(
        "endless-line",
        None,
        "upstream",
        &["52428800 bytes, more than the 16777216"],
    )
    .await;
}

#[tokio::test]
async fn answers_another_request() {
    let words = [
        "did not answer the call of 'echo' within",
        "request 1000000, which was never sent",
    ];
    check("wrong-ids", Some(1_500), "timeout", &words).await;
}

#[tokio::test]
async fn answers_twice() {
    works("duplicate", "b").await;
}

#[tokio::test]
async fn dies_in_mid_call() {
    let words = ["ended during the call of 'echo'", "SIGABRT", "panic: out of luck"];
    check("dies", None, "upstream", &words).await;
    // Of a long message, the end is shown.
    let mut client = with("dies-loudly", None).await;
    let ran = call_both(&mut client).await;
    let error = ran.result()[4].as_str().unwrap();
    assert!(error.ends_with("the last words") && error.len() < 4096, "{error}");
}

#[tokio::test]
async fn answers_byte_by_byte_without_end() {
    check(
        "drip",
        Some(1_500),
        "timeout",
        &["did not answer the call of 'echo' within"],
    )
    .await;
}

#[tokio::test]
async fn answers_with_invalid_text_or_dies_in_the_middle_of_it() {
    check("not-text", Some(3_000), "upstream", &["the call of 'echo'"]).await;
    // Codeyard may see the server's end before or after its last words.
    check("half-an-answer", None, "upstream", &["the call of 'echo'"]).await;
}

#[tokio::test]
async fn lists_a_schema_of_a_hundred_levels_or_thousands_of_tools() {
    works("deep", "b").await;
    works("crowd", "b").await;
}

#[tokio::test]
async fn a_schema_with_a_remote_reference_is_never_fetched() {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = format!("http://{}/schema.json", listener.local_addr().unwrap());
    let bad = ServerDefinition::hostile("remote-schema").env("ELSEWHERE", address);
    let codeyard = Codeyard::with_stub().unwrap().server("bad", &bad);
    let mut client = CodeClient::of(codeyard).await;
    client
        .check("print(await tools.bad.echo(message='b'))", "b\n")
        .await;
    client.run("return await tools.bad.elsewhere(message='b')").await;
    client
        .run("return [t for t in dir(tools.bad)] + [str(runtime.query_tool_docs_sync('bad'))]")
        .await;
    client
        .check("print(await tools.stub.echo(message='after'))", "after\n")
        .await;
    let nobody = listener.accept().unwrap_err();
    assert_eq!(nobody.kind(), std::io::ErrorKind::WouldBlock);
}

#[tokio::test]
async fn lists_pages_in_a_circle_or_no_tools_at_all() {
    let mut client = with("circular-pages", None).await;
    // Codeyard reads each of the two pages once.
    let ran = client.run("return sorted(dir(tools.bad))").await;
    assert_eq!(ran.result(), &json!(["echo_again", "echo_first"]), "{ran:?}");
    // Without an argument to echo, the answer's text is invalid.
    let ran = client
        .run("return (await tools.bad.echo_first()).raw['content']")
        .await;
    assert_eq!(ran.result(), &json!([{"type": "text", "text": null}]), "{ran:?}");
    client
        .check(
            "print(kept, await tools.stub.echo(message='after'))",
            "kept after\n",
        )
        .await;
    let mut client = with("no-tools", None).await;
    let ran = client.run("await tools.bad.echo(message='x')").await;
    assert!(
        ran.error()
            .contains("tools.bad.echo does not exist; the server has no tools"),
        "{ran:?}"
    );
}

#[tokio::test]
async fn stops_reading() {
    let mut client = with("deaf", Some(1_000)).await;
    for _ in 0..2 {
        let code = "try:\n    await tools.bad.echo(message='x' * 100_000)\nexcept ToolError as e:\n    print(e.kind, 'bad' in str(e))";
        client.check(code, "timeout True\n").await;
    }
    client
        .check(
            "print(kept, await tools.stub.echo(message='after'))",
            "kept after\n",
        )
        .await;
}

#[tokio::test]
async fn definitions_that_cannot_start_get_a_remedy() {
    let codeyard = Codeyard::with_stub()
        .unwrap()
        .server("unknown", &ServerDefinition::new("no-such-command-anywhere", &[]))
        .server("nowhere", &ServerDefinition::new("/nowhere/server", &[]))
        .server(
            "homeless",
            &ServerDefinition::stub().cwd("/nowhere/at/all".as_ref()),
        );
    let mut client = CodeClient::of(codeyard).await;
    for (server, expected) in [
        (
            "unknown",
            "server 'unknown' did not start: command 'no-such-command-anywhere' was not found on PATH",
        ),
        (
            "nowhere",
            "cannot start '/nowhere/server': No such file or directory",
        ),
        (
            "homeless",
            "server 'homeless' did not start: `cwd` '/nowhere/at/all' is not a directory",
        ),
    ] {
        let ran = client
            .run(&format!("await tools.{server}.echo(message='x')"))
            .await;
        assert!(ran.error().contains(expected), "{server}: {}", ran.error());
    }
    client
        .check("print(await tools.stub.echo(message='after'))", "after\n")
        .await;
}
