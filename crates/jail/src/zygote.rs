//! The host's handle of a zygote: launch it, ask it for sessions, end it.

use std::ffi::OsString;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};

use crate::attach::{MountPoint, Order, Overlay, Placed, PlainAttachment, WriteAccess};
use crate::launcher;
use crate::message::{self, LauncherReply};
use crate::session::wire::{self, Request};
use crate::spec::ZygoteSpec;

/// Why a zygote could not be launched.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "each variant's message says what it is")]
pub enum LaunchError {
    #[error("start the launcher: {0}")]
    Start(#[source] io::Error),
    #[error("talk to the launcher: {0}")]
    Talk(#[source] io::Error),
    #[error("{0}")]
    Step(String),
    #[error("the zygote ended before it was ready")]
    Ended,
    #[error("the zygote was not ready after {} s", .0.as_secs())]
    Late(Duration),
}

/// A running zygote. Dropping it ends the zygote and all its sessions.
#[derive(Debug)]
pub struct Zygote {
    launcher: Child,
    /// Socket to the launcher; closing the socket ends the launcher.
    host: Option<UnixStream>,
    control: OwnedFd,
    networks: OwnedFd,
    mounts: OwnedFd,
    greeting: Vec<u8>,
}

impl Zygote {
    /// Launches a zygote and waits for its greeting. `helper` is the command line of a program that calls
    /// [`crate::dispatch`] with the launcher's argument.
    ///
    /// # Errors
    /// The step that failed, with the system's error.
    pub fn launch(helper: &[OsString], spec: &ZygoteSpec, patience: Duration) -> Result<Self, LaunchError> {
        let deadline = Instant::now() + patience;
        let (host, end) = UnixStream::pair().map_err(LaunchError::Start)?;
        let launcher = start(helper, crate::launcher::ARGUMENT, end).map_err(LaunchError::Start)?;
        let mut zygote = Sockets {
            launcher: Some(launcher),
            host: Some(host),
        };
        let [control, networks, mounts] = zygote.hand_over(spec, deadline, patience)?;
        let greeting = match wait_reply(control.as_fd(), deadline, patience)? {
            LauncherReply::Other(greeting) => greeting,
            LauncherReply::Failure(step) => return Err(LaunchError::Step(step)),
            LauncherReply::Handover(_) | LauncherReply::Done | LauncherReply::Gone => {
                return Err(LaunchError::Ended);
            }
        };
        for socket in [&control, &networks, &mounts] {
            rustix::io::ioctl_fionbio(socket, true).map_err(|error| LaunchError::Talk(error.into()))?;
        }
        let (Some(launcher), host) = (zygote.launcher.take(), zygote.host.take()) else {
            return Err(LaunchError::Ended);
        };
        Ok(Self {
            launcher,
            host,
            control,
            networks,
            mounts,
            greeting,
        })
    }

    /// The zygote's message when it became ready: JSON of `zygote.py`.
    pub fn greeting(&self) -> &[u8] {
        &self.greeting
    }

    /// The non-blocking socket for requests; readable when an answer has arrived.
    pub fn control(&self) -> BorrowedFd<'_> {
        self.control.as_fd()
    }

    /// The non-blocking socket for network namespaces; readable when one has arrived.
    pub fn networks(&self) -> BorrowedFd<'_> {
        self.networks.as_fd()
    }

    /// Requests a session. Answers come in the order of requests. `descriptors` are channel, standard output, standard
    /// error, network namespace, and the entrances of control groups.
    ///
    /// # Errors
    /// `WouldBlock` if too many requests are pending; others if the zygote is gone.
    pub fn request(&self, request: &Request, descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
        message::send(self.control.as_fd(), &request.encode(), descriptors)
    }

    /// Takes one answer: the session's pidfd, or the error.
    ///
    /// # Errors
    /// `WouldBlock` if no answer has arrived; `UnexpectedEof` if the zygote is gone.
    pub fn answer(&self) -> io::Result<io::Result<OwnedFd>> {
        let mut buffer = [0; wire::ANSWER_BYTES];
        let (length, mut descriptors) = message::receive(self.control.as_fd(), &mut buffer)?;
        let [kind, _, _, _, errno @ ..] = buffer;
        match (length, kind, i32::from_le_bytes(errno), descriptors.pop()) {
            (0, ..) => Err(io::ErrorKind::UnexpectedEof.into()),
            (wire::ANSWER_BYTES, wire::ANSWER, 0, Some(pidfd)) => Ok(Ok(pidfd)),
            (wire::ANSWER_BYTES, wire::ANSWER, errno, None) if errno != 0 => {
                Ok(Err(io::Error::from_raw_os_error(errno)))
            }
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }

    /// Orders a network namespace.
    ///
    /// # Errors
    /// If the attendant is gone.
    pub fn order_network(&self) -> io::Result<()> {
        message::send(self.networks.as_fd(), b"+", &[])
    }

    /// Takes a network namespace that was ordered.
    ///
    /// # Errors
    /// `WouldBlock` if none has arrived; `UnexpectedEof` if the attendant is gone.
    pub fn take_network(&self) -> io::Result<OwnedFd> {
        match message::receive_reply(self.networks.as_fd())? {
            LauncherReply::Handover(mut descriptors) => {
                descriptors.pop().ok_or_else(|| io::ErrorKind::InvalidData.into())
            }
            LauncherReply::Gone => Err(io::ErrorKind::UnexpectedEof.into()),
            LauncherReply::Failure(text) => Err(io::Error::other(text)),
            LauncherReply::Done | LauncherReply::Other(_) => Err(io::ErrorKind::InvalidData.into()),
        }
    }

    /// Orders the mounter to attach directories to a session, confined or not. `reader` is the session's user, if it
    /// differs from the mounter's.
    ///
    /// # Errors
    /// As `order`.
    pub fn order_attachments(
        &self,
        session: BorrowedFd<'_>,
        reader: Option<u32>,
        attachments: &[Attachment<'_>],
    ) -> io::Result<OwnedFd> {
        let mut descriptors = vec![session];
        let mut placed = Vec::new();
        for Attachment {
            place,
            writing,
            overlay,
            source,
        } in attachments
        {
            let (place, writing, overlay) = (*place, *writing, *overlay);
            let source = match source {
                Source::Path(path) => Some(path.to_path_buf()),
                Source::Tree(tree) => {
                    descriptors.push(*tree);
                    None
                }
            };
            placed.push(Placed {
                place,
                writing,
                overlay,
                source,
            });
        }
        self.order(&Order::Attach { placed, reader }, &descriptors)
    }

    /// Orders a user namespace that maps user and group `inside` to user and group `outside` of the zygote's namespace.
    ///
    /// # Errors
    /// As `order`.
    pub fn order_map(&self, inside: (u32, u32), outside: u32) -> io::Result<OwnedFd> {
        self.order(&Order::Map { inside, outside }, &[])
    }

    /// Orders the mounter to kill every process of a session except its first.
    ///
    /// # Errors
    /// As `order`.
    pub fn order_kill_others(&self, session: BorrowedFd<'_>) -> io::Result<OwnedFd> {
        self.order(&Order::KillOthers, &[session])
    }

    /// Sends an order; returns the non-blocking socket on which the [`MounterReply`] arrives.
    ///
    /// # Errors
    /// `WouldBlock` if too many orders are pending; others if the mounter is gone.
    fn order(&self, order: &Order, descriptors: &[BorrowedFd<'_>]) -> io::Result<OwnedFd> {
        let (ours, theirs) = rustix::net::socketpair(
            rustix::net::AddressFamily::UNIX,
            rustix::net::SocketType::SEQPACKET,
            rustix::net::SocketFlags::CLOEXEC,
            None,
        )?;
        rustix::io::ioctl_fionbio(&ours, true)?;
        let descriptors: Vec<BorrowedFd<'_>> = std::iter::once(theirs.as_fd())
            .chain(descriptors.iter().copied())
            .collect();
        message::send(self.mounts.as_fd(), &serde_json::to_vec(order)?, &descriptors)?;
        Ok(ours)
    }
}

/// The mounter's answer.
#[derive(Debug)]
pub enum MounterReply {
    /// The order succeeded.
    Done,
    /// The ordered namespace.
    Namespace(OwnedFd),
    /// The directories are attached. The list names those without their preferred overlay.
    Attached(Vec<PlainAttachment>),
}

impl MounterReply {
    /// Receives the answer to an order, or why the order failed.
    ///
    /// # Errors
    /// `WouldBlock` before the answer arrives; `UnexpectedEof` if the mounter ended without one.
    pub fn receive(socket: BorrowedFd<'_>) -> io::Result<Result<MounterReply, String>> {
        match message::receive_reply(socket)? {
            LauncherReply::Done => Ok(Ok(MounterReply::Done)),
            LauncherReply::Handover(mut descriptors) => {
                let namespace = descriptors.pop().ok_or(io::ErrorKind::InvalidData)?;
                Ok(Ok(MounterReply::Namespace(namespace)))
            }
            LauncherReply::Failure(text) => Ok(Err(text)),
            LauncherReply::Gone => Err(io::ErrorKind::UnexpectedEof.into()),
            LauncherReply::Other(bare) => Ok(Ok(MounterReply::Attached(serde_json::from_slice(&bare)?))),
        }
    }
}

/// A directory to attach to a session.
#[derive(Debug, Clone, Copy)]
pub struct Attachment<'a> {
    /// Path inside the session.
    pub place: MountPoint,
    /// Access of the session.
    pub writing: WriteAccess,
    /// Whether the session sees it through an overlay.
    pub overlay: Overlay,
    /// The host's side.
    pub source: Source<'a>,
}

/// Source of a directory.
#[derive(Debug, Clone, Copy)]
pub enum Source<'a> {
    /// A path that the mounter opens as the user of the host.
    Path(&'a Path),
    /// A tree that the host has opened, see [`crate::attach::Directory::tree`].
    Tree(BorrowedFd<'a>),
}

/// Limit on trees per order: the descriptors of one message, minus those of the answer and the session.
pub const MOST_TREES: usize = message::MAX_DESCRIPTORS - 2;

impl Drop for Zygote {
    fn drop(&mut self) {
        part(self.host.take());
        // The launcher ends once its socket is closed; reap it.
        let _ = self.launcher.wait();
    }
}

/// The launcher between its start and the zygote's greeting; dropping it ends the launcher.
struct Sockets {
    launcher: Option<Child>,
    host: Option<UnixStream>,
}

impl Sockets {
    fn hand_over(
        &mut self,
        spec: &ZygoteSpec,
        deadline: Instant,
        patience: Duration,
    ) -> Result<[OwnedFd; 3], LaunchError> {
        let Some(host) = self.host.as_mut() else {
            return Err(LaunchError::Ended);
        };
        let body = serde_json::to_vec(spec).map_err(|error| LaunchError::Talk(error.into()))?;
        let length = u32::try_from(body.len()).map_err(|error| LaunchError::Talk(io::Error::other(error)))?;
        // If the launcher is gone, it has already sent the reason.
        let _ = host
            .write_all(&length.to_le_bytes())
            .and_then(|()| host.write_all(&body));
        match wait_reply(host.as_fd(), deadline, patience)? {
            LauncherReply::Handover(descriptors) => descriptors.try_into().map_err(|_| LaunchError::Ended),
            LauncherReply::Failure(step) => Err(LaunchError::Step(step)),
            LauncherReply::Other(_) | LauncherReply::Done | LauncherReply::Gone => Err(LaunchError::Ended),
        }
    }
}

impl Drop for Sockets {
    fn drop(&mut self) {
        part(self.host.take());
        if let Some(launcher) = &mut self.launcher {
            // The launcher ends once its socket is closed; reap it.
            let _ = launcher.wait();
        }
    }
}

/// Sends `GOODBYE` to the launcher, so that the launcher does not treat this process as killed.
fn part(host: Option<UnixStream>) {
    if let Some(mut host) = host {
        // The launcher may already be gone.
        let _ = host.write_all(&[launcher::GOODBYE]);
    }
}

/// Starts the helper process that `argument` names. It inherits only `end`, as its standard input.
pub(crate) fn start(helper: &[OsString], argument: &str, end: UnixStream) -> io::Result<Child> {
    let (program, arguments) = helper.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    #[expect(
        clippy::disallowed_methods,
        reason = "this is where zygotes and keepers are started, which own their children"
    )]
    let mut command = Command::new(program);
    command
        .args(arguments)
        .arg(argument)
        .env_clear()
        .stdin(OwnedFd::from(end))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
}

pub(crate) fn wait_reply(
    socket: BorrowedFd<'_>,
    deadline: Instant,
    patience: Duration,
) -> Result<LauncherReply, LaunchError> {
    let rest = deadline.saturating_duration_since(Instant::now());
    let rest =
        rustix::time::Timespec::try_from(rest).map_err(|error| LaunchError::Talk(io::Error::other(error)))?;
    let mut watched = [PollFd::new(&socket, PollFlags::IN)];
    let ready = rustix::io::retry_on_intr(|| rustix::event::poll(&mut watched, Some(&rest)))
        .map_err(|error| LaunchError::Talk(error.into()))?;
    if ready == 0 {
        return Err(LaunchError::Late(patience));
    }
    message::receive_reply(socket).map_err(LaunchError::Talk)
}
