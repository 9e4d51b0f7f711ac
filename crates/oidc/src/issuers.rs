//! All issuers of the settings: a token's text becomes verified claims.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::claims::{LogoutClaims, check_access, check_logout, make_times_whole};
use crate::fetch::Fetcher;
use crate::key_cache::{KeyCache, KnownKeys};
use crate::token::SignedToken;
use crate::{Algorithm, IssuerConfig, TokenError};

/// Verifies tokens of these issuers, and of no others.
#[derive(Debug)]
pub struct Issuers {
    all: Vec<Arc<KeyCache>>,
}

/// An access token whose signature, issuer, audience and times are right.
#[derive(Debug)]
pub struct AccessToken<'a> {
    /// Its issuer.
    pub issuer: &'a IssuerConfig,
    /// Everything that the issuer says; its times are whole seconds.
    pub claims: Map<String, Value>,
    /// The paths that the audiences name; `None` for the whole gateway.
    pub paths: Option<Vec<String>>,
}

// === impl Issuers ===

impl Issuers {
    /// Reads no keys yet.
    pub fn new(configs: Vec<IssuerConfig>) -> Issuers {
        let fetcher = Arc::new(Fetcher::default());
        let caches = configs
            .into_iter()
            .map(|config| Arc::new(KeyCache::new(config, fetcher.clone())));
        Issuers {
            all: caches.collect(),
        }
    }

    /// Whether no issuer is set.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The URLs of all issuers, for clients that look for one.
    pub fn urls(&self) -> Vec<&str> {
        self.all
            .iter()
            .map(|cache| cache.config.issuer.as_str())
            .collect()
    }

    /// The scopes of all issuers, sorted.
    pub fn scopes(&self) -> Vec<&str> {
        let scopes = self.all.iter().flat_map(|cache| cache.config.rules.scopes.keys());
        scopes
            .map(String::as_str)
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect()
    }

    /// Verifies an access token at this time, in seconds since 1970.
    ///
    /// # Errors
    /// Why the token proves nothing; [`TokenError::NoKeys`] if that may change.
    pub async fn verify(&self, text: &str, now: i64) -> Result<AccessToken<'_>, TokenError> {
        let (cache, mut token) = self.signed(text).await?;
        let paths = check_access(&token.header, &token.claims, &cache.config, now)?;
        make_times_whole(&mut token.claims);
        Ok(AccessToken {
            issuer: &cache.config,
            claims: token.claims,
            paths,
        })
    }

    /// Verifies a logout token at this time, in seconds since 1970.
    ///
    /// # Errors
    /// Why the token proves nothing; [`TokenError::NoKeys`] if that may change.
    pub async fn verify_logout(&self, text: &str, now: i64) -> Result<LogoutClaims, TokenError> {
        let (cache, token) = self.signed(text).await?;
        check_logout(&token.header, &token.claims, &cache.config, now)
    }

    /// The token with the issuer that signed it.
    async fn signed<'a>(&self, text: &'a str) -> Result<(&Arc<KeyCache>, SignedToken<'a>), TokenError> {
        let token = SignedToken::read(text)?;
        let issuer = token.claims.get("iss").and_then(Value::as_str);
        let cache = self
            .all
            .iter()
            .find(|cache| Some(cache.config.issuer.as_str()) == issuer);
        let cache = cache.ok_or(TokenError::Issuer)?;
        let algorithm: Algorithm = token.header.alg.parse().map_err(|_| TokenError::Algorithm)?;
        if !cache.config.algorithms.contains(&algorithm) {
            return Err(TokenError::Algorithm);
        }
        let known = cache.keys().await?;
        let mut checked = check_signature(&token, algorithm, &known);
        // The issuer may have another key since, also under the same name.
        if checked.is_err()
            && let Some(newer) = cache.newer(&known).await
        {
            checked = check_signature(&token, algorithm, &newer);
        }
        checked.map(|()| (cache, token))
    }
}

/// A token without the name of a key may be of any key that fits.
fn check_signature(
    token: &SignedToken<'_>,
    algorithm: Algorithm,
    known: &KnownKeys,
) -> Result<(), TokenError> {
    let named = token.header.kid.as_ref();
    let fitting = known.keys.iter().filter(|key| key.fits(algorithm));
    let mut fitting = fitting
        .filter(|key| named.is_none_or(|named| key.id.as_ref() == Some(named)))
        .peekable();
    if fitting.peek().is_none() {
        return Err(TokenError::Key);
    }
    match fitting.any(|key| key.verifies(algorithm, token.message, &token.signature)) {
        true => Ok(()),
        false => Err(TokenError::Signature),
    }
}
