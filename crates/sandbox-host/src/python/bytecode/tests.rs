//! Compiles a small package with the machine's Python.

use super::super::discover::{Settings, discover};
use super::*;

const SOURCES: [PackageFile; 3] = [
    ("tiny/__init__.py", b"NAME = 'tiny'\n"),
    (
        "tiny/inside.py",
        b"def where():\n    return where.__code__.co_filename\n",
    ),
    ("tiny/deep/__init__.py", b""),
];

#[expect(clippy::disallowed_methods, reason = "the machine's Python is searched")]
fn interpreter(data: &Path) -> Interpreter {
    let settings = Settings {
        path: None,
        search_path: std::env::var_os("PATH"),
    };
    discover(&settings, data).usable().unwrap()
}

fn names(data: &Path) -> Vec<String> {
    let entries = fs::read_dir(data.join(DIRECTORY)).unwrap();
    let mut names: Vec<_> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn files_are_compiled_once_for_their_place_in_sessions() {
    let data = tempfile::tempdir().unwrap();
    let interpreter = interpreter(data.path());
    let files = bytecode(data.path(), &interpreter, &SOURCES);
    assert_eq!(files.len(), 3, "{files:?}");
    for (source, target) in &files {
        let bytes = fs::read(source).unwrap();
        // PEP 552: the second word is 1 for a hash that is not checked.
        assert_eq!(bytes[4..8], [1, 0, 0, 0], "{source:?}");
        let inside = target.parent().unwrap().to_str().unwrap();
        assert!(
            inside.starts_with("/opt/codeyard/tiny") && inside.ends_with("/__pycache__"),
            "{inside}"
        );
        let host = data.path().to_str().unwrap().as_bytes();
        let names_host = bytes.windows(host.len()).any(|window| window == host);
        assert!(!names_host, "{source:?}");
    }
    let before = fs::metadata(&files[0].0).unwrap().modified().unwrap();
    assert_eq!(bytecode(data.path(), &interpreter, &SOURCES), files);
    assert_eq!(fs::metadata(&files[0].0).unwrap().modified().unwrap(), before);
    // Another source or another Python is compiled beside them.
    bytecode(data.path(), &interpreter, &SOURCES[..2]);
    let newer = Interpreter {
        version: (3, 99, 0),
        ..interpreter
    };
    bytecode(data.path(), &newer, &SOURCES);
    assert_eq!(names(data.path()).len(), 3);
}

#[test]
fn a_failure_leaves_nothing() {
    let data = tempfile::tempdir().unwrap();
    let interpreter = interpreter(data.path());
    let broken = [("tiny/broken.py", &b"def\n"[..])];
    assert_eq!(bytecode(data.path(), &interpreter, &broken), []);
    let missing = Interpreter {
        executable: "/nonexistent/python".into(),
        ..interpreter
    };
    assert_eq!(bytecode(data.path(), &missing, &SOURCES), []);
    assert_eq!(names(data.path()), [""; 0]);
}

#[test]
fn the_oldest_directories_are_removed() {
    let data = tempfile::tempdir().unwrap();
    let interpreter = interpreter(data.path());
    for count in 0..12 {
        let version = Interpreter {
            version: (3, 90, count),
            ..interpreter.clone()
        };
        bytecode(data.path(), &version, &SOURCES);
    }
    assert_eq!(names(data.path()).len(), CAPACITY);
    assert!(!bytecode(data.path(), &interpreter, &SOURCES).is_empty());
}
