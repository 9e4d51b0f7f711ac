//! The kernel's quota of a workspace in an ext4 image, against any program.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use serde_json::json;
use test_support::{CodeClient, Codeyard, run};

const IMAGE: &str = "[workspace]\nquota = \"10 MiB\"\ninodes = 200\nenforce = \"image\"\n";
/// Tolerance for the file system's own rounding.
const ROUNDING: u64 = 256 * 1024;

/// An installation whose image is removed on drop.
struct Yard(Codeyard);

impl Yard {
    /// `None` where images are unavailable, with a printed reason.
    #[expect(
        clippy::print_stderr,
        reason = "the test runner keeps it for the person who asks why"
    )]
    async fn new() -> Option<Yard> {
        let yard = Yard(Codeyard::new().unwrap().settings(IMAGE));
        let looked = yard.0.run(["doctor"]).await.unwrap();
        if looked.status.success() {
            return Some(yard);
        }
        let said = String::from_utf8_lossy(&looked.stdout);
        assert!(said.contains("enforce = \"image\"` cannot be met"), "{said}");
        eprintln!("skipped: {said}");
        None
    }

    fn directory(&self) -> std::path::PathBuf {
        self.0.data_directory().join("workspaces/local")
    }

    fn is_mounted(&self) -> bool {
        let device = |path: &Path| std::fs::metadata(path).unwrap().dev();
        device(&self.directory()) != device(&self.0.data_directory())
    }

    async fn client(&self) -> CodeClient {
        // The same data directory, as another process of the same user sees it.
        let codeyard = Codeyard::new().unwrap().settings(IMAGE);
        CodeClient::of(codeyard.data(self.0.data_directory())).await
    }
}

impl Drop for Yard {
    #[expect(clippy::disallowed_methods, reason = "a program of the test, waited for")]
    fn drop(&mut self) {
        // A failed test, or a killed codeyard, leaves the mount; that codeyard may still be ending.
        let mut unmount = std::process::Command::new("umount");
        let _ = unmount.arg("--lazy").arg(self.directory()).output();
    }
}

/// Bytes on disk of the files in one directory.
const USED: &str =
    "import os\nsum(os.stat('/workspace/' + name).st_blocks * 512 for name in os.listdir('/workspace'))";

#[tokio::test]
async fn twenty_runs_of_20_mb_each_stay_within_a_quota_of_10_mib() {
    let Some(yard) = Yard::new().await else { return };
    let mut client = yard.client().await;
    for number in 0..20 {
        let ran = client
            .run(&format!(
                "open('/workspace/f{number}', 'wb').write(b'x' * 20_000_000)"
            ))
            .await;
        assert_eq!(ran.fields()["limit"], "workspace", "run {number}: {ran:?}");
        assert!(ran.error().contains("No space left"), "run {number}: {ran:?}");
        let used = client.run(USED).await.result().as_u64().unwrap();
        assert!(used <= (10 << 20) + ROUNDING, "run {number}: {used}");
    }
    let ran = client
        .run("import os\nfor name in os.listdir('/workspace'): os.remove('/workspace/' + name)")
        .await;
    assert_eq!(ran.status(), "completed", "{ran:?}");
    let ran = client
        .run("open('/workspace/f', 'wb').write(b'x' * 9_000_000)")
        .await;
    assert_eq!(ran.result(), &json!(9_000_000), "{ran:?}");
    client.mcp.finish().await.unwrap();
    assert!(!yard.is_mounted(), "an end in order unmounts");
}

#[tokio::test]
async fn files_without_names_and_too_many_files_meet_the_kernel() {
    let Some(yard) = Yard::new().await else { return };
    let mut client = yard.client().await;
    let code = "import os\nheld = []\nfor n in range(6):\n    held.append(open('/workspace/hidden', 'wb', buffering=0))\n    \
                os.remove('/workspace/hidden')\n    written = held[-1].write(b'x' * 3_000_000)\n    \
                if written < 3_000_000: raise OSError(28, 'short')";
    let ran = client.run(code).await;
    assert_eq!(ran.fields()["limit"], "workspace", "{ran:?}");
    assert_eq!(client.run("len(held)").await.result(), &json!(4));
    client.run("for file in held: file.close()").await;
    let code = "for n in range(1000): open(f'/workspace/{n}', 'w').close()";
    let ran = client.run(code).await;
    assert_eq!(ran.fields()["limit"], "workspace", "{ran:?}");
    let made = client.run("import os\nlen(os.listdir('/workspace'))").await;
    assert!((190..=240).contains(&made.result().as_u64().unwrap()), "{made:?}");
}

#[tokio::test]
async fn files_of_a_killed_codeyard_stay_for_the_next_and_two_share_them() {
    let Some(yard) = Yard::new().await else { return };
    let mut killed = yard.client().await;
    killed.run("open('/workspace/note', 'w').write('kept')").await;
    killed.mcp.kill().unwrap();
    killed.mcp.wait().await.unwrap();
    assert!(yard.is_mounted());
    let (mut one, mut two) = (yard.client().await, yard.client().await);
    let read = "open('/workspace/note').read()";
    assert_eq!(one.run(read).await.result(), &json!("kept"));
    assert_eq!(two.run(read).await.result(), &json!("kept"));
    one.mcp.finish().await.unwrap();
    assert!(yard.is_mounted());
    assert_eq!(
        two.run("open('/workspace/note', 'a').write('!')").await.result(),
        &json!(1)
    );
    two.mcp.finish().await.unwrap();
    assert!(!yard.is_mounted());
    let data = yard.0.data_directory();
    let path = run(&yard.0, &["workspace", "path"], "").await.out;
    assert_eq!(
        Path::new(path.trim_end()),
        data.join("workspaces/local/workspace")
    );
    let note = std::fs::read_to_string(data.join("workspaces/local/workspace/note")).unwrap();
    assert_eq!(note, "kept!");
}

#[tokio::test]
async fn missing_requirements_of_images_are_named() {
    if !super::is_root() {
        println!("skipped: only root can hide programs and devices");
        return;
    }
    for (hidden, expected) in [
        (
            "mount --bind /dev/null /usr/sbin/mkfs.ext4",
            "install the package e2fsprogs",
        ),
        (
            "mount --bind /dev/null /dev/loop-control",
            "loop devices are not available",
        ),
    ] {
        let codeyard = Codeyard::new().unwrap().settings(IMAGE).below_mounts(hidden);
        let ended = run(&codeyard, &["run", "-"], "print(1)").await;
        assert_eq!((ended.code, ended.out.as_str()), (2, ""), "{hidden}: {ended:?}");
        assert!(
            ended
                .err
                .contains("`[workspace] enforce = \"image\"` cannot be met"),
            "{ended:?}"
        );
        assert!(ended.err.contains(expected), "{hidden}: {ended:?}");
    }
}

#[tokio::test]
async fn tenant_isolation_needs_a_quota_that_the_kernel_enforces() {
    if !super::is_root() {
        println!("skipped: an ordinary user's sessions with users of their own keep no files");
        return;
    }
    let required = "[sandbox]\nrequire = \"tenant-isolation\"\n";
    let measured = Codeyard::new().unwrap().settings(required);
    let report = measured.run(["doctor", "--json"]).await.unwrap();
    let said = String::from_utf8_lossy(&report.stdout);
    if said.contains("project quotas") && report.status.success() {
        println!("skipped: this file system has project quotas");
        return;
    }
    let ended = run(&measured, &["run", "-"], "print(1)").await;
    assert_eq!((ended.code, ended.out.as_str()), (2, ""), "{ended:?}");
    for words in [
        "needs a workspace quota that the kernel enforces",
        "enforce = \"image\"",
        "prjquota",
    ] {
        assert!(ended.err.contains(words), "{words}: {ended:?}");
    }
    assert_eq!(report.status.code(), Some(3), "{said}");
    assert!(
        said.contains("needs a workspace quota that the kernel enforces"),
        "{said}"
    );

    let Some(_) = Yard::new().await else { return };
    let yard = Yard(Codeyard::new().unwrap().settings(&format!("{required}{IMAGE}")));
    let ended = run(&yard.0, &["run", "-"], "print(1)").await;
    assert_eq!(ended.code, 0, "{ended:?}");
}
