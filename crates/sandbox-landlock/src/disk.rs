//! How much a session's own directories hold: measured now and then, since no file system of its own bounds them.

use std::collections::HashMap;
use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, openat, statat};
use rustix::io::Errno;
use sandbox_process::census;
use types::{Limit, Limits};

/// A measure takes at most one part in so many of the time.
const SHARE: u32 = 20;
/// Shortest time between two measures.
const PERIOD: Duration = Duration::from_millis(50);
/// Directories nested deeper than this count as too many: each holds a descriptor while they are measured.
const DEEPEST: usize = 64;
/// Bytes of a block, whatever the file system's are.
const BLOCK: u64 = 512;

/// What its owner needs to put something into a directory.
const FILLABLE: Mode = Mode::WUSR.union(Mode::XUSR);

const DIRECTORY: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// What the directories hold.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Held {
    /// Bytes on disk.
    pub bytes: u64,
    /// Files and directories.
    pub entries: u64,
    /// Whether something could not be counted: nested too deep, or closed to who counts.
    pub uncounted: bool,
}

/// Watches the directories of one session.
#[derive(Debug)]
pub struct Disk {
    directories: Vec<PathBuf>,
    /// Parent of all its processes.
    kept_by: u32,
    bytes: u64,
    entries: u64,
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    held: Held,
    under_way: bool,
    due: Instant,
}

impl Disk {
    /// Holds these directories, and what the processes below `kept_by` have removed and not closed, to the limits.
    pub fn new(directories: Vec<PathBuf>, kept_by: u32, limits: &Limits) -> Self {
        Self {
            directories,
            kept_by,
            bytes: limits.disk,
            entries: limits.inodes,
            state: Arc::new(Mutex::new(State {
                held: Held::default(),
                under_way: false,
                due: Instant::now(),
            })),
        }
    }

    /// The limit that the directories were over when they were last measured; has them measured again if it is time.
    pub fn exceeded(&self) -> Option<Limit> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if !state.under_way && Instant::now() >= state.due {
            state.under_way = true;
            let (directories, shared) = (self.directories.clone(), Arc::clone(&self.state));
            // Once over, there is nothing left to be found out.
            let (most, kept_by) = (self.entries.saturating_add(1), self.kept_by);
            tokio::task::spawn_blocking(move || {
                let begun = Instant::now();
                let mut held = measure(&directories, most);
                held.bytes += removed(kept_by);
                let pause = (begun.elapsed() * SHARE).max(PERIOD);
                let mut state = shared.lock().unwrap_or_else(PoisonError::into_inner);
                *state = State {
                    held,
                    under_way: false,
                    due: Instant::now() + pause,
                };
            });
        }
        let Held {
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

/// Bytes of files that these processes hold open although no name is left of them. Those that are mapped and not open
/// are not seen.
fn removed(kept_by: u32) -> u64 {
    let mut found = HashMap::new();
    census::for_each(kept_by, |pid| {
        let descriptors = fs::read_dir(format!("/proc/{pid}/fd"))
            .into_iter()
            .flatten()
            .flatten();
        for file in descriptors.filter_map(|descriptor| fs::metadata(descriptor.path()).ok()) {
            if file.is_file() && file.nlink() == 0 {
                found.insert((file.dev(), file.ino()), file.blocks() * BLOCK);
            }
        }
    });
    found.values().sum()
}

/// Counts what lies below these directories, which themselves do not count, up to so many entries.
fn measure(directories: &[PathBuf], most: u64) -> Held {
    let mut held = Held::default();
    for path in directories {
        if let Ok(directory) = openat(CWD, path, DIRECTORY, Mode::empty()) {
            count(&directory, 0, most, &mut held);
        }
    }
    held
}

fn count(directory: &OwnedFd, depth: usize, most: u64, held: &mut Held) {
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
        // Any other that cannot be opened is gone, or was made so that nobody can put anything into it.
        match openat(directory, name, DIRECTORY, Mode::empty()) {
            Ok(inner) if depth < DEEPEST => count(&inner, depth + 1, most, held),
            Ok(_) => held.uncounted = true,
            Err(Errno::ACCESS) if FILLABLE.bits() & !found.st_mode == 0 => held.uncounted = true,
            Err(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_removed_and_still_open_counts() {
        let held = tempfile::tempfile().unwrap();
        held.set_len(0).unwrap();
        std::io::Write::write_all(&mut &held, &vec![1; 200_000]).unwrap();
        assert!(removed(std::process::id()) >= 200_000);
    }

    #[test]
    fn what_lies_in_a_directory_closed_to_reading_is_not_hidden() {
        use std::os::unix::fs::PermissionsExt;
        let place = tempfile::tempdir().unwrap();
        let closed = place.path().join("closed");
        let mode = |mode| fs::set_permissions(&closed, fs::Permissions::from_mode(mode)).unwrap();
        fs::create_dir(&closed).unwrap();
        fs::write(closed.join("file"), "x").unwrap();
        mode(0o300);
        let held = measure(&[place.path().to_path_buf()], 100);
        // Root reads it all the same.
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
        for _ in 0..DEEPEST {
            deep.push("c");
        }
        fs::create_dir_all(&deep).unwrap();
        check(1000, 3 + DEEPEST as u64, true);
    }
}
