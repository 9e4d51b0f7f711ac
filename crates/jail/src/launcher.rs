//! The launcher: a small single-threaded helper process that makes a zygote's namespaces and watches over it.
//!
//! The multi-threaded host must not clone itself, so it starts its own program again with `__jail` and a socket as
//! standard input. The launcher clones the first process of the zygote's pid namespace (`init`), writes its user map,
//! sends the host two sockets and waits. When the host ends, the launcher ends, and with it the whole namespace. A host
//! that ends without `GOODBYE` was killed; then the launcher removes the host's control groups.

mod init;
mod mounter;
mod net;
mod overlay;
pub(crate) mod step;
pub(crate) mod sys;
mod template;

use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::time::Duration;

use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use rustix::process::{Pid, PidfdFlags, WaitOptions};
use step::{During, StepError};

use crate::spec::{CleanupPaths, Identity, ZYGOTE_USER, ZygoteSpec};
use crate::{cgroup, lease, message};

/// First argument of the helper process.
pub const ARGUMENT: &str = "__jail";

/// Upper bound on the specification, in bytes.
const MAX_SPEC: u32 = 16 * 1024 * 1024;

/// The host sends this byte before it closes its socket.
pub(crate) const GOODBYE: u8 = b'.';

/// Attempts to take a dead host's lease. The kernel releases the lease's lock a moment after it closes the host's
/// sockets.
const ATTEMPTS: u32 = 200;
const PAUSE: Duration = Duration::from_millis(5);

/// Runs the helper process; its standard input is the socket to the host. Returns its exit status.
pub fn main() -> i32 {
    // Leave the terminal's process group: Ctrl-C is for the host, which ends sessions in its own way.
    let _ = rustix::process::setsid();
    let Ok(host) = io::stdin().as_fd().try_clone_to_owned().map(UnixStream::from) else {
        return 1;
    };
    match launch(&host) {
        Ok(()) => 0,
        Err(error) => {
            // The host may already be gone.
            let _ = message::send_error(host.as_fd(), &error.to_string());
            1
        }
    }
}

fn launch(host: &UnixStream) -> Result<(), StepError> {
    let spec = read_spec(host).during("read the specification")?;
    let (release_reader, release) =
        rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).during("make a pipe")?;
    let (control, zygote_control) = seqpacket().during("make the control socket")?;
    let (networks, attendant) = seqpacket().during("make the network socket")?;
    let (mounts, mounter) = seqpacket().during("make the mounter's socket")?;
    let mut open_sockets = Some((release, control, networks, mounts));
    let child =
        sys::clone_init().during("create user, mount, pid, network, ipc, uts and cgroup namespaces")?;
    let Some(child) = child else {
        // Close this process's copies of the host's ends: this process detects the host's death when those ends close.
        drop(open_sockets.take());
        init::run(&spec, release_reader, zygote_control, attendant, mounter);
    };
    drop((release_reader, zygote_control, attendant, mounter));
    let Some((release, control, networks, mounts)) = open_sockets else {
        return Ok(());
    };
    write_maps(child, spec.identity)?;
    rustix::io::write(&release, b"!").during("release the first process")?;
    let sockets = [control.as_fd(), networks.as_fd(), mounts.as_fd()];
    message::send_descriptors(host.as_fd(), &sockets).during("hand over the sockets")?;
    drop((control, networks, mounts));
    // Keeps the pipe open: when the pipe closes, the first process knows that its parent has ended.
    let _release = release;
    wait(host.as_fd(), child).during("wait")?;
    if went_without_a_word(host.as_fd()) {
        clean_up(&spec.cleanup);
    }
    Ok(())
}

/// Whether the host closed its end without a goodbye.
fn went_without_a_word(host: BorrowedFd<'_>) -> bool {
    let mut byte = [0];
    let received = rustix::net::recv(host, &mut byte, rustix::net::RecvFlags::DONTWAIT);
    !matches!(received, Ok((1, _)) | Err(rustix::io::Errno::AGAIN))
}

/// Removes the control groups of a killed host once its lease is free. The next holder of the lease does the same.
fn clean_up(paths: &CleanupPaths) {
    for _ in 0..ATTEMPTS {
        if let Some(_lock) = lease::inherit(&paths.lease) {
            cgroup::remove_all(&paths.groups);
            return;
        }
        std::thread::sleep(PAUSE);
    }
}

fn seqpacket() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(socketpair(
        AddressFamily::UNIX,
        SocketType::SEQPACKET,
        SocketFlags::CLOEXEC,
        None,
    )?)
}

fn read_spec(mut host: &UnixStream) -> io::Result<ZygoteSpec> {
    let mut length = [0; 4];
    host.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length);
    if length > MAX_SPEC {
        return Err(io::Error::other("too large"));
    }
    let mut bytes = Vec::new();
    host.take(u64::from(length)).read_to_end(&mut bytes)?;
    Ok(serde_json::from_slice(&bytes)?)
}

/// Waits until the host closes its socket or the first process ends, then kills and reaps the first process.
fn wait(host: BorrowedFd<'_>, child: i32) -> io::Result<()> {
    let Some(pid) = Pid::from_raw(child) else {
        return Ok(());
    };
    let child = rustix::process::pidfd_open(pid, PidfdFlags::empty())?;
    let mut watched = [
        rustix::event::PollFd::new(&host, rustix::event::PollFlags::IN),
        rustix::event::PollFd::new(&child, rustix::event::PollFlags::IN),
    ];
    rustix::io::retry_on_intr(|| rustix::event::poll(&mut watched, None))?;
    // The parent-death signal would kill the child when this process exits; killing it here allows reaping it.
    let _ = rustix::process::pidfd_send_signal(&child, rustix::process::Signal::KILL);
    rustix::io::retry_on_intr(|| rustix::process::waitpid(Some(pid), WaitOptions::empty()))?;
    Ok(())
}

fn write_maps(child: i32, identity: Identity) -> Result<(), StepError> {
    let put = |file: &str, text: String| {
        std::fs::write(format!("/proc/{child}/{file}"), text)
            .during(format!("write {file} of the user namespace"))
    };
    match identity {
        // INVARIANT: user 0 of the host is in no map (jail-review, channel 4).
        Identity::Range { first, count } => {
            put("uid_map", format!("{ZYGOTE_USER} {first} {count}"))?;
            put("gid_map", format!("{ZYGOTE_USER} {first} {count}"))
        }
        Identity::Single { user, group } => {
            put("setgroups", "deny".to_owned())?;
            put("uid_map", format!("{ZYGOTE_USER} {user} 1"))?;
            put("gid_map", format!("{ZYGOTE_USER} {group} 1"))
        }
        Identity::Subordinate {
            user,
            group,
            first_user,
            first_group,
            count,
        } => {
            run_map("/usr/bin/newuidmap", child, [user, first_user, count])?;
            run_map("/usr/bin/newgidmap", child, [group, first_group, count])
        }
    }
}

fn run_map(program: &str, child: i32, [own, first, count]: [u32; 3]) -> Result<(), StepError> {
    let inner = ZYGOTE_USER;
    #[expect(
        clippy::disallowed_methods,
        reason = "the launcher is a supervisor: this is its one helper program"
    )]
    let status = Command::new(program)
        .args([
            child.to_string(),
            inner.to_string(),
            own.to_string(),
            "1".to_owned(),
        ])
        .args([
            (inner + 1).to_string(),
            first.to_string(),
            count.saturating_sub(1).to_string(),
        ])
        .status()
        .during(format!("run {program}"))?;
    if status.success() {
        Ok(())
    } else {
        Err(io::Error::other(status.to_string())).during(format!("run {program}"))
    }
}
