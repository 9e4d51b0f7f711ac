//! Network namespaces of sessions, made by the launcher in advance.
//!
//! Making a network namespace takes as long as all other steps of a session together.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use jail::zygote::Zygote as ZygoteProcess;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::sync::Mutex;

const SPARE: usize = 8;

/// The socket on which network namespaces arrive.
#[derive(Debug)]
pub struct NetworkNamespaces {
    socket: AsyncFd<OwnedFd>,
    /// Only one session at a time waits for a namespace.
    turn: Mutex<()>,
}

impl NetworkNamespaces {
    /// Orders the first namespaces from the launcher.
    pub fn of(zygote: &ZygoteProcess) -> io::Result<Self> {
        let socket = sandbox::watch(
            zygote.networks().as_fd().try_clone_to_owned()?,
            Interest::READABLE,
        )?;
        for _ in 0..SPARE {
            zygote
                .order_network()
                .map_err(|_| io::Error::from(io::ErrorKind::UnexpectedEof))?;
        }
        Ok(Self {
            socket,
            turn: Mutex::new(()),
        })
    }

    /// Takes one namespace. The caller orders the next.
    ///
    /// # Errors
    /// `UnexpectedEof` if the launcher is gone, else why no namespace could be made.
    pub async fn take(&self, zygote: &ZygoteProcess) -> io::Result<OwnedFd> {
        let _turn = self.turn.lock().await;
        loop {
            let mut ready = self
                .socket
                .readable()
                .await
                .map_err(|_| io::ErrorKind::UnexpectedEof)?;
            if let Ok(network) = ready.try_io(|_| zygote.take_network()) {
                return network;
            }
        }
    }
}
