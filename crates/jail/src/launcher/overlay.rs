//! Read-only overlays: a tree's bytes behind separate inodes, whose sockets, FIFOs, locks and leases reach no other
//! process.
//!
//! An overlay takes a lower layer only from the caller's mount namespace, so the tree is mounted in a copy of the
//! session's. The session itself never sees the tree without its overlay.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use super::sys;
use crate::attach::{self, EMPTY, Overlay};

pub struct Ready {
    pub tree: OwnedFd,
    /// Why the kernel refused the preferred overlay.
    pub bare: Option<String>,
}

impl Ready {
    pub fn plain(tree: OwnedFd) -> Self {
        Self { tree, bare: None }
    }
}

/// Puts an overlay over a tree. The caller must be in a copy of the session's mount namespace, which then ends with it.
pub fn cover(tree: BorrowedFd<'_>, place: &Path, overlay: Overlay) -> io::Result<Ready> {
    sys::attach_at(tree, attach::directory(place)?.as_fd())?;
    match over(place) {
        Ok(tree) => Ok(Ready::plain(tree)),
        Err(error) if overlay == Overlay::Preferred && is_refusal(&error) => Ok(Ready {
            tree: sys::open_tree_at(attach::directory(place)?.as_fd())?,
            bare: Some(error.to_string()),
        }),
        Err(error) => Err(io::Error::new(
            error.kind(),
            format!("put a read-only overlay over it: {error}"),
        )),
    }
}

/// Whether the kernel or the file system does not support overlays, as opposed to an overlay that fails.
fn is_refusal(error: &io::Error) -> bool {
    const REFUSALS: [i32; 5] = [
        libc::ENODEV,
        libc::EPERM,
        libc::EINVAL,
        libc::ENOSYS,
        libc::EOPNOTSUPP,
    ];
    error
        .raw_os_error()
        .is_some_and(|errno| REFUSALS.contains(&errno))
}

fn over(lower: &Path) -> io::Result<OwnedFd> {
    let layers = CString::new(format!("{}:{EMPTY}", lower.display()))?;
    let context = sys::open_filesystem(c"overlay")?;
    let attributes = sys::RDONLY | sys::NOSUID | sys::NODEV;
    sys::mount_filesystem(context.as_fd(), (c"lowerdir", &layers), attributes)
}
