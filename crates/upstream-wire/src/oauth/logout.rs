//! Logs out of a server.

use super::error::LoginError;
use super::fetch::Fetch;
use super::login_file::StoredLogin;
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
    let file = logins.file(name);
    let unkept = |error: std::io::Error| LoginError::Unkept(error.to_string());
    let _lock = file.blocking(|file| file.lock()).await.map_err(unkept)?;
    let login = match file.read().map_err(unkept)? {
        StoredLogin::Login(login) => login,
        StoredLogin::Nothing => return Ok(LoggedOut::Nothing),
        StoredLogin::SetAside(warning) => return Err(LoginError::Unkept(warning)),
    };
    let result = match &login.revocation_endpoint {
        _ if login.tokens.is_none() => Ok(LoggedOut::Forgotten),
        None => Ok(LoggedOut::Forgotten),
        Some(endpoint) => match address::parse(&login.server) {
            Ok(server) => token::revoke(&Fetch::new(server), &login, endpoint)
                .await
                .map(|()| LoggedOut::Revoked),
            Err(error) => Err(error.to_string()),
        },
    };
    file.remove().map_err(unkept)?;
    Ok(result.unwrap_or_else(LoggedOut::NotRevoked))
}
