//! Checks whether another user except root can change the file or directory at a path.

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use rustix::fs::StatVfsMountFlags;

/// Write bit of other users. The group bit is ignored: many machines give each user a group, and
/// the administrator controls membership.
const OTHERS_WRITE: u32 = 0o002;
/// In a sticky directory, users cannot remove or rename others' files.
const STICKY: u32 = 0o1000;

/// Refuses a file that another user can write, replace or redirect, because the user owns the file, a link or the
/// directory.
///
/// # Errors
/// `InvalidInput` with reason and remedy, or the system's error.
pub(crate) fn check_file(path: &Path, file: &Metadata) -> io::Result<()> {
    check_owner("it", file)?;
    if file.mode() & OTHERS_WRITE != 0 {
        return Err(refused(
            "every user of this machine may write to it; check its content, then run `chmod o-w` on it",
        ));
    }
    // The owner of a link, or of the link's directory, can redirect the link.
    check_owner("the link", &path.symlink_metadata()?)?;
    check_directory(directory_of(path))?;
    check_directory(directory_of(&path.canonicalize()?))
}

/// Refuses a directory in which another user can replace files.
///
/// # Errors
/// As for a file.
pub(crate) fn check_directory(path: &Path) -> io::Result<()> {
    let entry = path.symlink_metadata()?;
    // Root may use a user's directory, but must not follow a link there.
    if entry.is_symlink() || !rustix::process::geteuid().is_root() {
        check_owner(&format!("the directory {}", path.display()), &entry)?;
    }
    let mode = path.metadata()?.mode();
    if mode & OTHERS_WRITE == 0 || mode & STICKY != 0 || is_read_only(path) {
        return Ok(());
    }
    Err(refused(&format!(
        "every user of this machine may write to the directory {path}; run `chmod o-w {path}`, and check its files",
        path = path.display()
    )))
}

/// Whether the owner is this user or root.
pub(crate) fn has_trusted_owner(file: &Metadata) -> bool {
    file.uid() == 0 || file.uid() == rustix::process::geteuid().as_raw()
}

/// The parent directory; the current directory for a bare name.
pub(crate) fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

fn check_owner(what: &str, file: &Metadata) -> io::Result<()> {
    if has_trusted_owner(file) {
        return Ok(());
    }
    Err(refused(&format!(
        "{what} belongs to the user {owner}, neither to you ({me}) nor to root, so {owner} can change the content; \
        check it, then replace it by your own copy",
        owner = file.uid(),
        me = rustix::process::geteuid().as_raw()
    )))
}

/// Whether the file system is mounted read-only, like a container's volume. Then the mode is irrelevant.
fn is_read_only(path: &Path) -> bool {
    rustix::fs::statvfs(path).is_ok_and(|system| system.f_flag.contains(StatVfsMountFlags::RDONLY))
}

fn refused(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, why)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
    use std::path::PathBuf;

    use super::*;

    /// Owner of foreign files. Only tests under root can create such files.
    const STRANGER: u32 = 65_534;

    struct Scene(tempfile::TempDir);

    impl Scene {
        fn new() -> Scene {
            let scene = Scene(tempfile::tempdir().unwrap());
            fs::create_dir(scene.path("own")).unwrap();
            fs::write(scene.path("own/mcp.json"), "{}").unwrap();
            scene.mode("own", 0o755);
            scene.mode("own/mcp.json", 0o644);
            scene
        }

        fn path(&self, path: &str) -> PathBuf {
            self.0.path().join(path)
        }

        fn mode(&self, path: &str, mode: u32) {
            fs::set_permissions(self.path(path), Permissions::from_mode(mode)).unwrap();
        }

        fn check(&self, path: &str, told: Option<&str>) {
            let path = self.path(path);
            let checked = check_file(&path, &path.metadata().unwrap());
            match (told, checked) {
                (None, Ok(())) => {}
                (Some(told), Err(error)) => assert!(error.to_string().contains(told), "{error}"),
                (told, checked) => panic!("{path:?}: expected {told:?}, found {checked:?}"),
            }
        }
    }

    #[test]
    fn world_writable_files_are_refused() {
        let scene = Scene::new();
        for (directory, file, told) in [
            (0o755, 0o644, None),
            (0o700, 0o600, None),
            (0o775, 0o664, None),
            (0o1777, 0o644, None),
            (0o755, 0o646, Some("may write to it; ")),
            (0o777, 0o600, Some("may write to the directory ")),
        ] {
            scene.mode("own", directory);
            scene.mode("own/mcp.json", file);
            scene.check("own/mcp.json", told);
        }
    }

    #[test]
    fn a_link_is_as_safe_as_both_its_ends() {
        let scene = Scene::new();
        fs::create_dir(scene.path("open")).unwrap();
        symlink(scene.path("own/mcp.json"), scene.path("open/mcp.json")).unwrap();
        scene.mode("open", 0o755);
        scene.check("open/mcp.json", None);
        scene.mode("open", 0o777);
        scene.check("open/mcp.json", Some("may write to the directory "));
        scene.mode("open", 0o755);
        scene.mode("own", 0o777);
        scene.check("open/mcp.json", Some("may write to the directory "));
    }

    #[test]
    fn files_of_another_user_are_refused() {
        let scene = Scene::new();
        if !rustix::process::geteuid().is_root() {
            return;
        }
        chown(scene.path("own/mcp.json"), Some(STRANGER), None).unwrap();
        scene.check("own/mcp.json", Some("belongs to the user 65534"));
        fs::write(scene.path("mine"), "{}").unwrap();
        fs::remove_file(scene.path("own/mcp.json")).unwrap();
        symlink(scene.path("mine"), scene.path("own/mcp.json")).unwrap();
        scene.check("own/mcp.json", None);
        std::os::unix::fs::lchown(scene.path("own/mcp.json"), Some(STRANGER), None).unwrap();
        scene.check("own/mcp.json", Some("belongs to the user 65534"));
    }
}
