//! Why the rules admit nobody with a token whose signature is right.

use crate::BadEmail;

/// Why a verified token admits nobody. The texts go to clients, so they repeat little of the token.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SignOnRefusal {
    /// The claim is absent, empty or not a string.
    #[error("the token has no claim `{0}`")]
    NoClaim(String),
    /// The claim is not a valid email address.
    #[error("the token's address of the user: {0}")]
    Email(#[from] BadEmail),
    /// The issuer says that nobody has checked the address.
    #[error("the issuer has not verified the user's address (`email_verified`)")]
    Unverified,
    /// The claim `act` has no `sub`.
    #[error("the token's claim `act` names no agent in `sub`")]
    BadAgent,
    /// The agent is not on the operator's list.
    #[error(
        "agent '{0}' may not act for users here; the operator lists agents in `[[gateway.issuers]] agents`"
    )]
    Agent(String),
    /// The user does not exist, and first sign-ons create none.
    #[error("the user is not known here; an administrator creates users")]
    UnknownUser,
    /// An administrator disabled the user.
    #[error("the user is disabled")]
    Disabled,
    /// The user is bound to another account, of this issuer or another.
    #[error(
        "the user with this address signs on with another account; an administrator removes that user first"
    )]
    OtherAccount,
    /// The account is bound to another user, whose address it had before.
    #[error(
        "this account is another user here, by its earlier address; an administrator removes that user first"
    )]
    OtherUser,
    /// An administrator created the user, and the settings do not allow accounts to be linked to existing users.
    #[error(
        "an administrator created the user with this address; the operator links such users with \
         `existing_users = \"link\"` in `[[gateway.issuers]]`"
    )]
    NotLinked,
    /// The issuer reported the end of the session.
    #[error("the user has signed out; sign in again")]
    SignedOut,
}

// === impl SignOnRefusal ===

impl SignOnRefusal {
    /// For records of refused attempts.
    pub fn name(&self) -> &'static str {
        match self {
            SignOnRefusal::NoClaim(_) => "claim_missing",
            SignOnRefusal::Email(_) => "address_invalid",
            SignOnRefusal::Unverified => "address_unverified",
            SignOnRefusal::BadAgent => "agent_invalid",
            SignOnRefusal::Agent(_) => "agent_refused",
            SignOnRefusal::UnknownUser => "user_unknown",
            SignOnRefusal::Disabled => "user_disabled",
            SignOnRefusal::OtherAccount => "account_changed",
            SignOnRefusal::OtherUser => "address_changed",
            SignOnRefusal::NotLinked => "user_not_linked",
            SignOnRefusal::SignedOut => "signed_out",
        }
    }
}
