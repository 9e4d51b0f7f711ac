//! Makes a session look like a container: a user different from its own, and three writable directories.

use super::{MS_NOEXEC, change_to, map_user, mount, own_flags};
use crate::session::arch::number;
use crate::session::sys::{self, Result};
use crate::session::text::Text;
use crate::session::wire::{self, Guard, ROOMS, Request};

const CLONE_NEWUSER: usize = 0x1000_0000;
const PR_SET_DUMPABLE: usize = 4;

/// Mount point and mode of each of [`Request::rooms`]: directories of the read-only template.
const PLACES: [(&core::ffi::CStr, &[u8]); ROOMS] =
    [(WORKSPACE, b"0755"), (c"/tmp", b"1777"), (c"/dev/shm", b"1777")];
const WORKSPACE: &core::ffi::CStr = c"/workspace";

pub fn mount_rooms(request: &Request) -> Result<()> {
    // Mount options are interpreted in the user namespace of the mounting process.
    let owner = if request.flags & wire::OWN_USER_NAMESPACE != 0 {
        request.shown
    } else {
        [request.user; 2]
    };
    for ((place, mode), room) in PLACES.into_iter().zip(request.rooms) {
        let mut options = Text::<160>::new();
        if request.has(Guard::Disk) {
            options.push(b"size=").number(room.bytes);
            options.push(b",nr_inodes=").number(room.inodes).push(b",");
        }
        options.push(b"mode=").push(mode);
        options
            .push(b",uid=")
            .number(owner[0])
            .push(b",gid=")
            .number(owner[1]);
        options.push(b"\0");
        // No session executes programs from its workspace.
        let noexec = if place == WORKSPACE { MS_NOEXEC } else { 0 };
        mount(c"tmpfs", place, own_flags(request) | noexec, options.as_bytes())?;
    }
    Ok(())
}

pub fn enter_workspace() -> Result<()> {
    change_to(WORKSPACE)
}

/// Enters a new user namespace with one user: the session's kernel user, mapped to the user that the session sees.
/// Until the caller drops them, the process has all capabilities inside the namespace and none outside.
pub fn become_shown(request: &Request) -> Result<()> {
    // After a change of user the process is not dumpable. Root then owns the process's files in /proc, and the process
    // cannot write its own map.
    sys::prctl(PR_SET_DUMPABLE, 1, 0)?;
    // SAFETY: unshare takes a number.
    unsafe { sys::call(number::UNSHARE, &[CLONE_NEWUSER]) }?;
    map_user(request.shown, request.user)?;
    sys::prctl(PR_SET_DUMPABLE, 0, 0).map(|_| ())
}
