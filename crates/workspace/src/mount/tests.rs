//! Mounts as people write them, with the messages of refusals.

use std::os::unix::fs::{chown, symlink};

use super::*;

#[track_caller]
fn check_text(text: &str, path: &str, target: &str, mode: Mode) {
    let asked: MountRequest = text.parse().unwrap();
    assert_eq!(
        (asked.path.to_str().unwrap(), asked.target.as_str(), asked.mode),
        (path, target, mode)
    );
}

#[test]
fn mounts_are_written_as_directory_and_place() {
    check_text(
        "/home/me/tables:/data",
        "/home/me/tables",
        "/data",
        Mode::ReadOnly,
    );
    check_text("tables:/data:ro", "tables", "/data", Mode::ReadOnly);
    check_text("/a b:c:/data:rw", "/a b:c", "/data", Mode::ReadWrite);
    for wrong in [
        "",
        ":",
        "/home/me",
        "/home/me:",
        ":/data",
        "/home/me:data",
        "/home/me:/data:rx",
        "/home/me:rw",
        "a:ro:rw",
    ] {
        let error = wrong.parse::<MountRequest>().unwrap_err().to_string();
        assert!(
            error.contains("is not a mount; write DIR:/target"),
            "{wrong}: {error}"
        );
    }
}

/// An ordinary user's directory for mounts, beside a data directory.
struct Host {
    home: tempfile::TempDir,
}

impl Host {
    fn new() -> Host {
        let home = tempfile::tempdir().unwrap();
        for directory in ["data/below", "files/below"] {
            std::fs::create_dir_all(home.path().join(directory)).unwrap();
        }
        if rustix::process::geteuid().is_root() {
            chown(home.path().join("files"), Some(1234), Some(1234)).unwrap();
        }
        Host { home }
    }

    fn resolve(&self, path: &str, target: &str, mode: Mode) -> Result<Mount, MountError> {
        let asked = MountRequest {
            path: PathBuf::from(path),
            target: target.to_owned(),
            mode,
        };
        asked.resolve(
            self.home.path(),
            Surroundings {
                data: &self.home.path().join("data"),
                before: &[],
            },
        )
    }

    #[track_caller]
    fn refuses(&self, path: &str, expected: &str) {
        let error = self
            .resolve(path, "/data", Mode::ReadOnly)
            .unwrap_err()
            .to_string();
        assert!(error.contains(expected) && error.contains(path), "{error}");
    }
}

#[test]
fn a_directory_of_the_user_is_resolved_once() {
    let host = Host::new();
    let files = host.home.path().join("files");
    let mount = host.resolve("files", "/data", Mode::ReadOnly).unwrap();
    assert_eq!(
        mount,
        Mount {
            source: files.clone(),
            target: "/data".to_owned(),
            writable: false
        }
    );
    assert_eq!(mount.to_string(), format!("{}:/data:ro", files.display()));
    for same in [
        "./files/",
        "files/below/..",
        "nowhere/../files",
        files.to_str().unwrap(),
    ] {
        assert_eq!(
            host.resolve(same, "/data/", Mode::ReadWrite).unwrap().source,
            files,
            "{same}"
        );
    }
}

#[test]
fn forbidden_mounts_are_refused_by_name_with_the_remedy() {
    let host = Host::new();
    let home = host.home.path();
    std::fs::write(home.join("file"), "").unwrap();
    symlink("files", home.join("link")).unwrap();
    symlink("/", home.join("root")).unwrap();
    symlink("/proc/self", home.join("me")).unwrap();
    symlink("data", home.join("kept")).unwrap();
    symlink("loop", home.join("loop")).unwrap();
    host.refuses("gone", "there is no such directory; make it");
    host.refuses("~/files", "`~` is not expanded");
    host.refuses("file", "this is not a directory; name the directory");
    host.refuses("file/below", "this is not a directory");
    host.refuses("/", "the whole machine");
    host.refuses("root", "the whole machine");
    for kernel in [
        "/proc",
        "/proc/self/fd",
        "/sys",
        "/sys/fs",
        "/dev",
        "/dev/shm",
        "me",
    ] {
        host.refuses(kernel, "belongs to the kernel");
    }
    for data in ["data", "data/below", "kept", ""] {
        host.refuses(data, "codeyard's own data directory");
    }
    host.refuses(
        "link",
        &format!("write {} if that is what you mean", home.join("files").display()),
    );
    host.refuses(
        "link/below",
        &format!("write {} if", home.join("files/below").display()),
    );
    host.refuses("loop", "cannot be used");
    host.refuses(&"x".repeat(300), "cannot be used");
}

#[test]
fn root_does_not_write_as_root() {
    let host = Host::new();
    let outcome = host.resolve("files/below", "/data", Mode::ReadWrite);
    if rustix::process::geteuid().is_root() {
        let error = outcome.unwrap_err().to_string();
        assert!(
            error.contains("files/below: belongs to root") && error.contains("mount it read-only"),
            "{error}"
        );
    } else {
        assert!(outcome.is_ok());
    }
    assert!(host.resolve("files/below", "/data", Mode::ReadOnly).is_ok());
}

#[test]
fn a_future_data_directory_cannot_be_mounted_either() {
    let host = Host::new();
    let data = host.home.path().join("files/later/codeyard");
    let asked: MountRequest = "files:/data".parse().unwrap();
    let error = asked
        .resolve(
            host.home.path(),
            Surroundings {
                data: &data,
                before: &[],
            },
        )
        .unwrap_err();
    assert_eq!(
        error,
        MountError::Data {
            path: host.home.path().join("files"),
            data
        }
    );
}

#[test]
fn places_in_sessions_are_free_ones() {
    let host = Host::new();
    for target in ["/data", "/data/sales", "/a.b_c-d", "/Data"] {
        assert_eq!(
            host.resolve("files", target, Mode::ReadOnly).unwrap().target,
            target
        );
    }
    for target in [
        "/workspace",
        "/results/x",
        "/tools",
        "/proc",
        "/usr/lib",
        "/tmp/x",
        "/at",
        "/home/me/",
    ] {
        let error = host.resolve("files", target, Mode::ReadOnly).unwrap_err();
        assert!(matches!(error, MountError::Reserved(_)), "{target}: {error}");
    }
    let long = format!("/{}", "x".repeat(300));
    for target in [
        "",
        "data",
        "/",
        "//",
        "/a//b",
        "/../etc",
        "/a/./b",
        "/.hidden",
        "/a b",
        "/ü",
        "/a\0",
        long.as_str(),
    ] {
        let error = host.resolve("files", target, Mode::ReadOnly).unwrap_err();
        assert!(matches!(error, MountError::BadTarget(_)), "{target}: {error}");
    }
}

#[test]
fn mounts_do_not_meet_and_are_few() {
    let host = Host::new();
    let data = host.home.path().join("data");
    let mut before = Vec::new();
    let add = |target: &str, before: &mut Vec<Mount>| {
        let asked = MountRequest {
            path: "files".into(),
            target: target.to_owned(),
            mode: Mode::ReadOnly,
        };
        let mount = asked.resolve(host.home.path(), Surroundings { data: &data, before })?;
        before.push(mount);
        Ok::<_, MountError>(())
    };
    add("/data/sales", &mut before).unwrap();
    for target in ["/data/sales", "/data", "/data/sales/2026"] {
        let error = add(target, &mut before).unwrap_err().to_string();
        assert!(
            error.contains("is taken: another mount has `/data/sales`"),
            "{error}"
        );
    }
    add("/data/sales2", &mut before).unwrap();
    for number in 2..MOST_MOUNTS {
        add(&format!("/m{number}"), &mut before).unwrap();
    }
    assert_eq!(add("/more", &mut before).unwrap_err(), MountError::TooMany);
}
