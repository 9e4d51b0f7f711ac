//! Images, where root has loop devices.

use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::io::Errno;
use tempfile::TempDir;
use types::{Principal, SessionName};

use crate::quota::tests::{be_bound, fill, fill_file};
use crate::{Enforce, Extent, SessionFiles, WorkspaceConfig, WorkspaceError, Workspaces};

const MIB: u64 = 1024 * 1024;

/// A data directory that takes its image along when dropped.
struct Yard {
    home: TempDir,
}

impl Yard {
    /// Prints why there are no images, and returns `None`.
    fn new() -> Option<Yard> {
        let yard = Yard {
            home: tempfile::tempdir().unwrap(),
        };
        match yard.workspaces(4 * MIB, 200).check() {
            Ok(()) => Some(yard),
            Err(error) => {
                println!("skipped: {error}");
                None
            }
        }
    }

    /// As another process would open them.
    fn workspaces(&self, quota: u64, inodes: u64) -> Workspaces {
        self.enforcing(Enforce::Image, quota, inodes)
    }

    fn enforcing(&self, enforce: Enforce, quota: u64, inodes: u64) -> Workspaces {
        Workspaces::new(WorkspaceConfig {
            quota,
            inodes,
            enforce,
            ..WorkspaceConfig::below(self.home.path())
        })
    }

    fn directory(&self) -> std::path::PathBuf {
        self.home.path().join("workspaces/ann")
    }

    fn image(&self) -> std::path::PathBuf {
        self.home.path().join("workspaces/.images/ann.ext4")
    }

    fn is_mounted(&self) -> bool {
        let device = |path: &Path| std::fs::metadata(path).unwrap().dev();
        device(&self.directory()) != device(self.home.path())
    }
}

impl Drop for Yard {
    fn drop(&mut self) {
        // Left over by a failed test.
        let _ = jail::loopback::unmount(&self.directory());
    }
}

/// Works as an unprivileged user, who cannot use root's reserved blocks.
fn as_nobody<T>(work: impl FnOnce() -> T) -> T {
    let be = |user: u32| {
        let [user, root] = [user, 0].map(rustix::process::Uid::from_raw);
        rustix::thread::set_thread_res_uid(root, user, root).unwrap();
    };
    be(65_534);
    let done = work();
    be(0);
    done
}

fn ann() -> Principal {
    "ann".parse().expect("a principal")
}

fn open(workspaces: &Workspaces) -> Result<SessionFiles, WorkspaceError> {
    workspaces.open(&ann(), &SessionName::new("a"))
}

#[test]
fn the_file_system_holds_bytes_of_files_with_and_without_names() {
    let Some(yard) = Yard::new() else { return };
    be_bound();
    let workspaces = yard.workspaces(4 * MIB, 200);
    let files = open(&workspaces).unwrap();
    assert!(workspaces.kernel_holds_quota() && yard.is_mounted());
    let big = files.workspace.join("big");
    let (written, error) = fill(&big);
    assert!(
        (4 * MIB - 65_536..=4 * MIB + 65_536).contains(&written),
        "{written}"
    );
    assert_eq!(error.raw_os_error(), Some(Errno::NOSPC.raw_os_error()));
    assert!(fill(&files.results().join("more")).0 < 65_536);

    let held = std::fs::File::open(&big).unwrap();
    std::fs::remove_file(&big).unwrap();
    assert!(
        fill(&files.workspace.join("more")).0 < 65_536,
        "an open file counts"
    );
    drop(held);
    assert!(fill(&files.workspace.join("again")).0 >= 3 * MIB);
}

#[test]
fn the_file_system_holds_the_number_of_files() {
    let Some(yard) = Yard::new() else { return };
    let files = open(&yard.workspaces(4 * MIB, 200)).unwrap();
    let made = (0..1000)
        .take_while(|number| std::fs::File::create(files.workspace.join(number.to_string())).is_ok())
        .count();
    assert!((200..=230).contains(&made), "{made}");
}

#[test]
fn a_full_image_still_opens_sessions() {
    let Some(yard) = Yard::new() else { return };
    let workspaces = yard.workspaces(4 * MIB, 200);
    let files = open(&workspaces).unwrap();
    let big = std::fs::File::create(files.workspace.join("big")).unwrap();
    let mut small = std::fs::File::create(files.workspace.join("small")).unwrap();
    as_nobody(|| {
        fill_file(big);
        while small
            .write_all(&[1; 1024])
            .and_then(|()| small.sync_data())
            .is_ok()
        {}
    });
    workspaces.open(&ann(), &SessionName::new("another")).unwrap();
}

#[test]
fn existing_files_are_moved_into_the_image() {
    let Some(yard) = Yard::new() else { return };
    let before = open(&yard.enforcing(Enforce::Auto, 4 * MIB, 200)).unwrap();
    let (note, result) = (before.workspace.join("note"), before.results().join("plot"));
    std::fs::write(&note, "seen: 3").unwrap();
    std::fs::write(&result, "plot").unwrap();
    std::fs::hard_link(&note, before.workspace.join("same")).unwrap();
    std::os::unix::fs::symlink("note", before.workspace.join("link")).unwrap();
    std::os::unix::fs::chown(&note, Some(65_534), Some(65_534)).unwrap();

    let workspaces = yard.workspaces(4 * MIB, 200);
    let error = open(&workspaces).unwrap_err();
    assert!(matches!(error, WorkspaceError::InUse(_)), "{error}");
    drop(before);
    let files = open(&workspaces).unwrap();
    assert!(yard.is_mounted());
    assert_eq!(
        std::fs::read_to_string(files.workspace.join("link")).unwrap(),
        "seen: 3"
    );
    assert_eq!(std::fs::read_to_string(result).unwrap(), "plot");
    let found = std::fs::metadata(note).unwrap();
    assert_eq!((found.uid(), found.nlink()), (65_534, 2));
    drop(files);
    workspaces.unmount_unused().unwrap();
    assert_eq!(
        std::fs::read_dir(yard.directory()).unwrap().count(),
        1,
        "the lock"
    );
}

#[test]
fn files_that_are_too_large_for_the_image_stay_where_they_are() {
    let Some(yard) = Yard::new() else { return };
    let before = open(&yard.enforcing(Enforce::Auto, 64 * MIB, 200)).unwrap();
    let big = before.workspace.join("big");
    std::fs::write(&big, vec![1; 8 << 20]).unwrap();
    drop(before);
    let error = open(&yard.workspaces(4 * MIB, 200)).unwrap_err().to_string();
    assert!(
        error.contains("mkfs.ext4") && error.contains("`[workspace] quota`"),
        "{error}"
    );
    assert_eq!(std::fs::metadata(big).unwrap().len(), 8 << 20);
    assert!(!yard.image().exists());
    let left = std::fs::read_dir(yard.home.path().join("workspaces/.images")).unwrap();
    assert_eq!(left.count(), 0);
    open(&yard.workspaces(16 * MIB, 200)).unwrap();
}

#[test]
fn a_mount_that_a_killed_process_left_is_used_again() {
    let Some(yard) = Yard::new() else { return };
    let files = open(&yard.workspaces(4 * MIB, 200)).unwrap();
    std::fs::write(files.workspace.join("note"), "kept").unwrap();
    // Dropping it ends its locks, but not its mount.
    drop(files);
    assert!(yard.is_mounted());
    let next = yard.workspaces(4 * MIB, 200);
    let files = open(&next).unwrap();
    assert_eq!(
        std::fs::read_to_string(files.workspace.join("note")).unwrap(),
        "kept"
    );
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    let own = yard.directory();
    let here = mounts
        .lines()
        .filter(|line| line.contains(&*own.to_string_lossy()));
    assert_eq!(here.count(), 1, "{mounts}");
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a program of the test, waited for")]
fn an_image_that_the_kernel_made_read_only_is_checked_and_mounted_again() {
    let Some(yard) = Yard::new() else { return };
    drop(open(&yard.workspaces(4 * MIB, 200)).unwrap());
    let mut remount = std::process::Command::new("mount");
    remount.args(["-o", "remount,ro"]).arg(yard.directory());
    assert!(remount.status().unwrap().success());
    let files = open(&yard.workspaces(4 * MIB, 200)).unwrap();
    std::fs::write(files.workspace.join("note"), "kept").unwrap();
}

#[test]
fn an_image_is_unmounted_when_the_last_user_ends() {
    let Some(yard) = Yard::new() else { return };
    let (one, two) = (yard.workspaces(4 * MIB, 200), yard.workspaces(4 * MIB, 200));
    let (first, second) = (open(&one).unwrap(), open(&two).unwrap());
    std::fs::write(first.workspace.join("note"), "shared").unwrap();
    assert_eq!(
        std::fs::read_to_string(second.workspace.join("note")).unwrap(),
        "shared"
    );
    drop(first);
    one.unmount_unused().unwrap();
    assert!(yard.is_mounted());
    drop(second);
    two.unmount_unused().unwrap();
    assert!(!yard.is_mounted());
    assert!(open(&one).unwrap().workspace.join("note").exists());
}

#[test]
fn another_quota_makes_the_image_anew_with_its_files() {
    let Some(yard) = Yard::new() else { return };
    be_bound();
    let files = open(&yard.workspaces(4 * MIB, 200)).unwrap();
    std::fs::write(files.workspace.join("note"), vec![7; 2 << 20]).unwrap();
    let larger = yard.workspaces(8 * MIB, 400);
    let error = open(&larger).unwrap_err();
    assert!(matches!(error, WorkspaceError::OtherSize(_)), "{error}");
    drop(files);

    let files = open(&larger).unwrap();
    let (written, _) = fill(&files.workspace.join("big"));
    assert!((5 * MIB..=6 * MIB + 2 * 65_536).contains(&written), "{written}");
    assert_eq!(
        std::fs::metadata(files.workspace.join("note")).unwrap().len(),
        2 << 20
    );
    drop(files);

    let smaller = yard.workspaces(4 * MIB, 200);
    let error = open(&smaller).unwrap_err();
    assert!(matches!(error, WorkspaceError::Tool { .. }), "{error}");
    std::fs::remove_file(yard.directory().join("workspace/big")).unwrap();
    let files = open(&smaller).unwrap();
    assert!(fill(&files.workspace.join("big")).0 <= 2 * MIB + 2 * 65_536);
}

#[test]
fn files_of_an_image_are_hidden_from_no_other_mode() {
    let Some(yard) = Yard::new() else { return };
    let workspaces = yard.workspaces(4 * MIB, 200);
    drop(open(&workspaces).unwrap());
    workspaces.unmount_unused().unwrap();
    let error = open(&yard.enforcing(Enforce::Auto, 4 * MIB, 200)).unwrap_err();
    assert!(matches!(error, WorkspaceError::InImage { .. }), "{error}");
    std::fs::create_dir(yard.directory().join("workspace")).unwrap();
    let error = open(&workspaces).unwrap_err();
    assert!(matches!(error, WorkspaceError::BesideImage { .. }), "{error}");
}

#[test]
fn images_are_listed_shown_and_cleaned() {
    let Some(yard) = Yard::new() else { return };
    let workspaces = yard.workspaces(4 * MIB, 200);
    let files = open(&workspaces).unwrap();
    std::fs::write(files.workspace.join("note"), vec![7; 1 << 20]).unwrap();
    std::fs::write(files.results().join("plot"), "plot").unwrap();
    let listed = workspaces.list().unwrap();
    assert!(listed[0].in_use && listed[0].usage.bytes > MIB, "{listed:?}");
    let error = workspaces.clean(&listed[0], Extent::Everything).unwrap_err();
    assert!(matches!(error, WorkspaceError::InUse(_)), "{error}");
    drop(files);
    workspaces.unmount_unused().unwrap();

    let listed = workspaces.list().unwrap();
    assert!(!listed[0].in_use && listed[0].usage.bytes > MIB, "{listed:?}");
    assert!(!yard.is_mounted());
    assert_eq!(workspaces.artifacts(&ann()).unwrap().files.len(), 1);
    workspaces.clean(&listed[0], Extent::Sessions).unwrap();
    workspaces.mount(&ann()).unwrap();
    assert!(yard.directory().join("workspace/note").exists());
    assert!(!yard.directory().join("sessions").exists());
    workspaces.clean(&listed[0], Extent::Everything).unwrap();
    assert!(!yard.directory().exists() && !yard.image().exists());
    assert_eq!(workspaces.list().unwrap(), []);
}

#[test]
fn without_a_quota_there_is_no_image() {
    let home = tempfile::tempdir().unwrap();
    let workspaces = Workspaces::new(WorkspaceConfig {
        quota: 0,
        enforce: Enforce::Image,
        ..WorkspaceConfig::below(home.path())
    });
    let error = workspaces.check().unwrap_err().to_string();
    assert!(
        error.contains("`[workspace] enforce = \"image\"` cannot be met"),
        "{error}"
    );
}
