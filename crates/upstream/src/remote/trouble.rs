//! Why an exchange with a remote server came to nothing.

use std::time::Duration;

use serde_json::Value;

use crate::oauth::Denied;

/// What went wrong, by what follows from it.
#[derive(Debug)]
pub(super) enum Trouble {
    /// There is no connection: nothing was delivered.
    Unreachable(String),
    /// It will not go better the next time: the server lets us not in, or leads us astray.
    Barred(String),
    /// Somebody has to log in first.
    Login(String),
    /// The server does not know the session any more.
    Forgotten,
    /// The server speaks another transport than the one that was tried.
    NotHere(String),
    /// An error of the protocol.
    Refused(Value),
    /// A message with more than a line may have, of which so many bytes came or were announced.
    TooLong(u64),
    /// No answer; the same request may be answered later.
    Transient(String),
    /// No answer; the same request may be answered after this pause.
    Later(String, Duration),
    /// Something that is no answer.
    Nonsense(String),
}

impl From<Denied> for Trouble {
    fn from(denied: Denied) -> Trouble {
        match denied {
            Denied::Ended(cause) => Trouble::Login(cause),
            Denied::Transient(cause) => Trouble::Transient(cause),
        }
    }
}

impl Trouble {
    /// In words.
    pub(super) fn cause(&self) -> String {
        match self {
            Trouble::Unreachable(cause)
            | Trouble::Barred(cause)
            | Trouble::Login(cause)
            | Trouble::NotHere(cause)
            | Trouble::Transient(cause)
            | Trouble::Later(cause, _)
            | Trouble::Nonsense(cause) => cause.clone(),
            Trouble::Forgotten => "ended the session".to_owned(),
            Trouble::Refused(error) => error["message"].as_str().unwrap_or("it refused").to_owned(),
            Trouble::TooLong(bytes) => format!("a message of {bytes} bytes"),
        }
    }
}
