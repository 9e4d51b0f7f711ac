//! Sessions: by name, default and new; their state, their loss, their order.

use serde_json::json;
use test_support::{CodeClient, CodeResult, Codeyard, Era, McpClient, ServerDefinition};

#[tokio::test]
async fn each_name_has_separate_variables() {
    let mut client = CodeClient::with_stub().await;
    assert_eq!(client.run("x = 1").await.session(), "default");
    assert_eq!(client.run_in("other", "x = 2").await.session(), "other");
    assert_eq!(client.run("return x").await.result(), 1);
    assert_eq!(client.run_in("other", "return x").await.result(), 2);
    // The default session has a name, too.
    assert_eq!(client.run_in("default", "return x").await.result(), 1);
}

#[tokio::test]
async fn new_mints_a_session_that_its_name_continues() {
    let mut client = CodeClient::with_stub().await;
    let first = client.run_in("new", "x = 'mine'\nreturn x").await;
    let second = client.run_in("new", "return 'x' in globals()").await;
    assert_eq!(second.result(), false);
    assert_ne!(first.session(), second.session());
    assert_ne!(first.session(), "new");
    let again = client.run_in(first.session(), "return x").await;
    assert_eq!(
        (again.result(), again.session()),
        (&json!("mine"), first.session())
    );
}

#[tokio::test]
async fn the_text_names_every_session_but_the_default() {
    let mut client = CodeClient::with_stub().await;
    assert_eq!(client.run("print(1)").await.shown(), "1\n");
    assert_eq!(
        client.run_in("other", "print(1)").await.shown(),
        "1\nsession: other"
    );
    let failed = client.run_in("other", "1/0").await;
    assert!(
        failed
            .shown()
            .ends_with("ZeroDivisionError: division by zero\nsession: other"),
        "{failed:?}"
    );
    let minted = client.run_in("new", "1").await;
    assert_eq!(minted.shown(), format!("1\nsession: {}", minted.session()));
}

#[tokio::test]
async fn variables_imports_functions_and_files_stay() {
    let mut client = CodeClient::with_stub().await;
    let code = "import math\ndef area(r): return round(math.pi * r * r, 2)\nclass A: n = 4\nopen('notes.txt', 'w').write('kept')";
    assert_eq!(client.run(code).await.status(), "completed");
    client
        .check(
            "print(area(2), math.floor(2.5), A().n, open('notes.txt').read())",
            "12.57 2 4 kept\n",
        )
        .await;
    // A failed run's changes last, too.
    let ran = client.run("late = 5\n1/0").await;
    assert_eq!(
        (ran.status(), &ran.fields()["session_state"]),
        ("failed", &json!("kept"))
    );
    client.check("print(late)", "5\n").await;
}

#[tokio::test]
async fn a_run_that_obeys_the_interrupt_keeps_its_session() {
    let mut client = CodeClient::with_stub().await;
    let code = "kept = 'yes'\nprint('so far', flush=True)\nwhile True: pass";
    let ran = client.execute(json!({"code": code, "timeout_ms": 500})).await;
    assert_eq!((ran.status(), ran.stdout()), ("timed_out", "so far\n"), "{ran:?}");
    assert_eq!(ran.fields()["session_state"], "kept");
    let ran = client.run("return kept").await;
    assert_eq!(ran.result(), "yes");
    assert_eq!(
        ran.fields().get("session_state"),
        None,
        "no notice expected: {ran:?}"
    );
    assert_eq!(ran.fields().get("notice"), None);
}

#[tokio::test]
async fn a_lost_session_is_reported_at_once_and_in_the_next_run() {
    let mut client = CodeClient::with_stub().await;
    assert_eq!(client.run("kept = 1").await.status(), "completed");
    let deaf = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass";
    let ran = client.execute(json!({"code": deaf, "timeout_ms": 500})).await;
    assert_eq!(ran.status(), "timed_out");
    assert_eq!(ran.fields()["session_state"], "lost");
    assert!(ran.shown().contains("session default is lost"), "{}", ran.shown());

    let other = client.run_in("other", "return 1").await;
    assert_eq!(other.fields().get("notice"), None, "another session's business");

    let ran = client.run("return 'kept' in globals()").await;
    assert_eq!(ran.result(), false);
    let notice = ran.fields()["notice"].as_str().unwrap();
    assert!(
        notice.starts_with("session 'default' started afresh, its earlier variables are gone: "),
        "{notice}"
    );
    assert!(
        ran.shown().contains(notice),
        "the model reads it: {}",
        ran.shown()
    );
    assert_eq!(
        client.run("return 1").await.fields().get("notice"),
        None,
        "said once"
    );
}

#[tokio::test]
async fn a_session_whose_process_exits_is_lost_and_starts_afresh() {
    let mut client = CodeClient::with_stub().await;
    let ran = client
        .run("print('bye', flush=True)\nimport os; os._exit(3)")
        .await;
    assert_eq!((ran.status(), ran.stdout()), ("failed", "bye\n"), "{ran:?}");
    assert_eq!(ran.fields()["session_state"], "lost");
    let ran = client.run("return 'again'").await;
    assert_eq!(ran.result(), "again");
    assert!(ran.fields()["notice"].is_string(), "{ran:?}");
}

#[tokio::test]
async fn sessions_run_concurrently() {
    let codeyard = Codeyard::new()
        .unwrap()
        .server("stub", &ServerDefinition::stub_with_extras());
    let mut client = CodeClient::of(codeyard).await;
    // Each ends only after the other has called the server between its own two calls.
    let code = "n = (await tools.stub.calls()).calls\nwhile True:\n    m = (await tools.stub.calls()).calls\n    \
                if m > n + 1: break\n    n = m\nreturn 'seen'";
    let one = client.start(json!({"code": code, "session": "one"})).await;
    let two = client.start(json!({"code": code, "session": "two"})).await;
    assert_eq!(client.ran(&one).await.result(), "seen");
    assert_eq!(client.ran(&two).await.result(), "seen");
}

#[tokio::test]
async fn runs_of_one_session_are_sequential() {
    let mut client = CodeClient::with_stub().await;
    let first = "import time\norder = []\ntime.sleep(0.5)\norder.append(0)";
    let mut ids = vec![client.start(json!({"code": first})).await];
    for number in 1..=5 {
        // The wait for the first run exceeds the time limit of the later runs.
        let arguments = json!({"code": format!("order.append({number})\nreturn order"), "timeout_ms": 400});
        ids.push(client.start(arguments).await);
    }
    for id in &ids[..5] {
        let ran = client.ran(id).await;
        assert_eq!(ran.status(), "completed", "{ran:?}");
    }
    assert_eq!(client.ran(&ids[5]).await.result(), &json!([0, 1, 2, 3, 4, 5]));
}

#[tokio::test]
async fn the_least_recently_used_session_is_evicted_for_a_new_one() {
    let mut client = CodeClient::with_stub().await;
    assert_eq!(client.run_in("oldest", "x = 1").await.status(), "completed");
    for _ in 0..63 {
        assert_eq!(client.run_in("new", "x = 2").await.status(), "completed");
    }
    assert_eq!(
        client.run_in("oldest", "return x").await.result(),
        1,
        "64 are kept"
    );
    let second = client.run_in("new", "x = 3").await;
    assert_eq!(second.status(), "completed", "{second:?}");
    for _ in 0..63 {
        assert_eq!(client.run_in("new", "x = 4").await.status(), "completed");
    }
    let ran = client.run_in("oldest", "return 'x' in globals()").await;
    assert_eq!(ran.result(), false, "{ran:?}");
    let notice = ran.fields()["notice"].as_str().unwrap();
    assert!(notice.contains("to make room for another session"), "{notice}");
}

#[tokio::test]
async fn concurrent_processes_on_one_data_directory_are_separate() {
    let codeyard = Codeyard::with_stub().unwrap();
    let mut clients = Vec::new();
    for _ in 0..3 {
        clients.push(codeyard.mcp(Era::Legacy).await.unwrap());
    }
    let execute = async |client: &mut McpClient, code: &str| {
        let ran = client
            .call_tool("execute_code", json!({"code": code}))
            .await
            .unwrap();
        CodeResult(ran)
    };
    let mut pids = Vec::new();
    for (number, client) in clients.iter_mut().enumerate() {
        let code = format!(
            "x = {number}\nopen(f'note-{{x}}', 'w').write(str(x))\nreturn (await tools.stub.pid()).pid"
        );
        pids.push(execute(client, &code).await.result().clone());
    }
    pids.dedup();
    assert_eq!(pids.len(), 3, "each must have separate servers: {pids:?}");
    // A killed process does not affect the others.
    clients[0].kill().unwrap();
    for (number, client) in clients.iter_mut().enumerate().skip(1) {
        let ran = execute(
            client,
            "return [x, open(f'note-{x}').read(), await tools.stub.echo(message='on')]",
        )
        .await;
        assert_eq!(
            ran.result(),
            &json!([number, number.to_string(), "on"]),
            "{ran:?}"
        );
    }
    let mut next = codeyard.mcp(Era::Legacy).await.unwrap();
    // Variables belong to a process; files belong to the user and are shared by the processes.
    let ran = execute(
        &mut next,
        "import os\nreturn ['x' in globals(), sorted(os.listdir('.'))]",
    )
    .await;
    assert_eq!(
        ran.result(),
        &json!([false, ["note-0", "note-1", "note-2"]]),
        "{ran:?}"
    );
}
