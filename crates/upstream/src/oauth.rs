//! Logging in to remote servers: OAuth 2.1 as the protocol's chapter on authorization has it.
//!
//! ```text
//! codeyard login ── login ──► discovery, registration, a person's consent ──► stored
//! Endpoint ──────── access ─► stored ── token ──► renewed before it expires, or once it is refused
//! ```
//!
//! The library finds the authorization server, registers us and exchanges the code, through a client of ours that keeps to
//! the addresses that are allowed. Renewing and revoking are ours: the library revokes nothing, keeps no secret of a
//! registered client, and names the resource on renewal in other letters than its server does.
//!
//! INVARIANT: no token, code or secret is in any message, warning or log; what the library logs is dropped.

mod access;
mod error;
mod fetch;
mod login;
mod logout;
mod redirect;
mod stored;
mod token;

use std::time::{SystemTime, UNIX_EPOCH};

pub(crate) use access::{Access, Denied};
pub use error::LoginError;
pub use login::{Attempt, LoggedIn, Wish, begin};
pub use logout::{LoggedOut, log_out};
pub use redirect::Listener;
pub use stored::{State, state};

/// Seconds since 1970.
fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap_or_default().as_secs()
}
