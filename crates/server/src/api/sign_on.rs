//! Users who sign on at an issuer: from a token to an identity, and what an issuer reports as ended.

mod accounts;
mod ends;
mod metadata;

use std::sync::Arc;
use std::time::{Duration, Instant};

use identity::{
    ExistingUsers, Identity, NewUsers, SignOn, SignOnRefusal, SignOnRules, TokenContext, TokenHash,
};
use oidc::{AccessToken, TokenError};
use rest::RestError;
use store::accounts::Identified;
use store::sign_ons::{IssuerAccount, SignOnState};
use types::{Principal, TenantId};

use super::errors::{of_account, unavailable};
use super::{GatewayApi, TENANT, now_ms};

/// `Retry-After` while an issuer's keys cannot be read.
const RETRY: Duration = Duration::from_secs(5);

impl GatewayApi {
    /// The identity behind an issuer's token.
    pub(super) async fn signed_on(&self, token: &str) -> Result<Option<Identity>, RestError> {
        let cache = &self.parts.cache;
        let generation = cache.refresh(&self.parts.tables.changes).await;
        let generation = generation.map_err(|trouble| unavailable(&trouble))?;
        let hash = TokenHash::of(token);
        if let Some(identity) = cache.identity(&hash) {
            return Ok(Some(identity));
        }
        let (read_at, now_ms) = (Instant::now(), now_ms());
        let verified = self
            .parts
            .issuers
            .verify(token, now_ms / 1000)
            .await
            .map_err(refused)?;
        let sign_on = verified
            .issuer
            .rules
            .decide(&verified.claims)
            .map_err(|why| not_admitted(&why))?;
        let identity = self.admitted(&verified, &sign_on).await?;
        let left = sign_on.expires_ms.saturating_sub(now_ms).max(0).unsigned_abs();
        let identified = Identified {
            identity: identity.clone(),
            is_use_due: false,
            expires_in: Some(Duration::from_millis(left)),
        };
        cache.add_identity(hash, (generation, read_at), &identified);
        Ok(Some(identity))
    }

    /// The identity of the stored user, after the stored role and memberships follow the claims.
    async fn admitted(&self, verified: &AccessToken<'_>, sign_on: &SignOn) -> Result<Identity, RestError> {
        let user = principal(sign_on)?;
        let rules = &verified.issuer.rules;
        let mut state = self.permitted_state(&user, sign_on, rules).await?;
        if state.user.is_some() && state.account == IssuerAccount::Unbound {
            let bound = self.parts.tables.sign_ons.bind(&user, sign_on).await;
            bound.map_err(of_account)?;
            state = self.permitted_state(&user, sign_on, rules).await?;
        }
        // An older token must not take back what a newer one gave.
        if !has_newer(&state, sign_on) && self.follow_claims(&user, sign_on, rules, &state).await? {
            state = self.permitted_state(&user, sign_on, rules).await?;
        }
        let Some(stored) = &state.user else {
            return Err(not_admitted(&SignOnRefusal::UnknownUser));
        };
        if !state.is_noted {
            let noted = self.parts.tables.sign_ons.note(&user, sign_on).await;
            if !noted.map_err(of_account)? {
                return Err(not_admitted(&SignOnRefusal::SignedOut));
            }
        }
        let context = TokenContext {
            scopes: Arc::new(verified.issuer.rules.scopes.clone()),
            paths: verified.paths.clone(),
        };
        let identity = Identity::signed_on(sign_on, context, stored, &state.memberships);
        identity.map_err(|why| not_admitted(&why))
    }

    /// What is stored, unless it admits nobody.
    async fn permitted_state(
        &self,
        user: &Principal,
        sign_on: &SignOn,
        rules: &SignOnRules,
    ) -> Result<SignOnState, RestError> {
        let found = self.parts.tables.sign_ons.find(user, sign_on).await;
        let state = found.map_err(of_account)?;
        match refusal(&state, rules) {
            Some(why) => Err(not_admitted(&why)),
            None => Ok(state),
        }
    }

    /// The identity again, whether or not its token has expired meanwhile; `None` if the user has signed out or is
    /// disabled.
    pub(super) async fn still_signed_on(
        &self,
        token: &str,
        identity: &Identity,
    ) -> Result<Option<Identity>, RestError> {
        let cache = &self.parts.cache;
        let refreshed = cache.refresh(&self.parts.tables.changes).await;
        refreshed.map_err(|trouble| unavailable(&trouble))?;
        if let Some(identity) = cache.identity(&TokenHash::of(token)) {
            return Ok(Some(identity));
        }
        let user = identity.principal();
        let open = self.parts.tables.sign_ons.open(user, identity.token()).await;
        let Some((stored, memberships)) = open.map_err(of_account)? else {
            return Ok(None);
        };
        Ok(identity.renewed(&stored, &memberships).ok())
    }

    /// Where tokens for the resource come from; `None` if no issuer is set.
    pub(super) fn metadata_of(&self, resource: &str) -> Option<Vec<u8>> {
        metadata::of(&self.parts.issuers, resource)
    }

    /// Whether a text may be an issuer's token, without asking anybody.
    pub(super) fn is_of_issuer(&self, token: &str) -> bool {
        !self.parts.issuers.is_empty() && oidc::looks_signed(token)
    }
}

/// The user's principal in this gateway.
fn principal(sign_on: &SignOn) -> Result<Principal, RestError> {
    identity::user(&TenantId::new(TENANT), sign_on.email.as_str()).map_err(|bad| unavailable(&bad))
}

/// Why the stored state admits nobody.
fn refusal(state: &SignOnState, rules: &SignOnRules) -> Option<SignOnRefusal> {
    if state.is_signed_out {
        return Some(SignOnRefusal::SignedOut);
    }
    match (&state.user, state.account) {
        (_, IssuerAccount::OfOtherAccount) => Some(SignOnRefusal::OtherAccount),
        (_, IssuerAccount::OfOtherUser) => Some(SignOnRefusal::OtherUser),
        (Some(user), _) if user.disabled_ms.is_some() => Some(SignOnRefusal::Disabled),
        (Some(_), IssuerAccount::Unbound) if rules.existing_users == ExistingUsers::Refuse => {
            Some(SignOnRefusal::NotLinked)
        }
        (None, _) if rules.new_users == NewUsers::Refuse => Some(SignOnRefusal::UnknownUser),
        _ => None,
    }
}

/// Whether the user already has what a newer token's claims give.
fn has_newer(state: &SignOnState, sign_on: &SignOn) -> bool {
    matches!(state.account, IssuerAccount::Own { followed_ms } if followed_ms > sign_on.issued_ms)
}

/// The refusal of an invalid token. It is logged as well, because many clients do not show the reason.
fn refused(why: TokenError) -> RestError {
    match why {
        TokenError::NoKeys => RestError::Unavailable {
            message: why.to_string(),
            retry_after: RETRY,
        },
        why => {
            tracing::info!(%why, "a token of an issuer was refused");
            RestError::InvalidToken(why.to_string())
        }
    }
}

fn not_admitted(why: &SignOnRefusal) -> RestError {
    tracing::info!(reason = why.name(), "a token of an issuer admits nobody");
    RestError::InvalidToken(why.to_string())
}
