//! Images: each principal's files on an ext4 file system of its own, whose size is the quota.
//!
//! ```text
//! <root>/.images/<principal>.ext4   the image, a sparse file on a loop device
//! <root>/<principal>                where it is mounted while sessions use it
//! ```
//!
//! The directory of the images is locked while one is created, mounted, unmounted or removed.

mod size;
mod tools;

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use jail::loopback::{self, Loop};
use rustix::fs::{self, AtFlags, FlockOperation, Mode, OFlags, StatVfsMountFlags};
use rustix::io::Errno;

use crate::config::PARTS;
use crate::directory::{CONFINED, Directory, DirectoryOwner, Ids, names};
use crate::error::WorkspaceError;
use crate::lease::Lock;
use crate::remove;

pub(crate) use size::Size;

/// Directory of the images, next to the principals' directories, whose names never begin with a dot.
const DIRECTORY: &str = ".images";
const SUFFIX: &str = ".ext4";
/// Suffix of an unfinished image.
const NEW: &str = ".new";

/// Offset of the label in ext4's superblock.
const LABEL: u64 = 1024 + 120;

/// All principals' images, locked.
pub(crate) struct Images<'a> {
    root: &'a Directory,
    place: Directory,
    _lock: OwnedFd,
}

/// Whether this process can create and mount images here; otherwise the reason.
pub(crate) fn available(size: Option<Size>) -> Result<(), String> {
    if !rustix::process::geteuid().is_root() {
        return Err("only root mounts them".to_owned());
    }
    if size.is_none() {
        return Err("an image has a size, and `[workspace] quota` is \"none\"".to_owned());
    }
    tools::available()?;
    loopback::available().map_err(|error| format!("loop devices are not available ({error})"))
}

impl<'a> Images<'a> {
    /// Locks the images; creates their directory if missing.
    pub(crate) fn lock(root: &'a Directory) -> Result<Self, WorkspaceError> {
        let place = root.make(DIRECTORY.as_ref(), Mode::RWXU, DirectoryOwner::Ours)?;
        Self::locked(root, place)
    }

    /// Locks the images; `None` without a directory of images.
    pub(crate) fn existing(root: &'a Directory) -> Result<Option<Self>, WorkspaceError> {
        match root.child(DIRECTORY.as_ref())? {
            Some(place) => Self::locked(root, place).map(Some),
            None => Ok(None),
        }
    }

    fn locked(root: &'a Directory, place: Directory) -> Result<Self, WorkspaceError> {
        let failed = |cause| WorkspaceError::step("lock the directory", place.path(), cause);
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let lock = fs::openat(&place, ".", flags, Mode::empty()).map_err(failed)?;
        fs::flock(&lock, FlockOperation::LockExclusive).map_err(failed)?;
        Ok(Self {
            root,
            place,
            _lock: lock,
        })
    }

    /// Whether the principal with the directory `file` has an image.
    pub(crate) fn has(&self, file: &str) -> bool {
        fs::statat(&self.place, image(file), AtFlags::SYMLINK_NOFOLLOW).is_ok()
    }

    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.place.path().join(image(file))
    }

    /// The principal's directory with the image mounted. If the image has another size, recreates it with the same
    /// files. A new image takes in the directory's files.
    pub(crate) fn enter(&self, file: &str, ids: Ids, size: Size) -> Result<Directory, WorkspaceError> {
        let place = self
            .root
            .make(file.as_ref(), ids.passage(), DirectoryOwner::Ours)?;
        if !self.has(file) {
            self.take_in(&place, file, size)?;
        }
        drop(place);
        let mounted = self.mounted(file)?;
        let mounted = if self.label(file)? == size.label() {
            mounted
        } else {
            self.resize(mounted, file, size)?
        };
        passable(&mounted, ids)?;
        Ok(mounted)
    }

    /// The principal's directory with the image mounted at its existing size.
    pub(crate) fn mounted(&self, file: &str) -> Result<Directory, WorkspaceError> {
        let place = self.directory(file)?;
        if !self.is_mount(&place)? {
            return self.mount(place, file);
        }
        let attached = self.attached(&self.open(file)?, file)?;
        match attached.map(|device| device.number()) {
            Some(Ok(number)) if number == place.stat()?.st_dev => {}
            _ => return Err(WorkspaceError::Foreign(place.path().to_path_buf())),
        }
        if !is_read_only(&place) {
            return Ok(place);
        }
        // The kernel found an error in the file system. Check the file system before the next mount.
        unmount_at(place)?;
        self.mount(self.directory(file)?, file)
    }

    fn mount(&self, place: Directory, file: &str) -> Result<Directory, WorkspaceError> {
        let mut has_files = false;
        for name in PARTS {
            has_files |= place.child(name.as_ref())?.is_some();
        }
        if has_files {
            return Err(WorkspaceError::BesideImage {
                path: place.path().to_path_buf(),
                image: self.path(file),
            });
        }
        let image = self.open(file)?;
        let device = match self.attached(&image, file)? {
            Some(device) => device,
            None => self.attach(&image, file)?,
        };
        let failed = |cause| WorkspaceError::io("mount the image on the directory", place.path(), cause);
        device
            .mount_ext4(rustix::fd::AsFd::as_fd(&place))
            .map_err(failed)?;
        drop(place);
        self.directory(file)
    }

    /// Unmounts the image if it is mounted and unused.
    pub(crate) fn unmount_unused(&self, file: &str) -> Result<(), WorkspaceError> {
        match self.unmount(file) {
            Err(WorkspaceError::InUse(_) | WorkspaceError::BeingCleaned(_)) => Ok(()),
            Err(WorkspaceError::Step { cause, .. }) if cause.kind() == io::ErrorKind::ResourceBusy => Ok(()),
            done => done,
        }
    }

    /// Removes the image with its files, unless in use.
    pub(crate) fn remove(&self, file: &str) -> Result<(), WorkspaceError> {
        self.unmount(file)?;
        fs::unlinkat(&self.place, image(file), AtFlags::empty())
            .map_err(|cause| WorkspaceError::step("remove the image", &self.path(file), cause))
    }

    pub(crate) fn files(&self) -> Result<Vec<String>, WorkspaceError> {
        let names = names(&self.place)?;
        let file = |name: &OsStr| name.to_str()?.strip_suffix(SUFFIX).map(str::to_owned);
        Ok(names.iter().filter_map(|name| file(name)).collect())
    }

    fn unmount(&self, file: &str) -> Result<(), WorkspaceError> {
        let Some(place) = self.root.child(file.as_ref())? else {
            return Ok(());
        };
        if !self.is_mount(&place)? {
            return Ok(());
        }
        // A process needs the images' lock to open a session, so no process can interfere.
        drop(Lock::exclusive(&place)?);
        unmount_at(place)
    }

    /// Creates a principal's first image from the files in the directory.
    fn take_in(&self, place: &Directory, file: &str, size: Size) -> Result<(), WorkspaceError> {
        if self.is_mount(place)? {
            return Err(WorkspaceError::Foreign(place.path().to_path_buf()));
        }
        let lock = Lock::exclusive(place)?;
        let made = self.make(place, file, size)?;
        self.publish(&made, file)?;
        for name in PARTS {
            remove::put_aside(place, name.as_ref(), self.root)?;
        }
        drop(lock);
        remove::sweep(self.root)
    }

    /// Recreates the image with its files.
    fn resize(&self, mounted: Directory, file: &str, size: Size) -> Result<Directory, WorkspaceError> {
        let lock = match Lock::exclusive(&mounted) {
            Err(WorkspaceError::InUse(path)) => return Err(WorkspaceError::OtherSize(path)),
            lock => lock?,
        };
        let made = self.make(&mounted, file, size)?;
        drop((lock, mounted));
        self.unmount(file)?;
        self.publish(&made, file)?;
        self.mounted(file)
    }

    /// Creates an image of a directory's content under a temporary name.
    fn make(&self, content: &Directory, file: &str, size: Size) -> Result<String, WorkspaceError> {
        for name in names(&self.place)? {
            // A killed process left this image.
            if name.to_str().is_some_and(|name| name.ends_with(NEW)) {
                let _ = fs::unlinkat(&self.place, name, AtFlags::empty());
            }
        }
        let new = format!("{file}.{}{NEW}", std::process::id());
        let path = self.place.path().join(&new);
        let done = tools::make(&path, content.path(), size);
        if done.is_err() {
            let _ = fs::unlinkat(&self.place, &new, AtFlags::empty());
        }
        done.map(|()| new)
    }

    fn publish(&self, made: &str, file: &str) -> Result<(), WorkspaceError> {
        fs::renameat(&self.place, made, &self.place, image(file))
            .map_err(|cause| WorkspaceError::step("rename the image", &self.path(file), cause))
    }

    fn attach(&self, image: &File, file: &str) -> Result<Loop, WorkspaceError> {
        let path = self.path(file);
        tools::check(&path)?;
        loopback::attach(image).map_err(|cause| WorkspaceError::io("attach to a loop device", &path, cause))
    }

    fn attached(&self, image: &File, file: &str) -> Result<Option<Loop>, WorkspaceError> {
        let path = self.path(file);
        loopback::find(image, &path)
            .map_err(|cause| WorkspaceError::io("look for its loop device", &path, cause))
    }

    /// Reads the image's label, which states the size at creation.
    fn label(&self, file: &str) -> Result<String, WorkspaceError> {
        let mut label = [0; size::LABEL];
        self.open(file)?
            .read_exact_at(&mut label, LABEL)
            .map_err(|cause| WorkspaceError::io("read the image", &self.path(file), cause))?;
        let text = label.split(|byte| *byte == 0).next().unwrap_or_default();
        Ok(String::from_utf8_lossy(text).into_owned())
    }

    fn open(&self, file: &str) -> Result<File, WorkspaceError> {
        let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        fs::openat2(&self.place, image(file), flags, Mode::empty(), CONFINED)
            .map(File::from)
            .map_err(|cause| WorkspaceError::step("open the image", &self.path(file), cause))
    }

    fn directory(&self, file: &str) -> Result<Directory, WorkspaceError> {
        let missing =
            || WorkspaceError::step("open the directory", &self.root.path().join(file), Errno::NOENT);
        self.root.child(file.as_ref())?.ok_or_else(missing)
    }

    fn is_mount(&self, place: &Directory) -> Result<bool, WorkspaceError> {
        Ok(place.stat()?.st_dev != self.root.stat()?.st_dev)
    }
}

fn image(file: &str) -> String {
    format!("{file}{SUFFIX}")
}

/// Unmounts an image. Only the caller may have the image open.
fn unmount_at(place: Directory) -> Result<(), WorkspaceError> {
    let path = place.path().to_path_buf();
    drop(place);
    loopback::unmount(&path).map_err(|cause| WorkspaceError::io("unmount the image", &path, cause))
}

fn is_read_only(place: &Directory) -> bool {
    fs::fstatvfs(place).is_ok_and(|found| found.f_flag.contains(StatVfsMountFlags::RDONLY))
}

/// Copies the permissions of the covered directory to the image's top directory.
fn passable(mounted: &Directory, ids: Ids) -> Result<(), WorkspaceError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    fs::openat(mounted, ".", flags, Mode::empty())
        .and_then(|top| fs::fchmod(top, ids.passage()))
        .map_err(|cause| WorkspaceError::step("set the permissions of the directory", mounted.path(), cause))
}

#[cfg(test)]
mod tests;
