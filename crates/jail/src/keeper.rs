//! The keeper: a small helper process that starts one guest without namespaces, and ends all that came from it.
//!
//! ```text
//! codeyard ──► __keep (signals scoped) ──► guest (files, sockets and signals scoped, filtered) ──► what it starts
//!                 └ becomes the parent of every orphan below it
//! ```
//!
//! The keeper confines itself to a Landlock domain in which only signals are scoped, before it starts anything. So
//! `kill(-1)` reaches exactly what came from it, whatever those processes do and however fast they fork, and nothing else
//! of the machine; the guest is in a domain below, from which no signal reaches the keeper. When the host closes its end
//! of the socket, in whatever way, or the guest's first process ends, everything below is killed; then the socket is
//! closed, and at last the session's directory removed.

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

use crate::launcher::{During, StepError, sys};
use crate::message;
use crate::session;
use crate::supervise::{release_streams, watch_signals};

/// First argument of the helper process.
pub const ARGUMENT: &str = "__keep";

/// Largest specification that is read.
const MAX_SPEC: u32 = 16 * 1024 * 1024;

/// How long to wait for killed processes before they are looked at again.
const LOOK: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 5_000_000,
};

/// Runs the helper process; its standard input is the socket to the host. Returns its exit status.
pub fn main() -> i32 {
    // Away from the terminal's process group: its Ctrl-C is for the host, which ends sessions in its own way.
    let _ = rustix::process::setsid();
    let Ok(host) = io::stdin().as_fd().try_clone_to_owned().map(UnixStream::from) else {
        return 1;
    };
    // The socket must close when this process closes it, so it may not stay standard input.
    release_streams();
    match keep(&host) {
        Ok(directory) => {
            // Every process is gone, and the host may know.
            drop(host);
            remove::tree(&directory);
            0
        }
        Err(error) => {
            // The host may be gone already; then nobody is left to tell.
            let _ = message::send_error(host.as_fd(), &error.to_string());
            1
        }
    }
}

/// Starts the guest and waits until all of it is gone; returns the directory that goes with it.
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
            // A child that is gone shows below.
            let _ = rustix::io::write(&release, b"!");
            wait_for_end(host, &signals, first);
        }
    });
    drop(release);
    end_all(&signals);
    done.map(|()| spec.directory)
}

/// Reads a length and that many bytes of JSON.
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

/// From here on signals of this process reach only what comes from it. INVARIANT: `end_all` is never called without.
fn scope_signals() -> Result<(), StepError> {
    sys::forbid_new_privileges().during("give up new privileges")?;
    session::scope_signals()
        .map_err(|errno| io::Error::from_raw_os_error(errno.0))
        .during("scope signals")?;
    let Some(host) = getppid() else { return Ok(()) };
    match rustix::process::test_kill_process(host) {
        Err(rustix::io::Errno::PERM) => Ok(()),
        // It ended meanwhile, and nothing is there to be tested with.
        Err(_) => Err(io::Error::from(io::ErrorKind::NotConnected)).during("find the host"),
        Ok(()) => {
            Err(io::Error::other("the kernel scopes no signals")).during("scope signals (Landlock version 6)")
        }
    }
}

/// Gives the host a handle of the guest's first process.
fn hand_over(host: &UnixStream, first: Pid) -> io::Result<()> {
    let process = pidfd_open(first, PidfdFlags::empty())?;
    message::send_descriptors(host.as_fd(), &[process.as_fd()])
}

/// Waits until the host has bound the guest; `None` if the host is gone.
fn released_by(mut host: &UnixStream) -> io::Result<Option<()>> {
    let mut byte = [0];
    Ok((host.read(&mut byte)? > 0).then_some(()))
}

/// Waits until the host closes its end or the guest's first process has ended, and reaps orphans meanwhile.
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

/// Kills everything that came from this process, and returns when it is gone. A process that is about to fork when it is
/// killed does not fork: one pass is enough, and the others are for the unforeseen.
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

/// Takes the signals that have arrived. Those that ask this process to end are taken too and mean nothing: it ends with
/// the host.
fn drain(signals: &OwnedFd) {
    let mut buffer = [0; 1024];
    while rustix::io::read(signals, &mut buffer).is_ok_and(|length| length > 0) {}
}
