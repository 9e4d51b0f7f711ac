//! The mounter: attaches directories to sessions that are already confined, and kills leftover processes of their runs.
//!
//! The mounter stays in the mount namespace of the host's files and has the capabilities of the zygote's user
//! namespace. To attach codeyard's own directories, it enters the session's mount namespace itself. Every other order
//! gets a child process, so that a hanging file system delays no other order.
//!
//! The mounter never resolves a path that a session could have made. Mount points are on the read-only template. Trees
//! arrive as descriptors, or the mounter opens them before it enters the session's namespace.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use super::overlay::{self, Ready};
use super::step::{During, StepError};
use super::sys;
use crate::attach::{self, Directory, MountPoint, Order, Overlay, Placed, PlainAttachment};
use crate::message;

/// Largest order in bytes; mostly paths.
const MAX_ORDER: usize = 128 * 1024;
/// Seconds that an order may take. The host gives up earlier.
const LONGEST: u32 = 15;

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
                refuse(answer.as_fd(), &error);
                continue;
            }
        };
        sys::reap();
        match sys::fork() {
            Ok(Some(_)) => {}
            Ok(None) => {
                // The host detects the mounter's end when this socket closes, so no child may keep the socket open.
                drop(host);
                sys::end_after(LONGEST);
                serve(order, descriptors, answer.as_fd());
                crate::session::exit(0);
            }
            Err(error) => refuse(answer.as_fd(), &error),
        }
    }
}

type Descriptors = std::vec::IntoIter<OwnedFd>;

/// Whether an order waits only for the file system of codeyard's own files.
fn is_prompt(order: &Order) -> bool {
    let is_own = |one: &Placed| one.overlay == Overlay::Unused && !matches!(one.place, MountPoint::Mount(_));
    match order {
        Order::Attach { placed, .. } => placed.iter().all(is_own),
        Order::Map { .. } => true,
        Order::KillOthers => false,
    }
}

/// Executes an order in this process, because a fork would take longer than the order.
fn serve_here(order: Order, descriptors: Descriptors, answer: BorrowedFd<'_>, mounts: BorrowedFd<'_>) {
    serve(order, descriptors, answer);
    if sys::enter_mounts(mounts).is_err() {
        // The mounter is stuck in a session's namespace and cannot serve other sessions, so it ends. The host notices
        // the end and starts another zygote.
        crate::session::exit(1);
    }
}

fn serve(order: Order, descriptors: Descriptors, answer: BorrowedFd<'_>) {
    if let Err(error) = follow(order, descriptors, answer) {
        refuse(answer, &error);
    }
}

fn refuse(answer: BorrowedFd<'_>, error: &impl std::fmt::Display) {
    // The host may have given up.
    let _ = message::send_error(answer, &error.to_string());
}

fn follow(order: Order, mut descriptors: Descriptors, answer: BorrowedFd<'_>) -> Result<(), StepError> {
    match order {
        Order::Attach { placed, reader } => {
            let attached = attach(&placed, reader, descriptors)?;
            let bare = serde_json::to_vec(&attached.bare).during(ANSWER)?;
            message::send(answer, &bare, &[]).during(ANSWER)?;
            drop(attached.let_go_later);
            Ok(())
        }
        Order::KillOthers => {
            kill_others(next(&mut descriptors)?.as_fd()).during("kill the other processes")?;
            message::send_done(answer).during(ANSWER)
        }
        Order::Map { inside, outside } => {
            let namespace = sys::mapping_namespace(inside, outside).during("map the owner")?;
            message::send_descriptors(answer, &[namespace.as_fd()]).during(ANSWER)
        }
    }
}

const ANSWER: &str = "send the answer";

fn next(descriptors: &mut Descriptors) -> Result<OwnedFd, StepError> {
    let missing = io::Error::from(io::ErrorKind::InvalidInput);
    descriptors
        .next()
        .ok_or(missing)
        .during("take the next descriptor")
}

#[derive(Default)]
struct Attached {
    bare: Vec<PlainAttachment>,
    /// Mounts that the order replaced, and the namespaces in which overlays were made. Releasing a mount waits for all
    /// processors, so the mounter answers the host first.
    let_go_later: Vec<OwnedFd>,
}

/// Opens the sources, then enters the session's namespace and attaches them. If opening or covering fails, the
/// session's view stays unchanged.
fn attach(
    placed: &[Placed],
    reader: Option<u32>,
    mut descriptors: Descriptors,
) -> Result<Attached, StepError> {
    let session = next(&mut descriptors)?;
    let trees = open(placed, descriptors)?;
    let mut attached = Attached::default();
    let ready = if placed.iter().any(|one| one.overlay != Overlay::Unused) {
        let namespaces = sys::own_namespaces().during("open the mounter's namespaces")?;
        sys::enter_mounts(session.as_fd()).during(ENTER)?;
        sys::unshare(libc::CLONE_NEWNS).during("make a mount namespace for overlays")?;
        let overlays = sys::mount_namespace(namespaces.as_fd()).during("open the namespace of overlays")?;
        attached.let_go_later.push(overlays);
        cover(placed, trees, reader)?
    } else {
        trees.into_iter().map(Ready::plain).collect()
    };
    sys::enter_mounts(session.as_fd()).during(ENTER)?;
    for (one, ready) in placed.iter().zip(ready) {
        let place = one.place.path();
        let at = |step: &str| format!("{step} {}", place.display());
        let before = attach::directory(&place).during(at("open"))?;
        attached.let_go_later.push(before);
        attach_on(ready.tree.as_fd(), &place).during(at("attach to"))?;
        attached.bare.extend(ready.bare.map(|cause| PlainAttachment {
            place: one.place,
            cause,
        }));
    }
    Ok(attached)
}

const ENTER: &str = "enter the session's mount namespace";

fn open(placed: &[Placed], mut descriptors: Descriptors) -> Result<Vec<OwnedFd>, StepError> {
    let mut open_one = |one: &Placed| match &one.source {
        Some(source) => Directory::open(source)
            .and_then(|directory| directory.tree(one.writing, None))
            .during(source.display().to_string()),
        None => next(&mut descriptors),
    };
    placed.iter().map(&mut open_one).collect()
}

fn cover(placed: &[Placed], trees: Vec<OwnedFd>, reader: Option<u32>) -> Result<Vec<Ready>, StepError> {
    if let Some(reader) = reader {
        sys::read_files_as(reader).during("read files as the session's user")?;
    }
    let cover_one = |(one, tree): (&Placed, OwnedFd)| match one.overlay {
        Overlay::Unused => Ok(Ready::plain(tree)),
        overlay => {
            let place = one.place.path();
            overlay::cover(tree.as_fd(), &place, overlay).during(place.display().to_string())
        }
    };
    placed.iter().zip(trees).map(cover_one).collect()
}

/// Replaces the tree that is attached at `place`. Never mounts on top of a tree: when a directory is removed from the
/// host's disk, the kernel detaches every mount on that directory.
fn attach_on(tree: BorrowedFd<'_>, place: &Path) -> io::Result<()> {
    // Open files of the detached tree stay open.
    while sys::detach(place).is_ok() {}
    sys::attach_at(tree, attach::directory(place)?.as_fd())
}

/// Kills every process of a session's pid namespace except its first.
///
/// A child enters the namespace and signals all others at once. Meanwhile the kernel holds the list of processes, and
/// no fork with a pending kill succeeds, so no process escapes by forking.
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
