//! State that lasts from call to call, and the notice when it is lost.

use serde_json::json;
use test_support::{BridgeClient, descendants, wait_until};

use crate::bridge::{with_variables, within};

#[tokio::test]
async fn c297_state_survives() {
    let mut client = BridgeClient::with_stub().await;
    client
        .run("import math\nx=41\ndef f(n): return n+x\nclass K: v=1")
        .await;
    client.check("print(f(1), math.pi>3, K().v)", "42 True 1").await;
    // A failed program's changes last, too.
    client.run("y = 5\n1/0").await;
    client.check("print(y)", "5").await;
}

#[tokio::test]
async fn a_timeout_keeps_the_state_of_who_stops() {
    let mut client = BridgeClient::with_stub().await;
    let polite = "kept = 7\nimport time\nwhile True: time.sleep(0.01)";
    let answer = within(10.0, client.call(json!({"code": polite, "timeout": 1}))).await;
    assert_eq!(
        (answer.status(), answer.lines("stderr").as_str()),
        ("timeout", ""),
        "{answer:?}"
    );
    client.check("print(kept)", "7").await;
}

#[tokio::test]
async fn a_timeout_that_loses_the_state_says_so() {
    let mut client = BridgeClient::with_stub().await;
    let deaf =
        "kept = 7\nimport time\nwhile True:\n    try: time.sleep(0.01)\n    except BaseException: pass";
    let answer = within(15.0, client.call(json!({"code": deaf, "timeout": 1}))).await;
    assert_eq!(answer.status(), "timeout", "{answer:?}");
    assert!(
        answer.lines("stderr").contains("the session is lost"),
        "{answer:?}"
    );
    let next = client.run("print('kept' in globals())").await;
    assert_eq!(
        (next.lines("stdout").as_str(), next.is_error()),
        ("False", false),
        "{next:?}"
    );
    assert!(next.lines("stderr").contains("started afresh"), "{next:?}");
    // Reported once.
    client.check("print('again')", "again").await;
}

#[tokio::test]
async fn who_ends_its_own_process_loses_the_state() {
    let mut client = BridgeClient::with_stub().await;
    let answer = client.run("print('a', flush=True)\nimport os\nos._exit(3)").await;
    assert!(
        answer.is_error() && answer.text().contains("the session is lost"),
        "{answer:?}"
    );
    let next = client.run("print(1)").await;
    assert!(
        next.lines("stdout") == "1" && next.lines("stderr").contains("started afresh"),
        "{next:?}"
    );
}

#[tokio::test]
async fn a_cancelled_call_ends_and_the_next_works() {
    let mut client = BridgeClient::with_stub().await;
    client.run("kept = 7").await;
    let endless = client
        .start(json!({"code": "import time\nwhile True: time.sleep(0.01)"}))
        .await;
    client.mcp.cancel(&endless).await.unwrap();
    within(10.0, client.check("print(kept)", "7")).await;
}

#[tokio::test]
async fn c331_an_idle_session_is_released() {
    let mut client = with_variables(&[("MCP_BRIDGE_RUNTIME_IDLE_TIMEOUT", "2")]).await;
    client.run("secret = 'k'").await;
    let codeyard = client.mcp.pid().unwrap();
    // Between runs a session's process is stopped; unused processes in the pool are not.
    let is_there = || descendants(codeyard).iter().any(|process| process.state == 'T');
    wait_until("the session", || is_there().then_some(())).await;
    wait_until("the session's end", || (!is_there()).then_some(())).await;
    let next = client.run("print('secret' in globals())").await;
    assert_eq!(next.lines("stdout"), "False", "{next:?}");
    assert!(next.lines("stderr").contains("started afresh"), "{next:?}");
}

#[tokio::test]
async fn c336_two_clients() {
    let state = tempfile::tempdir().unwrap();
    let state = state.path().to_str().unwrap();
    let variables = [("MCP_BRIDGE_STATE_DIR", state)];
    let (mut one, mut two) = (with_variables(&variables).await, with_variables(&variables).await);
    one.run("secret='k'\nopen('/workspace/f', 'w').write('k')\nopen('/tmp/f', 'w').write('k')")
        .await;
    let code = "import os\nprint('secret' in globals(), os.listdir('/workspace'), os.listdir('/tmp'))";
    two.check(code, "False [] []").await;
}

#[tokio::test]
async fn c332_noise() {
    let mut client = BridgeClient::with_stub().await;
    let large = json!({
        "jsonrpc": "2.0", "id": 900, "method": "tools/call",
        "params": {"name": "run_python", "arguments": {"code": format!("x = '{}'\nprint(len(x))", "y".repeat(2_000_000))}},
    });
    client.mcp.send_raw(b"\n\n\r\n{garbage\n\r\n").await.unwrap();
    client.mcp.send(&large).await.unwrap();
    let answer = client.mcp.answer(&json!(900)).await.unwrap();
    assert_eq!(answer["result"]["content"][0]["text"], "2000000");
    client.check("print(1)", "1").await;
}

#[tokio::test]
async fn threads_of_a_run_with_fewer_servers_do_not_reach_those_of_a_later_one() {
    let mut client = BridgeClient::with_stub().await;
    let leave = "import threading\nkept = threading.Event()\nthreading.Thread(target=kept.wait, daemon=True).start()\nprint('left')";
    let answer = client.run_with(&["stub"], leave).await;
    assert_eq!(answer.text(), "left", "{answer:?}");
    // With the same or fewer servers, the session continues with its thread.
    for servers in [&["stub"][..], &[]] {
        let answer = client.run_with(servers, "print('kept' in globals())").await;
        assert_eq!(answer.text(), "True", "{answer:?}");
    }
    let answer = client
        .run_with(&["stub", "other"], "print('kept' in globals())")
        .await;
    assert_eq!(answer.lines("stdout"), "False", "{answer:?}");
    assert!(
        answer.lines("stderr").contains("session: lost (threads)"),
        "{answer:?}"
    );
}
