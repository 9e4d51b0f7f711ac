//! What ends when an issuer reports a sign-out or a user is disabled: sign-ons, API tokens, sessions and programs.
//!
//! The gateway refuses requests under way by itself. Sessions of users without any valid credential are ended here, by
//! each process for its own.

use std::collections::BTreeSet;
use std::time::Duration;

use futures_util::future::join_all;
use oidc::TokenError;
use rest::RestError;
use store::sign_ons::{SignOut, SignedOut};
use types::{Principal, TenantId};

use super::super::errors::of_account;
use super::super::{GatewayApi, TENANT, now_ms};
use super::refused;
use crate::host::Host;

/// How often to look for administrative changes while users have sessions.
const EVERY: Duration = Duration::from_secs(1);

impl GatewayApi {
    /// Carries out an issuer's report.
    pub(in crate::api) async fn sign_out_by(&self, token: &str) -> Result<(), RestError> {
        let verified = self.parts.issuers.verify_logout(token, now_ms() / 1000).await;
        let claims = verified.map_err(|why| match why {
            TokenError::NoKeys => refused(why),
            // OpenID Connect Back-Channel Logout requires 400.
            why => RestError::BadRequest(why.to_string()),
        })?;
        let report = SignOut {
            issuer: &claims.issuer,
            subject: claims.subject.as_deref(),
            session: claims.session.as_deref(),
            id: &claims.id,
            issued_ms: claims.issued_ms,
            until_ms: claims.until_ms,
        };
        let mut guard = self.parts.cache.empty_on_drop();
        let ended = self
            .parts
            .tables
            .sign_ons
            .end(&TenantId::new(TENANT), report)
            .await;
        match ended.map_err(of_account)? {
            SignedOut::Ended { .. } => Ok(()),
            SignedOut::Repeated => {
                guard.disarm();
                Err(RestError::BadRequest(
                    "the logout token was used before".to_owned(),
                ))
            }
        }
    }

    /// Ends the sessions of users who have lost their last credential. Never returns.
    pub(in crate::api) async fn follow_ends(&self) {
        let mut seen = None;
        loop {
            tokio::time::sleep(EVERY).await;
            let hosts = self.parts.live.all();
            let users: BTreeSet<Principal> = hosts.iter().flat_map(principals).collect();
            if users.is_empty() {
                continue;
            }
            // The next request reports the failing database.
            let Ok(changes) = self.parts.tables.changes.count().await else {
                continue;
            };
            if seen == Some(changes) {
                continue;
            }
            let users: Vec<Principal> = users.into_iter().collect();
            if let Ok(gone) = self.parts.tables.sign_ons.without_credentials(&users).await {
                let ended = gone
                    .iter()
                    .flat_map(|user| hosts.iter().map(|host| host.dismiss(user)));
                join_all(ended).await;
                seen = Some(changes);
            }
        }
    }
}

/// Users with open sessions.
fn principals(host: &Host) -> Vec<Principal> {
    let sessions = host.shared.sessions.list();
    sessions.into_iter().map(|session| session.principal).collect()
}
