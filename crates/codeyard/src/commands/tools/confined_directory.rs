//! Files below a directory by relative path: follows no link, opens regular files only, never blocks.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{
    AtFlags, Dir, FileType, Mode, OFlags, ResolveFlags, fstat, mkdirat, open, openat2, unlinkat,
};
use rustix::io::Errno;

/// Paths stay below the directory and follow no link.
const CONFINED: ResolveFlags = ResolveFlags::BENEATH
    .union(ResolveFlags::NO_SYMLINKS)
    .union(ResolveFlags::NO_MAGICLINKS);

/// Subject to the umask, as with `mkdir` and editors.
const OF_DIRECTORIES: Mode = Mode::from_raw_mode(0o777);
const OF_FILES: Mode = Mode::from_raw_mode(0o666);

pub(super) struct ConfinedDirectory(OwnedFd);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EntryKind {
    Absent,
    File,
    Directory,
    /// A link, pipe or device, or a path below a file or a link.
    Other,
}

// === impl ConfinedDirectory ===

impl ConfinedDirectory {
    /// The directory itself may be a link; `None` if it does not exist.
    pub(super) fn of(directory: &Path) -> io::Result<Option<ConfinedDirectory>> {
        match open(directory, directory_flags(), Mode::empty()) {
            Ok(fd) => Ok(Some(ConfinedDirectory(fd))),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    pub(super) fn open_or_create(directory: &Path) -> io::Result<ConfinedDirectory> {
        fs::create_dir_all(directory)?;
        Ok(ConfinedDirectory(open(
            directory,
            directory_flags(),
            Mode::empty(),
        )?))
    }

    /// Does not open the file.
    pub(super) fn kind(&self, path: &str) -> io::Result<EntryKind> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match self.open_at(path, flags, Mode::empty()) {
            Ok(fd) => Ok(match FileType::from_raw_mode(fstat(&fd)?.st_mode) {
                FileType::RegularFile => EntryKind::File,
                FileType::Directory => EntryKind::Directory,
                _ => EntryKind::Other,
            }),
            Err(Errno::NOENT) => Ok(EntryKind::Absent),
            Err(Errno::LOOP | Errno::XDEV | Errno::NOTDIR) => Ok(EntryKind::Other),
            Err(error) => Err(error.into()),
        }
    }

    /// The file's first `most` bytes.
    pub(super) fn read(&self, path: &str, most: u64) -> io::Result<Vec<u8>> {
        let file = self.file(path, OFlags::RDONLY, Mode::empty())?;
        let mut bytes = Vec::new();
        file.take(most).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// The paths of a directory's regular files.
    pub(super) fn files(&self, directory: &str) -> io::Result<Vec<String>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let listed = Dir::new(self.open_at(directory, flags, Mode::empty())?)?;
        let mut files = Vec::new();
        for entry in listed {
            let entry = entry?;
            // Our names are all UTF-8.
            let Ok(name) = entry.file_name().to_str() else {
                continue;
            };
            let path = format!("{directory}/{name}");
            if self.kind(&path)? == EntryKind::File {
                files.push(path);
            }
        }
        Ok(files)
    }

    /// Writes the whole file and creates the directories above it.
    pub(super) fn write(&self, path: &str, text: &str) -> io::Result<()> {
        for (at, _) in path.match_indices('/') {
            self.make_directory(&path[..at])?;
        }
        let mut file = self.file(path, OFlags::WRONLY | OFlags::CREATE, OF_FILES)?;
        file.set_len(0)?;
        file.write_all(text.as_bytes())
    }

    /// Removes a file, and its directory if that is empty then.
    pub(super) fn remove(&self, path: &str) -> io::Result<()> {
        let (directory, name) = self.parent_and_name(path)?;
        unlinkat(&directory, name, AtFlags::empty())?;
        if let Some((directory, _)) = path.rsplit_once('/') {
            let (parent, name) = self.parent_and_name(directory)?;
            // Fails unless the directory is empty.
            let _ = unlinkat(parent, name, AtFlags::REMOVEDIR);
        }
        Ok(())
    }

    fn make_directory(&self, path: &str) -> io::Result<()> {
        let (parent, name) = self.parent_and_name(path)?;
        match mkdirat(parent, name, OF_DIRECTORIES) {
            Ok(()) | Err(Errno::EXIST) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// The opened parent directory and the path's last name.
    fn parent_and_name<'a>(&self, path: &'a str) -> io::Result<(OwnedFd, &'a str)> {
        let (directory, name) = path.rsplit_once('/').unwrap_or((".", path));
        Ok((self.open_at(directory, directory_flags(), Mode::empty())?, name))
    }

    fn file(&self, path: &str, how: OFlags, mode: Mode) -> io::Result<File> {
        let flags = how | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = File::from(self.open_at(path, flags, mode)?);
        match file.metadata()?.is_file() {
            true => Ok(file),
            false => Err(io::Error::other("this is not a regular file; move it away")),
        }
    }

    fn open_at(&self, path: &str, flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
        openat2(&self.0, path, flags, mode, CONFINED)
    }
}

fn directory_flags() -> OFlags {
    OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC
}
