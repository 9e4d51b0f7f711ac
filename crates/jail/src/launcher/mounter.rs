//! The mounter: attaches directories to sessions that are confined already.
//!
//! It keeps the mount namespace of the host's files and the capabilities of the zygote's user namespace, and enters a
//! session's mount namespace for as long as an attachment takes. It never looks at a path that a session could have
//! made: places lie on the read-only template, and what is attached comes as a descriptor or is opened here first.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use super::sys;
use crate::attach::{self, Order, Placed};
use crate::message;

/// Largest order: its paths.
const MAX_ORDER: usize = 128 * 1024;

/// Serves until the host closes its end.
pub fn attend(host: OwnedFd) -> io::Result<()> {
    sys::die_with_parent()?;
    let own = sys::own_mount_namespace()?;
    let mut buffer = vec![0; MAX_ORDER];
    loop {
        let (length, descriptors) = message::receive(host.as_fd(), &mut buffer)?;
        if length == 0 {
            return Ok(());
        }
        let done = serde_json::from_slice(buffer.get(..length).unwrap_or_default())
            .map_err(io::Error::other)
            .and_then(|order| follow(order, descriptors, own.as_fd()));
        match done {
            Ok(None) => message::send_done(host.as_fd())?,
            Ok(Some(namespace)) => message::send_descriptors(host.as_fd(), &[namespace.as_fd()])?,
            Err(error) => message::send_error(host.as_fd(), &error.to_string())?,
        }
    }
}

fn follow(order: Order, descriptors: Vec<OwnedFd>, own: BorrowedFd<'_>) -> io::Result<Option<OwnedFd>> {
    match order {
        Order::Attach(placed) => attach(&placed, descriptors, own).map(|()| None),
        Order::Map { inside, outside } => sys::mapping_namespace(inside, outside).map(Some),
    }
}

/// Opens what it has to open, then enters the session's namespace, attaches, and comes back whatever happened.
fn attach(placed: &[Placed], descriptors: Vec<OwnedFd>, own: BorrowedFd<'_>) -> io::Result<()> {
    let mut descriptors = descriptors.into_iter();
    let session = descriptors.next().ok_or(io::ErrorKind::InvalidInput)?;
    let mut trees = Vec::new();
    for one in placed {
        let tree = match &one.source {
            Some(source) => attach::open(source, one.writing, None)
                .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", source.display())))?,
            None => descriptors.next().ok_or(io::ErrorKind::InvalidInput)?,
        };
        trees.push((tree, one.place.path()));
    }
    sys::enter_mounts(session.as_fd())?;
    let attached = trees
        .iter()
        .try_for_each(|(tree, place)| attach_on(tree.as_fd(), place));
    if sys::enter_mounts(own).is_err() {
        // In a stranger's namespace it can serve nobody any more; the host sees it gone and starts another zygote.
        crate::session::exit(1);
    }
    attached
}

/// Attaches a tree in the place of what is there. It is never put on top: when a directory is removed from the host's disk,
/// the kernel takes away whatever is attached on it.
fn attach_on(tree: BorrowedFd<'_>, place: &Path) -> io::Result<()> {
    // Who has something of it open keeps that.
    while sys::detach(place).is_ok() {}
    sys::attach_at(tree, attach::directory(place)?.as_fd())
}
