//! The first process of the zygote's pid namespace: opens what sessions may read, then starts the other processes.
//!
//! It has three children: the network attendant and the mounter, which stay in this mount namespace, and the zygote,
//! which leaves it. Afterwards this process only waits. It ends when the zygote ends, and the kernel then kills
//! everything in the namespace.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::event::{PollFd, PollFlags};

use super::step::{During, StepError};
use super::{mounter, net, sys, template};
use crate::message;
use crate::spec::{Identity, ZYGOTE_USER, ZygoteSpec};

pub fn run(spec: &ZygoteSpec, release: OwnedFd, control: OwnedFd, attendant: OwnedFd, mounter: OwnedFd) -> ! {
    let status = match start(spec, &release, &control, attendant, mounter) {
        Ok(zygote) => {
            drop(control);
            wait(zygote)
        }
        Err(error) => {
            // The host may be gone.
            let _ = message::send_error(control.as_fd(), &error.to_string());
            1
        }
    };
    crate::session::exit(status)
}

fn start(
    spec: &ZygoteSpec,
    release: &OwnedFd,
    control: &OwnedFd,
    attendant: OwnedFd,
    mounter: OwnedFd,
) -> Result<i32, StepError> {
    sys::die_with_parent().during("ask to die with the launcher")?;
    let mut byte = [0];
    let released =
        rustix::io::retry_on_intr(|| rustix::io::read(release, &mut byte)).during("wait for the user map")?;
    if released == 0 {
        crate::session::exit(1);
    }
    sys::make_private().during("make the mounts private")?;
    // Sessions inherit everything that the zygote reads while it loads, so the zygote must not see the host's name.
    rustix::system::sethostname(crate::session::HOST_NAME).during("set the host name")?;
    // The kernel kills sessions first when memory runs out. Later, this process has no right to write this file.
    std::fs::write("/proc/self/oom_score_adj", "1000").during("write oom_score_adj")?;
    // Open these paths as the host's own user, because other users may have no access to the parent directories.
    let sources = template::open_sources(spec)?;
    if let Identity::Range { .. } = spec.identity {
        sys::become_user(ZYGOTE_USER).during("become the user of the zygote")?;
    }
    sys::die_with_parent().during("ask again to die with the launcher")?;
    if launcher_is_gone(release) {
        crate::session::exit(1);
    }
    start_attendants(attendant, mounter, control)?;
    match sys::fork().during("fork the zygote")? {
        Some(zygote) => Ok(zygote),
        None => {
            let error = template::become_zygote(spec, sources, control);
            // The host may be gone.
            let _ = message::send_error(control.as_fd(), &error.to_string());
            crate::session::exit(1)
        }
    }
}

/// Forks the attendants that stay in this mount namespace. Neither attendant holds the other's socket, so each socket
/// closes when its attendant ends, and the host notices.
fn start_attendants(networks: OwnedFd, mounts: OwnedFd, control: &OwnedFd) -> Result<(), StepError> {
    if sys::fork().during("fork the network attendant")?.is_none() {
        drop(mounts);
        serve("make network namespaces", net::attend(networks), control);
    }
    drop(networks);
    if sys::fork().during("fork the mounter")?.is_none() {
        serve("attach directories", mounter::attend(mounts), control);
    }
    Ok(())
}

fn serve(work: &str, served: io::Result<()>, control: &OwnedFd) -> ! {
    if let Err(error) = &served {
        // The host may be gone.
        let _ = message::send_error(control.as_fd(), &format!("{work}: {error}"));
    }
    crate::session::exit(i32::from(served.is_err()))
}

/// Whether the launcher ended before this process set its parent-death signal. In that case the launcher's end of the
/// pipe is closed.
fn launcher_is_gone(release: &OwnedFd) -> bool {
    let mut watched = [PollFd::new(release, PollFlags::IN)];
    let now = rustix::time::Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    let ready = rustix::event::poll(&mut watched, Some(&now));
    ready.is_err() || watched[0].revents().contains(PollFlags::HUP)
}

fn wait(zygote: i32) -> i32 {
    loop {
        match rustix::process::wait(rustix::process::WaitOptions::empty()) {
            Ok(Some((pid, _))) if pid.as_raw_nonzero().get() == zygote => return 0,
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return 1,
        }
    }
}
