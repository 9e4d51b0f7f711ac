//! Listing and removing principals' files beside processes that use them.

use std::path::Path;

use types::SessionName;

use std::os::unix::ffi::OsStrExt as _;

use rustix::fs::{Mode, OFlags};

use super::*;
use crate::WorkspaceConfig;
use crate::layout::SessionFiles;

fn workspaces(data: &Path) -> Workspaces {
    Workspaces::new(WorkspaceConfig::below(data))
}

fn open(workspaces: &Workspaces, principal: &str) -> SessionFiles {
    let principal: Principal = principal.parse().unwrap();
    workspaces.open(&principal, &SessionName::new("a")).unwrap()
}

fn holding(workspaces: &Workspaces, name: &str) -> Holding {
    let holdings = workspaces.list().unwrap();
    holdings.into_iter().find(|holding| holding.name == name).unwrap()
}

#[test]
fn all_principals_with_files_are_listed() {
    let home = tempfile::tempdir().unwrap();
    let workspaces = workspaces(home.path());
    assert_eq!(workspaces.list().unwrap(), []);
    let long = "x".repeat(500);
    for name in ["ann", "b/../c", long.as_str()] {
        let files = open(&workspaces, name);
        std::fs::write(files.workspace.join("file"), vec![1; 100_000]).unwrap();
    }
    std::fs::create_dir(home.path().join("workspaces/lost+found")).unwrap();
    std::fs::write(home.path().join("workspaces/stray"), "").unwrap();
    let kept = open(&workspaces, "ann");
    let holdings = workspaces.list().unwrap();
    let names: Vec<&str> = holdings.iter().map(|holding| holding.name.as_str()).collect();
    assert_eq!(names[..2], ["ann", "b/../c"]);
    assert!(names.len() == 3 && names[2].starts_with("xxx"), "{names:?}");
    for holding in &holdings {
        assert!((100_000..200_000).contains(&holding.usage.bytes) && holding.usage.complete);
        assert_eq!(holding.in_use, holding.name == "ann");
        assert!(holding.last_use.unwrap().elapsed().unwrap().as_secs() < 60);
    }
    drop(kept);
    assert!(!holding(&workspaces, "ann").in_use);
}

#[test]
fn cleaning_takes_everything_of_one_and_nothing_of_others() {
    let home = tempfile::tempdir().unwrap();
    let workspaces = workspaces(home.path());
    for name in ["ann", "bob"] {
        let files = open(&workspaces, name);
        std::fs::write(files.workspace.join("w"), "").unwrap();
        std::fs::write(files.results().join("r"), "").unwrap();
    }
    let root = home.path().join("workspaces");
    workspaces
        .clean(&holding(&workspaces, "ann"), Extent::Sessions)
        .unwrap();
    assert!(root.join("ann/workspace/w").exists() && !root.join("ann/sessions").exists());
    assert!(root.join("bob/sessions/a/results/r").exists());
    workspaces
        .clean(&holding(&workspaces, "ann"), Extent::Everything)
        .unwrap();
    let left: Vec<_> = names(&Directory::at(&root).unwrap()).unwrap();
    assert_eq!(left, ["bob"]);
    assert!(
        open(&workspaces, "ann").workspace.is_dir(),
        "it is made again when it is needed"
    );
}

#[test]
fn files_in_use_are_not_removed() {
    let home = tempfile::tempdir().unwrap();
    let (server, command) = (workspaces(home.path()), workspaces(home.path()));
    let files = open(&server, "ann");
    for extent in [Extent::Everything, Extent::Sessions] {
        let error = command
            .clean(&holding(&command, "ann"), extent)
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("/ann: is in use by a running codeyard process; end its client first"),
            "{error}"
        );
    }
    let lease = files.lease.clone();
    drop(files);
    assert!(
        holding(&command, "ann").in_use,
        "as long as anything holds the lease"
    );
    drop(lease);
    command
        .clean(&holding(&command, "ann"), Extent::Everything)
        .unwrap();
}

#[test]
fn opening_and_cleaning_at_once_lose_neither() {
    let home = tempfile::tempdir().unwrap();
    let data = home.path();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..50 {
                    let files = open(&workspaces(data), "ann");
                    // While the lease lives, no cleaning takes the files.
                    std::fs::write(files.workspace.join("mine"), "").unwrap();
                    std::fs::write(files.results().join("mine"), "").unwrap();
                    assert!(files.workspace.join("mine").exists() && files.results().join("mine").exists());
                }
            });
        }
        scope.spawn(|| {
            let workspaces = workspaces(data);
            for _ in 0..100 {
                for holding in workspaces.list().unwrap() {
                    match workspaces.clean(&holding, Extent::Everything) {
                        Ok(()) | Err(WorkspaceError::InUse(_) | WorkspaceError::BeingCleaned(_)) => {}
                        Err(error) => panic!("{error}"),
                    }
                }
            }
        });
    });
}

#[test]
fn strange_trees_are_removed_without_following_links() {
    let home = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("kept"), "").unwrap();
    let workspaces = workspaces(home.path());
    let workspace = open(&workspaces, "ann").workspace;
    std::os::unix::fs::symlink(outside.path(), workspace.join("link")).unwrap();
    rustix::fs::mkfifoat(
        rustix::fs::CWD,
        workspace.join("fifo"),
        Mode::from_raw_mode(0o600),
    )
    .unwrap();
    std::fs::write(workspace.join(OsStr::from_bytes(b"\xff")), "").unwrap();
    std::fs::create_dir_all(workspace.join("closed/below")).unwrap();
    fs::chmod(workspace.join("closed"), Mode::empty()).unwrap();
    // Deeper than any path can name.
    let mut directory = fs::open(&workspace, OFlags::DIRECTORY, Mode::empty()).unwrap();
    for _ in 0..3000 {
        fs::mkdirat(&directory, "d", Mode::from_raw_mode(0o700)).unwrap();
        directory = fs::openat(&directory, "d", OFlags::DIRECTORY, Mode::empty()).unwrap();
    }
    let usage = holding(&workspaces, "ann").usage;
    assert!(
        !usage.complete && workspaces.quota().is_outgrown_by(usage),
        "{usage:?}"
    );
    workspaces
        .clean(&holding(&workspaces, "ann"), Extent::Everything)
        .unwrap();
    assert_eq!(
        names(&Directory::at(&home.path().join("workspaces")).unwrap()).unwrap(),
        [""; 0]
    );
    assert!(outside.path().join("kept").exists());
}
