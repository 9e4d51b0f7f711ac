//! The variables that limit a program's resources.

use serde_json::json;
use test_support::{BridgeClient, Mode};

use crate::bridge::{with_variables, within};

#[tokio::test]
async fn c324_memory() {
    let mut client = with_variables(&[("MCP_BRIDGE_MEMORY", "128m")]).await;
    let code = "kept = []\nfor _ in range(600): kept.append(bytearray(b'x') * (1 << 20))\nprint('all of it')";
    let answer = within(30.0, client.run(code)).await;
    assert!(
        answer.is_error() && !answer.text().contains("all of it"),
        "{answer:?}"
    );
    let exit = answer.fields()["exitCode"].as_u64();
    assert!(
        exit == Some(137) || answer.text().contains("MemoryError"),
        "{answer:?}"
    );
    client.check_healthy().await;
    let lost = answer.text().contains("the session is lost");
    let next = client.run("print('kept' in globals())").await;
    assert_eq!(next.lines("stderr").contains("started afresh"), lost, "{next:?}");
}

#[tokio::test]
async fn c325_processes() {
    let mut client = with_variables(&[("MCP_BRIDGE_PIDS", "20")]).await;
    let code = include_str!("limits/fork_bomb.py");
    client.check(code, "Resource temporarily unavailable\nTrue").await;
    within(20.0, client.check("print('next')", "next")).await;
}

#[tokio::test]
async fn c326_processor() {
    let mut client = with_variables(&[("MCP_BRIDGE_CPUS", "0.5")]).await;
    let code = "import time\nend = time.monotonic() + 4\nwhile time.monotonic() < end: pass\nprint(time.process_time() <= 2.6)";
    if !Mode::of(&client.codeyard).await.unwrap().groups {
        eprintln!("not tested: without control groups whole cores bind, as docs/sandbox.md says");
        return;
    }
    client.check(code, "True").await;
}

#[tokio::test]
async fn c327_nothing_piles_up() {
    let state = tempfile::tempdir().unwrap();
    let mut client = with_variables(&[("MCP_BRIDGE_STATE_DIR", state.path().to_str().unwrap())]).await;
    let listing = || {
        let mut names: Vec<_> = std::fs::read_dir(state.path())
            .unwrap()
            .map(|entry| {
                let entry = entry.unwrap();
                let mode = std::os::unix::fs::PermissionsExt::mode(&entry.metadata().unwrap().permissions());
                assert_eq!(mode & 0o002, 0, "{entry:?} is world-writable");
                entry.file_name()
            })
            .collect();
        names.sort();
        names
    };
    client.check("save_memory('k', 1)\nprint(1)", "1").await;
    let first = listing();
    for _ in 0..20 {
        client.check("print(await mcp_stub.echo(message='x'))", "x").await;
    }
    assert_eq!(listing(), first);
}

#[tokio::test]
async fn files_are_bounded() {
    let mut client = BridgeClient::with_stub().await;
    for (place, megabytes) in [("/workspace", 128), ("/tmp", 64)] {
        let code = format!(
            "import os\nwritten = 0\ntry:\n    with open('{place}/f', 'wb', buffering=0) as f:\n        \
             while written < 400: written += f.write(bytes(1 << 20)) >> 20\n\
             except OSError as e:\n    print(e.strerror)\nos.remove('{place}/f')\nprint({megabytes} - 2 <= written <= {megabytes})"
        );
        client.check(&code, "No space left on device\nTrue").await;
    }
    let call = json!({"code": "print(open('/workspace/again', 'w').write('x'))"});
    assert_eq!(client.call(call).await.text(), "1");
}
