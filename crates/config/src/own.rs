//! Whether somebody else than the user and root can change what stands at a path.

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use rustix::fs::StatVfsMountFlags;

/// Who is in a group is the administrator's matter, and many machines give each user one: only all others count.
const OTHERS_WRITE: u32 = 0o002;
/// In such a directory nobody removes or renames what belongs to others.
const STICKY: u32 = 0o1000;

/// Refuses a file that somebody else can write, replace or lead elsewhere: it is another's, or its directory is.
///
/// # Errors
/// The reason, with the remedy, as `InvalidInput`; or that it cannot be looked at.
pub(crate) fn check_file(path: &Path, file: &Metadata) -> io::Result<()> {
    check_owner("it", file)?;
    if file.mode() & OTHERS_WRITE != 0 {
        return Err(refused(
            "every user of this machine may write to it; look at what it holds, then run `chmod o-w` on it",
        ));
    }
    // A link is whose it is, and so is the directory in which it stands.
    check_owner("the link", &path.symlink_metadata()?)?;
    check_directory(directory_of(path))?;
    check_directory(directory_of(&path.canonicalize()?))
}

/// Refuses a directory in which somebody else can put a file in the place of another.
///
/// # Errors
/// As for a file.
pub(crate) fn check_directory(path: &Path) -> io::Result<()> {
    let entry = path.symlink_metadata()?;
    // Root may keep its files where a user's are; it follows no link of a user's.
    if entry.is_symlink() || !rustix::process::geteuid().is_root() {
        check_owner(&format!("the directory {}", path.display()), &entry)?;
    }
    let mode = path.metadata()?.mode();
    if mode & OTHERS_WRITE == 0 || mode & STICKY != 0 || is_read_only(path) {
        return Ok(());
    }
    Err(refused(&format!(
        "every user of this machine may write to the directory {path}; run `chmod o-w {path}`, and look at what it holds",
        path = path.display()
    )))
}

/// Whether the user or root has it.
pub(crate) fn is_own(file: &Metadata) -> bool {
    file.uid() == 0 || file.uid() == rustix::process::geteuid().as_raw()
}

/// The directory in which something stands.
pub(crate) fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

fn check_owner(what: &str, file: &Metadata) -> io::Result<()> {
    if is_own(file) {
        return Ok(());
    }
    Err(refused(&format!(
        "{what} belongs to the user {owner}, neither to you ({me}) nor to root, and {owner} can change what is read; look at what it holds, then put one of your own in its place",
        owner = file.uid(),
        me = rustix::process::geteuid().as_raw()
    )))
}

/// What nobody can write to whatever its mode says, as a volume of a container.
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

    /// A user that is not the one of the tests, who is root where such a file can be made.
    const STRANGER: u32 = 65_534;

    struct Place(tempfile::TempDir);

    impl Place {
        /// A directory with a file in it.
        fn new() -> Place {
            let place = Place(tempfile::tempdir().unwrap());
            fs::create_dir(place.path("own")).unwrap();
            fs::write(place.path("own/mcp.json"), "{}").unwrap();
            place.mode("own", 0o755);
            place.mode("own/mcp.json", 0o644);
            place
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
    fn what_all_may_write_is_refused() {
        let place = Place::new();
        for (directory, file, told) in [
            (0o755, 0o644, None),
            (0o700, 0o600, None),
            (0o775, 0o664, None),
            (0o1777, 0o644, None),
            (0o755, 0o646, Some("may write to it; ")),
            (0o777, 0o600, Some("may write to the directory ")),
        ] {
            place.mode("own", directory);
            place.mode("own/mcp.json", file);
            place.check("own/mcp.json", told);
        }
    }

    #[test]
    fn a_link_is_as_safe_as_both_its_ends() {
        let place = Place::new();
        fs::create_dir(place.path("open")).unwrap();
        symlink(place.path("own/mcp.json"), place.path("open/mcp.json")).unwrap();
        place.mode("open", 0o755);
        place.check("open/mcp.json", None);
        place.mode("open", 0o777);
        place.check("open/mcp.json", Some("may write to the directory "));
        place.mode("open", 0o755);
        place.mode("own", 0o777);
        place.check("open/mcp.json", Some("may write to the directory "));
    }

    #[test]
    fn what_another_has_is_refused() {
        let place = Place::new();
        if !rustix::process::geteuid().is_root() {
            return;
        }
        chown(place.path("own/mcp.json"), Some(STRANGER), None).unwrap();
        place.check("own/mcp.json", Some("belongs to the user 65534"));
        fs::write(place.path("mine"), "{}").unwrap();
        fs::remove_file(place.path("own/mcp.json")).unwrap();
        symlink(place.path("mine"), place.path("own/mcp.json")).unwrap();
        place.check("own/mcp.json", None);
        std::os::unix::fs::lchown(place.path("own/mcp.json"), Some(STRANGER), None).unwrap();
        place.check("own/mcp.json", Some("belongs to the user 65534"));
    }
}
