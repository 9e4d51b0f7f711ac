//! Shared code of the commands for users, teams and tokens.

use identity::{Role, User};
use store::Accounts;
use store::accounts::{AccountError, AccountKind};
use store::audit::AuditActor;
use types::{Principal, TeamId, TenantId};

use crate::context::Context;
use crate::exit::{Exit, Failure};

/// Rows of a list per query.
pub(super) const ROWS: u32 = 1000;

pub(super) fn accounts(context: &Context) -> anyhow::Result<Accounts> {
    Ok(Accounts::new(context.load_settings()?.database))
}

pub(super) fn actor() -> AuditActor {
    AuditActor::command_line()
}

/// The only tenant of a deployment whose operator creates no others.
pub fn tenant() -> TenantId {
    TenantId::new("local")
}

pub(super) fn principal(email: &str) -> Result<Principal, Failure> {
    identity::user(&tenant(), email).map_err(|bad| Failure::new(Exit::Usage, bad))
}

pub(super) fn team_id(text: &str) -> Result<TeamId, Failure> {
    identity::team_id(text).map_err(|bad| Failure::new(Exit::Usage, bad))
}

/// The user; created with this role if missing.
pub(super) async fn user_or_new(accounts: &Accounts, user: &Principal, role: Role) -> Result<User, Failure> {
    if let Some(found) = accounts.user(user).await.map_err(failure)? {
        return Ok(found);
    }
    match accounts.by(&actor()).create_user(user, role).await {
        // Another command has just created the user.
        Err(AccountError::Exists { .. }) => {
            let found = accounts.user(user).await.map_err(failure)?;
            found.ok_or_else(|| failure(unknown_user(user)))
        }
        created => created.map_err(failure),
    }
}

pub(super) fn unknown_user(user: &Principal) -> AccountError {
    AccountError::Unknown {
        kind: AccountKind::User,
        name: user.user().to_string(),
    }
}

pub(super) fn failure(error: AccountError) -> Failure {
    let exit = match error {
        AccountError::Store(_) => Exit::Broken,
        _ => Exit::Usage,
    };
    Failure::new(exit, error)
}
