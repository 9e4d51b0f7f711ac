//! Endless runs, and programs with excessive demands.

use std::collections::BTreeMap;

use serde_json::json;
use test_support::{CodeClient, Codeyard, ServerDefinition, descendants, status_field, wait_until};

use crate::acceptance::within;

async fn with_limits(limits: &str) -> CodeClient {
    let codeyard = Codeyard::with_stub().unwrap();
    CodeClient::of(codeyard.settings(&format!("[limits]\n{limits}"))).await
}

#[tokio::test]
async fn c088_a_time_out_keeps_partial_output() {
    let mut client = CodeClient::with_stub().await;
    client.check("print('ready')", "ready\n").await;
    let code = "print('partial', flush=True)\nimport time\ntime.sleep(30)";
    let run = client.execute(json!({"code": code, "timeout_ms": 1500}));
    let ran = within(3.5, run).await;
    assert_eq!((ran.status(), ran.is_error()), ("timed_out", true));
    assert!(ran.stdout().contains("partial"), "{ran:?}");
    assert!(
        ran.error().contains("Execution timed out after 1500ms"),
        "{}",
        ran.error()
    );
}

#[tokio::test]
async fn c089_infinite_loop() {
    let mut client = CodeClient::with_stub().await;
    client.check("print('ready')", "ready\n").await;
    let id = client
        .start(json!({"code": "while True: pass", "timeout_ms": 1000}))
        .await;
    client.check_healthy().await;
    let ran = within(3.0, client.ran(&id)).await;
    assert_eq!(ran.status(), "timed_out");
    // No process of the run is active: the rest of the session waits for its next program.
    let codeyard = client.mcp.pid().unwrap();
    let mut sleeping: BTreeMap<u32, u32> = BTreeMap::new();
    wait_until("every process of the session sleeps", || {
        let running = descendants(codeyard);
        for process in &running {
            let looks = sleeping.entry(process.pid).or_default();
            *looks = if process.state == 'R' { 0 } else { *looks + 1 };
        }
        (!running.is_empty() && running.iter().all(|process| sleeping[&process.pid] >= 20)).then_some(())
    })
    .await;
    client.check("print('next')", "next\n").await;
}

#[tokio::test]
async fn c095_thread_bomb() {
    let code = include_str!("limits/thread_bomb.py");
    let mut client = with_limits("processes = 20").await;
    let ran = client.run(code).await;
    assert!(ran.result().as_u64().unwrap() < 20, "{ran:?}");
    assert_eq!(ran.stdout(), "can't start new thread\n");
    client.check("print('next')", "next\n").await;
    // The default allows as many threads as it says, within the memory limit. Without control groups it is lower.
    let mut client = CodeClient::with_stub().await;
    let processes = client
        .run("import resource\nreturn resource.getrlimit(resource.RLIMIT_NPROC)[0]")
        .await;
    let most = processes.result().as_u64().unwrap();
    assert!(most >= 16, "{processes:?}");
    assert_eq!(
        client.run(code).await.result(),
        most.saturating_sub(1).min(50),
        "of {most}"
    );
}

#[tokio::test]
async fn c098_disk_filling_by_many_files() {
    let mut client = with_limits("disk = \"10 MiB\"").await;
    let code = "written = 0\ntry:\n    for i in range(2000):\n        open(f'/tmp/f{i}', 'wb').write(b'x' * 10_000)\n        \
                written += 10_000\nexcept OSError as e:\n    print(e.strerror)\nreturn written";
    let ran = client.run(code).await;
    assert_eq!(ran.stdout(), "No space left on device\n", "{ran:?}");
    let written = ran.result().as_u64().unwrap();
    assert!(
        (5_000_000..=10 * 1024 * 1024 + 10_000).contains(&written),
        "{written}"
    );
    let code = "import os\nfor name in os.listdir('/tmp'):\n    if name.startswith('f') and os.path.isfile(f'/tmp/{name}'): os.remove(f'/tmp/{name}')\n\
                open('/tmp/again', 'wb').write(b'x' * 5_000_000)\nprint('usable')";
    client.check(code, "usable\n").await;
}

#[tokio::test]
async fn c099_flood_of_empty_files() {
    let mut client = CodeClient::with_stub().await;
    let code = "made = 0\ntry:\n    for i in range(200_000):\n        open(f'/tmp/e{i}', 'w').close()\n        made += 1\n\
                except OSError as e:\n    print(e.strerror)\nreturn made";
    let ran = within(12.0, client.execute(json!({"code": code, "timeout_ms": 10_000}))).await;
    if ran.status() == "completed" {
        assert_eq!(ran.stdout(), "No space left on device\n", "{ran:?}");
        assert!(ran.result().as_u64().unwrap() <= 20_000, "{ran:?}");
    } else {
        assert_eq!(ran.status(), "timed_out", "{ran:?}");
    }
    let ran = within(2.0, client.run("import os\nreturn len(os.listdir('/tmp'))")).await;
    assert!(
        (1_000..=20_000).contains(&ran.result().as_u64().unwrap()),
        "{ran:?}"
    );
}

#[tokio::test]
async fn c108_a_huge_result_of_a_tool() {
    let mut client = with_limits("memory = \"256 MiB\"").await;
    client
        .check("print(await tools.stub.echo(message='up'))", "up\n")
        .await;
    let codeyard = client.mcp.pid().unwrap();
    let before = resident(codeyard, "VmRSS");
    let ran = client
        .run("r=await tools.stub.big({'bytes':67108864})\nprint(len(str(r)))")
        .await;
    if ran.status() == "completed" {
        assert!(
            ran.stdout().trim().parse::<u64>().unwrap() >= 67_108_864,
            "{}",
            ran.shown()
        );
    } else {
        let clear = ["bytes, more than the", "memory", "MemoryError"];
        assert!(
            clear.iter().any(|words| ran.error().contains(words)),
            "{}",
            ran.error()
        );
    }
    let growth = resident(codeyard, "VmHWM").saturating_sub(before);
    assert!(growth < 300 * 1024, "grew by {growth} kB");
    wait_until("the host releases the memory", || {
        (resident(codeyard, "VmRSS") < before + 64 * 1024).then_some(())
    })
    .await;
    client
        .check("print(await tools.stub.echo(message='next'))", "next\n")
        .await;
}

/// Kilobytes of memory of a process.
fn resident(pid: u32, field: &str) -> u64 {
    let value = status_field(pid, field).unwrap();
    value.trim_end_matches(" kB").parse().unwrap()
}

#[tokio::test]
async fn c313_hung_upstream() {
    let mut client = CodeClient::with_stub().await;
    client
        .check("print(await tools.stub.echo(message='up'))", "up\n")
        .await;
    let run = client.execute(json!({"code": "await mcp_stub.slow(seconds=600)", "timeout_ms": 3000}));
    let ran = within(6.0, run).await;
    assert_eq!((ran.status(), ran.is_error()), ("timed_out", true));
    // The error names the call for which the run waited.
    assert!(
        ran.error().contains("await mcp_stub.slow(seconds=600)"),
        "{}",
        ran.error()
    );
    client
        .check("print(await mcp_stub.echo(message='later'))", "later\n")
        .await;
    // A slow server and a slow run have different errors.
    let slow = ServerDefinition::stub().timeout(2_000);
    let mut client = CodeClient::of(Codeyard::new().unwrap().server("stub", &slow)).await;
    let ran = client.run("await mcp_stub.slow(seconds=600)").await;
    assert_eq!(ran.status(), "failed");
    assert!(
        ran.error()
            .contains("server 'stub' did not answer the call of 'slow' within 2"),
        "{}",
        ran.error()
    );
    client
        .check("print(await mcp_stub.echo(message='later'))", "later\n")
        .await;
}
