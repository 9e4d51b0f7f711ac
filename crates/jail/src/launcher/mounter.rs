//! The mounter: attaches directories to sessions that are confined already, and kills what their runs left behind.
//!
//! It keeps the mount namespace of the host's files and the capabilities of the zygote's user namespace. To attach codeyard's
//! own directories it enters the session's mount namespace itself. Every other order is followed by a child of its own: one
//! that a file system holds up delays no other.
//! It never looks at a path that a session could have made: places lie on the read-only template, and what is attached comes
//! as a descriptor or is opened here first.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use super::overlay::{self, Ready};
use super::sys;
use crate::attach::{self, Directory, MountPoint, Order, Overlay, Placed, PlainAttachment};
use crate::message;

/// Largest order: its paths.
const MAX_ORDER: usize = 128 * 1024;
/// Seconds that an order may take. The host has given it up before.
const LONGEST: u32 = 15;

/// Serves until the host closes its end.
pub fn attend(host: OwnedFd) -> io::Result<()> {
    sys::die_with_parent()?;
    let mounts = sys::mount_namespace(sys::own_namespaces()?.as_fd())?;
    let mut buffer = vec![0; MAX_ORDER];
    loop {
        let (length, descriptors) = message::receive(host.as_fd(), &mut buffer)?;
        if length == 0 {
            return Ok(());
        }
        let mut descriptors = descriptors.into_iter();
        let Some(answer) = descriptors.next() else {
            continue;
        };
        let order = match serde_json::from_slice(buffer.get(..length).unwrap_or_default()) {
            Ok(order) if is_prompt(&order) => {
                serve_here(order, descriptors, answer.as_fd(), mounts.as_fd());
                continue;
            }
            Ok(order) => order,
            Err(error) => {
                refuse(answer.as_fd(), &error.into());
                continue;
            }
        };
        sys::reap();
        match sys::fork() {
            Ok(Some(_)) => {}
            Ok(None) => {
                // The host learns from the closing of this socket that the mounter is gone.
                drop(host);
                sys::end_after(LONGEST);
                serve(order, descriptors, answer.as_fd());
                crate::session::exit(0);
            }
            Err(error) => refuse(answer.as_fd(), &error),
        }
    }
}

/// Descriptors that came with an order.
type Descriptors = std::vec::IntoIter<OwnedFd>;

/// Whether an order waits for no file system but that of codeyard's own files.
fn is_prompt(order: &Order) -> bool {
    let is_own = |one: &Placed| one.overlay == Overlay::Unused && !matches!(one.place, MountPoint::Mount(_));
    match order {
        Order::Attach { placed, .. } => placed.iter().all(is_own),
        Order::Map { .. } => true,
        Order::KillOthers => false,
    }
}

/// Follows an order in this process: a fork costs more than the order.
fn serve_here(order: Order, descriptors: Descriptors, answer: BorrowedFd<'_>, mounts: BorrowedFd<'_>) {
    serve(order, descriptors, answer);
    if sys::enter_mounts(mounts).is_err() {
        // In a session's namespace it can serve no others. The host sees it gone and starts another zygote.
        crate::session::exit(1);
    }
}

/// Follows one order and answers.
fn serve(order: Order, descriptors: Descriptors, answer: BorrowedFd<'_>) {
    if let Err(error) = follow(order, descriptors, answer) {
        refuse(answer, &error);
    }
}

fn refuse(answer: BorrowedFd<'_>, error: &io::Error) {
    // The host may have given up.
    let _ = message::send_error(answer, &error.to_string());
}

fn follow(order: Order, mut descriptors: Descriptors, answer: BorrowedFd<'_>) -> io::Result<()> {
    match order {
        Order::Attach { placed, reader } => {
            let attached = attach(&placed, reader, descriptors)?;
            message::send(answer, &serde_json::to_vec(&attached.bare)?, &[])?;
            drop(attached.let_go_later);
            Ok(())
        }
        Order::KillOthers => {
            kill_others(descriptors.next().ok_or(io::ErrorKind::InvalidInput)?.as_fd())?;
            message::send_done(answer)
        }
        Order::Map { inside, outside } => {
            let namespace = sys::mapping_namespace(inside, outside)?;
            message::send_descriptors(answer, &[namespace.as_fd()])
        }
    }
}

/// What has become of an order to attach.
#[derive(Default)]
struct Attached {
    bare: Vec<PlainAttachment>,
    /// What was attached before, and where overlays were made. Letting go of a mount waits for all processors: the host need
    /// not wait for that too.
    let_go_later: Vec<OwnedFd>,
}

/// Opens what it has to open, then enters the session's namespace and attaches. Where opening or covering fails the session
/// sees what it saw before.
fn attach(placed: &[Placed], reader: Option<u32>, mut descriptors: Descriptors) -> io::Result<Attached> {
    let session = descriptors.next().ok_or(io::ErrorKind::InvalidInput)?;
    let trees = open(placed, descriptors)?;
    let mut attached = Attached::default();
    let ready = if placed.iter().any(|one| one.overlay != Overlay::Unused) {
        let namespaces = sys::own_namespaces()?;
        sys::enter_mounts(session.as_fd())?;
        sys::unshare(libc::CLONE_NEWNS)?;
        attached
            .let_go_later
            .push(sys::mount_namespace(namespaces.as_fd())?);
        cover(placed, trees, reader)?
    } else {
        trees.into_iter().map(Ready::plain).collect()
    };
    sys::enter_mounts(session.as_fd())?;
    for (one, ready) in placed.iter().zip(ready) {
        let place = one.place.path();
        attached.let_go_later.push(attach::directory(&place)?);
        attach_on(ready.tree.as_fd(), &place)?;
        attached.bare.extend(ready.bare.map(|cause| PlainAttachment {
            place: one.place,
            cause,
        }));
    }
    Ok(attached)
}

/// The trees to attach: opened here, or those that came along.
fn open(placed: &[Placed], mut descriptors: Descriptors) -> io::Result<Vec<OwnedFd>> {
    let open_one = |one: &Placed| match &one.source {
        Some(source) => Directory::open(source)
            .and_then(|directory| directory.tree(one.writing, None))
            .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", source.display()))),
        None => Ok(descriptors.next().ok_or(io::ErrorKind::InvalidInput)?),
    };
    placed.iter().map(open_one).collect()
}

/// Puts overlays over the trees that are to have one, in a copy of the session's mount namespace.
fn cover(placed: &[Placed], trees: Vec<OwnedFd>, reader: Option<u32>) -> io::Result<Vec<Ready>> {
    if let Some(reader) = reader {
        sys::read_files_as(reader)?;
    }
    let cover_one = |(one, tree): (&Placed, OwnedFd)| match one.overlay {
        Overlay::Unused => Ok(Ready::plain(tree)),
        overlay => overlay::cover(tree.as_fd(), &one.place.path(), overlay),
    };
    placed.iter().zip(trees).map(cover_one).collect()
}

/// Attaches a tree in the place of what is there. It is never put on top: when a directory is removed from the host's disk,
/// the kernel takes away whatever is attached on it.
fn attach_on(tree: BorrowedFd<'_>, place: &Path) -> io::Result<()> {
    // Whoever has something of it open keeps that.
    while sys::detach(place).is_ok() {}
    sys::attach_at(tree, attach::directory(place)?.as_fd())
}

/// Kills every process of a session's pid namespace except its first.
///
/// A child enters the namespace and signals all others at once. The kernel holds the list of processes meanwhile and lets
/// no fork with a pending kill succeed, so nothing escapes by forking.
fn kill_others(session: BorrowedFd<'_>) -> io::Result<()> {
    sys::enter_pids(session)?;
    let Some(child) = sys::fork()? else {
        sys::kill_all_in_reach();
        crate::session::exit(0)
    };
    let child = rustix::process::Pid::from_raw(child);
    rustix::io::retry_on_intr(|| rustix::process::waitpid(child, rustix::process::WaitOptions::empty()))?;
    Ok(())
}
