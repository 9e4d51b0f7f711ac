//! The life of a remote server: called, changed, lost and found again.

use serde_json::json;
use test_support::{RemoteServer, Way, wait_until};

use crate::remote::{WAYS, check, client, with_entry};

#[tokio::test]
async fn programs_call_it_in_every_era() {
    for way in WAYS {
        let server = RemoteServer::start(way).await.unwrap();
        let mut client = client(&server).await;
        let ran = client
            .run(
                "import asyncio\n\
                 sums = await asyncio.gather(*(tools.far.add(a=n, b=1) for n in range(20)))\n\
                 slow = await tools.far.progress(times=3, every=100)\n\
                 return [sorted(s['sum'] for s in sums), slow, await tools.far.echo(message='\u{fc} \"x\"\\n')]",
            )
            .await;
        let sums: Vec<u64> = (1..=20).collect();
        check(&ran, &json!([sums, "done", "\u{fc} \"x\"\n"]));
    }
}

#[tokio::test]
async fn requests_follow_the_server_s_era() {
    let server = RemoteServer::start(Way::Modern).await.unwrap();
    let mut far = client(&server).await;
    check(
        &far.run("return await tools.far.echo(message='x')").await,
        &json!("x"),
    );
    let call = server.seen_of("tools/call").remove(0);
    assert_eq!(call.header("mcp-name"), Some("echo"));
    assert_eq!(call.header("mcp-protocol-version"), Some("2026-07-28"));
    assert_eq!(call.header("mcp-session-id"), None);
    assert!(server.seen().iter().all(|seen| seen.method == "POST"));

    let server = RemoteServer::start(Way::Legacy).await.unwrap();
    let mut far = client(&server).await;
    check(
        &far.run("return await tools.far.echo(message='x')").await,
        &json!("x"),
    );
    let call = server.seen_of("tools/call").remove(0);
    assert_eq!(call.header("mcp-protocol-version"), Some("2025-11-25"));
    assert_eq!(call.header("mcp-session-id"), Some("session-0"));
    assert_eq!(call.header("mcp-name"), None);
    // The client ends its session.
    assert_eq!(server.sessions(), 1);
    assert!(far.mcp.finish().await.unwrap().success());
    assert_eq!(server.sessions(), 0);
}

#[tokio::test]
async fn a_change_of_its_tools_is_announced() {
    for way in WAYS {
        let server = RemoteServer::start(way).await.unwrap();
        let mut client = client(&server).await;
        check(
            &client.run("return await tools.far.grow()").await,
            &json!("grown"),
        );
        let lists = |count: usize| (server.seen_of("tools/list").len() >= count).then_some(());
        wait_until("the list is asked for again", || lists(2)).await;
        loop {
            let ran = client.run("return await tools.far.grown_1()").await;
            if ran.status() == "completed" {
                break check(&ran, &json!("grown_1"));
            }
            // The list request is in flight.
            assert!(ran.error().contains("grown_1"), "{}", ran.shown());
        }
    }
}

#[tokio::test]
async fn a_listener_refused_temporarily_retries() {
    let server = RemoteServer::start(Way::Legacy).await.unwrap();
    server.refuse_listeners("429 Too Many Requests", 1);
    let mut client = client(&server).await;
    check(
        &client.run("return await tools.far.grow()").await,
        &json!("grown"),
    );
    let listeners = || server.seen().iter().filter(|seen| seen.method == "GET").count();
    wait_until("it listens again", || (listeners() == 2).then_some(())).await;
    // Codeyard requests the list that changed meanwhile.
    let lists = || server.seen_of("tools/list").len();
    wait_until("the list is asked for again", || (lists() >= 2).then_some(())).await;
}

#[tokio::test]
async fn a_listener_refused_permanently_warns_unless_the_server_has_no_stream() {
    for (status, is_said) in [("403 Forbidden", true), ("405 Method Not Allowed", false)] {
        let server = RemoteServer::start(Way::Legacy).await.unwrap();
        server.refuse_listeners(status, 1);
        let mut client = client(&server).await;
        let program = "return await tools.far.echo(message='x')";
        check(&client.run(program).await, &json!("x"));
        let was_refused = || {
            server
                .seen()
                .iter()
                .any(|seen| seen.method == "GET")
                .then_some(())
        };
        wait_until("it was refused", was_refused).await;
        check(&client.run(program).await, &json!("x"));
        let words = "its notifications are not received: it forbids this (HTTP 403): not now";
        if is_said {
            wait_until("that is said", || {
                client.mcp.stderr().contains(words).then_some(())
            })
            .await;
        } else {
            assert!(
                !client.mcp.stderr().contains("unasked"),
                "{}",
                client.mcp.stderr()
            );
        }
    }
}

#[tokio::test]
async fn an_abandoned_call_is_cancelled() {
    for way in WAYS {
        let server = RemoteServer::start(way).await.unwrap();
        let mut client = with_entry(json!({"url": server.url(), "timeout": 1000})).await;
        let ran = client
            .run(
                "import asyncio\n\
                 try:\n    await tools.far.slow(seconds=30)\n\
                 except ToolError:\n    pass\n\
                 while not (ids := (await tools.far.cancelled())['ids']):\n    await asyncio.sleep(0.05)\n\
                 return len(ids)",
            )
            .await;
        check(&ran, &json!(1));
    }
}

#[tokio::test]
async fn a_lost_session_is_reopened() {
    let server = RemoteServer::start(Way::Legacy).await.unwrap();
    let mut client = client(&server).await;
    check(
        &client.run("return await tools.far.echo(message='a')").await,
        &json!("a"),
    );
    server.forget_sessions();
    // The program does not notice the change.
    check(
        &client.run("return await tools.far.echo(message='b')").await,
        &json!("b"),
    );
    assert!(server.seen_of("initialize").len() >= 2);
}

#[tokio::test]
async fn a_server_can_return_at_the_same_address() {
    for way in WAYS {
        let server = RemoteServer::start(way).await.unwrap();
        let port = server.port();
        let mut client = client(&server).await;
        check(
            &client.run("return await tools.far.echo(message='a')").await,
            &json!("a"),
        );
        drop(server);
        let ran = client.run("return await tools.far.echo(message='b')").await;
        assert!(ran.error().contains("'far'"), "{}", ran.shown());
        let _server = RemoteServer::start_at(way, port).await.unwrap();
        loop {
            let ran = client.run("return await tools.far.echo(message='c')").await;
            if ran.status() == "completed" {
                break check(&ran, &json!("c"));
            }
        }
    }
}
