//! The network attendant: makes empty network namespaces ahead of need, one for each byte that the host sends.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

use super::sys;
use crate::message;

/// Serves until the host closes its end.
pub fn attend(host: OwnedFd) -> io::Result<()> {
    sys::die_with_parent()?;
    let mut byte = [0];
    loop {
        let asked = rustix::io::retry_on_intr(|| rustix::io::read(&host, &mut byte))?;
        if asked == 0 {
            return Ok(());
        }
        // 0.4 ms, the one expensive namespace: that is why it is not made by each session.
        sys::unshare(libc::CLONE_NEWNET)?;
        let namespace = File::open("/proc/self/ns/net")?;
        message::send_descriptors(host.as_fd(), &[namespace.as_fd()])?;
    }
}
