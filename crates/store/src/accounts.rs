//! Users, teams, memberships and API tokens, shared by all processes on one database.
//!
//! Every read and change names a tenant or a user of one, so nothing crosses tenants. Lists hold neither tokens nor
//! their hashes.

mod admins;
mod error;
mod lookup;
mod members;
mod page;
mod teams;
mod tokens;
mod users;

use std::sync::Arc;

use identity::{ApiToken, Identity, Membership, Role, Team, TokenHash, TokenId, User};
use types::{Principal, TeamId, TenantId};

use crate::connection::Tables;
use crate::database::Database;
use crate::slot::ConnectionSlot;
use error::AccountFault;

pub use error::{AccountError, AccountKind};
pub use lookup::{Identified, Lookup, Moment, RefusedToken};
pub use page::AccountPage;
pub use tokens::{MAX_TOKENS, NewToken, TokenCursor, TokensOf};
pub use users::UserChange;

/// Reads and writes users, teams and tokens. Cheap to clone; opens the database on first use.
#[derive(Debug, Clone)]
pub struct Accounts {
    slot: Arc<ConnectionSlot>,
    /// Looks up tokens, so that no request waits for a list or a change.
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

    /// Makes a user.
    pub async fn create_user(&self, user: &Principal, role: Role) -> Result<User, AccountError> {
        self.slot
            .write(async |connection| users::create(connection, user, role).await)
            .await
    }

    /// One user, if there is one.
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

    /// Changes a user. The next lookup of the user's tokens sees the change.
    pub async fn change_user(&self, user: &Principal, change: UserChange) -> Result<User, AccountError> {
        self.slot
            .write(async |connection| users::change(connection, user, change).await)
            .await
    }

    /// Like [`Accounts::change_user`], and refuses to disable or demote the last enabled platform admin.
    pub async fn change_user_keeping_admin(
        &self,
        user: &Principal,
        change: UserChange,
    ) -> Result<User, AccountError> {
        self.slot
            .write(async |connection| admins::change(connection, user, change).await)
            .await
    }

    /// Removes a user with all memberships and tokens; `false` if the user is unknown.
    pub async fn delete_user(&self, user: &Principal) -> Result<bool, AccountError> {
        self.slot
            .write(async |connection| users::delete(connection, user).await)
            .await
    }

    /// Like [`Accounts::delete_user`], and refuses to remove the last enabled platform admin.
    pub async fn delete_user_keeping_admin(&self, user: &Principal) -> Result<bool, AccountError> {
        self.slot
            .write(async |connection| admins::delete(connection, user).await)
            .await
    }

    /// Makes a team.
    pub async fn create_team(
        &self,
        tenant: &TenantId,
        team: &TeamId,
        name: &str,
    ) -> Result<Team, AccountError> {
        identity::check_name(name)?;
        self.slot
            .write(async |connection| teams::create(connection, tenant, team, name).await)
            .await
    }

    /// One team, if there is one.
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

    /// Those of these teams that there are, sorted by id.
    pub async fn teams_among(&self, tenant: &TenantId, teams: &[&TeamId]) -> Result<Vec<Team>, AccountError> {
        self.slot
            .read(async |connection| teams::among(connection, tenant, teams).await)
            .await
    }

    /// Gives a team another name for people.
    pub async fn rename_team(
        &self,
        tenant: &TenantId,
        team: &TeamId,
        name: &str,
    ) -> Result<Team, AccountError> {
        identity::check_name(name)?;
        self.slot
            .write(async |connection| teams::rename(connection, tenant, team, name).await)
            .await
    }

    /// Removes a team with its memberships; `false` if the team is unknown. Tokens lose the team.
    pub async fn delete_team(&self, tenant: &TenantId, team: &TeamId) -> Result<bool, AccountError> {
        self.slot
            .write(async |connection| teams::delete(connection, tenant, team).await)
            .await
    }

    /// Makes the user a member of a team of the same tenant, or changes the role there.
    pub async fn set_member(
        &self,
        team: &TeamId,
        user: &Principal,
        role: Role,
    ) -> Result<Membership, AccountError> {
        if !role.is_for_teams() {
            return Err(AccountError::NotForTeams(role));
        }
        self.slot
            .write(async |connection| members::set(connection, team, user, role).await)
            .await
    }

    /// Ends a membership; `false` if there is none.
    pub async fn remove_member(&self, team: &TeamId, user: &Principal) -> Result<bool, AccountError> {
        self.slot
            .write(async |connection| members::remove(connection, team, user).await)
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

    /// Stores a token. The owner must exist, and be a member of the token's teams or a platform admin.
    pub async fn create_token(&self, token: NewToken<'_>) -> Result<ApiToken, AccountError> {
        self.slot
            .write(async |connection| tokens::create(connection, token).await)
            .await
    }

    /// One token of the tenant, if there is one; expired and revoked ones too.
    pub async fn token(&self, tenant: &TenantId, id: &TokenId) -> Result<Option<ApiToken>, AccountError> {
        self.slot
            .read(async |connection| tokens::load(connection, tenant, id).await)
            .await
    }

    /// Tokens, newest first; expired and revoked ones too.
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

    /// Revokes a token and, without end, the tokens that its owner made with it. Returns the token, `None` if it is
    /// unknown. A second call changes nothing.
    pub async fn revoke_token(
        &self,
        tenant: &TenantId,
        id: &TokenId,
    ) -> Result<Option<ApiToken>, AccountError> {
        self.slot
            .write(async |connection| tokens::revoke(connection, tenant, id).await)
            .await
    }

    /// The identity behind a token, as of this moment: by its expiry, and by its owner's roles and teams.
    pub async fn find(&self, hash: &TokenHash, moment: Moment) -> Result<Lookup, AccountError> {
        let found = self.lookups.read(async |connection| {
            let found = lookup::find(connection, hash, moment).await?;
            Ok::<_, AccountFault>(Some(found))
        });
        Ok(found.await?.unwrap_or_else(Lookup::unknown))
    }

    /// Notes that the token was used, exact to a minute. [`Identified::is_use_due`] says when that is needed.
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
