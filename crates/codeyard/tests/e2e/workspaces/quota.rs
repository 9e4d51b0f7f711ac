//! The quota of a workspace without kernel quotas: before, during and after each run.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use serde_json::json;
use test_support::{CodeClient, Codeyard, run};

const QUOTA: &str = "[workspace]\nquota = \"10 MiB\"\ninodes = 200\n";
/// Bytes of the sessions' own bookkeeping besides programs' files.
const OWN: u64 = 512 * 1024;

/// Bytes on disk of all files below a directory.
pub(super) fn bytes_below(directory: &Path) -> u64 {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    entries
        .map(|entry| {
            let found = entry.metadata().unwrap();
            let below = if found.is_dir() {
                bytes_below(&entry.path())
            } else {
                0
            };
            found.blocks() * 512 + below
        })
        .sum()
}

#[tokio::test]
async fn twenty_runs_of_20_mb_each_stay_within_a_quota_of_10_mib() {
    let codeyard = Codeyard::new().unwrap().settings(QUOTA);
    let mut client = CodeClient::of(codeyard).await;
    let principal = client.codeyard.data_directory().join("workspaces/local");
    for run in 0..20 {
        let code = format!("open('/workspace/f{run}', 'wb').write(b'x' * 20_000_000)");
        let ran = client.run(&code).await;
        assert_eq!(ran.fields()["limit"], "workspace", "run {run}: {ran:?}");
        assert!(ran.error().contains("MiB"), "run {run}: {ran:?}");
        let bytes = bytes_below(&principal);
        assert!(bytes <= (10 << 20) + OWN, "run {run}: {bytes}");
    }
    let ran = client
        .run("import os\nfor name in os.listdir('/workspace'): os.remove('/workspace/' + name)")
        .await;
    assert_eq!(ran.status(), "completed", "deleting is possible: {ran:?}");
    let ran = client
        .run("open('/workspace/f', 'wb').write(b'x' * 1_000_000)")
        .await;
    assert_eq!(ran.result(), &json!(1_000_000), "{ran:?}");
}

#[tokio::test]
async fn over_its_quota_a_session_can_only_delete() {
    let codeyard = Codeyard::new().unwrap().settings(QUOTA);
    let mut client = CodeClient::of(codeyard).await;
    // Several files, each below the limit, written before the host can measure.
    let code = "for n in range(8): open(f'/workspace/f{n}', 'wb').write(b'x' * 4_000_000)";
    let ran = client.run(code).await;
    assert_eq!(ran.fields()["limit"], "workspace", "{ran:?}");
    for code in [
        "open('/workspace/more', 'w').write('x')",
        "open('/results/more', 'w').write('x')",
        "import subprocess\nsubprocess.run(['sh', '-c', 'echo x > /workspace/more'], check=True)",
    ] {
        let ran = client.run(code).await;
        assert_eq!(ran.fields()["limit"], "workspace", "{code}: {ran:?}");
        assert!(ran.error().contains("the quota is 10.0 MiB"), "{code}: {ran:?}");
    }
    let code = "import os\nfor name in os.listdir('/workspace'): os.remove('/workspace/' + name)";
    let ran = client.run(code).await;
    assert_eq!(ran.status(), "completed", "{ran:?}");
    let ran = client.run("open('/workspace/more', 'w').write('again')").await;
    assert_eq!(ran.result(), &json!(5), "{ran:?}");
}

#[tokio::test]
async fn unnamed_files_count_while_they_are_open() {
    let codeyard = Codeyard::new().unwrap().settings(QUOTA);
    let mut client = CodeClient::of(codeyard).await;
    let hold = "import os\nheld = []\nfor n in range(3):\n    held.append(open('/workspace/hidden', 'wb'))\n    \
                held[-1].write(b'x' * 3_000_000)\n    held[-1].flush()\n    os.remove('/workspace/hidden')";
    let ran = client.run(hold).await;
    assert_eq!(ran.status(), "completed", "{ran:?}");
    let write = "open('/workspace/more', 'wb').write(b'x' * 3_000_000)";
    let ran = client.run(write).await;
    assert_eq!(ran.fields()["limit"], "workspace", "{ran:?}");
    let ran = client
        .run("for file in held: file.close()\nos.remove('/workspace/more')")
        .await;
    assert_eq!(ran.status(), "completed", "{ran:?}");
    let ran = client.run(write).await;
    assert_eq!(ran.result(), &json!(3_000_000), "{ran:?}");
}

#[tokio::test]
async fn many_small_files_are_over_the_quota_too() {
    let codeyard = Codeyard::new().unwrap().settings(QUOTA);
    let mut client = CodeClient::of(codeyard).await;
    let ran = client
        .run("for n in range(1000): open(f'/workspace/f{n}', 'w').close()")
        .await;
    assert_eq!(ran.fields()["limit"], "workspace", "{ran:?}");
    assert!(ran.error().contains("files and directories"), "{ran:?}");
}

#[tokio::test]
async fn the_quota_holds_over_new_sessions_and_processes() {
    let codeyard = Codeyard::new().unwrap().settings(QUOTA);
    let mut client = CodeClient::of(codeyard).await;
    // Each writes files that are small enough alone.
    let writes = |session: u32| {
        format!("for n in range(5): open(f'/workspace/{session}-{{n}}', 'wb').write(b'x' * 4_000_000)")
    };
    for session in 0..6 {
        let ran = client.run_in(&format!("s{session}"), &writes(session)).await;
        assert_eq!(ran.fields()["limit"], "workspace", "{ran:?}");
    }
    let CodeClient { mcp, codeyard } = client;
    mcp.finish().await.unwrap();
    for session in 6..9 {
        let ended = run(&codeyard, &["run", "-"], &writes(session)).await;
        assert!(
            ended.code != 0 && ended.err.contains("the quota is 10.0 MiB"),
            "{ended:?}"
        );
    }
    let bytes = bytes_below(&codeyard.data_directory().join("workspaces/local"));
    assert!(bytes <= 20_000_000 + OWN, "{bytes}");
}
