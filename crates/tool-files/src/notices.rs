//! Watches directories with inotify, so that a walk is skipped while nothing changes.

use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::inotify::{CreateFlags, WatchFlags, add_watch, init};
use rustix::io::read;

/// Age at which a walk is repeated in any case: the kernel does not report changes by other
/// machines, through a mapping, or through another hard link.
const TRUSTED: Duration = Duration::from_secs(1);

/// Buffer for the events of one read, which are only counted.
const EVENTS: usize = 16 * 1024;
const MOST_READS: usize = 100;

#[derive(Debug)]
pub(crate) struct Notices {
    inotify: Option<OwnedFd>,
    /// Start of the last walk; `None` unless the kernel reports changes of everything that it saw.
    walked: Option<Instant>,
    /// The given directories with device and inode: a path may later lead elsewhere.
    given: Vec<(PathBuf, (u64, u64))>,
}

impl Notices {
    /// Watches nothing yet.
    pub(crate) fn new() -> Notices {
        Notices {
            inotify: None,
            walked: None,
            given: Vec::new(),
        }
    }

    /// Whether certainly nothing has changed since the last walk. Once `false`, stays so until the next walk.
    pub(crate) fn are_none(&mut self) -> bool {
        let is_same = |(path, which): &(PathBuf, (u64, u64))| identity(path) == Some(*which);
        let are_none = self.walked.is_some_and(|walked| walked.elapsed() < TRUSTED)
            && self.given.iter().all(is_same)
            && !self.has_events();
        if !are_none {
            self.miss();
        }
        are_none
    }

    /// Starts a walk; directories are watched before they are listed. Without free watches,
    /// `are_none` stays `false`.
    pub(crate) fn begin(&mut self) {
        if self.inotify.is_none() {
            self.inotify = init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok();
        }
        // Events left over only cause another walk.
        let _ = (0..MOST_READS).take_while(|_| self.has_events()).count();
        self.given.clear();
        self.walked = self.inotify.is_some().then(Instant::now);
    }

    /// The walk reaches a given directory.
    pub(crate) fn given(&mut self, directory: &Path) {
        match identity(directory) {
            Some(which) => self.given.push((directory.to_path_buf(), which)),
            None => self.miss(),
        }
        self.watch(directory);
    }

    /// The walk reaches a directory.
    pub(crate) fn watch(&mut self, directory: &Path) {
        let changes = WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::DELETE_SELF
            | WatchFlags::MOVE
            | WatchFlags::MOVE_SELF
            | WatchFlags::MODIFY
            | WatchFlags::ATTRIB
            | WatchFlags::ONLYDIR;
        let is_watched = self
            .inotify
            .as_ref()
            .is_some_and(|inotify| add_watch(inotify, directory, changes).is_ok());
        if !is_watched {
            self.miss();
        }
    }

    /// The walk has seen something whose changes the kernel will not report.
    pub(crate) fn miss(&mut self) {
        self.walked = None;
    }

    /// Reads pending events.
    fn has_events(&self) -> bool {
        let mut events = [0; EVENTS];
        self.inotify
            .as_ref()
            .is_some_and(|inotify| read(inotify, &mut events).is_ok_and(|bytes| bytes > 0))
    }
}

fn identity(directory: &Path) -> Option<(u64, u64)> {
    let metadata = fs::metadata(directory).ok()?;
    Some((metadata.dev(), metadata.ino()))
}
