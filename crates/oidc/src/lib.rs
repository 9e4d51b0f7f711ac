//! Verifies the tokens of OpenID Connect issuers: signatures by the issuer's published keys, and the standard claims.
//!
//! ```text
//! token's text ─► SignedToken ─► issuer by `iss` ─► KeyCache ─► signature ─► claims ─► identity::SignOnRules
//!                                                     │ (fetch: bounded, single-flight, no redirects)
//!                                                     ▼
//!                                                  issuer's JWKS
//! ```
//!
//! INVARIANTS: only asymmetric algorithms that the operator lists; the key decides which of them fit. A token is read
//! before its signature is checked only to choose issuer and key. No message repeats a token.

mod algorithm;
mod claims;
mod config;
mod error;
mod fetch;
mod issuers;
mod key;
mod key_cache;
mod token;

pub use algorithm::{Algorithm, BadAlgorithm};
pub use claims::LogoutClaims;
pub use config::{BadIssuer, IssuerConfig, MAX_LEEWAY, check_issuer};
pub use error::TokenError;
pub use issuers::{AccessToken, Issuers};
pub use token::looks_signed;
