//! Trees that many processes share: intact, read-only, swept.

use std::os::unix::fs::{MetadataExt, PermissionsExt};

use super::*;

fn ann() -> Principal {
    "ann".parse().unwrap()
}

fn files(entries: &[(&str, &str)]) -> Files {
    entries
        .iter()
        .map(|(name, content)| ((*name).to_owned(), content.as_bytes().to_vec()))
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
fn what_nobody_uses_goes_and_the_newest_stay() {
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
    let wanted: Files = (0..50)
        .map(|number| (format!("tools/s{number}/x.py"), vec![b'x'; 100]))
        .collect();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let trees = Trees::new(home.path().to_path_buf());
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
