//! Stored users follow the claims of their issuer: they are created, and get and lose roles and memberships.

use identity::{Role, SignOn, SignOnRules};
use rest::RestError;
use store::accounts::{AccountChanges, AccountError, UserChange};
use store::audit::AuditActor;
use store::sign_ons::SignOnState;
use types::{Principal, TeamId};

use super::super::GatewayApi;
use super::super::errors::of_account;

impl GatewayApi {
    /// Changes what differs, each change with its row in the audit table. Returns whether something changed.
    pub(super) async fn follow_claims(
        &self,
        user: &Principal,
        sign_on: &SignOn,
        rules: &SignOnRules,
        state: &SignOnState,
    ) -> Result<bool, RestError> {
        let actor = AuditActor::issuer(&sign_on.issuer);
        let changes = self.parts.tables.accounts.by(&actor);
        let mut has_changed = false;
        match &state.user {
            None => {
                let created = changes
                    .create_signed_on(user, sign_on.role.unwrap_or(rules.role), sign_on)
                    .await;
                // A concurrent request may have created the user.
                unless_exists(created.map(drop)).map_err(of_account)?;
                has_changed = true;
            }
            Some(stored) => {
                if let Some(role) = sign_on.new_role(stored) {
                    has_changed |= set_role(changes, user, role).await?;
                }
            }
        }
        for (team, role) in sign_on.new_memberships(&state.memberships) {
            set_membership(changes, user, team, role)
                .await
                .map_err(of_account)?;
            has_changed = true;
        }
        Ok(has_changed)
    }
}

/// The last platform admin stays one, so that somebody can repair wrong rules.
async fn set_role(changes: AccountChanges<'_>, user: &Principal, role: Role) -> Result<bool, RestError> {
    let change = UserChange {
        role: Some(role),
        disabled: None,
    };
    match changes.change_user_keeping_admin(user, change).await {
        Ok(_) => Ok(true),
        Err(AccountError::LastAdmin(user)) => {
            tracing::warn!(%user, "the claims take the last platform admin's role, which stays");
            Ok(false)
        }
        Err(error) => Err(of_account(error)),
    }
}

/// A team that a rule names is created when its first member comes.
async fn set_membership(
    changes: AccountChanges<'_>,
    user: &Principal,
    team: &TeamId,
    role: Option<Role>,
) -> Result<(), AccountError> {
    let Some(role) = role else {
        return changes.remove_member(team, user).await.map(drop);
    };
    match changes.set_member(team, user, role).await {
        Err(AccountError::Unknown { .. }) => {
            let created = changes.create_team(user.tenant(), team, team.as_str()).await;
            unless_exists(created.map(drop))?;
            changes.set_member(team, user, role).await.map(drop)
        }
        set => set.map(drop),
    }
}

fn unless_exists(done: Result<(), AccountError>) -> Result<(), AccountError> {
    match done {
        Err(AccountError::Exists { .. }) => Ok(()),
        done => done,
    }
}
