//! Measures a session's own directories at intervals, because no file system limits their size.

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, openat, statat};
use rustix::io::Errno;
use sandbox_host::{open_files, process_tree};
use types::{Limit, Limits};

/// Measurements use at most 1 / `PAUSE_FACTOR` of the elapsed time.
const PAUSE_FACTOR: u32 = 20;
/// Shortest time between two measurements.
const MIN_PAUSE: Duration = Duration::from_millis(50);
/// Directories that are nested deeper exceed the limit, because each level needs an open descriptor during the
/// measurement.
const MAX_DEPTH: usize = 64;
/// Bytes per unit of `st_blocks`.
const BLOCK: u64 = 512;

/// The permissions that the owner needs to create files in a directory.
const WRITABLE: Mode = Mode::WUSR.union(Mode::XUSR);

const DIRECTORY: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DiskUsage {
    /// Bytes on disk.
    pub bytes: u64,
    /// Files and directories.
    pub entries: u64,
    /// Whether a directory could not be counted: it is nested too deep, or this process may not read it.
    pub uncounted: bool,
}

#[derive(Debug)]
pub struct DiskMonitor {
    directories: Vec<PathBuf>,
    /// Pid of the keeper, the ancestor of all processes of the session.
    keeper: u32,
    bytes: u64,
    entries: u64,
    state: Arc<Mutex<MonitorState>>,
}

#[derive(Debug)]
struct MonitorState {
    held: DiskUsage,
    is_measuring: bool,
    due: Instant,
}

impl DiskMonitor {
    /// Measures these directories, and the unlinked files that the descendants of `keeper` have open.
    pub fn new(directories: Vec<PathBuf>, keeper: u32, limits: &Limits) -> Self {
        Self {
            directories,
            keeper,
            bytes: limits.disk,
            entries: limits.inodes,
            state: Arc::new(Mutex::new(MonitorState {
                held: DiskUsage::default(),
                is_measuring: false,
                due: Instant::now(),
            })),
        }
    }

    /// The limit that the last measurement exceeded. Starts the next measurement when due.
    pub fn exceeded(&self) -> Option<Limit> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if !state.is_measuring && Instant::now() >= state.due {
            state.is_measuring = true;
            let (directories, shared) = (self.directories.clone(), Arc::clone(&self.state));
            // A measurement stops one entry above the limit.
            let (most, keeper) = (self.entries.saturating_add(1), self.keeper);
            tokio::task::spawn_blocking(move || {
                let begun = Instant::now();
                let mut held = measure(&directories, most);
                held.bytes += unlinked(keeper);
                let pause = (begun.elapsed() * PAUSE_FACTOR).max(MIN_PAUSE);
                let mut state = shared.lock().unwrap_or_else(PoisonError::into_inner);
                *state = MonitorState {
                    held,
                    is_measuring: false,
                    due: Instant::now() + pause,
                };
            });
        }
        let DiskUsage {
            bytes,
            entries,
            uncounted,
        } = state.held;
        if entries > self.entries || uncounted {
            return Some(Limit::Inodes);
        }
        (bytes > self.bytes).then_some(Limit::Disk)
    }
}

/// Bytes of the unlinked files that these processes have open. Does not find unlinked files that are only mapped.
fn unlinked(keeper: u32) -> u64 {
    let mut found = HashMap::new();
    process_tree::for_each(keeper, |pid| found.extend(open_files::unlinked(pid)));
    found.values().sum()
}

/// Counts the content of these directories up to `most` entries, without the directories themselves.
fn measure(directories: &[PathBuf], most: u64) -> DiskUsage {
    let mut held = DiskUsage::default();
    for path in directories {
        if let Ok(directory) = openat(CWD, path, DIRECTORY, Mode::empty()) {
            count(&directory, 0, most, &mut held);
        }
    }
    held
}

fn count(directory: &OwnedFd, depth: usize, most: u64, held: &mut DiskUsage) {
    let Ok(entries) = Dir::read_from(directory) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        if held.entries >= most {
            return;
        }
        let Ok(found) = statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) else {
            continue;
        };
        held.entries += 1;
        held.bytes += u64::try_from(found.st_blocks).unwrap_or(0) * BLOCK;
        if FileType::from_raw_mode(found.st_mode) != FileType::Directory {
            continue;
        }
        // Any other directory that cannot be opened has been removed, or even its owner cannot create files in it.
        match openat(directory, name, DIRECTORY, Mode::empty()) {
            Ok(inner) if depth < MAX_DEPTH => count(&inner, depth + 1, most, held),
            Ok(_) => held.uncounted = true,
            Err(Errno::ACCESS) if WRITABLE.bits() & !found.st_mode == 0 => held.uncounted = true,
            Err(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn unlinked_open_files_count() {
        let held = tempfile::tempfile().unwrap();
        held.set_len(0).unwrap();
        std::io::Write::write_all(&mut &held, &vec![1; 200_000]).unwrap();
        assert!(unlinked(std::process::id()) >= 200_000);
    }

    #[test]
    fn files_in_an_unreadable_directory_are_counted() {
        use std::os::unix::fs::PermissionsExt;
        let place = tempfile::tempdir().unwrap();
        let closed = place.path().join("closed");
        let mode = |mode| fs::set_permissions(&closed, fs::Permissions::from_mode(mode)).unwrap();
        fs::create_dir(&closed).unwrap();
        fs::write(closed.join("file"), "x").unwrap();
        mode(0o300);
        let held = measure(&[place.path().to_path_buf()], 100);
        // Root can read it anyway.
        assert!(held.entries == 2 || held.uncounted, "{held:?}");
        fs::remove_file(closed.join("file")).unwrap();
        mode(0o000);
        let held = measure(&[place.path().to_path_buf()], 100);
        mode(0o700);
        assert_eq!((held.entries, held.uncounted), (1, false), "{held:?}");
    }

    #[test]
    fn files_and_directories_are_counted_to_the_depth_that_is_allowed() {
        let place = tempfile::tempdir().unwrap();
        let check = |most, entries, uncounted| {
            let held = measure(&[place.path().to_path_buf()], most);
            assert_eq!((held.entries, held.uncounted), (entries, uncounted), "{held:?}");
            held
        };
        check(100, 0, false);
        fs::write(place.path().join("file"), vec![1; 100_000]).unwrap();
        fs::create_dir_all(place.path().join("a/b")).unwrap();
        std::os::unix::fs::symlink("/usr", place.path().join("link")).unwrap();
        let held = check(100, 4, false);
        assert!(held.bytes >= 100_000, "{held:?}");
        check(2, 2, false);
        let mut deep = place.path().join("a/b");
        for _ in 0..MAX_DEPTH {
            deep.push("c");
        }
        fs::create_dir_all(&deep).unwrap();
        check(1000, 3 + MAX_DEPTH as u64, true);
    }
}
