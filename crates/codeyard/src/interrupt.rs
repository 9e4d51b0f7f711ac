//! The first signal ends a command in order, the second at once.

use server::{Ending, Signals};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::exit::Exit;

#[derive(Debug)]
pub struct Interrupt {
    /// Cancelled by the first signal.
    pub token: CancellationToken,
    ending: watch::Receiver<Option<Ending>>,
}

impl Interrupt {
    pub fn watch() -> anyhow::Result<Interrupt> {
        let mut signals = Signals::listen()?;
        let token = CancellationToken::new();
        let triggered = token.clone();
        let (told, ending) = watch::channel(None);
        tokio::spawn(async move {
            told.send_replace(Some(signals.next().await));
            triggered.cancel();
            let again = signals.next().await;
            end_at_once(again);
        });
        Ok(Interrupt { token, ending })
    }

    /// The signal's exit code after a signal, else `otherwise`.
    pub fn exit(&self, otherwise: Exit) -> Exit {
        match *self.ending.borrow() {
            Some(ending) => Exit::Signal(ending.number()),
            None => otherwise,
        }
    }
}

/// The kernel ends guests and servers with this process.
#[expect(clippy::exit, reason = "a second signal ends the process where it stands")]
fn end_at_once(ending: Ending) {
    std::process::exit(i32::from(Exit::Signal(ending.number()).code()));
}
