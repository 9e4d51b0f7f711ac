//! The end of a login by the wish of its person.

use std::path::Path;

use super::error::LoginError;
use super::fetch::Fetch;
use super::stored::{Found, LoginFile};
use super::token;
use crate::remote;

/// How a login ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoggedOut {
    /// There was none.
    Nothing,
    /// The authorization server has forgotten it, and so have we.
    Revoked,
    /// It offers no way to have it forgotten; we have forgotten it.
    Forgotten,
    /// We have forgotten it, and the authorization server has not, for this reason.
    NotRevoked(String),
}

/// Ends the login to a server: tells its authorization server, then removes it.
///
/// # Errors
/// The login cannot be removed.
pub async fn log_out(name: &str, directory: &Path) -> Result<LoggedOut, LoginError> {
    let file = LoginFile::new(directory, name);
    let unkept = |error: std::io::Error| LoginError::Unkept(error.to_string());
    let lock = {
        let file = file.clone();
        tokio::task::spawn_blocking(move || file.lock()).await
    };
    let _lock = lock
        .map_err(std::io::Error::other)
        .and_then(|lock| lock)
        .map_err(unkept)?;
    let login = match file.read().map_err(unkept)? {
        Found::Login(login) => login,
        Found::Nothing => return Ok(LoggedOut::Nothing),
        Found::SetAside(told) => return Err(LoginError::Unkept(told)),
    };
    let told = match &login.revocation_endpoint {
        _ if login.tokens.is_none() => Ok(LoggedOut::Forgotten),
        None => Ok(LoggedOut::Forgotten),
        Some(endpoint) => match remote::parse(&login.server) {
            Ok(server) => token::revoke(&Fetch::new(server), &login, endpoint)
                .await
                .map(|()| LoggedOut::Revoked),
            Err(error) => Err(error.to_string()),
        },
    };
    file.remove().map_err(unkept)?;
    Ok(told.unwrap_or_else(LoggedOut::NotRevoked))
}
