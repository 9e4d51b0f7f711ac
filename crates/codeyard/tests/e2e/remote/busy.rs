//! Busy remote servers: concurrent calls, connections, and requested pauses.

use std::time::{Duration, Instant};

use serde_json::json;
use test_support::{RemoteServer, Way};

use crate::remote::{WAYS, check, client, with_entry};

/// A date in the past.
const LONG_AGO: &str = "Sun, 06 Nov 1994 08:49:37 GMT";

#[tokio::test]
async fn concurrent_calls_are_limited() {
    for way in WAYS {
        let server = RemoteServer::start(way).await.unwrap();
        let mut client = with_entry(json!({"url": server.url(), "maxCalls": 2})).await;
        let code = "import asyncio, time\nawait tools.far.echo(message='x')\nbegin = time.monotonic()\n\
                    await asyncio.gather(*(tools.far.slow(seconds=0.4) for _ in range(6)))\nreturn time.monotonic() - begin";
        let ran = client.run(code).await;
        let took = ran.result().as_f64().unwrap();
        assert!(took >= 1.2, "{way:?}: {took} s: {}", ran.shown());
    }
}

#[tokio::test]
async fn connections_are_used_again() {
    for way in WAYS {
        let server = RemoteServer::start(way).await.unwrap();
        let mut client = client(&server).await;
        let code = "for n in range(50):\n    await tools.far.echo(message=str(n))\nreturn n";
        check(&client.run(code).await, &json!(49));
        // One for calls, one for unsolicited messages, and one of the handshake. In the oldest transport, the answer
        // may arrive before the server has accepted the call.
        let made = server.connections();
        assert!(
            made <= if way == Way::Sse { 25 } else { 6 },
            "{way:?}: {made} connections"
        );
    }
}

#[tokio::test]
async fn a_repeatable_call_is_repeated_after_the_requested_pause() {
    for (way, retry_after, least) in [
        (Way::Modern, "1", 1),
        (Way::Legacy, "2", 2),
        (Way::Modern, LONG_AGO, 1),
    ] {
        let server = RemoteServer::start(way).await.unwrap();
        let mut client = with_entry(json!({"url": server.url(), "trusted": true})).await;
        check(
            &client.run("return await tools.far.echo(message='x')").await,
            &json!("x"),
        );
        server.set_busy(1, retry_after);
        let start = Instant::now();
        let ran = client.run("return await tools.far.add(a=1, b=2)").await;
        check(&ran, &json!({"sum": 3}));
        assert!(
            start.elapsed() >= Duration::from_secs(least),
            "{way:?} {retry_after}"
        );
        assert_eq!(server.seen_of("tools/call").len(), 3);
    }
}

#[tokio::test]
async fn a_call_that_cannot_be_repeated_in_time_fails_at_once_with_the_reason() {
    let server = RemoteServer::start(Way::Legacy).await.unwrap();
    let code = |call: &str| {
        format!(
            "try:\n    return await tools.far.{call}\nexcept ToolError as error:\n    \
             return [error.retryable, 'HTTP 429 Too Many Requests and asks to wait 3600 s: slow down' in str(error)]"
        )
    };
    // A trusted definition's annotations count, and `echo` has none.
    for (trusted, call) in [
        (false, "add(a=1, b=2)"),
        (true, "echo(message='x')"),
        (true, "add(a=1, b=2)"),
    ] {
        let mut client = with_entry(json!({"url": server.url(), "trusted": trusted})).await;
        check(
            &client.run("return await tools.far.echo(message='x')").await,
            &json!("x"),
        );
        let before = server.seen_of("tools/call").len();
        server.set_busy(1, "3600");
        let start = Instant::now();
        check(&client.run(&code(call)).await, &json!([true, true]));
        assert!(start.elapsed() < Duration::from_secs(20), "{call}");
        assert_eq!(server.seen_of("tools/call").len(), before + 1, "{call}");
        // The pause applies to every further call.
        let further = format!(
            "try:\n    return await tools.far.{call}\nexcept ToolError as error:\n    \
             return [error.retryable, 'asked codeyard to wait' in str(error)]"
        );
        check(&client.run(&further).await, &json!([true, true]));
        assert_eq!(server.seen_of("tools/call").len(), before + 1, "{call}");
    }
}

#[tokio::test]
async fn repeated_pauses_do_not_stop_calls_for_ever() {
    let server = RemoteServer::start(Way::Modern).await.unwrap();
    let mut client = with_entry(json!({"url": server.url()})).await;
    check(
        &client.run("return await tools.far.echo(message='x')").await,
        &json!("x"),
    );
    server.set_busy(20, "1");
    let code = "import asyncio\n\
                said = await asyncio.gather(*(tools.far.echo(message='y') for _ in range(20)), return_exceptions=True)\n\
                return [sum('HTTP 429' in str(one) for one in said), await tools.far.echo(message='z')]";
    check(&client.run(code).await, &json!([20, "z"]));
}
