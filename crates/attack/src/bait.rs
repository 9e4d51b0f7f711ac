//! A folder with everything that a file system holds besides bytes, and H's ends of it.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixDatagram, UnixListener};
use std::path::Path;

use rustix::fs::{CWD, FlockOperation, Mode, OFlags};

/// Open to everybody, whatever the umask: the mount is the guard under test, not the mode.
const OPEN: u32 = 0o666;

/// Listening sockets, a FIFO with a reader, a locked file and an unlocked one.
#[derive(Debug)]
pub(crate) struct Bait {
    listeners: [UnixListener; 2],
    mailbox: UnixDatagram,
    fifo: File,
    _locked: File,
}

impl Bait {
    pub(crate) fn lay(folder: &Path) -> io::Result<Self> {
        fs::create_dir(folder)?;
        let at = |name: &str| folder.join(name);
        let allow = |name: &str| fs::set_permissions(at(name), Permissions::from_mode(OPEN));
        let listen = |name: &str| {
            let listener = UnixListener::bind(at(name))?;
            listener.set_nonblocking(true).map(|()| listener)
        };
        let listeners = [listen("socket")?, listen("private")?];
        fs::set_permissions(at("private"), Permissions::from_mode(0o600))?;
        let mailbox = UnixDatagram::bind(at("mailbox"))?;
        mailbox.set_nonblocking(true)?;
        rustix::fs::mkfifoat(CWD, at("fifo"), Mode::from_raw_mode(OPEN))?;
        for name in ["free", "locked"] {
            fs::write(at(name), "bytes")?;
        }
        for name in ["socket", "mailbox", "fifo", "free", "locked"] {
            allow(name)?;
        }
        let both = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let fifo = rustix::fs::open(at("fifo"), both, Mode::empty())?;
        let locked = File::open(at("locked"))?;
        rustix::fs::flock(&locked, FlockOperation::NonBlockingLockExclusive)?;
        Ok(Self {
            listeners,
            mailbox,
            fifo: fifo.into(),
            _locked: locked,
        })
    }

    /// Counts and accepts what has arrived since the last call on the host's ends.
    pub(crate) fn take(&self) -> usize {
        let connected = self.listeners.iter().filter(|listener| listener.accept().is_ok());
        let mailed = self.mailbox.recv(&mut [0; 8]).is_ok();
        let written = rustix::io::read(&self.fifo, &mut [0; 8]).is_ok();
        connected.count() + usize::from(mailed) + usize::from(written)
    }
}
