//! The host's handle of a keeper and its guest.

use std::ffi::OsString;
use std::io::{self, Write};
use std::net::Shutdown;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::Child;
use std::time::{Duration, Instant};

use super::ARGUMENT;
use super::spec::GuestSpec;
use crate::message::{self, LauncherReply};
use crate::zygote::{self, start};

/// Why a guest could not be started.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "each variant's message says what it is")]
pub enum KeeperError {
    #[error("cannot start the keeper process: {0}")]
    Start(#[source] io::Error),
    #[error("cannot talk to the keeper: {0}")]
    Talk(#[source] io::Error),
    #[error("{0}")]
    Step(String),
    #[error("the keeper ended before its guest was there")]
    Ended,
    #[error("the guest was not there after {} s", .0.as_secs())]
    Late(Duration),
}

/// A keeper with its guest. Dropping it ends the guest and all its descendants; [`Keeper::reap`] also waits for
/// their end.
#[derive(Debug)]
pub struct Keeper {
    process: Child,
    host: UnixStream,
    guest: OwnedFd,
}

impl Keeper {
    /// Starts a guest that waits for [`Keeper::release`]. `helper` is the command line of a program that calls
    /// [`crate::dispatch`]; `descriptors` are the guest's channel, standard output and standard error.
    ///
    /// # Errors
    /// The step that failed, with the system's error.
    pub fn launch(
        helper: &[OsString],
        spec: &GuestSpec,
        descriptors: &[BorrowedFd<'_>; 3],
        patience: Duration,
    ) -> Result<Self, KeeperError> {
        let deadline = Instant::now() + patience;
        let (host, end) = UnixStream::pair().map_err(KeeperError::Start)?;
        let mut process = start(helper, ARGUMENT, end).map_err(KeeperError::Start)?;
        match hand_over(&host, spec, descriptors, deadline, patience) {
            Ok(guest) => Ok(Self { process, host, guest }),
            Err(error) => {
                drop(host);
                // The keeper ends once its socket is closed; reap it.
                let _ = process.wait();
                Err(error)
            }
        }
    }

    /// Lets the guest run, once its limits are set.
    ///
    /// # Errors
    /// If the keeper is gone.
    pub fn release(&self) -> io::Result<()> {
        (&self.host).write_all(b"!")
    }

    /// Pidfd of the guest's first process.
    pub fn guest(&self) -> BorrowedFd<'_> {
        self.guest.as_fd()
    }

    /// The socket to the keeper. A read returns end of file once every process of the guest has ended.
    pub fn socket(&self) -> BorrowedFd<'_> {
        self.host.as_fd()
    }

    /// Pid of the keeper, the ancestor of all guest processes.
    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Ends every process of the guest; then the keeper ends.
    pub fn kill(&self) {
        // The keeper may already be gone.
        let _ = self.host.shutdown(Shutdown::Write);
    }

    /// Ends everything; returns when the processes and the session's directory are gone.
    pub fn reap(mut self) {
        self.kill();
        let _ = self.process.wait();
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.kill();
    }
}

fn hand_over(
    mut host: &UnixStream,
    spec: &GuestSpec,
    descriptors: &[BorrowedFd<'_>; 3],
    deadline: Instant,
    patience: Duration,
) -> Result<OwnedFd, KeeperError> {
    let body = serde_json::to_vec(spec).map_err(|error| KeeperError::Talk(error.into()))?;
    let length = u32::try_from(body.len()).map_err(|error| KeeperError::Talk(io::Error::other(error)))?;
    // If the keeper is gone, it has already sent the reason.
    let _ = host
        .write_all(&length.to_le_bytes())
        .and_then(|()| host.write_all(&body))
        .and_then(|()| message::send_descriptors(host.as_fd(), descriptors));
    let reply = zygote::wait_reply(host.as_fd(), deadline, patience).map_err(|error| match error {
        zygote::LaunchError::Late(patience) => KeeperError::Late(patience),
        zygote::LaunchError::Talk(error) => KeeperError::Talk(error),
        other => KeeperError::Step(other.to_string()),
    })?;
    match reply {
        LauncherReply::Handover(descriptors) => descriptors.into_iter().next().ok_or(KeeperError::Ended),
        LauncherReply::Failure(step) => Err(KeeperError::Step(step)),
        LauncherReply::Other(_) | LauncherReply::Done | LauncherReply::Gone => Err(KeeperError::Ended),
    }
}
