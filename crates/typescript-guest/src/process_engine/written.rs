//! The files that a run of an engine of its own has made or changed, found by the times of their inodes.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::time::{ClockId, clock_gettime};

use crate::places::{RESULTS, SCRATCH, WORKSPACE};

/// Most files and directories that are looked at.
const MOST_SEEN: usize = 20_000;

/// Most files that are reported.
const MOST: usize = 1_000;

/// The moment when a run began, by the clock of the file systems.
pub struct Written {
    since: (i64, i64),
}

impl Written {
    pub fn since_now() -> Self {
        let now = clock_gettime(ClockId::RealtimeCoarse);
        Self {
            since: (now.tv_sec, now.tv_nsec),
        }
    }

    /// Path and size of each file.
    pub fn files(&self) -> Vec<(String, u64)> {
        let mut files = Vec::new();
        let mut left = MOST_SEEN;
        for root in [WORKSPACE, RESULTS, SCRATCH] {
            self.below(Path::new(root), &mut files, &mut left);
        }
        files.sort();
        files
    }

    fn below(&self, directory: &Path, files: &mut Vec<(String, u64)>, left: &mut usize) {
        // What cannot be read was not written.
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
