//! The network attendant: makes one empty network namespace, ahead of need, for each byte that the host sends.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

use super::sys;
use crate::message;

pub fn attend(host: OwnedFd) -> io::Result<()> {
    sys::die_with_parent()?;
    let mut byte = [0];
    loop {
        let asked = rustix::io::retry_on_intr(|| rustix::io::read(&host, &mut byte))?;
        if asked == 0 {
            return Ok(());
        }
        // The network namespace is the only expensive namespace (0.4 ms), so sessions do not make their own.
        sys::unshare(libc::CLONE_NEWNET)?;
        let namespace = File::open("/proc/self/ns/net")?;
        message::send_descriptors(host.as_fd(), &[namespace.as_fd()])?;
    }
}
