//! Changes of users, teams and tokens, each with its row in the audit table.

use identity::{ApiToken, AuditAction, Membership, Role, SignOn, Team, TokenId, TokenTeams, User};
use types::{Principal, TeamId, TenantId};

use super::error::{AccountError, AccountFault};
use super::tokens::NewToken;
use super::users::UserChange;
use super::{Accounts, admins, members, teams, tokens, users};
use crate::audit::{AuditActor, AuditedChange, conclude};
use crate::connection::Connection;
use crate::sign_ons::issuer_accounts;

/// Changes users, teams and tokens. The row of a change is committed with it.
#[derive(Debug, Clone, Copy)]
pub struct AccountChanges<'a> {
    pub(super) accounts: &'a Accounts,
    pub(super) actor: &'a AuditActor,
}

// === impl AccountChanges ===

impl AccountChanges<'_> {
    /// Creates a user.
    pub async fn create_user(self, user: &Principal, role: Role) -> Result<User, AccountError> {
        let work = async |connection: &mut Connection| {
            connection.begin_to_write().await?;
            users::create(connection, user, role).await
        };
        self.accounts
            .slot
            .change(self.actor, work, |_| {
                Some(of_user(AuditAction::UserCreate, user).with(format!("role {role}")))
            })
            .await
    }

    /// Creates a user bound to an account of an issuer.
    pub async fn create_signed_on(
        self,
        user: &Principal,
        role: Role,
        sign_on: &SignOn,
    ) -> Result<User, AccountError> {
        let work = async |connection: &mut Connection| {
            connection.begin_to_write().await?;
            let created = users::create(connection, user, role).await?;
            issuer_accounts::bind(connection, user, sign_on).await?;
            Ok::<_, AccountFault>(created)
        };
        self.accounts
            .slot
            .change(self.actor, work, |_| {
                Some(of_user(AuditAction::UserCreate, user).with(format!("role {role}")))
            })
            .await
    }

    /// Changes a user. The next lookup of the user's tokens sees the change.
    pub async fn change_user(self, user: &Principal, change: UserChange) -> Result<User, AccountError> {
        let work = async |connection: &mut Connection| {
            connection.begin_to_write().await?;
            users::change(connection, user, change).await
        };
        self.accounts
            .slot
            .change(self.actor, work, |_| Some(of_change(user, change)))
            .await
    }

    /// Like [`AccountChanges::change_user`], and refuses to disable or demote the last enabled platform admin.
    pub async fn change_user_keeping_admin(
        self,
        user: &Principal,
        change: UserChange,
    ) -> Result<User, AccountError> {
        let work = async |connection: &mut Connection| admins::change(connection, user, change).await;
        self.accounts
            .slot
            .change(self.actor, work, |_| Some(of_change(user, change)))
            .await
    }

    /// Removes a user with all memberships and tokens; `false` if the user is unknown.
    pub async fn delete_user(self, user: &Principal) -> Result<bool, AccountError> {
        let work = async |connection: &mut Connection| {
            connection.begin_to_write().await?;
            users::delete(connection, user).await
        };
        self.accounts
            .slot
            .change(self.actor, work, |was_there| {
                was_there.then(|| of_user(AuditAction::UserDelete, user))
            })
            .await
    }

    /// Like [`AccountChanges::delete_user`], and refuses to remove the last enabled platform admin.
    pub async fn delete_user_keeping_admin(self, user: &Principal) -> Result<bool, AccountError> {
        let work = async |connection: &mut Connection| admins::delete(connection, user).await;
        self.accounts
            .slot
            .change(self.actor, work, |was_there| {
                was_there.then(|| of_user(AuditAction::UserDelete, user))
            })
            .await
    }

    /// Creates a team.
    pub async fn create_team(
        self,
        tenant: &TenantId,
        team: &TeamId,
        name: &str,
    ) -> Result<Team, AccountError> {
        identity::check_name(name)?;
        let work = async |connection: &mut Connection| {
            connection.begin_to_write().await?;
            teams::create(connection, tenant, team, name).await
        };
        self.accounts
            .slot
            .change(self.actor, work, |_| {
                Some(AuditedChange::new(AuditAction::TeamCreate, tenant, team).with(name))
            })
            .await
    }

    /// Changes a team's display name.
    pub async fn rename_team(
        self,
        tenant: &TenantId,
        team: &TeamId,
        name: &str,
    ) -> Result<Team, AccountError> {
        identity::check_name(name)?;
        let work = async |connection: &mut Connection| {
            connection.begin_to_write().await?;
            teams::rename(connection, tenant, team, name).await
        };
        self.accounts
            .slot
            .change(self.actor, work, |_| {
                Some(AuditedChange::new(AuditAction::TeamUpdate, tenant, team).with(name))
            })
            .await
    }

    /// Removes a team with its memberships; `false` if the team is unknown. Tokens lose the team.
    pub async fn delete_team(self, tenant: &TenantId, team: &TeamId) -> Result<bool, AccountError> {
        let work = async |connection: &mut Connection| {
            connection.begin_to_write().await?;
            teams::delete(connection, tenant, team).await
        };
        self.accounts
            .slot
            .change(self.actor, work, |was_there| {
                was_there.then(|| AuditedChange::new(AuditAction::TeamDelete, tenant, team))
            })
            .await
    }

    /// Makes the user a member of a team of the same tenant, or changes the role there.
    pub async fn set_member(
        self,
        team: &TeamId,
        user: &Principal,
        role: Role,
    ) -> Result<Membership, AccountError> {
        if !role.is_for_teams() {
            return Err(AccountError::NotForTeams(role));
        }
        let work = async |connection: &mut Connection| {
            connection.begin_to_write().await?;
            members::set(connection, team, user, role).await
        };
        self.accounts
            .slot
            .change(self.actor, work, |_| {
                Some(of_member(AuditAction::MemberSet, team, user).with(format!("role {role}")))
            })
            .await
    }

    /// Ends a membership; `false` if there is none.
    pub async fn remove_member(self, team: &TeamId, user: &Principal) -> Result<bool, AccountError> {
        let work = async |connection: &mut Connection| {
            connection.begin_to_write().await?;
            members::remove(connection, team, user).await
        };
        self.accounts
            .slot
            .change(self.actor, work, |was_there| {
                was_there.then(|| of_member(AuditAction::MemberRemove, team, user))
            })
            .await
    }

    /// Stores a token. The owner must exist, and be a member of the token's teams or a platform admin.
    pub async fn create_token(self, token: NewToken<'_>) -> Result<ApiToken, AccountError> {
        let work = async |connection: &mut Connection| {
            tokens::begin(connection, &token.grant.owner).await?;
            tokens::create(connection, token).await
        };
        self.accounts
            .slot
            .change(self.actor, work, |token| Some(of_new_token(token)))
            .await
    }

    /// Revokes a token and, recursively, the tokens that its owner created with it. Returns the token, `None` if it is
    /// unknown. A second call changes nothing.
    pub async fn revoke_token(
        self,
        tenant: &TenantId,
        id: &TokenId,
    ) -> Result<Option<ApiToken>, AccountError> {
        let slot = &self.accounts.slot;
        slot.write(async |connection| {
            let Some(token) = tokens::load(connection, tenant, id).await? else {
                return Ok(None);
            };
            tokens::begin(connection, &token.grant.owner).await?;
            let revoked = tokens::revoke(connection, &token)
                .await
                .map_err(AccountFault::from);
            let change = |count: &u64| Some(of_revoked(&token, *count));
            conclude(connection, self.actor, revoked, change).await?;
            tokens::load(connection, tenant, id).await
        })
        .await
    }
}

fn of_user(action: AuditAction, user: &Principal) -> AuditedChange {
    AuditedChange::new(action, user.tenant(), user.user())
}

fn of_change(user: &Principal, UserChange { role, disabled }: UserChange) -> AuditedChange {
    let role = role.map(|role| format!("role {role}"));
    let state = disabled.map(|disabled| if disabled { "disabled" } else { "enabled" }.to_owned());
    let changes: Vec<String> = role.into_iter().chain(state).collect();
    of_user(AuditAction::UserUpdate, user).with(changes.join(", "))
}

fn of_member(action: AuditAction, team: &TeamId, user: &Principal) -> AuditedChange {
    AuditedChange::new(action, user.tenant(), format!("{team}/{}", user.user()))
}

fn of_new_token(token: &ApiToken) -> AuditedChange {
    let grant = &token.grant;
    let teams = match &grant.teams {
        TokenTeams::Unrestricted => "all teams".to_owned(),
        TokenTeams::Only(teams) if teams.is_empty() => "no team".to_owned(),
        TokenTeams::Only(teams) => {
            let teams: Vec<&str> = teams.iter().map(TeamId::as_str).collect();
            format!("teams {}", teams.join(" "))
        }
    };
    let detail = format!("of {}: role {}, {teams}", grant.owner.user(), grant.role);
    AuditedChange::new(AuditAction::TokenCreate, grant.owner.tenant(), &token.id).with(detail)
}

fn of_revoked(token: &ApiToken, count: u64) -> AuditedChange {
    let owner = &token.grant.owner;
    // The count includes tokens that were created with this token.
    let detail = match count {
        0 => format!("of {}: revoked before", owner.user()),
        1 => format!("of {}", owner.user()),
        count => format!("of {}: {count} tokens", owner.user()),
    };
    AuditedChange::new(AuditAction::TokenRevoke, owner.tenant(), &token.id).with(detail)
}
