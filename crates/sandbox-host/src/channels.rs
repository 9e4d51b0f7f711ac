//! The channel and the output pipes between the host and a guest.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

use rustix::pipe::PipeFlags;
use sandbox::Channels;
use tokio::io::Interest;
use tokio::net::unix::pipe;

/// Makes both ends of the channel, standard output and standard error: the host's as [`Channels`], the guest's as
/// descriptors.
///
/// # Errors
/// If the system refuses, such as for too many open files.
pub fn open() -> io::Result<(Channels, [OwnedFd; 3])> {
    let (host, guest) = UnixStream::pair()?;
    host.set_nonblocking(true)?;
    let (stdout, guest_stdout) = output()?;
    let (stderr, guest_stderr) = output()?;
    let channels = Channels {
        channel: sandbox::watch(host.into(), Interest::READABLE)?,
        stdout,
        stderr,
    };
    Ok((channels, [guest.into(), guest_stdout, guest_stderr]))
}

fn output() -> io::Result<(pipe::Receiver, OwnedFd)> {
    let (reader, writer) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
    rustix::io::ioctl_fionbio(&reader, true)?;
    Ok((pipe::Receiver::from_owned_fd(reader)?, writer))
}
