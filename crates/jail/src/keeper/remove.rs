//! Removes the directory of an ended session, however deep and unreadable its directories are.

use std::fs::{self, Permissions};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

/// Removes a tree. What cannot be removed stays for the next start.
///
/// Only two levels are ever open: deeper entries are first moved up. So neither paths nor open directories grow with
/// the depth of the guest's directories.
pub fn tree(directory: &Path) {
    let mut moved = 0_u64;
    // The loop does not retry a directory that could not be emptied.
    while let Ok(Some(inner)) = inner_directory(directory) {
        if flatten(directory, &inner, &mut moved).is_err() {
            return;
        }
    }
    let _ = fs::remove_dir(directory);
}

fn inner_directory(directory: &Path) -> io::Result<Option<PathBuf>> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            return Ok(Some(entry.path()));
        }
        fs::remove_file(entry.path())?;
    }
    Ok(None)
}

/// Moves the directories one level up, removes everything else, then removes `directory`.
fn flatten(above: &Path, directory: &Path, moved: &mut u64) -> io::Result<()> {
    let opened = open_up(directory)?;
    for entry in fs::read_dir(through(&opened))? {
        let entry = entry?;
        if !entry.file_type()?.is_dir() {
            fs::remove_file(entry.path())?;
            continue;
        }
        // Moving a directory needs write permission on it.
        open_up(&entry.path())?;
        loop {
            *moved += 1;
            match fs::rename(entry.path(), above.join(format!(".{moved}"))) {
                // The name is taken by a directory with entries.
                Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {}
                done => break done?,
            }
        }
    }
    fs::remove_dir(directory)
}

/// Gives the owner access to a directory and opens it. Follows no link, because a leftover process of the guest could
/// replace the directory by a link.
fn open_up(directory: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = rustix::fs::open(directory, flags, Mode::empty())?;
    fs::set_permissions(through(&opened), Permissions::from_mode(0o700))?;
    Ok(opened)
}

/// A path to an open directory, independent of its name.
fn through(held: &OwnedFd) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", held.as_raw_fd()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deep_and_closed_directories_go_too() {
        let place = tempfile::tempdir().unwrap();
        let session = place.path().join("session");
        let mut deepest = session.clone();
        for _ in 0..300 {
            deepest.push("deep");
        }
        fs::create_dir_all(&deepest).unwrap();
        fs::write(deepest.join("file"), "x").unwrap();
        fs::create_dir_all(session.join("closed/inner")).unwrap();
        fs::write(session.join("closed/inner/file"), "x").unwrap();
        std::os::unix::fs::symlink("/", session.join("closed/link")).unwrap();
        fs::set_permissions(session.join("closed/inner"), Permissions::from_mode(0o000)).unwrap();
        fs::set_permissions(session.join("closed"), Permissions::from_mode(0o000)).unwrap();
        tree(&session);
        assert!(!session.exists());
        assert!(Path::new("/usr").exists());
    }

    #[test]
    fn a_link_in_the_place_of_a_directory_is_not_followed() {
        let place = tempfile::tempdir().unwrap();
        let (target, link) = (place.path().join("target"), place.path().join("link"));
        fs::create_dir(&target).unwrap();
        fs::write(target.join("file"), "x").unwrap();
        fs::set_permissions(&target, Permissions::from_mode(0o755)).unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        flatten(place.path(), &link, &mut 0).unwrap_err();
        assert!(target.join("file").exists());
        assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o755);
    }
}
