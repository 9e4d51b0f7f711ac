//! Users who signed on at an issuer, and what issuers report as ended, shared by all processes on one database.

mod ends;
pub(crate) mod issuer_accounts;
mod rows;
mod state;

use std::sync::Arc;

use identity::{AuditAction, Membership, SignOn, TokenId, User};
use types::{Principal, TenantId};

use crate::accounts::{AccountError, AccountFault};
use crate::audit::{AuditActor, AuditedChange};
use crate::connection::{Connection, Tables};
use crate::database::Database;
use crate::slot::ConnectionSlot;

pub use state::{IssuerAccount, SignOnState, SignOut, SignedOut};

/// Reads and writes sign-ons. Cheap to clone; opens the database on first use.
#[derive(Debug, Clone)]
pub struct SignOns {
    slot: Arc<ConnectionSlot>,
    /// Looks up sign-ons, so that no request waits for a change.
    lookups: Arc<ConnectionSlot>,
}

// === impl SignOns ===

impl SignOns {
    /// Sign-ons in this database, which the records may share.
    pub fn new(database: Database) -> SignOns {
        let slot = || Arc::new(ConnectionSlot::new(database.clone(), Tables::SignOns));
        SignOns {
            slot: slot(),
            lookups: slot(),
        }
    }

    /// What is stored about whoever signs on.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn find(&self, user: &Principal, sign_on: &SignOn) -> Result<SignOnState, AccountError> {
        self.lookups
            .read(async |connection| rows::find(connection, user, sign_on).await)
            .await
    }

    /// The user of a sign-on that nobody has ended, with all memberships; `None` if it has ended.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn open(
        &self,
        user: &Principal,
        id: &TokenId,
    ) -> Result<Option<(User, Vec<Membership>)>, AccountError> {
        self.lookups
            .read(async |connection| rows::open(connection, user, id).await)
            .await
    }

    /// Binds a stored user to this account of the issuer, unless one of them is bound already.
    ///
    /// # Errors
    /// If the database cannot be written.
    pub async fn bind(&self, user: &Principal, sign_on: &SignOn) -> Result<(), AccountError> {
        self.slot
            .write(async |connection: &mut Connection| {
                Ok::<_, AccountFault>(issuer_accounts::bind(connection, user, sign_on).await?)
            })
            .await
    }

    /// Notes the newest token of a sign-on, and that the user has what its claims give. The user must exist. Returns
    /// `false` if the user has signed out meanwhile.
    ///
    /// # Errors
    /// If the database cannot be written.
    pub async fn note(&self, user: &Principal, sign_on: &SignOn) -> Result<bool, AccountError> {
        self.slot
            .write(async |connection| rows::note(connection, user, sign_on).await)
            .await
    }

    /// Ends what an issuer reports as ended: sign-ons, and the API tokens that were made with them.
    ///
    /// # Errors
    /// If the database cannot be written.
    pub async fn end(&self, tenant: &TenantId, report: SignOut<'_>) -> Result<SignedOut, AccountError> {
        let work = async |connection: &mut Connection| ends::end(connection, report).await;
        let actor = AuditActor::issuer(report.issuer);
        self.slot
            .change(&actor, work, |ended| match ended {
                SignedOut::Repeated => None,
                SignedOut::Ended { sign_ons, tokens } => {
                    let object = report.subject.or(report.session).unwrap_or_default();
                    let detail = format!("{sign_ons} sign-ons, {tokens} tokens");
                    Some(AuditedChange::new(AuditAction::SignOnEnd, tenant, object).with(detail))
                }
            })
            .await
    }

    /// Those of these users who have no valid credential any more: neither an API token nor a sign-on.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn without_credentials(&self, users: &[Principal]) -> Result<Vec<Principal>, AccountError> {
        let mut gone = Vec::new();
        for user in users {
            let lacks_all = self
                .lookups
                .read(async |connection| rows::lacks_credential(connection, user).await);
            if lacks_all.await? {
                gone.push(user.clone());
            }
        }
        Ok(gone)
    }

    /// Closes the database, and so merges the journal into the file. A later call opens the database again.
    pub async fn close(&self) {
        self.lookups.close_soon().await;
        self.slot.close_soon().await;
    }
}
