//! Every kind of Python that must be refused: each differs in one fact from a good one.

use super::*;

struct Installation {
    root: tempfile::TempDir,
}

impl Installation {
    fn new() -> Installation {
        let root = tempfile::tempdir().unwrap();
        fs::set_permissions(root.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let installation = Installation { root };
        installation.add("bin/python3", 0o755);
        installation.add("lib/os.py", 0o644);
        installation
    }

    fn add(&self, name: &str, mode: u32) {
        let path = self.root.path().join(name);
        let parent = path.parent().unwrap();
        fs::create_dir_all(parent).unwrap();
        fs::set_permissions(parent, fs::Permissions::from_mode(0o755)).unwrap();
        fs::write(&path, "").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    }

    fn facts(&self) -> ProbeAnswer {
        ProbeAnswer {
            version: (3, 11, 2),
            implementation: "cpython".into(),
            bits: 64,
            executable: self.root.path().join("bin/python3"),
            base_prefix: self.root.path().to_owned(),
            base_exec_prefix: self.root.path().to_owned(),
            stdlib: self.root.path().join("lib"),
            platlibdir: "lib".into(),
            dynload: None,
            libpython: None,
            libc: "glibc 2.36".into(),
            free_threaded: false,
            has_ctypes: true,
            pip: None,
        }
    }
}

fn refusal(change: impl FnOnce(&mut ProbeAnswer)) -> String {
    let installation = Installation::new();
    let mut facts = installation.facts();
    change(&mut facts);
    judge(Path::new("/usr/bin/python3"), &facts, SessionUser::PerSession)
        .unwrap_err()
        .to_string()
}

#[test]
fn a_good_python_is_taken_as_it_describes_itself() {
    let installation = Installation::new();
    let found = judge(Path::new("/shim"), &installation.facts(), SessionUser::PerSession).unwrap();
    assert_eq!(found.found_at, Path::new("/shim"));
    assert_eq!(found.executable, installation.root.path().join("bin/python3"));
    assert!(found.world_readable);
}

#[test]
fn unsuitable_pythons_are_refused_in_words_that_say_why() {
    type Change = fn(&mut ProbeAnswer);
    let cases: [(Change, &str); 7] = [
        (
            |facts| facts.implementation = "pypy".into(),
            "is pypy, and only CPython",
        ),
        (
            |facts| facts.version = (3, 9, 18),
            "is Python 3.9.18, and 3.10 or newer",
        ),
        (|facts| facts.bits = 32, "32-bit build"),
        (|facts| facts.libc = "musl".into(), "C library musl"),
        (|facts| facts.libc = "unknown".into(), "C library unknown"),
        (|facts| facts.free_threaded = true, "free-threaded"),
        (|facts| facts.has_ctypes = false, "no ctypes"),
    ];
    for (change, expected) in cases {
        let words = refusal(change);
        assert!(
            words.contains(expected),
            "{words:?} does not contain {expected:?}"
        );
    }
}

#[test]
fn a_file_that_only_its_owner_reads_is_refused_for_sessions_with_users_of_their_own() {
    for (name, mode) in [("bin/python3", 0o750), ("lib/os.py", 0o640)] {
        let installation = Installation::new();
        installation.add(name, mode);
        let refused = judge(Path::new("/x"), &installation.facts(), SessionUser::PerSession)
            .unwrap_err()
            .to_string();
        assert!(
            refused.contains(name) && refused.contains("chmod -R o+rX"),
            "{refused}"
        );
        let found = judge(Path::new("/x"), &installation.facts(), SessionUser::Host).unwrap();
        assert!(!found.world_readable, "{name}");
    }
}

#[test]
fn a_prefix_that_is_gone_is_refused_by_path() {
    let words = refusal(|facts| facts.stdlib = "/nonexistent/lib/python3.11".into());
    assert!(
        words.contains("/nonexistent/lib/python3.11 is not readable by this user"),
        "{words}"
    );
}
