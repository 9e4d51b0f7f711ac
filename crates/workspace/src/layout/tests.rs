//! What a session gets on disk: places, owners, permissions, refusals.

use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::time::Instant;

use std::path::Path;

use super::*;

fn ann() -> Principal {
    "ann".parse().expect("a principal")
}

fn name(name: &str) -> SessionName {
    SessionName::new(name)
}

fn workspaces(data: &Path) -> Workspaces {
    Workspaces::new(WorkspaceConfig::below(data))
}

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o7777
}

fn root() -> bool {
    rustix::process::geteuid().is_root()
}

#[test]
fn a_session_gets_directories_that_stay() {
    let home = tempfile::tempdir().unwrap();
    let data = home.path().join("not/there/yet");
    let workspaces = workspaces(&data);
    assert!(!data.exists(), "nothing is made before a session needs it");
    let files = workspaces.open(&ann(), &name("default")).unwrap();
    assert_eq!(files.workspace, data.join("workspaces/ann/workspace"));
    assert_eq!(
        files.results(),
        data.join("workspaces/ann/sessions/default/results")
    );
    assert!(workspaces.shared(&ann()).is_none());
    std::fs::write(files.workspace.join("kept"), "1").unwrap();
    for directory in [
        &files.workspace,
        &files.session,
        &files.results(),
        &files.scratch(),
        &data.join("workspaces"),
        &data.join("workspaces/ann"),
    ] {
        assert_eq!(mode(directory), 0o700, "{}", directory.display());
    }
    let again = workspaces.open(&ann(), &name("other")).unwrap();
    assert_eq!(again.workspace, files.workspace);
    assert_eq!(
        again.results(),
        data.join("workspaces/ann/sessions/other/results")
    );
    assert_eq!(
        std::fs::read_to_string(again.workspace.join("kept")).unwrap(),
        "1"
    );
    let bob = workspaces
        .open(&"bob".parse().expect("a principal"), &name("default"))
        .unwrap();
    assert!(!bob.workspace.join("kept").exists());
}

#[test]
fn sessions_own_their_files_and_are_never_root_on_disk() {
    let home = tempfile::tempdir().unwrap();
    let own = rustix::process::geteuid().as_raw();
    let files = workspaces(home.path()).open(&ann(), &name("a")).unwrap();
    let expected = if root() { 65_534 } else { own };
    for directory in [
        &files.workspace,
        &files.session,
        &files.results(),
        &files.scratch(),
    ] {
        assert_eq!(directory.metadata().unwrap().uid(), expected);
    }
    for above in [
        home.path().join("workspaces"),
        home.path().join("workspaces/ann"),
        home.path().join("workspaces/ann/sessions"),
    ] {
        assert_eq!(above.metadata().unwrap().uid(), own, "{}", above.display());
    }
}

#[test]
fn as_root_the_settings_or_the_data_directory_say_who_owns_the_files() {
    if !root() {
        return;
    }
    let home = tempfile::tempdir().unwrap();
    std::os::unix::fs::chown(home.path(), Some(1234), Some(1235)).unwrap();
    let files = workspaces(home.path()).open(&ann(), &name("a")).unwrap();
    let metadata = files.workspace.metadata().unwrap();
    assert_eq!((metadata.uid(), metadata.gid()), (1234, 1235));
    assert_eq!(
        mode(&home.path().join("workspaces/ann")),
        0o711,
        "the owner reaches their files"
    );

    let mut config = WorkspaceConfig::below(home.path());
    config.owner = crate::Owner::User(4321);
    let error = Workspaces::new(config.clone())
        .open(&ann(), &name("a"))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains(
            "belongs to user 1234, but files of sessions belong to user 4321; run `sudo chown -R 4321:4321 "
        ),
        "{error}"
    );
    let bob: Principal = "bob".parse().expect("a principal");
    let files = Workspaces::new(config.clone()).open(&bob, &name("a")).unwrap();
    assert_eq!(files.results().metadata().unwrap().uid(), 4321);
    // Left by a process that died between creating a directory and changing the owner.
    std::os::unix::fs::chown(files.results(), Some(0), Some(0)).unwrap();
    let files = Workspaces::new(config).open(&bob, &name("a")).unwrap();
    assert_eq!(files.results().metadata().unwrap().uid(), 4321);
}

#[test]
fn names_of_all_kinds_stay_in_their_place() {
    let home = tempfile::tempdir().unwrap();
    let workspaces = workspaces(home.path());
    let long = "x".repeat(10_000);
    let names = ["..", ".", "", "/", "a/../b", "a\0b", "ü", long.as_str(), "a", "A"];
    let mut seen = std::collections::HashSet::new();
    for principal in names {
        let principal = Principal::new("local", principal).unwrap();
        for session in names {
            let files = workspaces.open(&principal, &name(session)).unwrap();
            assert_eq!(
                files.session.ancestors().nth(3).unwrap(),
                home.path().join("workspaces")
            );
            assert!(seen.insert(files.session.clone()), "{}", files.session.display());
        }
    }
}

#[test]
fn planted_entries_are_refused_by_name() {
    let elsewhere = tempfile::tempdir().unwrap();
    type Plant = fn(&Path, &Path);
    let plants: [(&str, Plant); 5] = [
        ("workspaces: is a symbolic link", |data, to| {
            symlink(to, data.join("workspaces")).unwrap()
        }),
        ("workspaces: is a file", |data, _| {
            std::fs::write(data.join("workspaces"), "").unwrap()
        }),
        ("ann: is a symbolic link", |data, to| {
            std::fs::create_dir(data.join("workspaces")).unwrap();
            symlink(to, data.join("workspaces/ann")).unwrap();
        }),
        ("workspace: is a symbolic link", |data, to| {
            std::fs::create_dir_all(data.join("workspaces/ann")).unwrap();
            symlink(to, data.join("workspaces/ann/workspace")).unwrap();
        }),
        ("default: is a FIFO", |data, _| {
            std::fs::create_dir_all(data.join("workspaces/ann/sessions")).unwrap();
            let path = data.join("workspaces/ann/sessions/default");
            let mode = rustix::fs::Mode::from_raw_mode(0o600);
            rustix::fs::mkfifoat(rustix::fs::CWD, path, mode).unwrap();
        }),
    ];
    for (expected, plant) in plants {
        let home = tempfile::tempdir().unwrap();
        plant(home.path(), elsewhere.path());
        let error = workspaces(home.path())
            .open(&ann(), &name("default"))
            .unwrap_err()
            .to_string();
        assert!(
            error.contains(expected) && error.contains("move it away"),
            "{error}"
        );
        assert_eq!(elsewhere.path().read_dir().unwrap().count(), 0);
    }
}

#[test]
fn an_unusable_data_directory_is_named_with_the_remedy() {
    let error = |data: &Path| workspaces(data).open(&ann(), &name("a")).unwrap_err().to_string();
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("file");
    std::fs::write(&file, "").unwrap();
    let text = error(&file);
    assert!(
        text.contains(&file.display().to_string()) && text.contains("move it away"),
        "{text}"
    );
    let text = error(&file.join("below"));
    assert!(text.contains("--data"), "{text}");
    let text = error(Path::new("/proc/codeyard"));
    assert!(
        text.contains("/proc/codeyard: cannot make the directory"),
        "{text}"
    );
}

#[test]
fn a_data_directory_behind_a_link_gives_paths_without() {
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir(home.path().join("real")).unwrap();
    symlink("real", home.path().join("link")).unwrap();
    let files = workspaces(&home.path().join("link"))
        .open(&ann(), &name("a"))
        .unwrap();
    assert_eq!(
        files.workspace,
        home.path()
            .canonicalize()
            .unwrap()
            .join("real/workspaces/ann/workspace")
    );
}

#[test]
fn missing_directories_are_made_again() {
    let home = tempfile::tempdir().unwrap();
    let workspaces = workspaces(home.path());
    let first = workspaces.open(&ann(), &name("a")).unwrap();
    for gone in ["workspaces/ann/workspace", "workspaces/ann", "workspaces"] {
        std::fs::remove_dir_all(home.path().join(gone)).unwrap();
        let files = workspaces.open(&ann(), &name("a")).unwrap();
        assert!(files.workspace.is_dir() && files.results().is_dir());
        assert!(home.path().join("workspaces/ann/lock").is_file());
    }
    drop(first);
}

#[test]
fn opening_again_is_cheap() {
    let home = tempfile::tempdir().unwrap();
    let workspaces = workspaces(home.path());
    let _held = workspaces.open(&ann(), &name("a")).unwrap();
    let mut times: Vec<_> = (0..500)
        .map(|_| {
            let start = Instant::now();
            workspaces.open(&ann(), &name("a")).unwrap();
            start.elapsed()
        })
        .collect();
    times.sort();
    println!("open: p50 {:?}, p99 {:?}", times[250], times[495]);
    // Far above the real tens of microseconds, so that a busy machine passes.
    assert!(times[250].as_millis() < 2, "{:?}", times[250]);
}

#[test]
fn many_open_at_once() {
    let home = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let data = home.path();
            scope.spawn(move || {
                let workspaces = workspaces(data);
                for session in 0..20 {
                    let files = workspaces
                        .open(&ann(), &name(&format!("s{}", (session + thread) % 20)))
                        .unwrap();
                    let expected = if root() {
                        65_534
                    } else {
                        rustix::process::geteuid().as_raw()
                    };
                    assert_eq!(files.results().metadata().unwrap().uid(), expected);
                }
            });
        }
    });
}

#[test]
fn a_file_of_another_user_is_named_with_the_command_that_repairs_it() {
    if !root() {
        println!("skipped: only root can give files to another user");
        return;
    }
    let home = tempfile::Builder::new().prefix("it's ").tempdir().unwrap();
    let workspaces = workspaces(home.path());
    let top = workspaces.open(&ann(), &name("a")).unwrap().workspace;
    std::fs::create_dir(top.join("d")).unwrap();
    std::os::unix::fs::chown(top.join("d"), Some(65_534), None).unwrap();
    let theirs = top.join("d/theirs");
    std::fs::write(&theirs, "x").unwrap();
    std::os::unix::fs::symlink("nowhere", top.join("link")).unwrap();
    let quoted = top.display().to_string().replace('\'', r"'\''");
    let repair = format!("`sudo chown -R 65534:65534 '{quoted}'`");
    // The mode decides: a program may read and not write, or not even read.
    for (mode, is_open) in [(0o644, true), (0o600, false), (0o640, false)] {
        std::fs::set_permissions(&theirs, std::fs::Permissions::from_mode(mode)).unwrap();
        let opened = workspaces.open(&ann(), &name("a"));
        let examined = workspaces.owners();
        for found in [opened.map(|files| files.foreign), examined] {
            assert_eq!(found.is_ok(), is_open, "{mode:o}: {found:?}");
            let said = match found {
                Ok(found) => found.expect("it is named").to_string(),
                Err(error) => error.to_string(),
            };
            assert!(
                said.starts_with(&format!("{}: belongs to user 0", theirs.display())),
                "{said}"
            );
            assert!(said.contains(&repair), "{said}");
        }
    }
    std::os::unix::fs::chown(&theirs, Some(65_534), None).unwrap();
    assert_eq!(workspaces.owners().unwrap(), None);
}
