//! The quota of a workspace that the kernel enforces; `cargo xtask machine` provides a disk for this.

use serde_json::json;
use test_support::{CodeClient, Codeyard, run};

use super::quota::bytes_below;

const QUOTA: &str = "[workspace]\nquota = \"10 MiB\"\ninodes = 200\nenforce = \"kernel\"\n";
const DELETE_ALL: &str = "import os\nfor name in os.listdir('/workspace'): os.remove('/workspace/' + name)";

/// An installation on a file system with project quotas; `None` if the tests' directory has none.
#[expect(
    clippy::print_stdout,
    reason = "the test runner keeps it for the person who asks why"
)]
async fn installation() -> Option<Codeyard> {
    let codeyard = Codeyard::new().unwrap().settings(QUOTA);
    let tried = run(&codeyard, &["run", "-"], "1").await;
    if tried.err.contains("the kernel cannot hold quotas here") {
        println!("skipped: {}", tried.err.trim());
        return None;
    }
    assert_eq!(tried.code, 0, "{tried:?}");
    Some(codeyard)
}

/// Bytes on disk of all files of the sessions.
fn kept(codeyard: &Codeyard) -> u64 {
    bytes_below(&codeyard.data_directory().join("workspaces/local"))
}

#[tokio::test]
async fn twenty_runs_of_20_mb_each_stay_within_10_mib_to_the_block() {
    let Some(codeyard) = installation().await else {
        return;
    };
    let mut client = CodeClient::of(codeyard).await;
    for number in 0..20 {
        let code = format!("open('/workspace/f{number}', 'wb').write(b'x' * 20_000_000)");
        let ran = client.run(&code).await;
        assert_eq!(ran.fields()["limit"], "workspace", "run {number}: {ran:?}");
        assert!(
            ran.error().contains("Disk quota exceeded"),
            "run {number}: {ran:?}"
        );
        let bytes = kept(&client.codeyard);
        assert!(bytes <= 10 << 20, "run {number}: {bytes}");
        // The first run uses up the quota; the kernel counts directories, too.
        assert!(bytes > 9 << 20, "run {number}: {bytes}");
    }
    let ran = client.run(DELETE_ALL).await;
    assert_eq!(ran.status(), "completed", "deleting is possible: {ran:?}");
    let ran = client
        .run("open('/workspace/f', 'wb', buffering=0).write(b'x' * 1_000_000)")
        .await;
    assert_eq!(ran.result(), &json!(1_000_000), "{ran:?}");
}

#[tokio::test]
async fn unnamed_files_count_until_they_are_closed() {
    let Some(codeyard) = installation().await else {
        return;
    };
    let mut client = CodeClient::of(codeyard).await;
    let code = "import os\nheld = []\nfor n in range(6):\n    held.append(open('/workspace/hidden', 'wb', buffering=0))\n    \
                os.remove('/workspace/hidden')\n    held[-1].write(b'x' * 3_000_000)\n    os.fsync(held[-1])";
    let ran = client.run(code).await;
    assert_eq!(ran.fields()["limit"], "workspace", "{ran:?}");
    // The files have no name and still use up the quota.
    let write = "open('/workspace/more', 'wb', buffering=0).write(b'x' * 2_000_000)";
    let ran = client.run_in("another", write).await;
    assert_eq!(ran.fields()["limit"], "workspace", "{ran:?}");
    let ran = client.run("for file in held: file.close()").await;
    assert_eq!(ran.status(), "completed", "{ran:?}");
    let ran = client.run_in("another", write).await;
    assert_eq!(ran.result(), &json!(2_000_000), "{ran:?}");
}

#[tokio::test]
async fn sessions_and_processes_share_the_quota_of_bytes_and_files() {
    let Some(codeyard) = installation().await else {
        return;
    };
    let writes = "for n in range(5): open(f'/results/{n}', 'wb', buffering=0).write(b'x' * 4_000_000)";
    for _ in 0..2 {
        let ended = run(&codeyard, &["run", "-"], writes).await;
        assert!(
            ended.code != 0 && ended.err.contains("Disk quota exceeded"),
            "{ended:?}"
        );
        assert!(kept(&codeyard) <= 10 << 20);
    }
    let mut client = CodeClient::of(codeyard).await;
    let ran = client
        .run("for n in range(1000): open(f'/workspace/f{n}', 'w').close()")
        .await;
    assert_eq!(ran.fields()["limit"], "workspace", "{ran:?}");
    let ran = client.run("import os\nlen(os.listdir('/workspace'))").await;
    assert!(ran.result().as_u64().unwrap() <= 200, "{ran:?}");
}
