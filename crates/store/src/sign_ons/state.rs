//! What is stored about who signs on, and what issuers report.

use identity::{Membership, User};

/// What is stored about who signs on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SignOnState {
    /// `None` if nobody has the address.
    pub user: Option<User>,
    /// Of the user, sorted by team.
    pub memberships: Vec<Membership>,
    /// Whether the issuer reported the end of the token's session.
    pub is_signed_out: bool,
    /// Whether the user is bound to the account.
    pub account: IssuerAccount,
    /// Whether the token is noted, so that [`SignOns::note`] would write nothing.
    pub is_noted: bool,
}

/// How a user and an account of an issuer are bound.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum IssuerAccount {
    /// Neither is bound.
    #[default]
    Unbound,
    /// They are bound to each other.
    Own {
        /// When the newest token whose claims the user has was issued, in milliseconds since 1970 by the issuer's
        /// clock; 0 before the first.
        followed_ms: i64,
    },
    /// The user is bound to another account, of this issuer or another.
    OfOtherAccount,
    /// The account is bound to another user.
    OfOtherUser,
}

/// An issuer's report that somebody has signed out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignOut<'a> {
    /// The issuer's URL.
    pub issuer: &'a str,
    /// The user at the issuer; `None` if only a session ends.
    pub subject: Option<&'a str>,
    /// The session; `None` if all of the user's end.
    pub session: Option<&'a str>,
    /// Names the report at the issuer.
    pub id: &'a str,
    /// In milliseconds since 1970, by the issuer's clock.
    pub issued_ms: i64,
    /// Until when a repetition must be recognized, in milliseconds since 1970.
    pub until_ms: i64,
}

/// The effect of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignedOut {
    /// Sign-ons ended, with the API tokens made with them.
    Ended {
        /// Number of sign-ons.
        sign_ons: u64,
        /// Number of API tokens that were valid before.
        tokens: u64,
    },
    /// The same report came before.
    Repeated,
}
