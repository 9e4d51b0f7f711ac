//! Changes of users that leave a tenant with an enabled platform admin.

use identity::{Role, User};
use types::Principal;

use super::error::{AccountError, AccountFault};
use super::users::{self, UserChange, of};
use crate::connection::Connection;

pub(super) async fn change(
    connection: &mut Connection,
    user: &Principal,
    change: UserChange,
) -> Result<User, AccountFault> {
    begin(connection, user).await?;
    let takes = change.disabled == Some(true) || change.role.is_some_and(|role| role != Role::PlatformAdmin);
    let allowed = if takes {
        check(connection, user).await
    } else {
        Ok(())
    };
    let changed = match allowed {
        Ok(()) => users::change(connection, user, change).await,
        Err(refused) => Err(refused),
    };
    end(connection, changed).await
}

pub(super) async fn delete(connection: &mut Connection, user: &Principal) -> Result<bool, AccountFault> {
    begin(connection, user).await?;
    let deleted = match check(connection, user).await {
        Ok(()) => users::delete(connection, user).await,
        Err(refused) => Err(refused),
    };
    end(connection, deleted).await
}

/// Begins a transaction during which no other process takes a right from a user of this tenant: two admins who
/// remove each other at once would both go.
async fn begin(connection: &mut Connection, user: &Principal) -> Result<(), sqlx::Error> {
    let subject = format!("codeyard: admins {}", user.tenant());
    connection.begin_alone(&subject).await
}

/// Ends the transaction, after a refusal too: an open one would cost the connection.
async fn end<T>(connection: &mut Connection, done: Result<T, AccountFault>) -> Result<T, AccountFault> {
    match done {
        Err(AccountFault::Database(error)) => Err(AccountFault::Database(error)),
        done => {
            connection.commit().await?;
            done
        }
    }
}

/// Refuses if the user is the last enabled platform admin of the tenant.
async fn check(connection: &mut Connection, user: &Principal) -> Result<(), AccountFault> {
    let Some(current) = users::load(connection, user).await? else {
        return Ok(());
    };
    if current.role != Role::PlatformAdmin || current.disabled_ms.is_some() {
        return Ok(());
    }
    let sql = "SELECT count(*) AS value FROM users \
         WHERE tenant = $1 AND email <> $2 AND role = $3 AND disabled_ms IS NULL";
    let others = of(sql.to_owned(), user).bind(Role::PlatformAdmin.name());
    match connection.fetch_value::<i64>(others).await? {
        0 => Err(AccountError::LastAdmin(user.user().to_string()).into()),
        _ => Ok(()),
    }
}
