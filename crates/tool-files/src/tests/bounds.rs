//! Directories beyond every limit, and files replaced during a scan.

use std::fs;
use std::os::unix::fs::symlink;

use super::{World, names, scan};
use crate::Scanner;
use crate::notices::Notices;
use crate::read::{Content, MAX_FILE};
use crate::walk::{MAX_ENTRIES, MAX_FILES, MAX_TOTAL, Walk};

#[test]
fn a_definition_has_a_bound_in_bytes() {
    let name = "f".repeat(50_000);
    let fields: String = (0..250).map(|n| format!("    g{n}: A\n")).collect();
    let huge = format!(
        "from typing import TypedDict\nclass A(TypedDict):\n    {name}: int\nclass B(TypedDict):\n{fields}\
         def huge(a: B, b: B, c: B, d: B):\n    'Huge'\n"
    );
    let world = World::of(&[("bad/huge.py", &huge), ("good/add.py", "def add(a): 'a'")]);
    let found = scan(&mut world.scanner());
    assert_eq!(names(&found), ["good.add"]);
    assert_eq!(
        world.findings(&found),
        [
            "bad/huge.py:255: has a definition of more than 256 KiB; shorten the names and texts of its types, or use fewer of them"
        ]
    );
}

#[test]
fn all_definitions_together_have_a_bound() {
    let text = "x".repeat(200_000);
    let files: Vec<(String, String)> = (0..90)
        .map(|n| {
            (
                format!("many/t{n:02}.py"),
                format!("def t{n:02}(a: Annotated[int, '{text}']): 'a'"),
            )
        })
        .collect();
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_str()))
        .collect();
    let world = World::of(&files);
    let found = scan(&mut world.scanner());
    let bytes: usize = found.servers[0]
        .files
        .iter()
        .map(|file| file.tool.definition().get().len())
        .sum();
    assert!((15_000_000..=16 * 1024 * 1024).contains(&bytes), "{bytes}");
    let findings = world.findings(&found);
    assert!(
        findings.len() == 1 && findings[0].contains("more are not used: all definitions together"),
        "{findings:?}"
    );
}

/// What somebody else does to a file.
type Exchange<'a> = &'a dyn Fn(&std::path::Path);

#[test]
fn a_file_that_is_exchanged_while_it_is_looked_at_is_not_read() {
    let outside = World::of(&[("secret/key.py", "def key(): 'outside'")]);
    let target = outside.directory.path().join("servers/secret/key.py");
    let exchanges: [(&str, Exchange<'_>); 3] = [
        ("link", &|path| symlink(&target, path).unwrap()),
        ("pipe", &|path| {
            rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        }),
        ("file", &|path| fs::write(path, "def a(): 'other'").unwrap()),
    ];
    for (what, exchange) in exchanges {
        let world = World::of(&[
            ("s/a.py", "def a(): 'first'"),
            ("s/b.py", "def b(): 'keeps an inode'"),
        ]);
        let path = world.directory.path().join("servers/s/a.py");
        let mut notices = Notices::new();
        let walk = Walk::of(&[world.directory.path().to_path_buf()], &mut notices);
        fs::rename(&path, world.directory.path().join("before")).unwrap();
        exchange(&path);
        let content = Content::read(&walk.candidates[0]);
        assert!(content.tool.is_none(), "{what}");
        assert!(
            content.findings[0]
                .message
                .starts_with("was replaced while it was read"),
            "{what}: {:?}",
            content.findings
        );
        assert!(!content.is_current(&walk.candidates[0]), "{what}");
    }
}

#[test]
fn servers_is_below_the_directory_that_was_given() {
    let outside = World::of(&[("secret/key.py", "def key(): 'outside'")]);
    let world = tempfile::tempdir().unwrap();
    let link = world.path().join("servers");
    symlink(outside.directory.path().join("servers"), &link).unwrap();
    let given = vec![world.path().to_path_buf()];
    let found = scan(&mut Scanner::new(given.clone()));
    assert!(found.servers.is_empty());
    assert!(
        found.findings[0].message.contains("leads out of the directory"),
        "{:?}",
        found.findings
    );

    fs::remove_file(&link).unwrap();
    fs::create_dir_all(world.path().join("real/s")).unwrap();
    fs::write(world.path().join("real/s/inner.py"), "def inner(): 'a'").unwrap();
    symlink("inner.py", world.path().join("real/s/other.py")).unwrap();
    symlink(world.path().join("real/s"), world.path().join("real/t")).unwrap();
    symlink("real", &link).unwrap();
    assert_eq!(
        names(&scan(&mut Scanner::new(given))),
        ["s.inner", "s.other", "t.inner", "t.other"]
    );
}

#[test]
fn what_is_no_tool_is_told_up_to_a_bound() {
    let world = World::of(&[("a/add.py", "def add(a): 'a'"), ("z/last.py", "def last(): 'a'")]);
    for n in 0..MAX_ENTRIES {
        world.write(&format!("m/x-{n}.py"), "");
    }
    let found = scan(&mut world.scanner());
    assert_eq!(names(&found), ["a.add"]);
    let findings = world.findings(&found);
    assert!(findings.len() <= MAX_ENTRIES, "{}", findings.len());
    let bounds = findings
        .iter()
        .filter(|finding| finding.contains("it has more than 20000 entries"));
    assert_eq!(bounds.count(), 1);
}

#[test]
fn files_have_a_bound_in_number_and_in_bytes() {
    let check = |world: &World, fit: usize, told: &str| {
        let mut notices = Notices::new();
        let walk = Walk::of(&[world.directory.path().to_path_buf()], &mut notices);
        assert_eq!(walk.candidates.len(), fit);
        let message = &walk.findings[0].message;
        assert!(message.contains(told), "{message}");
    };
    let many = World::of(&[]);
    for n in 0..MAX_FILES + 2 {
        many.write(&format!("s/t{n:05}.py"), "");
    }
    check(&many, MAX_FILES, "has 2 files too many: at most 10000 tool files");

    let large = World::of(&[]);
    let fit = usize::try_from(MAX_TOTAL / MAX_FILE).unwrap();
    for n in 0..fit + 3 {
        let name = format!("s/t{n:03}.py");
        large.write(&name, "");
        let path = large.directory.path().join("servers").join(name);
        fs::File::create(path).unwrap().set_len(MAX_FILE).unwrap();
    }
    check(
        &large,
        fit,
        "has 3 files too many: at most 10000 tool files of 64 MiB",
    );
}
