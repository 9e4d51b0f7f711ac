//! Runs that would not end, and programs that want too much.

use std::time::{Duration, Instant};

use serde_json::json;
use test_support::{CodeClient, Codeyard, ServerDefinition};

#[tokio::test]
async fn c088_c089_a_time_out_keeps_what_was_printed() {
    let mut client = CodeClient::with_stub().await;
    client.check("print('ready')", "ready\n").await;
    let code = "print('partial', flush=True)\nimport time\ntime.sleep(30)";
    let start = Instant::now();
    let ran = client.execute(json!({"code": code, "timeout_ms": 1500})).await;
    assert!(
        start.elapsed() < Duration::from_millis(3500),
        "{:?}",
        start.elapsed()
    );
    assert_eq!((ran.status(), ran.stdout()), ("timed_out", "partial\n"));
    assert!(
        ran.error().contains("Execution timed out after 1500ms"),
        "{ran:?}"
    );
    let start = Instant::now();
    let ran = client
        .execute(json!({"code": "while True: pass", "timeout_ms": 1000}))
        .await;
    assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
    assert_eq!(ran.status(), "timed_out");
    client.check("print('healthy')", "healthy\n").await;
}

#[tokio::test]
async fn a_program_that_ignores_the_interrupt_is_killed_and_the_loss_is_said_twice() {
    let mut client = CodeClient::with_stub().await;
    client.check("kept = 1", "").await;
    let code = "import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, range(1, 32))\nprint('partial', flush=True)\nwhile True: pass";
    let ran = client.execute(json!({"code": code, "timeout_ms": 500})).await;
    assert_eq!(
        (ran.status(), ran.stdout()),
        ("timed_out", "partial\n"),
        "{ran:?}"
    );
    assert_eq!(ran.0["structuredContent"]["session_state"], "lost");
    let ran = client.run("'kept' in globals()").await;
    assert_eq!(*ran.result(), false);
    assert!(ran.0["structuredContent"]["notice"].is_string(), "{ran:?}");
    assert!(ran.shown().contains("notice: "), "{}", ran.shown());
}

#[tokio::test]
async fn c095_threads_are_bounded() {
    let codeyard = Codeyard::new().unwrap().settings("[limits]\nprocesses = 20");
    let mut client = CodeClient::of(codeyard).await;
    let code = "import threading, time\nstarted = 0\ntry:\n    for _ in range(50):\n        \
                threading.Thread(target=time.sleep, args=(3,), daemon=True).start()\n        started += 1\n\
                except RuntimeError as e:\n    print(e)\nreturn started";
    let ran = client.run(code).await;
    assert!(ran.result().as_u64().unwrap() < 20, "{ran:?}");
    assert!(ran.stdout().contains("can't start new thread"), "{ran:?}");
}

#[tokio::test]
async fn c098_c099_files_are_bounded_in_bytes_and_number() {
    let codeyard = Codeyard::new()
        .unwrap()
        .settings("[limits]\ndisk = \"10 MiB\"\ninodes = 1000");
    let mut client = CodeClient::of(codeyard).await;
    let code = "import os\nwritten = 0\ntry:\n    for i in range(900):\n        \
                open(f'/scratch/f{i}', 'wb').write(b'x' * 20_000)\n        written += 20_000\n\
                except OSError as e:\n    print(e.strerror)\n\
                for name in os.listdir('/scratch'): os.unlink('/scratch/' + name)\nreturn written";
    let ran = client.run(code).await;
    assert_eq!(ran.stdout(), "No space left on device\n", "{ran:?}");
    assert!(
        ran.result().as_u64().unwrap() <= 10 * 1024 * 1024 + 20_000,
        "{ran:?}"
    );
    let code = "import os\nmade = 0\ntry:\n    for i in range(200_000):\n        \
                open(f'/scratch/e{i}', 'w').close()\n        made += 1\nexcept OSError as e:\n    print(e.strerror)\nreturn made";
    let ran = client.run(code).await;
    assert!(ran.result().as_u64().unwrap() <= 1000, "{ran:?}");
    client
        .check("import os\nprint(len(os.listdir('/scratch')) > 100)", "True\n")
        .await;
}

#[tokio::test]
async fn memory_is_bounded_and_the_next_session_works() {
    let codeyard = Codeyard::new()
        .unwrap()
        .settings("[limits]\nmemory = \"128 MiB\"");
    let mut client = CodeClient::of(codeyard).await;
    let ran = client
        .run("print('start', flush=True)\nkeep = []\nwhile True: keep.append(bytearray(1 << 20))")
        .await;
    assert_eq!(
        (ran.status(), ran.stdout()),
        ("limit_exceeded", "start\n"),
        "{ran:?}"
    );
    assert_eq!(ran.0["structuredContent"]["limit"], "memory");
    let next = client
        .execute(json!({"code": "print('healthy')", "session": "next"}))
        .await;
    assert_eq!(next.stdout(), "healthy\n");
}

#[tokio::test]
async fn c108_a_huge_answer_of_a_tool_is_an_error_or_a_value() {
    let mut stub = ServerDefinition::stub();
    stub.timeout = Some(60_000);
    let codeyard = Codeyard::new()
        .unwrap()
        .server("stub", &stub)
        .settings("[limits]\nmemory = \"256 MiB\"");
    let mut client = CodeClient::of(codeyard).await;
    let ran = client
        .run("r = await tools.stub.big({'bytes': 67108864})\nprint(len(str(r)))")
        .await;
    let printed = ran.stdout().trim().parse::<u64>().ok();
    let error = ran.error().to_lowercase();
    let clear = ["memory", "bytes", "large", "too much"]
        .iter()
        .any(|word| error.contains(word));
    assert!(
        printed.is_some_and(|length| length >= 67_108_864) || clear,
        "{}",
        ran.error()
    );
    let next = client
        .execute(json!({"code": "print('healthy')", "session": "next"}))
        .await;
    assert_eq!(next.stdout(), "healthy\n");
}
