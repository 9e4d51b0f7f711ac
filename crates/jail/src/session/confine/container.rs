//! What makes a session look like a container: a user that it is not, and three places to write.

use super::{MS_NOEXEC, change_to, map_user, mount, own_flags};
use crate::session::arch::number;
use crate::session::sys::{self, Result};
use crate::session::text::Text;
use crate::session::wire::{self, Guard, ROOMS, Request};

const CLONE_NEWUSER: usize = 0x1000_0000;
const PR_SET_DUMPABLE: usize = 4;

/// Where each of [`Request::rooms`] appears, and its mode: directories of the read-only template.
const PLACES: [(&core::ffi::CStr, &[u8]); ROOMS] =
    [(WORKSPACE, b"0755"), (c"/tmp", b"1777"), (c"/dev/shm", b"1777")];
const WORKSPACE: &core::ffi::CStr = c"/workspace";

/// Mounts a file system of its own at each place.
pub fn mount_rooms(request: &Request) -> Result<()> {
    // Mount options are read in the user namespace of whoever mounts.
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
        // Programs are never executed from the workspace, in sessions of either appearance.
        let noexec = if place == WORKSPACE { MS_NOEXEC } else { 0 };
        mount(c"tmpfs", place, own_flags(request) | noexec, options.as_bytes())?;
    }
    Ok(())
}

/// Changes to the workspace.
pub fn enter_workspace() -> Result<()> {
    change_to(WORKSPACE)
}

/// Enters a new user namespace in which the session's kernel user is the one that it is shown as, and no other exists. It has
/// all capabilities there, and none over what is outside of it, until the caller drops them.
pub fn become_shown(request: &Request) -> Result<()> {
    // Whoever changed its user is not dumpable: its files in /proc are root's, and it could not write its own map.
    sys::prctl(PR_SET_DUMPABLE, 1, 0)?;
    // SAFETY: unshare takes a number.
    unsafe { sys::call(number::UNSHARE, &[CLONE_NEWUSER]) }?;
    map_user(request.shown, request.user)?;
    sys::prctl(PR_SET_DUMPABLE, 0, 0).map(|_| ())
}
