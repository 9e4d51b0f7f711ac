//! Exact answers: what is listed, read, written and refused.

use std::time::{Duration, SystemTime};

use std::os::unix::fs::MetadataExt as _;

use types::FileGlobs;

use super::*;
use crate::{Enforce, WorkspaceConfig};

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
        assert!(
            sizes.clone().all(|size| size == 0 || size > 10),
            "{:?}",
            sizes.collect::<Vec<_>>()
        );
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
        (
            entry.name.as_str(),
            entry.path.as_str(),
            entry.kind,
            entry.size_bytes
        ),
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
        assert_eq!(
            (listing.entries.len(), listing.truncated),
            (count, truncated),
            "{most}"
        );
    }
}

#[test]
fn c069_c073_unreadable_paths_are_named() {
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
        (
            "/",
            "Path is a directory, not a file: /. Use fs_browse to list directories.",
        ),
        (
            "/tools/stub/",
            "Path is a directory, not a file: /tools/stub. Use fs_browse to list directories.",
        ),
        ("/scratch/nope", "Path not found: /scratch/nope"),
        ("/tools/stub/add.py/x", "Path not found: /tools/stub/add.py/x"),
        ("/skills/x", "Path not found: /skills/x"),
        ("/home/x", "Path '/home/x' is outside the virtual filesystem"),
        (
            "/workspace/x",
            "Path '/workspace/x' is outside the virtual filesystem",
        ),
        (
            "/Tools/_schema.json",
            "Path '/Tools/_schema.json' is outside the virtual filesystem",
        ),
        ("/tools/_SCHEMA.json", "Path not found: /tools/_SCHEMA.json"),
        (
            "/tools_evil/x",
            "Path '/tools_evil/x' is outside the virtual filesystem",
        ),
        (
            "/tools/../etc/passwd",
            "EACCES: path traversal denied: /tools/../etc/passwd",
        ),
        ("/tools/%2e%2e/x", "Path not found: /tools/%2e%2e/x"),
        ("/tools/_schema.json\0.txt", "EACCES: invalid path"),
        (
            "/scratch/a\nb\u{1b}[2J",
            "Path not found: /scratch/a\\nb\\u{1b}[2J",
        ),
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
    assert!(
        yard.read(&long).starts_with("Path not found: /scratch/éé"),
        "{}",
        yard.read(&long)
    );
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
        (
            "/scratch/a.txt/b",
            "x",
            "Path is a file, not a directory: /scratch/a.txt/b",
        ),
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
        (
            "/scratch/../a",
            "x",
            "EACCES: path traversal denied: /scratch/../a",
        ),
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
    assert!(
        yard.write(&deep, "x")
            .starts_with("Path too deep (101 directories, limit 100): /scratch/d/")
    );
    assert_eq!(yard.tree(), before, "nothing of a refused write is left");
    assert_eq!(yard.read("/scratch/deep/er/a.txt"), "two");
    let root = rustix::process::geteuid().is_root();
    let owner = if root {
        crate::directory::NOBODY
    } else {
        rustix::process::geteuid().as_raw()
    };
    for (path, mode) in [
        ("scratch/deep", 0o755),
        ("scratch/deep/er", 0o755),
        ("scratch/a.txt", 0o644),
    ] {
        let found = yard.own().join(path).metadata().unwrap();
        assert_eq!(
            (found.uid(), found.mode() & 0o777 | 0o022),
            (owner, mode | 0o022),
            "{path}"
        );
    }
}

#[test]
fn s0_55_the_policy_binds_every_function() {
    let globs = |list: &[&str]| list.iter().map(|glob| (*glob).to_owned()).collect();
    let policy = FilePolicy::new(&FileGlobs {
        read: globs(&["/scratch/**", "/tools/**"]),
        write: globs(&["/scratch/**"]),
        deny: globs(&["/scratch/private/**", "/scratch/*.key"]),
    });
    let yard = Yard::with(policy.unwrap(), FileLimits::default(), |_| {});
    std::fs::create_dir(yard.scratch().join("private")).unwrap();
    std::fs::write(yard.scratch().join("my.key"), SECRET).unwrap();
    let denied = |operation: &str, path: &str| format!("EACCES: {operation} denied for path: {path}");
    for path in [
        "/scratch/private",
        "/scratch//private",
        "/scratch/private/a",
        "/scratch/my.key",
        "/results",
    ] {
        let shown = path.replace("//", "/");
        assert_eq!(yard.names(path), [denied("read", &shown)]);
        assert_eq!(yard.read(path), denied("read", &shown));
        assert_eq!(yard.write(path, "x"), denied("write", &shown));
    }
    assert_eq!(
        yard.write("/scratch/private/a/b", "x"),
        denied("write", "/scratch/private/a/b")
    );
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
    assert_eq!(
        yard.write("/scratch/a", &kilobyte),
        "1000",
        "what is replaced does not count"
    );
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
    assert_eq!(
        yard.files.check_disk().unwrap_err().to_string(),
        full,
        "what cannot be counted"
    );
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

#[test]
fn times_are_those_of_the_files() {
    let yard = Yard::new();
    let before = SystemTime::now() - Duration::from_secs(5);
    let written = yard.files.write("/scratch/a", Some("x")).unwrap();
    assert!(written.modified_at > before);
    let read = yard.files.read("/scratch/a").unwrap();
    assert_eq!(
        (read.modified_at, read.path),
        (written.modified_at, "/scratch/a".to_owned())
    );
}
