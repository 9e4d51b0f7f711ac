//! Scans of unchanged files, and the scan after each kind of change.

use std::fs::{self, OpenOptions, Permissions};
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use super::{World, names, scan};
use crate::Scanner;

const ADD: &str = "def add(a): 'a'";

/// A change below the directory of servers.
type Change<'a> = &'a dyn Fn(&Path);

#[test]
fn every_change_is_seen_at_the_next_look() {
    let elsewhere = World::of(&[("s/far.py", "def far(): 'far'")]);
    let elsewhere = elsewhere.directory.path().join("servers/s/far.py");
    let changes: [(&str, Change<'_>, &[&str]); 9] = [
        (
            "new file",
            &|s| fs::write(s.join("a/sub.py"), "def sub(a): 'a'").unwrap(),
            &["a.add", "a.sub", "b.mul"],
        ),
        (
            "file gone",
            &|s| fs::remove_file(s.join("a/add.py")).unwrap(),
            &["b.mul"],
        ),
        (
            "file renamed",
            &|s| fs::rename(s.join("a/add.py"), s.join("a/plus.py")).unwrap(),
            &["a.plus", "b.mul"],
        ),
        (
            "file exchanged",
            &|s| fs::rename(&elsewhere, s.join("a/add.py")).unwrap(),
            &["a.add", "b.mul"],
        ),
        (
            "file broken",
            &|s| {
                let mut file = OpenOptions::new().append(true).open(s.join("a/add.py")).unwrap();
                file.write_all(b"\n)").unwrap();
            },
            &["b.mul"],
        ),
        (
            "new server",
            &|s| {
                fs::create_dir(s.join("c")).unwrap();
                fs::write(s.join("c/div.py"), "def div(a): 'a'").unwrap();
            },
            &["a.add", "b.mul", "c.div"],
        ),
        (
            "server gone",
            &|s| fs::remove_dir_all(s.join("a")).unwrap(),
            &["b.mul"],
        ),
        (
            "server moved",
            &|s| fs::rename(s.join("a"), s.join("z")).unwrap(),
            &["b.mul", "z.add"],
        ),
        (
            "all gone",
            &|s| fs::rename(s, s.with_file_name("other")).unwrap(),
            &[],
        ),
    ];
    for (what, change, expected) in changes {
        let world = World::of(&[("a/add.py", ADD), ("b/mul.py", "def mul(a): 'a'")]);
        let mut scanner = world.scanner();
        assert_eq!(names(&scan(&mut scanner)), ["a.add", "b.mul"]);
        // A file written just now is read again.
        while !scanner.is_quiet() {
            scanner.scan();
        }
        change(&world.directory.path().join("servers"));
        let found = scanner.scan().unwrap_or_else(|| panic!("{what}"));
        assert_eq!(names(&found), expected, "{what}");
    }
}

#[test]
fn a_directory_that_is_given_may_lead_elsewhere() {
    let first = World::of(&[("a/one.py", "def one(): 'a'")]);
    let second = World::of(&[("a/two.py", "def two(): 'a'")]);
    let place = tempfile::tempdir().unwrap();
    let link = place.path().join("current");
    symlink(first.directory.path(), &link).unwrap();
    let mut scanner = Scanner::new(vec![link.clone()]);
    assert_eq!(names(&scan(&mut scanner)), ["a.one"]);
    fs::remove_file(&link).unwrap();
    symlink(second.directory.path(), &link).unwrap();
    assert_eq!(names(&scan(&mut scanner)), ["a.two"]);
}

#[test]
fn links_are_looked_at_each_time() {
    let world = World::of(&[("a/one.py", "def one(): 'a'")]);
    let servers = world.directory.path().join("servers");
    fs::create_dir_all(servers.join("a/deep")).unwrap();
    fs::write(servers.join("a/deep/two.py"), "def two(): 'first'").unwrap();
    symlink(servers.join("a/deep/two.py"), servers.join("a/two.py")).unwrap();
    let mut scanner = world.scanner();
    assert_eq!(names(&scan(&mut scanner)), ["a.one", "a.two"]);
    assert!(!scanner.is_quiet());
    fs::write(servers.join("a/deep/two.py"), ")").unwrap();
    assert_eq!(names(&scan(&mut scanner)), ["a.one"]);

    // As a deployment switches to another release.
    let world = World::of(&[("a/one.py", "def one(): 'a'")]);
    let directory = world.directory.path();
    fs::create_dir_all(directory.join("releases/v2/servers/a")).unwrap();
    fs::write(directory.join("releases/v2/servers/a/two.py"), "def two(): 'a'").unwrap();
    fs::create_dir(directory.join("releases/v1")).unwrap();
    fs::rename(directory.join("servers"), directory.join("releases/v1/servers")).unwrap();
    symlink("v1", directory.join("releases/current")).unwrap();
    symlink("releases/current/servers", directory.join("servers")).unwrap();
    let mut scanner = world.scanner();
    assert_eq!(names(&scan(&mut scanner)), ["a.one"]);
    symlink("v2", directory.join("releases/next")).unwrap();
    fs::rename(
        directory.join("releases/next"),
        directory.join("releases/current"),
    )
    .unwrap();
    assert_eq!(names(&scan(&mut scanner)), ["a.two"]);
}

#[test]
fn a_directory_without_a_right_to_look_at_it_is_not_taken_for_unchanged() {
    let world = World::of(&[("a/one.py", "def one(): 'a'")]);
    let server = world.directory.path().join("servers/a");
    fs::set_permissions(&server, Permissions::from_mode(0o300)).unwrap();
    let mut scanner = world.scanner();
    scan(&mut scanner);
    fs::set_permissions(&server, Permissions::from_mode(0o700)).unwrap();
    // Root could read all the time.
    let found = scanner.scan().unwrap_or_else(|| world.scanner().scan().unwrap());
    assert_eq!(names(&found), ["a.one"]);
}
