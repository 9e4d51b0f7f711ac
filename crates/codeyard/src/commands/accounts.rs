//! `codeyard token`, `codeyard user` and `codeyard team`: who may use `codeyard serve`.
//!
//! Whoever may write the database is the operator, so these commands ask for no token.

mod teams;
mod tokens;
mod users;

use identity::{Role, User};
use store::Accounts;
use store::accounts::{AccountError, AccountKind};
use types::{Principal, TeamId, TenantId};

use crate::cli::{TeamCommand, TokenCommand, UserCommand};
use crate::context::Context;
use crate::exit::{Exit, Failure};

/// Rows that a list reads at once.
const ROWS: u32 = 1000;

pub async fn token(context: &Context, command: &TokenCommand) -> anyhow::Result<Exit> {
    let accounts = accounts(context)?;
    let done = match command {
        TokenCommand::Create(arguments) => tokens::create(context, &accounts, arguments).await,
        TokenCommand::List(arguments) => tokens::list(context, &accounts, arguments).await,
        TokenCommand::Revoke(arguments) => tokens::revoke(context, &accounts, arguments).await,
    };
    accounts.close().await;
    done
}

pub async fn user(context: &Context, command: &UserCommand) -> anyhow::Result<Exit> {
    let accounts = accounts(context)?;
    let done = users::run(context, &accounts, command).await;
    accounts.close().await;
    done
}

pub async fn team(context: &Context, command: &TeamCommand) -> anyhow::Result<Exit> {
    let accounts = accounts(context)?;
    let done = teams::run(context, &accounts, command).await;
    accounts.close().await;
    done
}

fn accounts(context: &Context) -> anyhow::Result<Accounts> {
    Ok(Accounts::new(context.load_settings()?.database))
}

/// The one tenant of a deployment whose operator makes no others.
fn tenant() -> TenantId {
    TenantId::new("local")
}

fn principal(email: &str) -> Result<Principal, Failure> {
    identity::user(&tenant(), email).map_err(|bad| Failure::new(Exit::Usage, bad))
}

fn team_id(text: &str) -> Result<TeamId, Failure> {
    identity::team_id(text).map_err(|bad| Failure::new(Exit::Usage, bad))
}

/// The user, made with this role if there is none.
async fn user_or_new(accounts: &Accounts, user: &Principal, role: Role) -> Result<User, Failure> {
    if let Some(found) = accounts.user(user).await.map_err(failure)? {
        return Ok(found);
    }
    match accounts.create_user(user, role).await {
        // Another command has made the user meanwhile.
        Err(AccountError::Exists { .. }) => {
            let found = accounts.user(user).await.map_err(failure)?;
            found.ok_or_else(|| failure(unknown_user(user)))
        }
        created => created.map_err(failure),
    }
}

fn unknown_user(user: &Principal) -> AccountError {
    AccountError::Unknown {
        kind: AccountKind::User,
        name: user.user().to_string(),
    }
}

fn failure(error: AccountError) -> Failure {
    let exit = match error {
        AccountError::Store(_) => Exit::Broken,
        _ => Exit::Usage,
    };
    Failure::new(exit, error)
}
