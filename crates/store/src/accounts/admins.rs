//! Changes of users that leave a tenant with an enabled platform admin.

use identity::{Role, User};
use types::Principal;

use super::error::{AccountError, AccountFault};
use super::users::{self, UserChange, of};
use crate::connection::Connection;

/// Begins a transaction, which the caller ends.
pub(super) async fn change(
    connection: &mut Connection,
    user: &Principal,
    change: UserChange,
) -> Result<User, AccountFault> {
    begin(connection, user).await?;
    let takes = change.disabled == Some(true) || change.role.is_some_and(|role| role != Role::PlatformAdmin);
    if takes {
        check(connection, user).await?;
    }
    users::change(connection, user, change).await
}

/// Begins a transaction, which the caller ends.
pub(super) async fn delete(connection: &mut Connection, user: &Principal) -> Result<bool, AccountFault> {
    begin(connection, user).await?;
    check(connection, user).await?;
    users::delete(connection, user).await
}

/// Begins a transaction that excludes other demotions and removals in this tenant. Otherwise two admins could
/// remove each other at once.
async fn begin(connection: &mut Connection, user: &Principal) -> Result<(), sqlx::Error> {
    let subject = format!("codeyard: admins {}", user.tenant());
    connection.begin_alone(&subject).await
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
