//! What the kernel tells of changes in the directories, so that not every file must be looked at again each time.

use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::inotify::{CreateFlags, WatchFlags, add_watch, init};
use rustix::io::read;

/// After this time everything is looked at again: the kernel does not tell of what another machine changes, nor of what is
/// written through a mapping or another hard link.
const TRUSTED: Duration = Duration::from_secs(1);

/// Room for many events of one read; which they are does not matter.
const EVENTS: usize = 16 * 1024;
const MOST_READS: usize = 100;

/// Changes since the last walk.
#[derive(Debug)]
pub(crate) struct Notices {
    inotify: Option<OwnedFd>,
    /// When the last walk began, if the kernel tells of everything that it has seen.
    walked: Option<Instant>,
    /// The directories that were given, and which they are: a path may lead elsewhere later.
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

    /// Whether surely nothing has changed since the last walk. If not, that stays so until the next one.
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

    /// A walk begins; what it lists is watched from before it is listed. A system without room for watches tells of nothing.
    pub(crate) fn begin(&mut self) {
        if self.inotify.is_none() {
            self.inotify = init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok();
        }
        // What is left for later only leads to another walk.
        let _ = (0..MOST_READS).take_while(|_| self.has_events()).count();
        self.given.clear();
        self.walked = self.inotify.is_some().then(Instant::now);
    }

    /// The walk comes to a directory that was given.
    pub(crate) fn given(&mut self, directory: &Path) {
        match identity(directory) {
            Some(which) => self.given.push((directory.to_path_buf(), which)),
            None => self.miss(),
        }
        self.watch(directory);
    }

    /// The walk comes to a directory.
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

    /// The walk has seen something of which the kernel will not tell.
    pub(crate) fn miss(&mut self) {
        self.walked = None;
    }

    /// Takes what there is of events.
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
