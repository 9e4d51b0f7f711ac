//! Virtual files: exact answers, and whatever programs plant, nothing outside is listed, read or written.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::Permissions;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use proptest::prelude::*;
use rustix::fs::{CWD, mkfifoat};

use super::*;
use crate::{Enforce, WorkspaceConfig};

const SECRET: &str = "what lies outside";

/// A session's files beside a file that must stay unreachable.
struct Yard {
    home: tempfile::TempDir,
    workspaces: Workspaces,
    files: VirtualFiles,
}

impl Yard {
    fn new() -> Yard {
        Yard::with(FilePolicy::default(), FileLimits::default(), |_| {})
    }

    fn with(policy: FilePolicy, limits: FileLimits, change: impl FnOnce(&mut WorkspaceConfig)) -> Yard {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join("secret"), SECRET).unwrap();
        let mut config = WorkspaceConfig::below(&home.path().join("data"));
        change(&mut config);
        let workspaces = Workspaces::new(config);
        let tree = BTreeMap::from([
            ("tools/_schema.json".to_owned(), b"{}".to_vec()),
            ("tools/stub/add.py".to_owned(), b"async def add(): ...".to_vec()),
            ("tools/.search_index".to_owned(), b"".to_vec()),
        ]);
        workspaces.publish(&ann(), &tree).unwrap();
        let files = workspaces
            .virtual_files(&ann(), &SessionName::new("a"), policy, limits)
            .unwrap();
        Yard {
            home,
            workspaces,
            files,
        }
    }

    fn secret(&self) -> PathBuf {
        self.home.path().join("secret")
    }

    fn own(&self) -> PathBuf {
        self.home.path().join("data/workspaces/ann/sessions/a")
    }

    fn scratch(&self) -> PathBuf {
        self.own().join("scratch")
    }

    /// The content, or the message.
    fn read(&self, path: &str) -> String {
        match self.files.read(path) {
            Ok(text) => text.content,
            Err(error) => error.to_string(),
        }
    }

    /// The size, or the message.
    fn write(&self, path: &str, content: &str) -> String {
        match self.files.write(path, Some(content)) {
            Ok(written) => written.size_bytes.to_string(),
            Err(error) => error.to_string(),
        }
    }

    /// The names, or the message.
    fn names(&self, path: &str) -> Vec<String> {
        match self.browse(path, 1_000) {
            Ok(listing) => listing.entries.into_iter().map(|entry| entry.name).collect(),
            Err(error) => vec![error.to_string()],
        }
    }

    fn browse(&self, path: &str, max_entries: usize) -> Result<Listing, FileError> {
        self.files.browse(&Browse {
            path,
            include_hidden: false,
            max_entries,
        })
    }

    /// Everything below the session's directories, by path.
    fn tree(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut waiting = vec![self.own()];
        while let Some(directory) = waiting.pop() {
            for entry in directory.read_dir().unwrap() {
                let entry = entry.unwrap();
                if entry.file_type().unwrap().is_dir() {
                    waiting.push(entry.path());
                }
                found.push(entry.path().strip_prefix(self.own()).unwrap().to_owned());
            }
        }
        found.sort();
        found
    }
}

fn ann() -> Principal {
    "ann".parse().expect("a principal")
}

#[test]
fn c064_the_top_lists_four_roots() {
    let yard = Yard::new();
    for path in ["/", "//", " / ", "/."] {
        let listing = yard.browse(path, 1).unwrap();
        assert_eq!((listing.path.as_str(), listing.truncated), ("/", false));
        let found: Vec<_> = listing
            .entries
            .iter()
            .map(|entry| (entry.name.as_str(), entry.path.as_str(), entry.kind))
            .collect();
        assert_eq!(
            found,
            [
                ("tools", "/tools", ListedKind::Directory),
                ("scratch", "/scratch", ListedKind::Directory),
                ("skills", "/skills", ListedKind::Directory),
                ("results", "/results", ListedKind::Directory),
            ]
        );
        // Bytes, and no number of entries (S0-D17).
        let sizes = listing.entries.iter().map(|entry| entry.size_bytes);
        assert!(sizes.clone().all(|size| size == 0 || size > 10), "{:?}", sizes.collect::<Vec<_>>());
        assert!(listing.entries.iter().all(|entry| entry.description.is_some()));
    }
}

#[test]
fn s0_22_a_directory_is_listed_in_order_and_a_file_is_one_entry() {
    let yard = Yard::new();
    assert_eq!(yard.names(""), ["stub", "_schema.json"]);
    assert_eq!(yard.names("/tools"), ["stub", "_schema.json"]);
    assert_eq!(yard.names("tools/stub/"), ["add.py"]);
    assert_eq!(yard.names("/skills"), [""; 0]);
    for name in ["b", "A", "c", ".hidden", "Ä"] {
        std::fs::write(yard.scratch().join(name), name).unwrap();
    }
    for name in ["z", "Y"] {
        std::fs::create_dir(yard.scratch().join(name)).unwrap();
    }
    assert_eq!(yard.names("/scratch"), ["Y", "z", "A", "b", "c", "Ä"]);
    let hidden = yard.files.browse(&Browse {
        path: "/scratch",
        include_hidden: true,
        max_entries: 3,
    });
    let hidden = hidden.unwrap();
    let names: Vec<_> = hidden.entries.iter().map(|entry| entry.name.as_str()).collect();
    assert_eq!((names, hidden.truncated), (vec!["Y", "z", ".hidden"], true));
    let listing = yard.browse("/scratch/b", 1).unwrap();
    assert_eq!((listing.path.as_str(), listing.truncated), ("/scratch/b", false));
    let entry = &listing.entries[0];
    assert_eq!(
        (entry.name.as_str(), entry.path.as_str(), entry.kind, entry.size_bytes),
        ("b", "/scratch/b", ListedKind::File, 1)
    );
    assert!(entry.modified_at.unwrap().elapsed().unwrap() < Duration::from_secs(60));
}

#[test]
fn c077_truncated_is_true_only_if_more_are_there() {
    let yard = Yard::new();
    for name in ["one", "two", "three"] {
        yard.write(&format!("/scratch/t/{name}"), "");
    }
    for (most, count, truncated) in [
        (0, 1, true),
        (1, 1, true),
        (2, 2, true),
        (3, 3, false),
        (4, 3, false),
        (usize::MAX, 3, false),
    ] {
        let listing = yard.browse("/scratch/t", most).unwrap();
        assert_eq!((listing.entries.len(), listing.truncated), (count, truncated), "{most}");
    }
}

#[test]
fn c069_c073_what_cannot_be_read_is_named() {
    let yard = Yard::new();
    std::fs::write(yard.scratch().join("large"), vec![b'x'; 1_048_577]).unwrap();
    std::fs::write(yard.scratch().join("most"), vec![b'x'; 1_048_576]).unwrap();
    for (path, expected) in [
        ("", "path is required"),
        (" \n", "path is required"),
        (
            "/tools",
            "Path is a directory, not a file: /tools. Use fs_browse to list directories.",
        ),
        ("/", "Path is a directory, not a file: /. Use fs_browse to list directories."),
        (
            "/tools/stub/",
            "Path is a directory, not a file: /tools/stub. Use fs_browse to list directories.",
        ),
        ("/scratch/nope", "Path not found: /scratch/nope"),
        ("/tools/stub/add.py/x", "Path not found: /tools/stub/add.py/x"),
        ("/skills/x", "Path not found: /skills/x"),
        ("/home/x", "Path '/home/x' is outside the virtual filesystem"),
        ("/workspace/x", "Path '/workspace/x' is outside the virtual filesystem"),
        ("/Tools/_schema.json", "Path '/Tools/_schema.json' is outside the virtual filesystem"),
        ("/tools/_SCHEMA.json", "Path not found: /tools/_SCHEMA.json"),
        ("/tools_evil/x", "Path '/tools_evil/x' is outside the virtual filesystem"),
        ("/tools/../etc/passwd", "EACCES: path traversal denied: /tools/../etc/passwd"),
        ("/tools/%2e%2e/x", "Path not found: /tools/%2e%2e/x"),
        ("/tools/_schema.json\0.txt", "EACCES: invalid path"),
        ("/scratch/a\nb\u{1b}[2J", "Path not found: /scratch/a\\nb\\u{1b}[2J"),
        ("tools/_schema.json", "{}"),
        (" /tools//./_schema.json\n", "{}"),
        (
            "/scratch/large",
            "File too large (1048577 bytes, limit 1048576). Use shell_exec to read large files with custom parsing.",
        ),
    ] {
        assert_eq!(yard.read(path), expected, "{path:?}");
    }
    let most = yard.files.read("/scratch/most").unwrap();
    assert_eq!((most.size_bytes, most.content.len()), (1_048_576, 1_048_576));
    let long = format!("/scratch/{}", "é".repeat(2_043));
    assert!(yard.read(&long).starts_with("Path not found: /scratch/éé"), "{}", yard.read(&long));
    let deep = format!("/scratch{}", "/d".repeat(2_043));
    assert!(yard.read(&deep).starts_with("Path not found: /scratch/d/d"));
    let too_long = format!("/scratch/{}", "a".repeat(5_000_000));
    let said = yard.read(&too_long);
    assert!(said.starts_with("Path too long (5000009 bytes, limit 4095)") && said.len() < 400);
}

#[test]
fn c079_a_file_that_is_no_text_is_named() {
    let yard = Yard::new();
    std::fs::write(yard.scratch().join("b.bin"), b"\xff\xfe\0").unwrap();
    assert_eq!(
        yard.read("/scratch/b.bin"),
        "File is not UTF-8 text (3 bytes): /scratch/b.bin. Use shell_exec to read binary files."
    );
    std::fs::write(yard.scratch().join("zero"), b"a\0b\r\n\xef\xbb\xbf").unwrap();
    assert_eq!(yard.read("/scratch/zero"), "a\0b\r\n\u{feff}");
}

#[test]
fn c075_a_write_creates_parents_overwrites_and_needs_a_content() {
    let yard = Yard::new();
    for (path, content, expected) in [
        ("/scratch/a.txt", "one", "3"),
        ("/scratch/a.txt", "", "0"),
        ("scratch/deep/er/a.txt", "two", "3"),
        ("/results//./é/\u{301}\n.txt", "drei", "4"),
        (" /results/spaces \n", "x", "1"),
        ("", "x", "path is required"),
        (
            "/scratch",
            "x",
            "Path is a directory, not a file: /scratch. Use fs_browse to list directories.",
        ),
        (
            "/scratch/deep/",
            "x",
            "Path is a directory, not a file: /scratch/deep. Use fs_browse to list directories.",
        ),
        ("/scratch/a.txt/b", "x", "Path is a file, not a directory: /scratch/a.txt/b"),
        (
            "/tools/stub/add.py",
            "x",
            "EACCES: write denied for path: /tools/stub/add.py. Only /scratch and /results are writable.",
        ),
        (
            "/skills/a.py",
            "x",
            "EACCES: write denied for path: /skills/a.py. Only /scratch and /results are writable.",
        ),
        (
            "/etc/passwd",
            "x",
            "EACCES: write denied for path: /etc/passwd. Only /scratch and /results are writable.",
        ),
        (
            "/SCRATCH/a",
            "x",
            "EACCES: write denied for path: /SCRATCH/a. Only /scratch and /results are writable.",
        ),
        ("/scratch/../a", "x", "EACCES: path traversal denied: /scratch/../a"),
        ("/scratch/a\0", "x", "EACCES: invalid path"),
    ] {
        assert_eq!(yard.write(path, content), expected, "{path:?}");
    }
    let before = yard.tree();
    let error = yard.files.write("/scratch/none/new", None).unwrap_err();
    assert_eq!(error.to_string(), "content is required");
    let long_name = format!("/scratch/new/{}", "n".repeat(256));
    assert_eq!(yard.write(&long_name, "x"), "EACCES: invalid path");
    let deep = format!("/scratch{}/a", "/d".repeat(101));
    assert!(yard.write(&deep, "x").starts_with("Path too deep (101 directories, limit 100): /scratch/d/"));
    assert_eq!(yard.tree(), before, "nothing of a refused write is left");
    assert_eq!(yard.read("/scratch/deep/er/a.txt"), "two");
    let root = rustix::process::geteuid().is_root();
    let owner = if root { crate::directory::NOBODY } else { rustix::process::geteuid().as_raw() };
    for (path, mode) in [("scratch/deep", 0o755), ("scratch/deep/er", 0o755), ("scratch/a.txt", 0o644)] {
        let found = yard.own().join(path).metadata().unwrap();
        assert_eq!((found.uid(), found.mode() & 0o777 | 0o022), (owner, mode | 0o022), "{path}");
    }
}

#[test]
fn s0_55_the_policy_binds_every_function() {
    let policy = FilePolicy::new(
        &["/scratch/**", "/tools/**"],
        &["/scratch/**"],
        &["/scratch/private/**", "/scratch/*.key"],
    );
    let yard = Yard::with(policy.unwrap(), FileLimits::default(), |_| {});
    std::fs::create_dir(yard.scratch().join("private")).unwrap();
    std::fs::write(yard.scratch().join("my.key"), SECRET).unwrap();
    let denied = |operation: &str, path: &str| format!("EACCES: {operation} denied for path: {path}");
    for path in ["/scratch/private", "/scratch//private", "/scratch/private/a", "/scratch/my.key", "/results"] {
        let shown = path.replace("//", "/");
        assert_eq!(yard.names(path), [denied("read", &shown)]);
        assert_eq!(yard.read(path), denied("read", &shown));
        assert_eq!(yard.write(path, "x"), denied("write", &shown));
    }
    assert_eq!(yard.write("/scratch/private/a/b", "x"), denied("write", "/scratch/private/a/b"));
    assert_eq!(yard.read("/skills/a"), denied("read", "/skills/a"));
    assert_eq!(yard.names("/scratch"), ["private", "my.key"]);
    assert_eq!(yard.write("/scratch/a", "x"), "1");
}

#[test]
fn limits_are_checked_before_anything_is_written() {
    let limits = FileLimits {
        read: 100,
        file: 1_000,
        total: 2_500,
    };
    let yard = Yard::with(FilePolicy::default(), limits, |_| {});
    let kilobyte = "x".repeat(1_000);
    assert_eq!(
        yard.write("/scratch/d/a", &format!("{kilobyte}x")),
        "Content too large (1001 bytes, limit 1000). Reduce content size."
    );
    assert_eq!(yard.write("/scratch/a", &kilobyte), "1000");
    assert_eq!(yard.write("/results/b", &kilobyte), "1000");
    let before = yard.tree();
    let full = "EACCES: total disk usage limit exceeded";
    assert_eq!(yard.write("/scratch/d/c", &kilobyte), full);
    assert_eq!(yard.tree(), before);
    assert_eq!(yard.write("/scratch/a", &kilobyte), "1000", "what is replaced does not count");
    assert_eq!(yard.write("/scratch/d/c", &kilobyte[..500]), "500");
    assert_eq!(
        yard.read("/scratch/a"),
        "File too large (1000 bytes, limit 100). Use shell_exec to read large files with custom parsing."
    );
    // What programs wrote.
    yard.files.check_disk().unwrap();
    std::fs::write(yard.own().join("results/b"), "x".repeat(1_001)).unwrap();
    let error = yard.files.check_disk().unwrap_err().to_string();
    assert_eq!(error, "EACCES: file size limit exceeded at /results/b");
    std::fs::remove_file(yard.own().join("results/b")).unwrap();
    std::fs::write(yard.scratch().join("e"), &kilobyte).unwrap();
    std::fs::write(yard.scratch().join("f"), "x").unwrap();
    assert_eq!(yard.files.check_disk().unwrap_err().to_string(), full);
    assert!(yard.files.check_disk().unwrap_err().is_denial());
    std::fs::create_dir_all(yard.scratch().join("d/".repeat(201))).unwrap();
    std::fs::remove_file(yard.scratch().join("f")).unwrap();
    assert_eq!(yard.files.check_disk().unwrap_err().to_string(), full, "what cannot be counted");
}

#[test]
fn the_quota_of_the_principal_is_checked_before_anything_is_written() {
    for (bytes, files) in [(300_000, 0), (0, 30)] {
        let yard = Yard::with(FilePolicy::default(), FileLimits::default(), |config| {
            config.enforce = Enforce::Auto;
            config.quota = bytes;
            config.inodes = files;
        });
        let full = "EACCES: total disk usage limit exceeded";
        let content = "x".repeat(100_000);
        let written = (0..40)
            .take_while(|number| yard.write(&format!("/scratch/{number}"), &content) != full)
            .count();
        assert!((1..30).contains(&written), "{written}");
        let before = yard.tree();
        assert_eq!(yard.write("/results/new/a", &content), full);
        assert_eq!(yard.tree(), before);
    }
}

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
        assert!(start.elapsed() < Duration::from_secs(2), "{number}: nothing waits");
        assert_eq!(std::fs::read_to_string(yard.secret()).unwrap(), SECRET, "{number}");
        assert_eq!(std::fs::read_to_string(yard.scratch().join("inside")).unwrap(), "inside");
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
            [expected(&path), format!("Path is a file, not a directory: {path}")].contains(&said),
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
    for bytes in [b"\xff.txt".as_slice(), b"a\nb", b"end\n", b"\x1b[2J", b" lead", b"%2e%2e", b"\\"] {
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
    assert_eq!(yard.read("/scratch/\u{fffd}.txt"), "Path not found: /scratch/\u{fffd}.txt");
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
    assert_eq!(yard.write("/scratch/a", "x"), "EACCES: total disk usage limit exceeded");
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
    std::fs::set_permissions(yard.scratch().join("closed"), Permissions::from_mode(0)).unwrap();
    assert_eq!(yard.names("/scratch/closed"), ["EACCES: read denied for path: /scratch/closed"]);
    assert_eq!(yard.read("/scratch/closed/a"), "EACCES: read denied for path: /scratch/closed/a");
    // What is there cannot be counted.
    assert_eq!(yard.write("/scratch/closed/a", "x"), "EACCES: total disk usage limit exceeded");
    std::fs::set_permissions(yard.scratch().join("closed"), Permissions::from_mode(0o500)).unwrap();
    assert_eq!(
        yard.write("/scratch/closed/a", "x"),
        "EACCES: write denied for path: /scratch/closed/a"
    );
}

#[test]
fn sessions_and_principals_have_files_of_their_own() {
    let yard = Yard::new();
    yard.write("/scratch/a", "ann's");
    let open = |principal: &str, session: &str| {
        let principal: Principal = principal.parse().expect("a principal");
        yard.workspaces
            .virtual_files(
                &principal,
                &SessionName::new(session),
                FilePolicy::default(),
                FileLimits::default(),
            )
            .unwrap()
    };
    assert_eq!(open("ann", "a").read("/scratch/a").unwrap().content, "ann's");
    for (principal, session) in [("ann", "b"), ("bob", "a"), ("ann", "../a"), ("ann", "a/")] {
        let files = open(principal, session);
        assert!(files.read("/scratch/a").is_err(), "{principal} {session}");
        let tools = files.browse(&Browse {
            path: "/tools",
            include_hidden: true,
            max_entries: 10,
        });
        let count = tools.unwrap().entries.len();
        assert_eq!(count, if principal == "ann" { 3 } else { 0 }, "{principal}");
    }
    let own = Workspaces::new(WorkspaceConfig {
        keeping: Keeping::Own,
        ..WorkspaceConfig::below(yard.home.path())
    });
    let error = own.virtual_files(
        &ann(),
        &SessionName::new("a"),
        FilePolicy::default(),
        FileLimits::default(),
    );
    assert!(error.unwrap_err().to_string().contains("[workspace]"));
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
                    assert_eq!(text.size_bytes as usize, text.content.len());
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
            yard.files.write("/scratch/x", Some(&contents[number % 2])).unwrap();
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
fn what_changes_meanwhile_never_leads_outside() {
    let yard = Yard::new();
    let (done, outside) = (AtomicBool::new(false), yard.home.path().join("outside"));
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("secret"), SECRET).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| swap(&yard, &done));
        }
        let _stop = Stop(&done);
        let deadline = Instant::now() + Duration::from_secs(60);
        let (mut read, mut written) = (0, 0);
        while read < 300 || written < 300 {
            assert!(Instant::now() < deadline, "{read} read, {written} written");
            if let Ok(text) = yard.files.read("/scratch/d/secret") {
                assert!(["", "inside", "host"].contains(&text.content.as_str()), "{text:?}");
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

#[test]
fn times_are_those_of_the_files() {
    let yard = Yard::new();
    let before = SystemTime::now() - Duration::from_secs(5);
    let written = yard.files.write("/scratch/a", Some("x")).unwrap();
    assert!(written.modified_at > before);
    let read = yard.files.read("/scratch/a").unwrap();
    assert_eq!((read.modified_at, read.path), (written.modified_at, "/scratch/a".to_owned()));
}
