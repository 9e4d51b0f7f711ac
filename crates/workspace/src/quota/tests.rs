//! Kernel quotas, on a file system that supports them where one can be mounted.

use std::io::Write;
use std::path::Path;
use std::process::Command;

use types::{Principal, SessionName};

use crate::{Enforce, WorkspaceConfig, WorkspaceError, Workspaces};

const MIB: u64 = 1024 * 1024;

fn config(data: &Path) -> WorkspaceConfig {
    WorkspaceConfig {
        quota: 4 * MIB,
        inodes: 50,
        enforce: Enforce::Kernel,
        ..WorkspaceConfig::below(data)
    }
}

fn open(workspaces: &Workspaces, principal: &str) -> Result<crate::SessionFiles, WorkspaceError> {
    let principal: Principal = principal.parse().unwrap();
    workspaces.open(&principal, &SessionName::new("a"))
}

#[test]
fn without_quotas_of_the_kernel_a_place_is_refused_if_they_are_demanded() {
    let directory = Path::new("/dev/shm");
    let Ok(home) = tempfile::tempdir_in(directory) else {
        println!("skipped: {} is not writable", directory.display());
        return;
    };
    let workspaces = Workspaces::new(config(home.path()));
    for error in [
        workspaces.check().unwrap_err(),
        open(&workspaces, "ann").unwrap_err(),
    ] {
        let text = error.to_string();
        assert!(matches!(error, WorkspaceError::NoQuota { .. }), "{text}");
        assert!(
            text.contains("/workspaces: the kernel cannot hold quotas here"),
            "{text}"
        );
        assert!(
            text.contains("`prjquota`") && text.contains("enforce` to \"image\" or \"auto\""),
            "{text}"
        );
    }
    let config = WorkspaceConfig {
        enforce: Enforce::Auto,
        ..config(home.path())
    };
    let workspaces = Workspaces::new(config);
    workspaces.check().unwrap();
    assert!(open(&workspaces, "ann").is_ok() && !workspaces.kernel_holds_quota());
}

/// Writes until the file system refuses; returns the accepted bytes and the refusal.
pub(crate) fn fill(path: &Path) -> (u64, std::io::Error) {
    fill_file(std::fs::File::create(path).unwrap())
}

pub(crate) fn fill_file(mut file: std::fs::File) -> (u64, std::io::Error) {
    let mut written = 0;
    loop {
        match file.write_all(&[7; 65_536]).and_then(|()| file.sync_data()) {
            Ok(()) => written += 65_536,
            Err(error) => return (written, error),
        }
    }
}

/// Variable with the directory of the second test.
const PLACE: &str = "CODEYARD_QUOTA_PLACE";

/// Mounts a file system with project quotas for this shell only and runs the second test in it.
/// Prints `skipped` where that is impossible.
const IN_A_FILE_SYSTEM: &str = r#"
cd "$1" && truncate -s 64M image &&
mkfs.ext4 -q -O quota,project -E quotatype=prjquota image &&
mkdir mounted && mount -o loop,prjquota image mounted || { echo "skipped"; exit 0; }
CODEYARD_QUOTA_PLACE="$1/mounted" exec "$2" --exact quota::tests::a_place_with_project_quotas --nocapture
"#;

#[test]
#[expect(clippy::disallowed_methods, reason = "a shell of the test, waited for")]
fn the_kernel_holds_a_principal_to_the_quota() {
    let home = tempfile::tempdir().unwrap();
    let own = std::env::current_exe().unwrap();
    let done = Command::new("unshare")
        .args([
            "--mount",
            "--propagation",
            "private",
            "sh",
            "-c",
            IN_A_FILE_SYSTEM,
            "sh",
        ])
        .args([home.path(), &own])
        .output();
    let Ok(done) = done else {
        println!("skipped: no `unshare` here");
        return;
    };
    let said = format!(
        "{}{}",
        String::from_utf8_lossy(&done.stdout),
        String::from_utf8_lossy(&done.stderr)
    );
    if !rustix::process::geteuid().is_root() || said.contains("skipped") {
        println!("skipped: no file system with project quotas can be mounted here: {said}");
        return;
    }
    assert!(
        done.status.success() && said.contains("the quota holds"),
        "{said}"
    );
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "whoever runs this by hand names the place so"
)]
fn a_place_with_project_quotas() {
    let Some(place) = std::env::var_os(PLACE) else {
        println!(
            "skipped: {PLACE} names no directory with project quotas; the test above makes one where it can"
        );
        return;
    };
    holds(&tempfile::tempdir_in(place).unwrap().keep());
    println!("the quota holds");
}

/// Drops the capability that lifts quotas; sessions do not have it.
pub(crate) fn be_bound() {
    let mut sets = rustix::thread::capabilities(None).unwrap();
    sets.effective.remove(rustix::thread::CapabilitySet::SYS_RESOURCE);
    rustix::thread::set_capabilities(None, sets).unwrap();
}

fn holds(data: &Path) {
    be_bound();
    // Files from before the quota count too.
    std::fs::create_dir_all(data.join("workspaces/old/workspace/deep")).unwrap();
    std::fs::write(data.join("workspaces/old/workspace/deep/file"), vec![1; 3 << 20]).unwrap();

    let workspaces = Workspaces::new(config(data));
    workspaces.check().unwrap();
    let ann = open(&workspaces, "ann").unwrap();
    assert!(workspaces.kernel_holds_quota());
    let (written, error) = fill(&ann.workspace.join("big"));
    assert!((3 * MIB..=4 * MIB).contains(&written), "{written}");
    assert_eq!(
        error.raw_os_error(),
        Some(rustix::io::Errno::DQUOT.raw_os_error()),
        "{error}"
    );
    // Results count in the same account; another principal does not.
    let (written, _) = fill(&ann.results().join("more"));
    assert!(written < MIB / 2, "{written}");
    let bob = open(&workspaces, "bob").unwrap();
    let (written, _) = fill(&bob.workspace.join("big"));
    assert!(written >= 3 * MIB, "{written}");

    std::fs::remove_file(bob.workspace.join("big")).unwrap();
    let made =
        (0..100).take_while(|number| std::fs::File::create(bob.workspace.join(number.to_string())).is_ok());
    assert!((40..50).contains(&made.count()));

    let old = open(&workspaces, "old").unwrap();
    let (written, _) = fill(&old.workspace.join("big"));
    assert!(written < MIB, "what was there before takes its part: {written}");

    // A new limit applies from the next process on.
    let wider = Workspaces::new(WorkspaceConfig {
        quota: 8 * MIB,
        inodes: 0,
        ..config(data)
    });
    let old = open(&wider, "old").unwrap();
    let (written, _) = fill(&old.workspace.join("big"));
    assert!(written >= 4 * MIB, "{written}");
}
