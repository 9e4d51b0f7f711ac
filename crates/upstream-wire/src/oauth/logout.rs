//! Logs out of a server.

use super::error::LoginError;
use super::fetch::Fetch;
use super::login_file::{Login, StoredLogin, read_document};
use super::logins::Logins;
use super::token;
use crate::http_client::address;

/// The result of logging out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoggedOut {
    /// There was no login.
    Nothing,
    /// The authorization server has revoked the tokens; the login file is removed.
    Revoked,
    /// The authorization server offers no revocation; the login file is removed.
    Forgotten,
    /// The revocation failed for this reason; the login file is removed.
    NotRevoked(String),
}

/// Ends the login to a server: revokes its tokens, then removes the login file.
///
/// # Errors
/// If the login file cannot be removed.
pub async fn log_out(name: &str, logins: &Logins) -> Result<LoggedOut, LoginError> {
    let Some(file) = logins.file(name) else {
        return Ok(LoggedOut::Nothing);
    };
    let unkept = |error: std::io::Error| LoginError::Unkept(error.to_string());
    let _lock = file.blocking(|file| file.lock()).await.map_err(unkept)?;
    let login = match file.read().map_err(unkept)? {
        StoredLogin::Login(login) => login,
        StoredLogin::Nothing => return Ok(LoggedOut::Nothing),
        StoredLogin::SetAside(warning) => return Err(LoginError::Unkept(warning)),
    };
    let result = revoke(&login).await;
    file.remove().map_err(unkept)?;
    Ok(result.unwrap_or_else(LoggedOut::NotRevoked))
}

/// Revokes the tokens of a login that was deleted from a [`LoginVault`](super::LoginVault). `text` is the login's text.
pub async fn revoke_text(text: &str) -> LoggedOut {
    match read_document(text.as_bytes()) {
        Ok(login) => revoke(&login).await.unwrap_or_else(LoggedOut::NotRevoked),
        Err(why) => LoggedOut::NotRevoked(why.to_owned()),
    }
}

pub(super) async fn revoke(login: &Login) -> Result<LoggedOut, String> {
    match &login.revocation_endpoint {
        Some(endpoint) if login.tokens.is_some() => {
            let server = address::parse(&login.server).map_err(|error| error.to_string())?;
            token::revoke(&Fetch::new(server), login, endpoint).await?;
            Ok(LoggedOut::Revoked)
        }
        _ => Ok(LoggedOut::Forgotten),
    }
}
