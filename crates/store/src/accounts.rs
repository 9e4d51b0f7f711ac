//! Users, teams, memberships and API tokens, shared by all processes on one database.
//!
//! Every read and change names a tenant or its user, so no access crosses tenants. Lists hold neither tokens nor
//! their hashes.

mod admins;
mod changes;
mod error;
mod lookup;
pub(crate) mod members;
mod page;
mod teams;
mod tokens;
pub(crate) mod users;

use std::sync::Arc;

use identity::{ApiToken, Identity, Membership, Team, TokenHash, TokenId, User};
use types::{Principal, TeamId, TenantId};

use crate::audit::AuditActor;
use crate::connection::Tables;
use crate::database::Database;
use crate::slot::ConnectionSlot;

pub(crate) use error::AccountFault;
pub(crate) use users::of;

pub use changes::AccountChanges;
pub use error::{AccountError, AccountKind};
pub use lookup::{Identified, Lookup, Moment, RefusedToken};
pub use page::AccountPage;
pub use tokens::{MAX_TOKENS, NewToken, TokenCursor, TokensOf};
pub use users::UserChange;

/// Reads and writes users, teams and tokens. Cheap to clone; opens the database on first use.
#[derive(Debug, Clone)]
pub struct Accounts {
    slot: Arc<ConnectionSlot>,
    /// A second connection, so that a token's lookup does not wait for a list or a change.
    lookups: Arc<ConnectionSlot>,
}

// === impl Accounts ===

impl Accounts {
    /// Users, teams and tokens in this database, which the records may share.
    pub fn new(database: Database) -> Accounts {
        let slot = || Arc::new(ConnectionSlot::new(database.clone(), Tables::Accounts));
        Accounts {
            slot: slot(),
            lookups: slot(),
        }
    }

    /// Location of the users, teams and tokens.
    pub fn database(&self) -> &Database {
        self.slot.database()
    }

    /// Changes that the audit table records under this actor.
    pub fn by<'a>(&'a self, actor: &'a AuditActor) -> AccountChanges<'a> {
        AccountChanges {
            accounts: self,
            actor,
        }
    }

    /// The user, if the user exists.
    pub async fn user(&self, user: &Principal) -> Result<Option<User>, AccountError> {
        self.slot
            .read(async |connection| users::load(connection, user).await)
            .await
    }

    /// The users of a tenant, sorted by address.
    pub async fn users(&self, tenant: &TenantId, page: AccountPage<'_>) -> Result<Vec<User>, AccountError> {
        self.slot
            .read(async |connection| users::all(connection, tenant, page).await)
            .await
    }

    /// The team, if it exists.
    pub async fn team(&self, tenant: &TenantId, team: &TeamId) -> Result<Option<Team>, AccountError> {
        self.slot
            .read(async |connection| teams::load(connection, tenant, team).await)
            .await
    }

    /// The teams of a tenant, sorted by id.
    pub async fn teams(&self, tenant: &TenantId, page: AccountPage<'_>) -> Result<Vec<Team>, AccountError> {
        self.slot
            .read(async |connection| teams::all(connection, tenant, page).await)
            .await
    }

    /// The existing teams among these ids, sorted by id.
    pub async fn teams_among(&self, tenant: &TenantId, teams: &[&TeamId]) -> Result<Vec<Team>, AccountError> {
        self.slot
            .read(async |connection| teams::among(connection, tenant, teams).await)
            .await
    }

    /// The members of a team, sorted by address.
    pub async fn members(
        &self,
        tenant: &TenantId,
        team: &TeamId,
        page: AccountPage<'_>,
    ) -> Result<Vec<Membership>, AccountError> {
        self.slot
            .read(async |connection| members::of_team(connection, tenant, team, page).await)
            .await
    }

    /// The memberships of a user, sorted by team.
    pub async fn memberships(&self, user: &Principal) -> Result<Vec<Membership>, AccountError> {
        self.slot
            .read(async |connection| members::of_user(connection, user).await)
            .await
    }

    /// The tenant's token with this id, even if expired or revoked.
    pub async fn token(&self, tenant: &TenantId, id: &TokenId) -> Result<Option<ApiToken>, AccountError> {
        self.slot
            .read(async |connection| tokens::load(connection, tenant, id).await)
            .await
    }

    /// Tokens, newest first, including expired and revoked tokens.
    pub async fn tokens(
        &self,
        of: TokensOf<'_>,
        after: Option<&TokenCursor>,
        limit: u32,
    ) -> Result<Vec<ApiToken>, AccountError> {
        self.slot
            .read(async |connection| tokens::all(connection, of, after, limit).await)
            .await
    }

    /// The identity behind a token at this moment: respects expiry and the owner's roles and teams.
    pub async fn find(&self, hash: &TokenHash, moment: Moment) -> Result<Lookup, AccountError> {
        let found = self.lookups.read(async |connection| {
            let found = lookup::find(connection, hash, moment).await?;
            Ok::<_, AccountFault>(Some(found))
        });
        Ok(found.await?.unwrap_or_else(Lookup::unknown))
    }

    /// Records the token's use, at most once a minute; needed if [`Identified::is_use_due`].
    pub async fn note_use(&self, identity: &Identity, moment: Moment) -> Result<(), AccountError> {
        self.slot
            .write(async |connection| lookup::note_use(connection, identity, moment).await)
            .await
    }

    /// Closes the database, and so merges the journal into the file. A later call opens the database again.
    pub async fn close(&self) {
        self.lookups.close_soon().await;
        self.slot.close_soon().await;
    }
}
