//! Why a login came to nothing.

use rmcp::transport::auth::AuthError;

/// Why there is no login; each message says what can be done, and none holds a secret.
#[derive(Debug, thiserror::Error)]
pub enum LoginError {
    /// The server says nothing of who gives tokens for it.
    #[error(
        "it does not say where one logs in to it: it publishes no metadata of OAuth; if it takes a token, write it in \
         `headers` or `bearerTokenFile`"
    )]
    Unknown,
    /// What it or its authorization server publishes cannot be had or used.
    #[error("{0}")]
    Metadata(String),
    /// The authorization server does not check that the one who began a login ends it.
    #[error(
        "its authorization server does not say that it supports PKCE with S256, without which somebody on the way could \
         use the login; codeyard does not log in there"
    )]
    NoPkce,
    /// We are nobody to the authorization server.
    #[error(
        "its authorization server does not take codeyard as a client: {0}; register one there and write it in `oauth.clientId`"
    )]
    Unregistered(String),
    /// What was given as the answer is no address.
    #[error("that is no address; paste the whole address to which the browser was sent, from `http:` on")]
    NoAddress,
    /// The answer belongs to no login of ours.
    #[error("the redirect does not belong to this login: its `state` is another one; nothing was exchanged")]
    State,
    /// The answer is another server's.
    #[error("the answer came from another authorization server: {0}; nothing was exchanged")]
    Issuer(String),
    /// The authorization server, or the person there, said no.
    #[error("the authorization server did not agree: {0}")]
    Refused(String),
    /// It gave no token for the code.
    #[error("the authorization server gave no token: {0}")]
    NoToken(String),
    /// The login could not be kept.
    #[error("the login could not be kept: {0}")]
    Unkept(String),
}

impl From<AuthError> for LoginError {
    fn from(error: AuthError) -> LoginError {
        let told = clean(&error.to_string());
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
                "it names none where {} was expected",
                clean(&expected_issuer)
            )),
            AuthError::TokenExchangeFailed(cause) => LoginError::NoToken(clean(&cause)),
            _ => LoginError::Metadata(told),
        }
    }
}

/// Words of others, in one short line.
pub(super) fn clean(text: &str) -> String {
    const SHOWN: usize = 300;
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    line.chars()
        .filter(|character| !character.is_control())
        .take(SHOWN)
        .collect()
}
