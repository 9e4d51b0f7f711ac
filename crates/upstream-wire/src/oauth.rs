//! Logins to remote servers: OAuth 2.1 as the protocol's chapter on authorization describes it.
//!
//! ```text
//! codeyard login ── login ──► discovery, registration, a person's consent ──► login file
//! Endpoint ──────── access ─► login file ── token ──► renewed before it expires, or once it is refused
//! ```
//!
//! `rmcp` finds the authorization server, registers Codeyard and exchanges the code. Its requests go
//! through this module's HTTP client, which asks only allowed addresses. This module renews and revokes,
//! because `rmcp`
//!
//! - cannot revoke,
//! - does not store the secret of a registered client,
//! - spells the resource differently on renewal than its server.
//!
//! INVARIANT: no message, warning or log holds a token, code or secret; `rmcp`'s logs are dropped.

mod access;
mod clock;
mod error;
mod fetch;
mod login;
mod login_file;
mod login_home;
mod logins;
mod logout;
mod redirect;
mod token;
mod vault;

pub(crate) use access::{AccessError, AccessTokens};
pub use error::LoginError;
pub use login::{LoggedIn, LoginRequest, PendingLogin, begin, resume};
pub use login_file::LoginState;
pub use logins::{Logins, of_key, state, state_in_vault, state_of_text};
pub use logout::{LoggedOut, log_out, revoke_text};
pub use redirect::RedirectListener;
pub use vault::{LoginLease, LoginName, LoginVault};
