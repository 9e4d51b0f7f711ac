//! Messages with descriptors between host, launcher and zygote.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags,
};

/// Most descriptors per message.
pub(crate) const MAX_DESCRIPTORS: usize = crate::session::wire::MOST_DESCRIPTORS;
/// First byte of a message that carries descriptors.
const HANDOVER: u8 = b'F';
const DONE: u8 = b'K';
/// First byte of a failure report; text follows.
const FAILURE: u8 = b'E';
/// Most bytes of text in a failure report.
const MAX_TEXT: usize = 4096;

/// Sends `bytes` together with descriptors.
///
/// # Errors
/// The system's error; `WouldBlock` if the socket is non-blocking and full.
pub fn send(socket: BorrowedFd<'_>, bytes: &[u8], descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() && !ancillary.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let vectors = [IoSlice::new(bytes)];
    rustix::io::retry_on_intr(|| {
        rustix::net::sendmsg(socket, &vectors, &mut ancillary, SendFlags::NOSIGNAL)
    })?;
    Ok(())
}

/// Receives one message and its descriptors; 0 bytes mean that the other side is gone.
///
/// # Errors
/// The system's error; `WouldBlock` if the socket is non-blocking and empty; "too many open files" if there was no room
/// for a descriptor.
pub fn receive(socket: BorrowedFd<'_>, buffer: &mut [u8]) -> io::Result<(usize, Vec<OwnedFd>)> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let mut vectors = [IoSliceMut::new(buffer)];
    let received = rustix::io::retry_on_intr(|| {
        rustix::net::recvmsg(socket, &mut vectors, &mut ancillary, RecvFlags::CMSG_CLOEXEC)
    });
    let received = match received {
        // The other side is gone and left a message unread.
        Err(Errno::CONNRESET) => return Ok((0, Vec::new())),
        received => received?,
    };
    let descriptors = ancillary
        .drain()
        .filter_map(|message| match message {
            RecvAncillaryMessage::ScmRights(descriptors) => Some(descriptors),
            _ => None,
        })
        .flatten()
        .collect();
    if received.flags.contains(ReturnFlags::CTRUNC) {
        // The kernel drops descriptors that exceed this process's limit, and reports only this flag.
        return Err(Errno::MFILE.into());
    }
    Ok((received.bytes, descriptors))
}

pub(crate) fn send_descriptors(socket: BorrowedFd<'_>, descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
    send(socket, &[HANDOVER], descriptors)
}

pub(crate) fn send_done(socket: BorrowedFd<'_>) -> io::Result<()> {
    send(socket, &[DONE], &[])
}

pub(crate) fn send_error(socket: BorrowedFd<'_>, text: &str) -> io::Result<()> {
    let mut bytes = vec![FAILURE];
    bytes.extend(text.bytes().take(MAX_TEXT));
    send(socket, &bytes, &[])
}

#[derive(Debug)]
pub(crate) enum LauncherReply {
    Handover(Vec<OwnedFd>),
    /// The request succeeded.
    Done,
    /// A step failed.
    Failure(String),
    /// Any other message, for the caller to parse.
    Other(Vec<u8>),
    /// The other side is gone.
    Gone,
}

pub(crate) fn receive_reply(socket: BorrowedFd<'_>) -> io::Result<LauncherReply> {
    let mut buffer = vec![0; MAX_TEXT + 1];
    let (length, descriptors) = receive(socket, &mut buffer)?;
    buffer.truncate(length);
    Ok(match buffer.split_first() {
        None => LauncherReply::Gone,
        Some((&HANDOVER, _)) => LauncherReply::Handover(descriptors),
        Some((&DONE, [])) => LauncherReply::Done,
        Some((&FAILURE, text)) => LauncherReply::Failure(String::from_utf8_lossy(text).into_owned()),
        Some(_) => LauncherReply::Other(buffer),
    })
}
