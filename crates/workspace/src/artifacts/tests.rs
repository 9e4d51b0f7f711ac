//! Which of a principal's results are listed and read, and by whom.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::symlink;
use std::time::Duration;

use super::*;
use crate::WorkspaceConfig;

fn ann() -> Principal {
    "ann".parse().expect("a principal")
}

fn session(name: &str) -> SessionName {
    SessionName::new(name)
}

/// The listing as `session/path`, newest first.
fn listed(workspaces: &Workspaces) -> Vec<String> {
    let artifacts = workspaces.artifacts(&ann()).unwrap();
    let shown = |file: &Artifact| format!("{}/{}", file.session, file.path.display());
    artifacts.files.iter().map(shown).collect()
}

#[test]
fn files_of_all_sessions_are_listed_and_read_by_their_principal_only() {
    let home = tempfile::tempdir().unwrap();
    let workspaces = Workspaces::new(WorkspaceConfig::below(home.path()));
    assert_eq!(workspaces.artifacts(&ann()).unwrap(), Artifacts::default());
    let one = workspaces.open(&ann(), &session("one")).unwrap();
    let two = workspaces.open(&ann(), &session("two/.. x")).unwrap();
    let write = |path: PathBuf, age: u64| {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, format!("{age}")).unwrap();
        let time = SystemTime::now() - Duration::from_secs(age);
        std::fs::File::open(&path).unwrap().set_modified(time).unwrap();
    };
    write(one.results().join("old"), 300);
    write(two.results().join("deep/new"), 100);
    write(one.results().join("newest"), 0);
    write(one.workspace.join("none"), 0);
    symlink("newest", one.results().join("link")).unwrap();
    std::fs::hard_link(one.results().join("old"), one.results().join("old2")).unwrap();
    std::fs::remove_file(one.results().join("old2")).unwrap();
    assert_eq!(
        listed(&workspaces),
        ["one/newest", "two/.. x/deep/new", "one/old"]
    );
    let file = &workspaces.artifacts(&ann()).unwrap().files[0];
    assert_eq!(
        (file.size, file.modified.elapsed().unwrap().as_secs() < 60),
        (1, true)
    );

    let read = |whose: &Principal, name: &str, path: &str| {
        workspaces.read_artifact(whose, &session(name), Path::new(path), 10)
    };
    assert_eq!(read(&ann(), "two/.. x", "deep/new").unwrap(), b"100");
    let bob: Principal = "bob".parse().expect("a principal");
    for (whose, name, path) in [
        (&bob, "one", "old"),
        (&ann(), "two", "old"),
        (&ann(), "one", ""),
        (&ann(), "one", "/etc/passwd"),
        (&ann(), "one", "../one/old/.."),
        (&ann(), "..", "workspace/none"),
        (&ann(), "one", "../../workspace/none"),
        (&ann(), "one", "../../../../../../etc/passwd"),
    ] {
        assert!(
            matches!(read(whose, name, path), Err(ReadError::Missing)),
            "{name} {path}"
        );
    }
    assert!(matches!(read(&ann(), "one", "link"), Err(ReadError::Special(_))));
    assert_eq!(workspaces.artifacts(&bob).unwrap(), Artifacts::default());
}

#[test]
fn names_of_any_bytes_come_back() {
    let home = tempfile::tempdir().unwrap();
    let workspaces = Workspaces::new(WorkspaceConfig::below(home.path()));
    let files = workspaces.open(&ann(), &session("a")).unwrap();
    let name = OsString::from_vec(b"\xff\n\x1b[2J".to_vec());
    std::fs::write(files.results().join(&name), "odd").unwrap();
    let listed = workspaces.artifacts(&ann()).unwrap().files;
    assert_eq!(listed[0].path, Path::new(&name));
    assert_eq!(
        workspaces
            .read_artifact(&ann(), &session("a"), &listed[0].path, 10)
            .unwrap(),
        b"odd"
    );
}

#[test]
fn a_flood_of_files_is_truncated_and_marked() {
    let home = tempfile::tempdir().unwrap();
    let workspaces = Workspaces::new(WorkspaceConfig::below(home.path()));
    let files = workspaces.open(&ann(), &session("a")).unwrap();
    for number in 0..=MOST_ARTIFACTS {
        std::fs::File::create(files.results().join(number.to_string())).unwrap();
    }
    let listed = workspaces.artifacts(&ann()).unwrap();
    assert_eq!((listed.files.len(), listed.more), (MOST_ARTIFACTS, true));
}
