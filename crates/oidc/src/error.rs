//! Why a token is refused.

/// Why a token proves nothing. The texts go to clients; they repeat nothing of the token but its times.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// The text is not a signed token.
    #[error("the token is not a signed JWT")]
    Malformed,
    /// The header has a `crit` extension that is not supported; RFC 7515 forbids ignoring it.
    #[error("the token's header has critical extensions (`crit`)")]
    Critical,
    /// `none`, a symmetric algorithm, or one that the operator does not list.
    #[error("the token's algorithm is not accepted")]
    Algorithm,
    /// An ID token, a refresh token, a logout token, or one of another use.
    #[error("the token is not an access token")]
    NotAccess,
    /// The body of a logout request is another kind of token.
    #[error("the token is not a logout token")]
    NotLogout,
    /// The token is bound to a key (`cnf`), and a bearer does not prove that it has the key.
    #[error("the token is bound to a key (`cnf`); only bearer tokens are accepted")]
    Bound,
    /// The issuer is not in the settings.
    #[error("the token's issuer is not accepted")]
    Issuer,
    /// The issuer has no such key, or the key does not fit.
    #[error("the token's key is not one of the issuer's keys")]
    Key,
    /// The signature does not match: another key signed, or the token was changed.
    #[error("the token's signature is wrong")]
    Signature,
    /// The token is for another service.
    #[error("the token is for another audience")]
    Audience,
    /// `exp` or `iat` is missing, or one of the times is not a number.
    #[error("the token's claim `{0}` is missing or is not a time")]
    Time(&'static str),
    /// The claim of a logout token is missing.
    #[error("the token's claim `{0}` is missing")]
    NoClaim(&'static str),
    /// The end has passed.
    #[error("the token expired {0} s ago")]
    Expired(i64),
    /// The lifetime is too long: a stolen token could be used until its end.
    #[error(
        "the token is valid for more than 90 days; set a shorter lifetime of access tokens at the issuer"
    )]
    TooLong,
    /// The clocks differ, or the token is for later.
    #[error("the token is valid only in {0} s; do the clocks of this machine and of the issuer differ?")]
    Early(i64),
    /// The keys cannot be read now, and none are remembered.
    #[error("the issuer's keys cannot be read; try again")]
    NoKeys,
}
