//! SIGINT, SIGTERM and SIGHUP: the first ends everything in order, the second ends the process at once.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Signals that end the process.
#[derive(Debug)]
pub struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
}

/// The signal received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// SIGINT, for example Ctrl-C.
    Interrupt,
    /// SIGTERM.
    Terminate,
    /// SIGHUP, for example a closed terminal.
    HangUp,
}

impl Ending {
    /// The POSIX number.
    pub fn number(self) -> u8 {
        match self {
            Ending::Interrupt => 2,
            Ending::Terminate => 15,
            Ending::HangUp => 1,
        }
    }
}

impl Signals {
    /// Catches the signals from now on.
    pub fn listen() -> io::Result<Signals> {
        Ok(Signals {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    /// Waits for a signal.
    pub async fn next(&mut self) -> Ending {
        tokio::select! {
            _ = self.interrupt.recv() => Ending::Interrupt,
            _ = self.terminate.recv() => Ending::Terminate,
            _ = self.hang_up.recv() => Ending::HangUp,
        }
    }
}
