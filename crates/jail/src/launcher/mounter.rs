//! The mounter: attaches directories to sessions that are confined already, and kills what their runs left behind.
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
    let own = Namespaces {
        mounts: sys::own_mount_namespace()?,
        pids: sys::own_pid_namespace()?,
    };
    let mut buffer = vec![0; MAX_ORDER];
    loop {
        let (length, descriptors) = message::receive(host.as_fd(), &mut buffer)?;
        if length == 0 {
            return Ok(());
        }
        let done = serde_json::from_slice(buffer.get(..length).unwrap_or_default())
            .map_err(io::Error::other)
            .and_then(|order| follow(order, descriptors, &own));
        match done {
            Ok(None) => message::send_done(host.as_fd())?,
            Ok(Some(namespace)) => message::send_descriptors(host.as_fd(), &[namespace.as_fd()])?,
            Err(error) => message::send_error(host.as_fd(), &error.to_string())?,
        }
    }
}

/// The mounter's own namespaces, to which it returns after each order.
struct Namespaces {
    mounts: OwnedFd,
    pids: OwnedFd,
}

fn follow(order: Order, descriptors: Vec<OwnedFd>, own: &Namespaces) -> io::Result<Option<OwnedFd>> {
    match order {
        Order::Attach(placed) => attach(&placed, descriptors, own.mounts.as_fd()).map(|()| None),
        Order::KillOthers => kill_others(&descriptors, own.pids.as_fd()).map(|()| None),
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

/// Kills every process of a session's pid namespace except its first.
///
/// A child enters the namespace and signals all others at once. The kernel holds the list of processes meanwhile and lets
/// no fork with a pending kill succeed, so nothing escapes by forking.
fn kill_others(descriptors: &[OwnedFd], own: BorrowedFd<'_>) -> io::Result<()> {
    let session = descriptors.first().ok_or(io::ErrorKind::InvalidInput)?;
    sys::enter_pids(session.as_fd())?;
    let killed = sys::fork().map(|child| match child {
        Some(child) => child,
        None => {
            sys::kill_all_in_reach();
            crate::session::exit(0)
        }
    });
    if sys::enter_pids(own).is_err() {
        // Its next children would be born in the session's namespace.
        crate::session::exit(1);
    }
    let child = rustix::process::Pid::from_raw(killed?);
    rustix::io::retry_on_intr(|| rustix::process::waitpid(child, rustix::process::WaitOptions::empty()))?;
    Ok(())
}
