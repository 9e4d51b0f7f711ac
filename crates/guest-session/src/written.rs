//! Finds files that a run in another process created or changed, by the times of their inodes.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::time::{ClockId, clock_gettime};

/// Maximum number of files and directories examined.
const MOST_SEEN: usize = 20_000;

/// Maximum number of files reported.
const MOST: usize = 1_000;

/// The start of a run, by the file systems' clock.
#[derive(Debug)]
pub struct Written {
    since: (i64, i64),
    /// The real directory of each documented path.
    roots: Vec<(String, String)>,
}

impl Written {
    /// Observes files below these directories, each with documented and real path.
    pub fn since_now(roots: Vec<(String, String)>) -> Self {
        let now = clock_gettime(ClockId::RealtimeCoarse);
        Self {
            since: (now.tv_sec, now.tv_nsec),
            roots,
        }
    }

    /// Path and size of each file.
    pub fn files(&self) -> Vec<(String, u64)> {
        let mut files = Vec::new();
        let mut left = MOST_SEEN;
        for (shown, real) in &self.roots {
            let first = files.len();
            self.below(Path::new(real), &mut files, &mut left);
            for (path, _) in files.iter_mut().skip(first) {
                if let Some(rest) = path.strip_prefix(real.as_str()) {
                    *path = format!("{shown}{rest}");
                }
            }
        }
        files.sort();
        files
    }

    fn below(&self, directory: &Path, files: &mut Vec<(String, u64)>, left: &mut usize) {
        // Unreadable directories are treated as unchanged.
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            if *left == 0 || files.len() >= MOST {
                return;
            }
            *left -= 1;
            let Ok(metadata) = entry.path().symlink_metadata() else {
                continue;
            };
            if metadata.is_dir() {
                self.below(&entry.path(), files, left);
            } else if metadata.is_file() && (metadata.ctime(), metadata.ctime_nsec()) >= self.since {
                files.push((entry.path().display().to_string(), metadata.len()));
            }
        }
    }
}
