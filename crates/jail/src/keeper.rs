//! The keeper: a small helper process that starts one guest without namespaces, and ends all its descendants.
//!
//! ```text
//! codeyard ──► __keep (signals scoped) ──► guest (files, sockets and signals scoped, filtered) ──► descendants
//!               └ becomes the parent of every orphan below it
//! ```
//!
//! Before the keeper starts any process, it enters a Landlock domain that scopes only signals. In this domain,
//! `kill(-1)` reaches exactly the keeper's descendants, however fast they fork, and no other process of the machine.
//! The guest runs in a nested domain, and its signals cannot reach the keeper.
//!
//! The session ends when the host's end of the socket closes, for any reason, or when the guest's first process ends.
//! The keeper then kills all its descendants, closes the socket, and finally removes the session's directory.

mod child;
mod handle;
mod remove;
mod spec;

use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, WaitOptions, getpid, getppid, pidfd_open, set_child_subreaper, wait};

pub use handle::{Keeper, KeeperError};
pub use remove::tree as remove_tree;
pub use spec::{GuestSpec, Rule};

use crate::launcher::step::{During, StepError};
use crate::launcher::sys;
use crate::message;
use crate::session;
use crate::supervise::{release_streams, watch_signals};

/// First argument of the helper process.
pub const ARGUMENT: &str = "__keep";

/// Upper bound on the specification, in bytes.
const MAX_SPEC: u32 = 16 * 1024 * 1024;

/// Pause between two checks whether killed processes have ended.
const LOOK: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 5_000_000,
};

/// Runs the helper process; its standard input is the socket to the host. Returns its exit status.
pub fn main() -> i32 {
    // Leave the terminal's process group: Ctrl-C is for the host, which ends sessions in its own way.
    let _ = rustix::process::setsid();
    let Ok(host) = io::stdin().as_fd().try_clone_to_owned().map(UnixStream::from) else {
        return 1;
    };
    // Standard input must not keep the socket open when this process closes it.
    release_streams();
    match keep(&host) {
        Ok(directory) => {
            // All processes have ended; closing the socket reports that to the host.
            drop(host);
            remove::tree(&directory);
            0
        }
        Err(error) => {
            // The host may already be gone.
            let _ = message::send_error(host.as_fd(), &error.to_string());
            1
        }
    }
}

fn keep(host: &UnixStream) -> Result<std::path::PathBuf, StepError> {
    let spec = read_spec(host).during("read the specification")?;
    let mut kind = [0];
    let (_, descriptors) = message::receive(host.as_fd(), &mut kind).during("receive the descriptors")?;
    set_child_subreaper(Some(getpid())).during("become the subreaper")?;
    let signals = watch_signals().during("watch signals")?;
    let (released, release) =
        rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).during("make a pipe")?;
    let prepared = child::Prepared::new(&spec, descriptors)?;
    scope_signals()?;
    let Some(pid) = sys::fork().during("fork")? else {
        drop(release);
        prepared.run(&spec, &released);
    };
    drop((released, prepared));
    let first = Pid::from_raw(pid);
    let handed = first.map_or(Err(io::ErrorKind::NotFound.into()), |first| {
        hand_over(host, first)
    });
    let done = handed.during("hand over the guest").map(|()| {
        if let Ok(Some(())) = released_by(host) {
            // If the child has already ended, the code below notices.
            let _ = rustix::io::write(&release, b"!");
            wait_for_end(host, &signals, first);
        }
    });
    drop(release);
    end_all(&signals);
    done.map(|()| spec.directory)
}

fn read_spec(mut host: &UnixStream) -> io::Result<GuestSpec> {
    let mut length = [0; 4];
    host.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length);
    if length > MAX_SPEC {
        return Err(io::Error::other("too large"));
    }
    let mut bytes = vec![0; usize::try_from(length).unwrap_or(0)];
    host.read_exact(&mut bytes)?;
    Ok(serde_json::from_slice(&bytes)?)
}

/// Limits the signals of this process to its descendants. INVARIANT: every call of `end_all` comes after this call.
fn scope_signals() -> Result<(), StepError> {
    sys::forbid_new_privileges().during("give up new privileges")?;
    session::scope_signals()
        .map_err(|errno| io::Error::from_raw_os_error(errno.0))
        .during("scope signals")?;
    let Some(host) = getppid() else { return Ok(()) };
    match rustix::process::test_kill_process(host) {
        Err(rustix::io::Errno::PERM) => Ok(()),
        // The host has ended, so there is no process to test with.
        Err(_) => Err(io::Error::from(io::ErrorKind::NotConnected)).during("find the host"),
        Ok(()) => {
            Err(io::Error::other("the kernel scopes no signals")).during("scope signals (Landlock version 6)")
        }
    }
}

fn hand_over(host: &UnixStream, first: Pid) -> io::Result<()> {
    let process = pidfd_open(first, PidfdFlags::empty())?;
    message::send_descriptors(host.as_fd(), &[process.as_fd()])
}

/// Waits until the host has set the guest's limits; `None` if the host is gone.
fn released_by(mut host: &UnixStream) -> io::Result<Option<()>> {
    let mut byte = [0];
    Ok((host.read(&mut byte)? > 0).then_some(()))
}

/// Waits until the host closes its end or the guest's first process ends; reaps orphans meanwhile.
fn wait_for_end(host: &UnixStream, signals: &OwnedFd, first: Option<Pid>) {
    loop {
        let mut watched = [
            PollFd::from_borrowed_fd(host.as_fd(), PollFlags::IN),
            PollFd::from_borrowed_fd(signals.as_fd(), PollFlags::IN),
        ];
        match poll(&mut watched, None) {
            Err(rustix::io::Errno::INTR) => continue,
            Err(_) => return,
            Ok(_) => {}
        }
        if !watched[0].revents().is_empty() {
            return;
        }
        drain(signals);
        while let Some((pid, _)) = wait(WaitOptions::NOHANG).ok().flatten() {
            if Some(pid) == first {
                return;
            }
        }
    }
}

/// Kills all descendants and returns when they have ended. A process that is killed during a fork does not complete
/// the fork, so one pass is enough. Further passes are a precaution.
fn end_all(signals: &OwnedFd) {
    loop {
        sys::kill_all_in_reach();
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
                Ok(None) => break,
                Err(_no_child) => return,
            }
        }
        let mut watched = [PollFd::from_borrowed_fd(signals.as_fd(), PollFlags::IN)];
        let _ = poll(&mut watched, Some(&LOOK));
        drain(signals);
    }
}

/// Discards the signals that have arrived. Requests to terminate have no effect: this process ends with the host.
fn drain(signals: &OwnedFd) {
    let mut buffer = [0; 1024];
    while rustix::io::read(signals, &mut buffer).is_ok_and(|length| length > 0) {}
}
