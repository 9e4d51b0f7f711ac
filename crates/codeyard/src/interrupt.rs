//! Ends a command in order when a signal asks for it, and at once when one asks again.

use server::{Ending, Signals};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::exit::Exit;

/// Watches for signals while a command works.
#[derive(Debug)]
pub struct Interrupt {
    /// Triggered by the first signal.
    pub token: CancellationToken,
    ending: watch::Receiver<Option<Ending>>,
}

impl Interrupt {
    /// Begins to watch.
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

    /// How the command ends if a signal came, else as it says itself.
    pub fn exit(&self, otherwise: Exit) -> Exit {
        match *self.ending.borrow() {
            Some(ending) => Exit::Signal(ending.number()),
            None => otherwise,
        }
    }
}

/// Whoever asks twice does not want to wait. Guests and servers end with this process by the kernel's means.
#[expect(clippy::exit, reason = "a second signal ends the process where it stands")]
fn end_at_once(ending: Ending) {
    std::process::exit(i32::from(Exit::Signal(ending.number()).code()));
}
