//! The zygote's loop: receive a request, clone, answer with the child's pidfd.

use core::mem::size_of;

use super::arch::number;
use super::confine::{self, Descriptors, OtherDescriptors};
use super::sys::{self, EXIT_UNCONFINED, Errno, Filter, Result, fd};
use super::wire::{self, Guard, MOST_DESCRIPTORS, REQUEST_BYTES, REQUEST_DESCRIPTORS, Request};

const CLONE_PIDFD: u64 = 0x1000;
const CLONE_NEWNS: u64 = 0x2_0000;
const CLONE_CHILD_CLEARTID: u64 = 0x20_0000;
const CLONE_CHILD_SETTID: u64 = 0x100_0000;
const CLONE_NEWCGROUP: u64 = 0x200_0000;
const CLONE_NEWUTS: u64 = 0x400_0000;
const CLONE_NEWIPC: u64 = 0x800_0000;
const CLONE_NEWUSER: u64 = 0x1000_0000;
const CLONE_NEWPID: u64 = 0x2000_0000;
const SIGCHLD: u64 = 17;
const MSG_NOSIGNAL: usize = 0x4000;
const MSG_CMSG_CLOEXEC: usize = 0x4000_0000;
const SOL_SOCKET: i32 = 1;
const SCM_RIGHTS: i32 = 1;
const EINTR: Errno = Errno(4);
const EINVAL: Errno = Errno(22);
/// Returned by `serve` in the zygote when the host is gone.
const HOST_GONE: i64 = -1;

/// Shared by all sessions of a zygote.
pub struct Template {
    pub control: i32,
    pub ruleset: i32,
    pub filter: Filter,
    pub tid: *mut i32,
}

#[repr(C)]
struct IoVec {
    base: usize,
    len: usize,
}

#[repr(C)]
struct MessageHeader {
    name: usize,
    name_len: usize,
    vectors: usize,
    vector_count: usize,
    control: usize,
    control_len: usize,
    flags: usize,
}

#[repr(C)]
struct Control {
    len: usize,
    level: i32,
    kind: i32,
    descriptors: [i32; MOST_DESCRIPTORS],
}

const CONTROL_HEADER: usize = size_of::<usize>() + 2 * size_of::<i32>();

/// Arguments of clone3, first version, without a cgroup.
#[repr(C)]
struct CloneArguments {
    flags: u64,
    pidfd: u64,
    child_tid: u64,
    parent_tid: u64,
    exit_signal: u64,
    stack: u64,
    stack_size: u64,
    tls: u64,
}

/// Serves until the host is gone; returns in each child with the request's flags.
///
/// # Safety
/// The template's pointers are valid; the process has one thread.
pub unsafe fn serve(template: &Template) -> i64 {
    loop {
        let (request, descriptors) = match receive(template.control) {
            Ok(Some(received)) => received,
            Ok(None) => return HOST_GONE,
            Err(EINTR) => continue,
            Err(errno) if errno == EINVAL => {
                answer(template.control, errno.0, None);
                continue;
            }
            Err(_) => return HOST_GONE,
        };
        // SAFETY: the caller vouches for the template.
        match unsafe { clone(template, &request, descriptors) } {
            Ok(None) => {
                // SAFETY: as above; this is the child.
                unsafe { enter(template, &request, descriptors) };
                return i64::try_from(request.flags).unwrap_or(0);
            }
            Ok(Some(pidfd)) => {
                answer(template.control, 0, Some(pidfd));
                sys::close(pidfd);
            }
            Err(errno) => answer(template.control, errno.0, None),
        }
        close_all(descriptors.all());
    }
}

/// The child's first steps.
///
/// # Safety
/// As `serve`.
unsafe fn enter(template: &Template, request: &Request, descriptors: Descriptors) {
    if request.flags & wire::UNCONFINED != 0 {
        if confine::place(descriptors, None, OtherDescriptors::Close).is_err() {
            sys::exit(EXIT_UNCONFINED);
        }
    } else {
        // SAFETY: the caller vouches for the filter; this is a fresh child with one thread.
        unsafe { confine::session(request, descriptors, template.ruleset, template.filter) }
    }
}

/// Clones the zygote. Returns `None` in the child and the child's pidfd in the zygote.
///
/// # Safety
/// As `serve`.
unsafe fn clone(template: &Template, request: &Request, descriptors: Descriptors) -> Result<Option<i32>> {
    let unconfined = request.flags & wire::UNCONFINED != 0;
    if unconfined && !cfg!(feature = "unconfined-guests") {
        return Err(EINVAL);
    }
    let mut flags = CLONE_PIDFD;
    if !unconfined {
        flags |= CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;
        if request.has(Guard::Pids) {
            flags |= CLONE_NEWPID;
        }
        if request.flags & wire::OWN_USER_NAMESPACE != 0 {
            // After NEWUSER the child may not enter a namespace of the zygote, so the child inherits the network
            // namespace.
            if request.has(Guard::Network) {
                confine::enter_network(descriptors.network)?;
            }
            flags |= CLONE_NEWUSER;
        }
    }
    if !template.tid.is_null() {
        flags |= CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID;
    }
    let mut pidfd: i32 = -1;
    let arguments = CloneArguments {
        flags,
        pidfd: &raw mut pidfd as u64,
        child_tid: template.tid as u64,
        parent_tid: 0,
        exit_signal: SIGCHLD,
        stack: 0,
        stack_size: 0,
        tls: 0,
    };
    // SAFETY: without CLONE_VM the child has a copy of this stack and of all memory, as after fork.
    let child = unsafe {
        sys::call(
            number::CLONE3,
            &[&raw const arguments as usize, size_of::<CloneArguments>()],
        )
    }?;
    // SAFETY: the kernel wrote the descriptor; the volatile read keeps the compiler from assuming it did not.
    let pidfd = unsafe { core::ptr::read_volatile(&raw const pidfd) };
    Ok((child != 0).then_some(pidfd))
}

/// Receives one request with its descriptors; `None` if the host is gone.
fn receive(control: i32) -> Result<Option<(Request, Descriptors)>> {
    let mut bytes = [0u8; REQUEST_BYTES];
    let mut ancillary = Control {
        len: 0,
        level: 0,
        kind: 0,
        descriptors: [-1; MOST_DESCRIPTORS],
    };
    let vector = IoVec {
        base: bytes.as_mut_ptr() as usize,
        len: bytes.len(),
    };
    let mut header = message(&vector, &raw mut ancillary as usize, size_of::<Control>());
    // SAFETY: the header points to buffers that are valid for writes of the lengths it gives.
    let length = unsafe {
        sys::call(
            number::RECVMSG,
            &[fd(control), &raw mut header as usize, MSG_CMSG_CLOEXEC],
        )
    }?;
    if length == 0 {
        return Ok(None);
    }
    // SAFETY: the kernel wrote the control message and the bytes behind these pointers.
    let (ancillary, bytes) = unsafe {
        (
            core::ptr::read_volatile(&raw const ancillary),
            core::ptr::read_volatile(&raw const bytes),
        )
    };
    let received = if ancillary.level == SOL_SOCKET && ancillary.kind == SCM_RIGHTS {
        (ancillary.len.saturating_sub(CONTROL_HEADER)) / size_of::<i32>()
    } else {
        0
    };
    if length != REQUEST_BYTES || !(REQUEST_DESCRIPTORS..=MOST_DESCRIPTORS).contains(&received) {
        close_all(ancillary.descriptors);
        return Err(EINVAL);
    }
    let [channel, stdout, stderr, network, entrances @ ..] = ancillary.descriptors;
    let descriptors = Descriptors {
        channel,
        stdout,
        stderr,
        network,
        entrances,
    };
    Ok(Some((Request::decode(&bytes), descriptors)))
}

/// Answers the host. If the host is gone, the next receive notices.
fn answer(control: i32, errno: i32, pidfd: Option<i32>) {
    let bytes = wire::answer(errno);
    let ancillary = Control {
        len: CONTROL_HEADER + size_of::<i32>(),
        level: SOL_SOCKET,
        kind: SCM_RIGHTS,
        descriptors: [pidfd.unwrap_or(-1); MOST_DESCRIPTORS],
    };
    let vector = IoVec {
        base: bytes.as_ptr() as usize,
        len: bytes.len(),
    };
    // The control length for one descriptor, padded to a word.
    let control_len = if pidfd.is_some() {
        CONTROL_HEADER + size_of::<usize>()
    } else {
        0
    };
    let header = message(&vector, &raw const ancillary as usize, control_len);
    // SAFETY: the header points to buffers that are valid for reads of the lengths it gives.
    let _ = unsafe {
        sys::call(
            number::SENDMSG,
            &[fd(control), &raw const header as usize, MSG_NOSIGNAL],
        )
    };
}

fn message(vector: &IoVec, control: usize, control_len: usize) -> MessageHeader {
    MessageHeader {
        name: 0,
        name_len: 0,
        vectors: &raw const *vector as usize,
        vector_count: 1,
        control: if control_len == 0 { 0 } else { control },
        control_len,
        flags: 0,
    }
}

fn close_all(descriptors: [i32; MOST_DESCRIPTORS]) {
    for descriptor in descriptors {
        if descriptor >= 0 {
            sys::close(descriptor);
        }
    }
}
