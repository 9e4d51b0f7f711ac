//! Errors of logins.

use rmcp::transport::auth::AuthError;

use crate::text::one_line;

/// Why a login failed. Messages hold no secret.
#[derive(Debug, thiserror::Error)]
pub enum LoginError {
    /// The server publishes no authorization server.
    #[error(
        "it publishes no OAuth metadata, so codeyard does not know where to log in; if it takes a token, write the token in `headers` or `bearerTokenFile`"
    )]
    Unknown,
    /// The published metadata cannot be fetched or used.
    #[error("{0}")]
    Metadata(String),
    /// The authorization server does not support PKCE.
    #[error(
        "its authorization server does not announce PKCE with S256, without which an eavesdropper could use the login; codeyard does not log in there"
    )]
    NoPkce,
    /// The authorization server does not accept Codeyard as a client.
    #[error(
        "its authorization server does not accept codeyard as a client: {0}; register a client there and write its id in `oauth.clientId`"
    )]
    Unregistered(String),
    /// The pasted redirect is not a URL.
    #[error("this is not an address; paste the whole address to which the browser was sent, from `http:` on")]
    NoAddress,
    /// The redirect belongs to another login.
    #[error("the redirect does not belong to this login: its `state` differs; nothing was exchanged")]
    State,
    /// The redirect came from another authorization server.
    #[error("the answer came from another authorization server: {0}; nothing was exchanged")]
    Issuer(String),
    /// The authorization server, or the person there, refused.
    #[error("the authorization server did not agree: {0}")]
    Refused(String),
    /// The authorization server gave no token for the code.
    #[error("the authorization server gave no token: {0}")]
    NoToken(String),
    /// The login file could not be written.
    #[error("the login could not be saved: {0}")]
    Unkept(String),
}

impl From<AuthError> for LoginError {
    fn from(error: AuthError) -> LoginError {
        let message = clean(&error.to_string());
        match error {
            AuthError::DiscoveryRequestFailed { url, source } => {
                let cause = clean(&source.to_string());
                LoginError::Metadata(format!("{} cannot be asked: {cause}", clean(url.as_str())))
            }
            AuthError::PkceUnsupported => LoginError::NoPkce,
            AuthError::NoAuthorizationSupport => LoginError::Unknown,
            AuthError::RegistrationFailed(cause) => LoginError::Unregistered(clean(&cause)),
            AuthError::AuthorizationServerMismatch {
                expected_issuer,
                received_issuer,
            } => {
                let (expected, received) = (clean(&expected_issuer), clean(&received_issuer));
                LoginError::Issuer(format!("{received} where {expected} was expected"))
            }
            AuthError::AuthorizationServerMissingIssuer { expected_issuer } => LoginError::Issuer(format!(
                "it names no issuer where {} was expected",
                clean(&expected_issuer)
            )),
            AuthError::TokenExchangeFailed(cause) => LoginError::NoToken(clean(&cause)),
            _ => LoginError::Metadata(message),
        }
    }
}

/// In one line of at most 300 characters.
pub(super) fn clean(text: &str) -> String {
    one_line(text, 300)
}
