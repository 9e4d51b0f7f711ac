//! Session directories: shared by name, repaired, removed when unused.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use super::*;
use crate::{SessionFiles, WorkspaceConfig};

struct Yard {
    home: tempfile::TempDir,
    workspaces: Workspaces,
}

impl Yard {
    fn new() -> Yard {
        Yard::with(|_| {})
    }

    fn with(change: impl FnOnce(&mut WorkspaceConfig)) -> Yard {
        let home = tempfile::tempdir().unwrap();
        let mut config = WorkspaceConfig::below(home.path());
        change(&mut config);
        let workspaces = Workspaces::new(config);
        Yard { home, workspaces }
    }

    fn open(&self, session: &str) -> SessionFiles {
        self.workspaces.open(&ann(), &SessionName::new(session)).unwrap()
    }

    fn end(&self, session: &str) {
        let session = SessionName::new(session);
        self.workspaces.end_session(&ann(), &session).unwrap();
    }

    fn place(&self) -> PathBuf {
        self.home.path().join("workspaces/ann")
    }

    /// Everything below the principal's `sessions`, by path.
    fn left(&self) -> Vec<String> {
        let mut found = Vec::new();
        listed(&self.place().join("sessions"), "", &mut found);
        found.sort();
        found
    }
}

fn listed(directory: &Path, prefix: &str, found: &mut Vec<String>) {
    let Ok(entries) = directory.read_dir() else { return };
    for entry in entries {
        let entry = entry.unwrap();
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        listed(&entry.path(), &format!("{name}/"), found);
        found.push(name);
    }
}

fn ann() -> Principal {
    "ann".parse().expect("a principal")
}

#[test]
fn sessions_of_one_name_share_their_directories() {
    let yard = Yard::new();
    let (one, two) = (yard.open("a"), yard.open("a"));
    std::fs::write(one.scratch().join("file"), "seen").unwrap();
    assert_eq!(
        std::fs::read_to_string(two.scratch().join("file")).unwrap(),
        "seen"
    );
    assert!(!yard.open("b").scratch().join("file").exists());
    let bob: Principal = "bob".parse().expect("a principal");
    let other = yard.workspaces.open(&bob, &SessionName::new("a")).unwrap();
    assert!(!other.scratch().join("file").exists());
}

#[test]
fn scratch_goes_with_the_last_session_of_its_name_and_results_stay() {
    let yard = Yard::new();
    let (python, typescript) = (yard.open("a"), yard.open("a"));
    std::fs::create_dir_all(python.scratch().join("deep/er")).unwrap();
    std::fs::write(python.scratch().join("deep/er/file"), "").unwrap();
    std::fs::write(python.results().join("kept"), "").unwrap();
    drop(python);
    yard.end("a");
    assert!(typescript.scratch().join("deep/er/file").exists());
    // Another process.
    let other = Workspaces::new(WorkspaceConfig::below(yard.home.path()));
    let process = other.open(&ann(), &SessionName::new("a")).unwrap();
    drop(typescript);
    yard.end("a");
    assert!(process.scratch().join("deep/er/file").exists());
    drop(process);
    yard.end("a");
    assert_eq!(yard.left(), ["a", "a/results", "a/results/kept"]);
    let aside = std::fs::read_dir(yard.place()).unwrap().count();
    assert_eq!(aside, 3, "lock, sessions and workspace");
}

#[test]
fn a_session_that_wrote_nothing_leaves_nothing() {
    let yard = Yard::new();
    drop(yard.open("a"));
    yard.end("a");
    assert_eq!(yard.left(), [""; 0]);
    yard.end("a");
    yard.end("never/../opened");
}

#[test]
fn leftovers_of_a_killed_process_are_removed_later() {
    let yard = Yard::with(|config| config.scratch_time = Duration::from_secs(60));
    for (session, age) in [("old", 3600), ("new", 0), ("future", -3600_i64)] {
        let files = yard.open(session);
        std::fs::write(files.scratch().join("file"), "").unwrap();
        let directory = std::fs::File::open(&files.session).unwrap();
        let (now, age) = (SystemTime::now(), Duration::from_secs(age.unsigned_abs()));
        let used = if session == "future" { now + age } else { now - age };
        directory.set_modified(used).unwrap();
    }
    let living = yard.open("living");
    std::fs::write(living.scratch().join("file"), "").unwrap();
    let past = SystemTime::now() - Duration::from_secs(3600);
    let directory = std::fs::File::open(&living.session).unwrap();
    directory.set_modified(past).unwrap();
    // An interrupted removal.
    std::fs::create_dir_all(yard.place().join(".old-1-1/deep")).unwrap();
    for (name, hours) in [(".new-1-0", 2), (".new-1-1", 0)] {
        let file = std::fs::File::create(yard.place().join(name)).unwrap();
        let then = std::time::SystemTime::now() - Duration::from_hours(hours);
        file.set_modified(then).unwrap();
    }
    yard.workspaces.tidy(&ann()).unwrap();
    let left = yard.left();
    for (path, is_left) in [
        ("old", false),
        ("new/scratch/file", true),
        ("future/scratch/file", true),
        ("living/scratch/file", true),
    ] {
        assert_eq!(
            left.iter().any(|found| found == path),
            is_left,
            "{path}: {left:?}"
        );
    }
    assert!(!yard.place().join(".old-1-1").exists());
    assert!(
        !yard.place().join(".new-1-0").exists(),
        "left by an interrupted write"
    );
    assert!(yard.place().join(".new-1-1").exists(), "perhaps being written");
}

#[test]
fn directories_changed_by_a_program_are_repaired() {
    type Harm = fn(&SessionFiles);
    let harms: [Harm; 8] = [
        |files| std::fs::rename(files.scratch(), files.results().join("moved")).unwrap(),
        |files| std::fs::rename(files.results(), files.scratch().join("moved")).unwrap(),
        |files| {
            std::fs::remove_dir(files.scratch()).unwrap();
            symlink("/etc", files.scratch()).unwrap();
        },
        |files| {
            std::fs::remove_dir(files.results()).unwrap();
            std::fs::write(files.results(), "").unwrap();
        },
        |files| {
            std::fs::remove_dir(files.results()).unwrap();
            let mode = Mode::from_raw_mode(0o600);
            rustix::fs::mkfifoat(rustix::fs::CWD, files.results(), mode).unwrap();
        },
        |files| {
            for closed in [files.scratch(), files.results(), files.session.clone()] {
                std::fs::set_permissions(closed, PermissionsExt::from_mode(0o0)).unwrap();
            }
        },
        |files| {
            let name = OsString::from_vec(b"\xff\n".to_vec());
            std::fs::create_dir_all(files.session.join(name).join("junk")).unwrap();
        },
        |files| {
            std::fs::create_dir(files.scratch().join("closed")).unwrap();
            std::fs::set_permissions(files.scratch(), PermissionsExt::from_mode(0o0)).unwrap();
        },
    ];
    for (number, harm) in harms.iter().enumerate() {
        let yard = Yard::new();
        harm(&yard.open("a"));
        let files = yard.open("a");
        for directory in [files.scratch(), files.results()] {
            let found = std::fs::symlink_metadata(&directory).unwrap();
            assert!(found.is_dir(), "{number}: {}", directory.display());
            assert_eq!(found.permissions().mode() & 0o700, 0o700, "{number}");
        }
        assert!(yard.workspaces.artifacts(&ann()).is_ok());
        drop(files);
        yard.end("a");
        let left = yard.left();
        let is_kept = |name: &String| name == "a" || name.starts_with("a/results");
        assert!(left.iter().all(is_kept), "{number}: {left:?}");
    }
}

#[test]
fn results_of_earlier_versions_move() {
    let yard = Yard::new();
    drop(yard.open("taken"));
    std::fs::write(yard.place().join("sessions/taken/results/new"), "").unwrap();
    for session in ["one", "%2E.", "taken"] {
        let results = yard.place().join("results").join(session);
        std::fs::create_dir_all(&results).unwrap();
        std::fs::write(results.join("file"), session).unwrap();
        if rustix::process::geteuid().is_root() {
            let nobody = Some(crate::directory::NOBODY);
            std::os::unix::fs::chown(&results, nobody, nobody).unwrap();
            std::os::unix::fs::chown(results.join("file"), nobody, nobody).unwrap();
        }
    }
    let listed = yard.workspaces.artifacts(&ann()).unwrap().files;
    let mut found: Vec<String> = listed
        .iter()
        .map(|file| format!("{} {}", file.session, file.path.display()))
        .collect();
    found.sort();
    assert_eq!(found, [".. file", "one file", "taken new"]);
    let one = yard.open("one");
    assert_eq!(
        std::fs::read_to_string(one.results().join("file")).unwrap(),
        "one"
    );
    // What is taken stays where it was.
    assert_eq!(
        std::fs::read_to_string(yard.place().join("results/taken/file")).unwrap(),
        "taken"
    );
    std::fs::remove_file(yard.place().join("sessions/taken/results/new")).unwrap();
    drop(yard.open("other"));
    assert!(!yard.place().join("results").exists());
    assert!(yard.open("taken").results().join("file").exists());
}

#[test]
fn empty_directories_of_sessions_that_ended_go() {
    let yard = Yard::new();
    let (living, empty, full) = (yard.open("living"), yard.open("empty"), yard.open("full"));
    std::fs::write(full.results().join("file"), "").unwrap();
    let again = yard.open("empty");
    drop((empty, full));
    let left = || {
        yard.workspaces.tidy(&ann()).unwrap();
        let mut left = yard.left();
        left.retain(|name| !name.contains('/'));
        left
    };
    assert_eq!(
        left(),
        ["empty", "full", "living"],
        "another session of that name lives"
    );
    std::fs::set_permissions(&again.session, PermissionsExt::from_mode(0o0)).unwrap();
    drop(again);
    assert_eq!(left(), ["full", "living"]);
    drop(living);
    assert_eq!(left(), ["full"]);
}

#[test]
fn removals_take_nothing_from_sessions_that_begin() {
    let home = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let workspaces = Workspaces::new(WorkspaceConfig::below(home.path()));
                for number in 0..200 {
                    let files = workspaces.open(&ann(), &SessionName::new("a")).unwrap();
                    let file = files.scratch().join(format!("{number}"));
                    std::fs::write(&file, "").unwrap();
                    match number % 2 {
                        0 => workspaces.tidy(&ann()).unwrap(),
                        _ => workspaces.end_session(&ann(), &SessionName::new("a")).unwrap(),
                    }
                    assert!(file.exists() && files.results().is_dir());
                }
            });
        }
    });
}
