//! Removes files that guests must not read from a new environment, and makes the rest readable for every session user.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Files of installers and users that may contain a package index with its password, or a directory of the host.
const REVEALING_FILES: [&str; 6] = [
    "direct_url.json",
    "pip.conf",
    "pip.ini",
    ".netrc",
    ".pypirc",
    ".git-credentials",
];

/// Walks the tree below `root`. Links are neither followed nor changed.
pub(super) fn scrub(root: &Path) -> io::Result<()> {
    open(root, 0o755)?;
    for entry in fs::read_dir(root)? {
        let entry = entry?;
        let (path, kind) = (entry.path(), entry.file_type()?);
        if kind.is_dir() {
            scrub(&path)?;
        } else if REVEALING_FILES.iter().any(|name| entry.file_name() == *name) {
            fs::remove_file(&path)?;
        } else if kind.is_file() {
            open(&path, 0o444)?;
        }
    }
    Ok(())
}

/// Removes the commands of packages. They contain the path of the staged environment, and no program runs them.
pub(super) fn remove_commands(root: &Path) -> io::Result<()> {
    for entry in fs::read_dir(root.join("bin"))? {
        let entry = entry?;
        if !entry.file_name().as_encoded_bytes().starts_with(b"python") {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Adds permission bits that the installing user's umask removed.
fn open(path: &Path, bits: u32) -> io::Result<()> {
    let mode = fs::metadata(path)?.permissions().mode() & 0o7777;
    if mode & bits == bits {
        return Ok(());
    }
    fs::set_permissions(path, Permissions::from_mode(mode | bits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_go_and_everyone_may_read_the_rest() {
        let root = tempfile::tempdir().unwrap();
        let info = root.path().join("tiny-1.0.dist-info");
        fs::create_dir(&info).unwrap();
        fs::write(
            info.join("direct_url.json"),
            r#"{"url": "https://me:secret@index.example/tiny.whl"}"#,
        )
        .unwrap();
        fs::write(info.join("METADATA"), "Name: tiny").unwrap();
        fs::write(root.path().join("pip.conf"), "[global]").unwrap();
        fs::set_permissions(info.join("METADATA"), Permissions::from_mode(0o600)).unwrap();
        fs::set_permissions(&info, Permissions::from_mode(0o700)).unwrap();
        std::os::unix::fs::symlink("/etc/shadow", root.path().join("link")).unwrap();

        scrub(root.path()).unwrap();

        assert!(!info.join("direct_url.json").exists());
        assert!(!root.path().join("pip.conf").exists());
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&info.join("METADATA")), 0o644);
        assert_eq!(mode(&info), 0o755);
        assert!(root.path().join("link").is_symlink());
    }
}
