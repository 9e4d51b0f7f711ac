//! File systems mounted below a directory, which a read-only mount does not show.

use std::path::{Path, PathBuf};

/// Mount points below the directory in this process's namespace.
pub(super) fn mounted_below(directory: &Path) -> Vec<PathBuf> {
    // Without /proc the mounts are unknown, and no session runs either.
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    points_below(&mounts, directory)
}

/// Parses a `mountinfo` file; each mount point once.
fn points_below(mounts: &str, directory: &Path) -> Vec<PathBuf> {
    let points = mounts.lines().filter_map(|line| line.split(' ').nth(4));
    let mut found: Vec<PathBuf> = points
        .map(|point| PathBuf::from(plain(point)))
        .filter(|point| point.starts_with(directory) && point != directory)
        .collect();
    found.sort();
    found.dedup();
    found
}

/// Decodes a path: the kernel writes space, tab, newline and backslash as three octal digits.
fn plain(written: &str) -> String {
    [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")]
        .iter()
        .fold(written.to_owned(), |text, (code, character)| {
            text.replace(code, character)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mount_points_below_a_directory_are_found_by_their_plain_names() {
        let mounts = "22 1 0:20 / / rw - ext4 /dev/a rw\n\
                      23 22 0:21 / /data rw shared:1 - ext4 /dev/b rw\n\
                      24 23 0:22 / /data/a\\040b rw - tmpfs tmpfs rw\n\
                      25 24 0:23 / /data/a\\040b rw - tmpfs tmpfs rw\n\
                      26 22 0:24 / /database rw - tmpfs tmpfs rw\n";
        assert_eq!(points_below(mounts, Path::new("/data")), [Path::new("/data/a b")]);
        assert!(points_below(mounts, Path::new("/data/a b")).is_empty());
    }
}
