//! Trees that many processes share: intact, read-only, swept.

use std::os::unix::fs::{MetadataExt, PermissionsExt};

use std::collections::BTreeMap;
use std::path::Path;

use sha2::{Digest as _, Sha256};

use super::manifest::FILE;
use super::*;

fn ann() -> Principal {
    "ann".parse().unwrap()
}

fn file(content: &str) -> TreeFile<'static> {
    let content = content.as_bytes().to_vec();
    TreeFile::new(Sha256::digest(&content).into(), move || content.clone())
}

fn files(entries: &[(&str, &str)]) -> Files<'static> {
    entries
        .iter()
        .map(|(name, content)| ((*name).to_owned(), file(content)))
        .collect()
}

fn names(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_tree_is_whole_and_its_owner_can_remove_it() {
    let home = tempfile::tempdir().unwrap();
    let trees = Trees::new(home.path().join("deep/trees"));
    assert!(trees.current(&ann()).is_none());
    trees
        .publish(
            &ann(),
            &files(&[("tools/crm/find.py", "1"), ("tools/README.md", "2")]),
        )
        .unwrap();
    let path = trees.current(&ann()).unwrap().path;
    assert_eq!(names(&path), ["skills", "tools"]);
    assert_eq!(names(&path.join("tools")), ["README.md", "crm"]);
    let file = path.join("tools/crm/find.py");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "1");
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o7777, 0o444);
    for directory in [path.clone(), path.join("skills"), path.join("tools/crm")] {
        assert_eq!(directory.metadata().unwrap().permissions().mode() & 0o7777, 0o755);
    }
    assert_eq!(
        home.path()
            .join("deep/trees")
            .metadata()
            .unwrap()
            .permissions()
            .mode()
            & 0o7777,
        0o700
    );
}

#[test]
fn the_same_files_are_the_same_tree_for_every_process() {
    let home = tempfile::tempdir().unwrap();
    let (one, two) = (
        Trees::new(home.path().to_path_buf()),
        Trees::new(home.path().to_path_buf()),
    );
    one.publish(&ann(), &files(&[("tools/a", "1")])).unwrap();
    let inode = one.current(&ann()).unwrap().path.metadata().unwrap().ino();
    two.publish(&ann(), &files(&[("tools/a", "1")])).unwrap();
    assert_eq!(two.current(&ann()).unwrap().path.metadata().unwrap().ino(), inode);
    two.publish(&ann(), &files(&[("tools/a", "2")])).unwrap();
    assert_ne!(
        two.current(&ann()).unwrap().path,
        one.current(&ann()).unwrap().path
    );
    // Moving the boundary between name and content must change the hash.
    two.publish(&ann(), &files(&[("tools/a2", "")])).unwrap();
    assert_eq!(names(home.path()).len(), 3);
}

#[test]
fn a_damaged_tree_is_written_anew() {
    let home = tempfile::tempdir().unwrap();
    let wanted = files(&[("tools/a/b", "1"), ("tools/c", "2")]);
    type Damage = fn(&Path);
    let damages: [Damage; 7] = [
        |tree| {
            std::fs::remove_file(tree.join("tools/c")).unwrap();
            std::fs::write(tree.join("tools/c"), "3").unwrap();
            std::fs::set_permissions(tree.join("tools/c"), PermissionsExt::from_mode(0o444)).unwrap();
        },
        |tree| std::fs::remove_file(tree.join("tools/c")).unwrap(),
        |tree| std::fs::write(tree.join("skills/more"), "").unwrap(),
        |tree| std::fs::set_permissions(tree.join("tools/c"), PermissionsExt::from_mode(0o644)).unwrap(),
        |tree| {
            std::fs::remove_file(tree.join("tools/c")).unwrap();
            std::os::unix::fs::symlink("/etc/hostname", tree.join("tools/c")).unwrap();
        },
        |tree| std::fs::hard_link(tree.join("tools/c"), tree.join("../linked")).unwrap(),
        |tree| {
            std::fs::remove_file(tree.join("tools/c")).unwrap();
            rustix::fs::mkfifoat(rustix::fs::CWD, tree.join("tools/c"), FILE).unwrap();
        },
    ];
    for damage in damages {
        let trees = Trees::new(home.path().to_path_buf());
        trees.publish(&ann(), &wanted).unwrap();
        let tree = trees.current(&ann()).unwrap().path;
        drop(trees);
        damage(&tree);
        let trees = Trees::new(home.path().to_path_buf());
        trees.publish(&ann(), &wanted).unwrap();
        let tree = trees.current(&ann()).unwrap().path;
        assert_eq!(std::fs::read_to_string(tree.join("tools/c")).unwrap(), "2");
        assert_eq!(names(&tree.join("skills")), [""; 0]);
        let _ = std::fs::remove_file(home.path().join("linked"));
    }
}

#[test]
fn unused_trees_are_removed_except_the_newest() {
    let home = tempfile::tempdir().unwrap();
    let trees = Trees::new(home.path().to_path_buf());
    trees.publish(&ann(), &files(&[("tools/a", "in use")])).unwrap();
    let used = trees.current(&ann()).unwrap();
    // A killed writer's leftover, older than any tree.
    std::fs::create_dir_all(home.path().join(".new-1-0/tools/x")).unwrap();
    std::fs::set_permissions(
        home.path().join(".new-1-0/tools"),
        PermissionsExt::from_mode(0o555),
    )
    .unwrap();
    for number in 0..30 {
        trees
            .publish(&ann(), &files(&[("tools/a", &number.to_string())]))
            .unwrap();
        trees.tend(&ann()).unwrap();
    }
    let left = names(home.path());
    // The current one, the one in use, and the newest of the others.
    assert!(left.len() <= 6, "{left:?}");
    assert!(left.iter().all(|name| !name.starts_with('.')), "{left:?}");
    assert_eq!(
        std::fs::read_to_string(used.path.join("tools/a")).unwrap(),
        "in use"
    );
}

#[test]
fn many_writers_leave_one_tree() {
    let home = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let trees = Trees::new(home.path().to_path_buf());
                let wanted: Files<'_> = (0..50)
                    .map(|number| (format!("tools/s{number}/x.py"), file(&"x".repeat(100))))
                    .collect();
                trees.publish(&ann(), &wanted).unwrap();
                assert!(
                    trees
                        .current(&ann())
                        .unwrap()
                        .path
                        .join("tools/s49/x.py")
                        .is_file()
                );
            });
        }
    });
    assert_eq!(names(home.path()).len(), 1);
}

#[test]
fn a_name_that_leads_elsewhere_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let trees = Trees::new(home.path().join("trees"));
    for name in [
        "",
        "tools",
        "tools/",
        "/tools/a",
        "tools//a",
        "tools/../a",
        "tools/./a",
        "other/a",
        "../a",
        "tools/a\0b",
    ] {
        let error = trees.publish(&ann(), &files(&[(name, "")])).unwrap_err();
        assert!(matches!(error, WorkspaceError::BadName(_)), "{name}: {error}");
    }
    assert!(!home.path().join("trees").exists());
}

/// So many files that a spare tree is kept.
fn many(changed: &str) -> Files<'static> {
    let mut many: Files<'_> = (0..600)
        .map(|number| {
            let name = format!("tools/s{}/t{number}.py", number % 20);
            (name, file(&format!("# {number}")))
        })
        .collect();
    many.insert("tools/s1/changed.py".to_owned(), file(changed));
    many
}

fn inodes(tree: &Path) -> BTreeMap<PathBuf, u64> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![tree.to_owned()];
    while let Some(directory) = waiting.pop() {
        for entry in directory.read_dir().unwrap() {
            let entry = entry.unwrap();
            match entry.file_type().unwrap().is_dir() {
                true => waiting.push(entry.path()),
                false => {
                    let name = entry.path().strip_prefix(tree).unwrap().to_owned();
                    found.insert(name, entry.metadata().unwrap().ino());
                }
            }
        }
    }
    found
}

#[test]
fn s0_52_what_did_not_change_is_not_written_again() {
    for spare in [true, false] {
        let home = tempfile::tempdir().unwrap();
        let trees = Trees::new(home.path().to_path_buf());
        let publish = |files: &Files<'_>| {
            trees.publish(&ann(), files).unwrap();
            if spare {
                trees.tend(&ann()).unwrap();
            }
            trees.current(&ann()).unwrap()
        };
        let first = publish(&many("one"));
        let before = inodes(&first.path);
        let mut files = many("two");
        files.insert("tools/new/deep/x.py".to_owned(), file("new"));
        files.remove("tools/s3/t3.py");
        let second = publish(&files);
        assert_eq!(verify::verify(&second.lock, &files), Ok(()));
        assert_eq!(
            verify::verify(&first.lock, &many("one")),
            Ok(()),
            "the old one stays"
        );
        let after = inodes(&second.path);
        let differ: Vec<&PathBuf> = after
            .iter()
            .filter(|(name, inode)| before.get(*name) != Some(inode))
            .map(|(name, _)| name)
            .collect();
        assert_eq!(
            differ,
            [Path::new("tools/new/deep/x.py"), Path::new("tools/s1/changed.py")]
        );
        assert_eq!(before.len(), after.len());
        // Back again, without the directory.
        let third = publish(&many("three"));
        assert_eq!(verify::verify(&third.lock, &many("three")), Ok(()));
        assert_eq!(inodes(&third.path).len(), 601);
        // The first one is still there and needs no writing.
        let again = publish(&many("one"));
        assert_eq!(inodes(&again.path), before);
        // An unchanged publication changes nothing.
        assert_eq!(publish(&many("one")).path, again.path);
        let hidden = names(home.path())
            .into_iter()
            .filter(|name| name.starts_with('.'));
        assert_eq!(hidden.count(), usize::from(spare));
    }
}

#[test]
fn a_spare_tree_of_a_killed_process_goes() {
    let home = tempfile::tempdir().unwrap();
    let trees = Trees::new(home.path().to_path_buf());
    trees.publish(&ann(), &many("one")).unwrap();
    trees.tend(&ann()).unwrap();
    let other = Trees::new(home.path().to_path_buf());
    other.publish(&ann(), &files(&[("tools/a", "1")])).unwrap();
    other.tend(&ann()).unwrap();
    let hidden = || {
        let names = names(home.path()).into_iter();
        names.filter(|name| name.starts_with('.')).count()
    };
    assert_eq!(hidden(), 1, "the spare tree of a living process stays");
    drop(trees);
    other.tend(&ann()).unwrap();
    assert_eq!(hidden(), 0);
}

#[test]
fn a_damaged_file_is_not_taken_over() {
    let home = tempfile::tempdir().unwrap();
    let trees = Trees::new(home.path().to_path_buf());
    trees.publish(&ann(), &many("one")).unwrap();
    trees.tend(&ann()).unwrap();
    let first = trees.current(&ann()).unwrap();
    let path = first.path.join("tools/s1/changed.py");
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o644)).unwrap();
    std::fs::write(&path, "bad").unwrap();
    trees.publish(&ann(), &many("one")).unwrap();
    let second = trees.current(&ann()).unwrap();
    assert_eq!(verify::verify(&second.lock, &many("one")), Ok(()));
    trees.publish(&ann(), &many("two")).unwrap();
    let third = trees.current(&ann()).unwrap();
    assert_eq!(verify::verify(&third.lock, &many("two")), Ok(()));
}

#[test]
fn the_time_of_the_first_writing_stays() {
    let home = tempfile::tempdir().unwrap();
    let timed = |text: &'static str| {
        let content = format!(
            "{{\"generated_at\": \"{}\", \"x\": \"{text}\"}}",
            types::WRITTEN_AT
        );
        Files::from([("tools/_meta.json".to_owned(), file(&content))])
    };
    let read = |trees: &Trees| {
        let path = trees.current(&ann()).unwrap().path.join("tools/_meta.json");
        std::fs::read_to_string(path).unwrap()
    };
    let trees = Trees::new(home.path().to_path_buf());
    trees.publish(&ann(), &timed("a")).unwrap();
    let first = read(&trees);
    assert!(
        first.starts_with("{\"generated_at\": \"2") && !first.contains("0000-"),
        "{first}"
    );
    drop(trees);
    let path = std::fs::read_dir(home.path())
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let file = path.join("tools/_meta.json");
    // As if it had been written long ago, and then damaged.
    for (text, is_kept) in [
        (first.replacen("\"2", "\"1", 1), true),
        (first.replacen("\"2", "\"x", 1), false),
        (first.replace("\"a\"", "\"b\""), false),
    ] {
        std::fs::remove_file(&file).unwrap();
        std::fs::write(&file, &text).unwrap();
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o444)).unwrap();
        let trees = Trees::new(home.path().to_path_buf());
        trees.publish(&ann(), &timed("a")).unwrap();
        assert_eq!(read(&trees) == text, is_kept, "{text}");
    }
}
