//! Whatever programs plant and change meanwhile, nothing outside is listed, read or written.

use std::ffi::OsString;
use std::fs::Permissions;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use proptest::prelude::*;
use rustix::fs::{CWD, mkfifoat};

use super::*;

/// Plants something in the place of a name, and says what reading and writing it answers.
type Plant = (fn(&Yard, &Path), &'static str);

#[test]
fn c071_nothing_but_files_is_read_and_a_write_replaces_what_is_no_directory() {
    let link = "Path is a symbolic link or leads through one: /scratch/x. Links are not followed.";
    let plants: [Plant; 9] = [
        (|yard, path| symlink(yard.secret(), path).unwrap(), link),
        (|_, path| symlink("/etc/passwd", path).unwrap(), link),
        (|_, path| symlink("../../../../../secret", path).unwrap(), link),
        (|_, path| symlink("x", path).unwrap(), link),
        (|_, path| symlink("inside", path).unwrap(), link),
        (|_, path| symlink("/proc/self/fd/0", path).unwrap(), link),
        (
            |_, path| mkfifoat(CWD, path, Mode::from_raw_mode(0o600)).unwrap(),
            "Path is a FIFO, not a file: /scratch/x",
        ),
        (
            |_, path| drop(UnixListener::bind(path).unwrap()),
            "Path is a socket, not a file: /scratch/x",
        ),
        (
            |yard, path| std::fs::hard_link(yard.secret(), path).unwrap(),
            "Path has 2 names (hard links): /scratch/x. Copy it to a file of its own.",
        ),
    ];
    for (number, (plant, expected)) in plants.iter().enumerate() {
        let yard = Yard::new();
        std::fs::write(yard.scratch().join("inside"), "inside").unwrap();
        plant(&yard, &yard.scratch().join("x"));
        let start = Instant::now();
        assert_eq!(yard.read("/scratch/x"), *expected, "{number}");
        assert_eq!(yard.names("/scratch/x"), [*expected], "{number}");
        assert_eq!(yard.names("/scratch"), ["inside", "x"], "{number}");
        assert_eq!(yard.write("/scratch/x", "new"), "3", "{number}");
        assert_eq!(yard.read("/scratch/x"), "new", "{number}");
        assert!(
            start.elapsed() < Duration::from_secs(2),
            "{number}: nothing waits"
        );
        assert_eq!(
            std::fs::read_to_string(yard.secret()).unwrap(),
            SECRET,
            "{number}"
        );
        assert_eq!(
            std::fs::read_to_string(yard.scratch().join("inside")).unwrap(),
            "inside"
        );
    }
}

#[test]
fn c071_no_link_is_a_directory() {
    let yard = Yard::new();
    std::fs::create_dir(yard.home.path().join("outside")).unwrap();
    std::fs::create_dir(yard.scratch().join("d")).unwrap();
    std::fs::write(yard.scratch().join("d/file"), "inside").unwrap();
    for (name, target) in [
        ("etc", "/etc"),
        ("up", "../../../../.."),
        ("outside", "../../../../../../outside"),
        ("d2", "d"),
        ("loop", "loop"),
        ("self", "."),
    ] {
        symlink(target, yard.scratch().join(name)).unwrap();
        let expected = |path: &str| {
            format!("Path is a symbolic link or leads through one: {path}. Links are not followed.")
        };
        for below in ["", "/passwd", "/secret", "/file", "/data/workspaces"] {
            let path = format!("/scratch/{name}{below}");
            assert_eq!(yard.read(&path), expected(&path));
            assert_eq!(yard.names(&path), [expected(&path)]);
        }
        let path = format!("/scratch/{name}/new/file");
        // Opened as a directory, a link is no directory.
        let said = yard.write(&path, "x");
        assert!(
            [
                expected(&path),
                format!("Path is a file, not a directory: {path}")
            ]
            .contains(&said),
            "{said}"
        );
    }
    assert_eq!(yard.home.path().join("outside").read_dir().unwrap().count(), 0);
    assert_eq!(yard.scratch().join("d").read_dir().unwrap().count(), 1);
}

#[test]
fn names_of_any_bytes_are_listed_and_lead_to_their_files() {
    let yard = Yard::new();
    let odd = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
    for bytes in [
        b"\xff.txt".as_slice(),
        b"a\nb",
        b"end\n",
        b"\x1b[2J",
        b" lead",
        b"%2e%2e",
        b"\\",
    ] {
        std::fs::write(yard.scratch().join(odd(bytes)), bytes.escape_ascii().to_string()).unwrap();
    }
    std::fs::create_dir(yard.scratch().join(odd(b"d\xfe"))).unwrap();
    std::fs::write(yard.scratch().join(odd(b"d\xfe/\xfd")), "deep").unwrap();
    let listing = yard.browse("/scratch", 100).unwrap();
    assert_eq!(listing.entries.len(), 8);
    for entry in &listing.entries {
        assert_eq!(entry.path, format!("/scratch/{}", entry.name));
        match entry.kind {
            ListedKind::Directory => assert_eq!(yard.names(&entry.path), ["\u{fffd}"]),
            ListedKind::File => {
                let content = yard.files.read(&entry.path).expect(&entry.path).content;
                let found = entry.name.as_bytes().escape_ascii().to_string();
                assert!(content == found || content == r"\xff.txt", "{content} {found}");
            }
        }
    }
    assert_eq!(yard.read("/scratch/d\u{fffd}/\u{fffd}"), "deep");
    // Two names that look the same: neither is guessed.
    std::fs::write(yard.scratch().join(odd(b"\xfe.txt")), "other").unwrap();
    assert_eq!(
        yard.read("/scratch/\u{fffd}.txt"),
        "Path not found: /scratch/\u{fffd}.txt"
    );
    assert_eq!(yard.write("/scratch/\u{fffd}.txt", "own"), "3");
    assert_eq!(yard.read("/scratch/\u{fffd}.txt"), "own");
}

#[test]
fn huge_and_many_files_are_bounded() {
    let yard = Yard::new();
    std::fs::File::create(yard.scratch().join("sparse"))
        .unwrap()
        .set_len(1 << 40)
        .unwrap();
    assert_eq!(
        yard.read("/scratch/sparse"),
        "File too large (1099511627776 bytes, limit 1048576). Use shell_exec to read large files with custom parsing."
    );
    let listing = yard.browse("/scratch", 10).unwrap();
    assert_eq!(listing.entries[0].size_bytes, 1 << 40);
    assert_eq!(
        yard.files.check_disk().unwrap_err().to_string(),
        "EACCES: file size limit exceeded at /scratch/sparse"
    );
    assert_eq!(
        yard.write("/scratch/a", "x"),
        "EACCES: total disk usage limit exceeded"
    );
    std::fs::remove_file(yard.scratch().join("sparse")).unwrap();
    std::fs::create_dir(yard.scratch().join("many")).unwrap();
    for number in 0..30_000 {
        std::fs::File::create(yard.scratch().join(format!("many/{number:05}"))).unwrap();
    }
    let start = Instant::now();
    let listing = yard.browse("/scratch/many", 2).unwrap();
    let names: Vec<_> = listing.entries.iter().map(|entry| entry.name.as_str()).collect();
    assert_eq!((names, listing.truncated), (vec!["00000", "00001"], true));
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
}

#[test]
fn directories_that_a_program_closed_are_refused_by_name() {
    if rustix::process::geteuid().is_root() {
        return;
    }
    let yard = Yard::new();
    std::fs::create_dir(yard.scratch().join("closed")).unwrap();
    std::fs::set_permissions(yard.scratch().join("closed"), Permissions::from_mode(0o0)).unwrap();
    assert_eq!(
        yard.names("/scratch/closed"),
        ["EACCES: read denied for path: /scratch/closed"]
    );
    assert_eq!(
        yard.read("/scratch/closed/a"),
        "EACCES: read denied for path: /scratch/closed/a"
    );
    // What is there cannot be counted.
    assert_eq!(
        yard.write("/scratch/closed/a", "x"),
        "EACCES: total disk usage limit exceeded"
    );
    std::fs::set_permissions(yard.scratch().join("closed"), Permissions::from_mode(0o500)).unwrap();
    assert_eq!(
        yard.write("/scratch/closed/a", "x"),
        "EACCES: write denied for path: /scratch/closed/a"
    );
}

/// Ends the other thread however the test ends.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn a_file_that_grows_is_read_whole_or_not_at_all() {
    let limits = FileLimits {
        read: 64 * 1024,
        ..FileLimits::default()
    };
    let yard = Yard::with(FilePolicy::default(), limits, |_| {});
    let (done, path) = (AtomicBool::new(false), yard.scratch().join("x"));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                let mut file = std::fs::File::create(&path).unwrap();
                for _ in 0..40 {
                    std::io::Write::write_all(&mut file, &[b'x'; 4096]).unwrap();
                }
            }
        });
        let _stop = Stop(&done);
        let deadline = Instant::now() + Duration::from_secs(60);
        let (mut read, mut refused) = (0, 0);
        while read < 50 || refused < 50 {
            assert!(Instant::now() < deadline, "{read} read, {refused} refused");
            match yard.files.read("/scratch/x") {
                Ok(text) => {
                    assert!(text.content.len() <= 64 * 1024);
                    assert_eq!(usize::try_from(text.size_bytes).unwrap(), text.content.len());
                    read += 1;
                }
                Err(FileError::TooLarge { size, most }) => {
                    assert!(size > most);
                    refused += 1;
                }
                Err(FileError::Missing(_)) => {}
                Err(error) => panic!("{error}"),
            }
        }
    });
}

#[test]
fn a_write_is_seen_whole_or_not_at_all() {
    let yard = Yard::new();
    let (done, path) = (AtomicBool::new(false), yard.scratch().join("x"));
    let contents: [String; 2] = ["a".repeat(100_000), "b".repeat(70_000)];
    yard.write("/scratch/x", &contents[0]);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                let found = std::fs::read_to_string(&path).unwrap();
                assert!(contents.contains(&found), "{} bytes", found.len());
            }
        });
        let _stop = Stop(&done);
        for number in 0..200 {
            yard.files
                .write("/scratch/x", Some(&contents[number % 2]))
                .unwrap();
        }
    });
    assert_eq!(yard.names("/scratch"), ["x"]);
}

/// A program that swaps everything below the root for links as fast as it can.
fn swap(yard: &Yard, done: &AtomicBool) {
    let (top, outside) = (yard.scratch(), yard.home.path().join("outside"));
    let at = |name: &str| top.join(name);
    while !done.load(Ordering::Relaxed) {
        // Whatever the host's writes have put there meanwhile may be in the way.
        let _ = std::fs::create_dir(at("d"));
        let _ = std::fs::write(at("new"), "inside");
        let _ = std::fs::rename(at("new"), at("d/secret"));
        let _ = symlink(yard.secret(), at("link"));
        let _ = std::fs::rename(at("link"), at("d/secret"));
        let _ = std::fs::rename(at("d"), at("e"));
        let _ = symlink(&outside, at("d"));
        let _ = std::fs::remove_file(at("d"));
        let _ = std::fs::rename(at("e"), at("d"));
        let _ = mkfifoat(CWD, at("d/fifo"), Mode::from_raw_mode(0o600));
        let _ = std::fs::rename(at("d/fifo"), at("d/secret"));
        let _ = std::fs::remove_dir_all(at("d"));
    }
}

#[test]
fn concurrent_changes_never_lead_outside() {
    let yard = Yard::new();
    let (done, outside) = (AtomicBool::new(false), yard.home.path().join("outside"));
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("secret"), SECRET).unwrap();
    std::thread::scope(|scope| {
        // Only one: a second one would itself follow the links of the first.
        scope.spawn(|| swap(&yard, &done));
        let _stop = Stop(&done);
        let deadline = Instant::now() + Duration::from_secs(60);
        let (mut read, mut written) = (0, 0);
        while read < 300 || written < 300 {
            assert!(Instant::now() < deadline, "{read} read, {written} written");
            if let Ok(text) = yard.files.read("/scratch/d/secret") {
                assert!(
                    ["", "inside", "host"].contains(&text.content.as_str()),
                    "{text:?}"
                );
                read += 1;
            }
            if let Ok(listing) = yard.browse("/scratch/d", 10) {
                assert!(listing.entries.len() <= 3, "{listing:?}");
            }
            for path in ["/scratch/d/secret", "/scratch/d/deep/er"] {
                match yard.files.write(path, Some("host")) {
                    Ok(_) => written += 1,
                    Err(FileError::System { cause, .. }) => panic!("{cause}"),
                    Err(_) => {}
                }
            }
        }
    });
    assert_eq!(std::fs::read_to_string(yard.secret()).unwrap(), SECRET);
    assert_eq!(std::fs::read_to_string(outside.join("secret")).unwrap(), SECRET);
    assert_eq!(outside.read_dir().unwrap().count(), 1);
}

#[test]
fn a_session_that_begins_during_writes_meets_no_file_of_another_user() {
    let yard = Yard::new();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let _stop = Stop(&done);
            for number in 0..500 {
                let path = format!("/scratch/{number}/below/file");
                assert_eq!(yard.write(&path, "host"), "4");
                std::fs::remove_dir_all(yard.scratch().join(number.to_string())).unwrap();
            }
        });
        while !done.load(Ordering::Relaxed) {
            let opened = yard.workspaces.open(&ann(), &SessionName::new("a")).unwrap();
            assert_eq!(opened.foreign, None);
        }
    });
    assert_eq!(yard.tree(), ["results", "scratch"].map(PathBuf::from));
    let mut left = names_in(&yard.home.path().join("data/workspaces/ann"));
    left.retain(|name| name.starts_with('.'));
    assert_eq!(left, [""; 0], "nothing is left where files are made");
}

fn names_in(directory: &std::path::Path) -> Vec<String> {
    let entries = directory.read_dir().unwrap();
    entries
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn any_path_is_answered_and_touches_nothing_outside(
        paths in prop::collection::vec("(/?(scratch|results|tools|skills|a|b|\\.\\.|\\.|secret|\\x00|é| )){0,5}|.{0,20}", 1..8),
    ) {
        let yard = Yard::new();
        symlink("..", yard.scratch().join("a")).unwrap();
        std::fs::create_dir(yard.scratch().join("b")).unwrap();
        symlink(yard.secret(), yard.scratch().join("b/secret")).unwrap();
        for path in &paths {
            if let Ok(text) = yard.files.read(path) {
                prop_assert_ne!(text.content.as_str(), SECRET);
            }
            if let Ok(listing) = yard.browse(path, 5) {
                prop_assert!(listing.entries.iter().all(|entry| entry.path.starts_with('/')));
            }
            if let Ok(written) = yard.files.write(path, Some("x")) {
                prop_assert!(written.path.starts_with("/scratch/") || written.path.starts_with("/results/"));
                prop_assert_eq!(yard.files.read(path).expect("it was written").content, "x");
            }
        }
        prop_assert_eq!(std::fs::read_to_string(yard.secret()).unwrap(), SECRET);
        let outside = yard.home.path().read_dir().unwrap().count();
        prop_assert_eq!(outside, 2);
    }
}
