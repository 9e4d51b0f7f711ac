//! Creates files and directories out of programs' reach, and moves complete ones into place.
//!
//! A session that starts meanwhile never sees an entry owned by another user.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{self, AtFlags, Gid, Mode, OFlags, RenameFlags, Uid};
use rustix::io::Errno;

use crate::confined::WITHIN;
use crate::directory::Ids;
use crate::remove::NEW;

/// Mode of a program's files under the usual umask.
const FILE: Mode = Mode::from_raw_mode(0o644);
const DIRECTORY: Mode = Mode::from_raw_mode(0o755);
/// Mode of an incomplete entry.
const PRIVATE: Mode = Mode::from_raw_mode(0o700);

/// Location and owner of new entries.
#[derive(Debug, Clone, Copy)]
pub(super) struct NewEntries<'a> {
    /// The principal's directory, hidden from sessions, on the file system of the sessions' files.
    pub(super) place: BorrowedFd<'a>,
    /// Owner of new entries.
    pub(super) owner: Ids,
}

impl NewEntries<'_> {
    /// Makes a directory; returns false if a program has taken the name.
    pub(super) fn directory(self, above: BorrowedFd<'_>, name: &str) -> Result<bool, Errno> {
        let new = fresh();
        fs::mkdirat(self.place, new.as_str(), PRIVATE)?;
        let moved = self
            .give_directory(&new)
            .and_then(|()| fs::renameat_with(self.place, new.as_str(), above, name, RenameFlags::NOREPLACE));
        if moved.is_err() {
            let _ = fs::unlinkat(self.place, new.as_str(), AtFlags::REMOVEDIR);
        }
        match moved {
            Ok(()) => Ok(true),
            Err(Errno::EXIST) => Ok(false),
            Err(cause) => Err(cause),
        }
    }

    fn give_directory(self, new: &str) -> Result<(), Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let directory = fs::openat2(self.place, new, flags, Mode::empty(), WITHIN)?;
        fs::fchmod(&directory, DIRECTORY)?;
        self.give(directory.as_fd())
    }

    /// Makes a file with this content; replaces an existing file of that name.
    pub(super) fn file(self, parent: BorrowedFd<'_>, name: &str, content: &str) -> io::Result<File> {
        let new = fresh();
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = File::from(fs::openat2(self.place, new.as_str(), flags, PRIVATE, WITHIN)?);
        let moved = self
            .fill(&file, content)
            .and_then(|()| Ok(fs::renameat(self.place, new.as_str(), parent, name)?));
        if moved.is_err() {
            let _ = fs::unlinkat(self.place, new.as_str(), AtFlags::empty());
        }
        moved.map(|()| file)
    }

    fn fill(self, mut file: &File, content: &str) -> io::Result<()> {
        file.write_all(content.as_bytes())?;
        fs::fchmod(file, FILE)?;
        Ok(self.give(file.as_fd())?)
    }

    /// Gives an entry of this process to the owner of the session's files.
    fn give(self, entry: BorrowedFd<'_>) -> Result<(), Errno> {
        if self.owner.uid == Ids::own().uid {
            return Ok(());
        }
        fs::fchown(
            entry,
            Some(Uid::from_raw(self.owner.uid)),
            Some(Gid::from_raw(self.owner.gid)),
        )
    }
}

/// A name unique among the writes of all processes.
fn fresh() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("{NEW}{}-{count}", std::process::id())
}
