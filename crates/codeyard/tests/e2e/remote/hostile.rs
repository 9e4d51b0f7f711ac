//! Wrong answers over HTTP: each fails its own call only, with a precise error, and costs no memory.

use std::time::Instant;

use serde_json::json;
use test_support::{RemoteServer, Way, peak_memory};

use crate::remote::{WAYS, check, with_entry};

/// Most memory growth by wrong answers, compared with a right one: a message of 16 MiB, held twice while a growing
/// buffer is copied, and noise.
const MAX_GROWTH_KIB: u64 = 48 * 1024;

/// A word for the stub, and a part of the program's error.
const WRONG: [(&str, &str); 17] = [
    ("drip", "did not answer the call of 'echo' within 30"),
    ("gigabyte", "more than the 16777216 a message may have"),
    ("announced gigabyte", "1073741824 bytes, more than the 16777216"),
    ("endless event", "more than the 16777216 a message may have"),
    ("endless events", "did not answer the call of 'echo' within 30"),
    ("compressed", "it compressed its answer"),
    (
        "redirect inside",
        "//169.254.169.254/latest/meta-data/, another server",
    ),
    (
        "redirect away",
        "it redirects to http://127.0.0.1:1/mcp, another server",
    ),
    ("redirect around", "it redirected more than 3 times"),
    ("moved", "(301 Moved Permanently); write that in `url`"),
    ("wrong id", "its answer does not belong to this request"),
    ("nothing", "gave no answer (HTTP 202)"),
    ("dies", "the connection broke in the middle of the answer"),
    ("not text", "its answer does not belong to this request"),
    ("page", "neither JSON nor an event stream"),
    (
        "busy",
        "HTTP 429 Too Many Requests and asks to wait 7 s: slow down",
    ),
    ("scope", "it needs the scope 'files:write'"),
];

#[tokio::test]
async fn each_wrong_answer_fails_its_own_call_only() {
    for way in [Way::Modern, Way::Legacy] {
        let server = RemoteServer::start(way).await.unwrap();
        let entry = json!({"url": server.url(), "timeout": 3000});
        let mut client = with_entry(entry).await;
        check(
            &client.run("return await tools.far.echo(message='x')").await,
            &json!("x"),
        );
        let before = peak_memory(client.mcp.pid().unwrap()).unwrap();
        for (word, expected) in WRONG {
            let start = Instant::now();
            let code = format!(
                "import asyncio\n\
                 bad = asyncio.ensure_future(tools.far.echo(message={word:?}))\n\
                 good = [await tools.far.echo(message=f'n{{n}}') for n in range(5)]\n\
                 try:\n    bad = await bad\nexcept ToolError as error:\n    bad = str(error)\n\
                 return [good, bad]"
            );
            let ran = client.run(&code).await;
            assert_eq!(ran.status(), "completed", "{word}: {}", ran.shown());
            assert_eq!(ran.result()[0], json!(["n0", "n1", "n2", "n3", "n4"]), "{word}");
            let error = ran.result()[1].as_str().unwrap();
            assert!(
                error.contains(expected) && error.contains("'far'"),
                "{way:?} {word}: {error}"
            );
            assert!(!error.contains("secret"), "{error}");
            assert!(start.elapsed().as_secs() < 30, "{word}");
        }
        let growth = peak_memory(client.mcp.pid().unwrap()).unwrap() - before;
        assert!(growth < MAX_GROWTH_KIB, "{way:?}: {growth} KiB");
    }
}

#[tokio::test]
async fn an_oversized_message_ends_no_other_call() {
    for way in WAYS {
        let server = RemoteServer::start(way).await.unwrap();
        let mut client = with_entry(json!({"url": server.url()})).await;
        let ran = client
            .run(
                "import asyncio\n\
                 slow = asyncio.ensure_future(tools.far.slow(seconds=3))\n\
                 try:\n    await tools.far.big(bytes=17 * 1024 * 1024)\n\
                 except ToolError as error:\n    told = str(error)\n\
                 return [told, await slow, await tools.far.echo(message='x')]",
            )
            .await;
        assert_eq!(ran.status(), "completed", "{way:?}: {}", ran.shown());
        let told = ran.result()[0].as_str().unwrap();
        // The number of bytes read before the error depends on their arrival.
        assert!(
            told.contains("answered the call of 'big' with 1")
                && told.contains("more than the 16777216 a message may have; ask it for less"),
            "{way:?}: {told}"
        );
        assert_eq!(ran.result()[1], "done");
        assert_eq!(ran.result()[2], "x");
        assert_eq!(server.sessions(), 1);
    }
}

#[tokio::test]
async fn odd_but_valid_answers_are_accepted() {
    for way in [Way::Modern, Way::Legacy] {
        let server = RemoteServer::start(way).await.unwrap();
        let mut client = with_entry(json!({"url": server.url()})).await;
        client.run("return 1").await;
        let before = peak_memory(client.mcp.pid().unwrap()).unwrap();
        for word in ["twice", "spread"] {
            let code = format!("return await tools.far.echo(message={word:?})");
            check(&client.run(&code).await, &json!("?"));
        }
        assert!(peak_memory(client.mcp.pid().unwrap()).unwrap() - before < MAX_GROWTH_KIB);
    }
}

#[tokio::test]
async fn a_closed_stream_is_resumed() {
    let server = RemoteServer::start(Way::Legacy).await.unwrap();
    let mut client = with_entry(json!({"url": server.url()})).await;
    check(
        &client.run("return await tools.far.echo(message='resumed')").await,
        &json!("?"),
    );
    let taken_up = server
        .seen()
        .into_iter()
        .filter(|seen| seen.method == "GET" && seen.header("last-event-id").is_some());
    assert_eq!(taken_up.count(), 1);
}

#[tokio::test]
async fn a_stream_that_ends_too_early_is_reported() {
    let server = RemoteServer::start(Way::Legacy).await.unwrap();
    let mut client = with_entry(json!({"url": server.url()})).await;
    let ran = client.run("return await tools.far.echo(message='ends')").await;
    assert!(
        ran.error().contains("its stream ended before the answer"),
        "{}",
        ran.shown()
    );
}

#[tokio::test]
async fn a_server_that_is_down_is_reported_in_its_own_words() {
    for way in WAYS {
        let server = RemoteServer::start(way).await.unwrap();
        server.set_down(true);
        let mut client = with_entry(json!({"url": server.url()})).await;
        let ran = client.run("return await tools.far.echo(message='x')").await;
        let error = ran.error();
        assert!(error.contains("HTTP 503 Service Unavailable"), "{error}");
        assert!(error.contains("down for repairs"), "{error}");
        // Each attempt tries both transports, over one connection.
        let asked = |method: &str| server.seen_of(method).len();
        assert_eq!(asked("server/discover"), asked("initialize"));
    }
}
