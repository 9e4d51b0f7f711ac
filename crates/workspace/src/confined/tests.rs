//! Host reads of what programs wrote: whatever is planted, nothing outside is read.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::File;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use proptest::prelude::*;
use rustix::fs::{CWD, mkfifoat};

use super::*;

const SECRET: &[u8] = b"what lies outside";
const BOUNDS: Bounds = Bounds {
    entries: 1000,
    depth: 20,
};

/// A directory for programs, beside a file that must stay unreachable.
struct Host {
    _home: tempfile::TempDir,
    top: PathBuf,
    secret: PathBuf,
}

impl Host {
    fn new() -> Host {
        let home = tempfile::tempdir().unwrap();
        let (top, secret) = (home.path().join("top"), home.path().join("secret"));
        std::fs::create_dir(&top).unwrap();
        std::fs::write(&secret, SECRET).unwrap();
        Host {
            _home: home,
            top,
            secret,
        }
    }

    fn open(&self) -> File {
        File::open(&self.top).unwrap()
    }

    fn read(&self, path: &str) -> Result<Vec<u8>, ReadError> {
        read(self.open(), Path::new(path), 100)
    }

    fn walked(&self, bounds: Bounds) -> (BTreeSet<PathBuf>, Seen) {
        let mut paths = BTreeSet::new();
        let seen = walk(self.open(), bounds, |met| {
            paths.insert(met.path.to_path_buf());
        });
        (paths, seen)
    }
}

#[test]
fn regular_files_are_read_and_nothing_else() {
    let host = Host::new();
    let top = &host.top;
    std::fs::create_dir_all(top.join("a/b")).unwrap();
    std::fs::write(top.join("a/b/file"), "content").unwrap();
    std::fs::write(top.join("large"), vec![0; 101]).unwrap();
    std::fs::write(top.join("linked"), "x").unwrap();
    std::fs::hard_link(top.join("linked"), top.join("again")).unwrap();
    mkfifoat(CWD, top.join("fifo"), Mode::from_raw_mode(0o600)).unwrap();
    let _socket = UnixListener::bind(top.join("socket")).unwrap();
    for (name, target) in [
        ("out", "../secret"),
        ("absolute", "/etc/passwd"),
        ("loop", "loop"),
        ("dir", "a"),
        ("up", ".."),
        ("magic", "/proc/self/fd/0"),
        ("inside", "a/b/file"),
    ] {
        symlink(target, top.join(name)).unwrap();
    }
    assert_eq!(host.read("a/b/file").unwrap(), b"content");
    assert_eq!(host.read("a/./b/file").unwrap(), b"content");
    let refused = |path: &str| host.read(path).unwrap_err().to_string();
    for gone in [
        "nothing",
        "a/b/file/more",
        "../secret",
        "a/../../secret",
        "a/b/../b/file",
        "/etc/passwd",
        "up/secret",
        &"x".repeat(300),
    ] {
        let text = refused(gone);
        let expected = [
            "there is no such file",
            "it is a symbolic link, or behind one, and only regular files are read",
        ];
        assert!(expected.contains(&text.as_str()), "{gone}: {text}");
    }
    for link in ["out", "absolute", "loop", "dir/b/file", "magic", "inside", "dir"] {
        assert!(refused(link).contains("symbolic link"), "{link}");
    }
    assert_eq!(refused("fifo"), "it is a FIFO, and only regular files are read");
    assert_eq!(
        refused("socket"),
        "it is a socket, and only regular files are read"
    );
    assert_eq!(refused("a"), "it is a directory, and only regular files are read");
    assert_eq!(
        refused("linked"),
        "it has 2 names (hard links); copy it to a file of its own"
    );
    assert_eq!(
        refused("large"),
        "it has 101 bytes, and at most 100 are read at once; write it in parts"
    );
}

#[test]
fn a_walk_is_bounded_and_follows_nothing() {
    let host = Host::new();
    let deep: PathBuf = std::iter::repeat_n("d", 60).collect();
    std::fs::create_dir_all(host.top.join(&deep)).unwrap();
    for (name, target) in [("loop", "."), ("up", ".."), ("self", "self")] {
        symlink(target, host.top.join(name)).unwrap();
    }
    std::fs::create_dir(host.top.join("many")).unwrap();
    for number in 0..500 {
        File::create(host.top.join(format!("many/{number}"))).unwrap();
    }
    let (paths, seen) = host.walked(Bounds {
        entries: 10_000,
        depth: 100,
    });
    assert_eq!((paths.len(), seen), (60 + 3 + 1 + 500, Seen::All));
    let (paths, seen) = host.walked(Bounds {
        entries: 10_000,
        depth: 20,
    });
    assert_eq!((paths.len(), seen), (20 + 3 + 1 + 500, Seen::Part));
    let (paths, seen) = host.walked(Bounds {
        entries: 100,
        depth: 100,
    });
    assert_eq!((paths.len(), seen), (100, Seen::Part));
}

/// Ends the other thread however the test ends.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn changes_during_a_read_never_lead_outside() {
    let host = Host::new();
    let done = AtomicBool::new(false);
    std::fs::create_dir(host.top.join("d")).unwrap();
    std::thread::scope(|scope| {
        // A program swaps a file and a directory for links as fast as it can.
        scope.spawn(|| {
            let (file, link) = (host.top.join("new"), host.top.join("link"));
            let outside = host.top.join("..");
            while !done.load(Ordering::Relaxed) {
                std::fs::write(&file, "inside").unwrap();
                std::fs::rename(&file, host.top.join("secret")).unwrap();
                symlink(&host.secret, &link).unwrap();
                std::fs::rename(&link, host.top.join("secret")).unwrap();
                std::fs::rename(host.top.join("d"), host.top.join("e")).unwrap();
                symlink(&outside, host.top.join("d")).unwrap();
                std::fs::remove_file(host.top.join("d")).unwrap();
                std::fs::rename(host.top.join("e"), host.top.join("d")).unwrap();
            }
        });
        let _stop = Stop(&done);
        let mut read_inside = 0;
        let deadline = Instant::now() + Duration::from_secs(60);
        while read_inside < 500 {
            assert!(Instant::now() < deadline, "read inside {read_inside} times only");
            for path in ["secret", "d/secret"] {
                if let Ok(content) = host.read(path) {
                    assert!(content.is_empty() || content == b"inside", "{path}: {content:?}");
                    read_inside += 1;
                }
            }
            let (paths, _) = host.walked(BOUNDS);
            assert!(
                paths
                    .iter()
                    .all(|path| path.components().count() <= 2 && !path.ends_with("top")),
                "{paths:?}"
            );
        }
    });
}

#[derive(Debug, Clone, Copy)]
enum Plant {
    File,
    Directory,
    LinkOut,
    LinkUp,
    LinkLoop,
    LinkSecret,
    Fifo,
    Socket,
    HardLink,
}

fn plant(host: &Host, directory: &Path, name: &OsStr, what: Plant) {
    let path = directory.join(name);
    if path.symlink_metadata().is_ok() {
        return;
    }
    match what {
        Plant::File => std::fs::write(&path, "inside"),
        Plant::Directory => std::fs::create_dir(&path),
        Plant::LinkOut => symlink("/", &path),
        Plant::LinkUp => symlink("..", &path),
        Plant::LinkLoop => symlink(name, &path),
        Plant::LinkSecret => symlink(&host.secret, &path),
        Plant::Fifo => mkfifoat(CWD, &path, Mode::from_raw_mode(0o600)).map_err(Into::into),
        Plant::Socket => UnixListener::bind(&path).map(drop),
        Plant::HardLink => std::fs::hard_link(&host.secret, &path),
    }
    .unwrap();
}

fn any_plant() -> impl Strategy<Value = Plant> {
    use Plant::*;
    prop::sample::select(vec![
        File, File, Directory, Directory, LinkOut, LinkUp, LinkLoop, LinkSecret, Fifo, Socket, HardLink,
    ])
}

/// Few names, so that they collide; some are not text.
fn any_name() -> impl Strategy<Value = OsString> {
    prop::sample::select(vec!["a", "b", "secret", "top", " "])
        .prop_map(OsString::from)
        .boxed()
        .prop_union(Just(OsString::from_vec(vec![0xff, b'x'])).boxed())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn nothing_outside_is_ever_read(
        plants in prop::collection::vec((any_name(), any_name(), any_plant()), 1..20),
        asked in prop::collection::vec("(a|b|secret|top|\\.\\.|\\.|/|etc/passwd){1,6}", 1..10),
    ) {
        let host = Host::new();
        for (directory, name, what) in &plants {
            plant(&host, &host.top, name, *what);
            if host.top.join(directory).symlink_metadata().is_ok_and(|metadata| metadata.is_dir()) {
                plant(&host, &host.top.join(directory), name, *what);
            }
        }
        let (met, seen) = host.walked(BOUNDS);
        prop_assert_eq!(seen, Seen::All);
        for path in met.iter().cloned().chain(asked.iter().map(PathBuf::from)) {
            if let Ok(content) = read(host.open(), &path, 100) {
                prop_assert_eq!(&content, b"inside", "{}", path.display());
            }
        }
        prop_assert!(met.iter().all(|path| host.top.join(path).symlink_metadata().is_ok()));
    }
}
