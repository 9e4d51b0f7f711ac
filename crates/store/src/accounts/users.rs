//! Rows of users.

use identity::{Role, User};
use types::{Principal, TenantId};

use super::error::{AccountError, AccountFault, AccountKind};
use super::page::AccountPage;
use crate::connection::{Connection, SqlRow, Statement};
use crate::logins;
use crate::page::limit;

/// Changes of a user; `None` leaves a field as it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UserChange {
    /// The role outside of teams.
    pub role: Option<Role>,
    /// Whether all of the user's tokens are invalid.
    pub disabled: Option<bool>,
}

pub(super) async fn create(
    connection: &mut Connection,
    user: &Principal,
    role: Role,
) -> Result<User, AccountFault> {
    let sql = format!(
        "INSERT INTO users (tenant, email, role, created_ms) VALUES ($1, $2, $3, {}) \
         ON CONFLICT (tenant, email) DO NOTHING RETURNING *",
        connection.clock()
    );
    let created = connection.fetch_optional(of(sql, user).bind(role.name())).await?;
    match created {
        Some(row) => Ok(read(&row)?),
        None => Err(AccountError::exists(AccountKind::User, user.user()).into()),
    }
}

pub(crate) async fn load(
    connection: &mut Connection,
    user: &Principal,
) -> Result<Option<User>, AccountFault> {
    let sql = "SELECT * FROM users WHERE tenant = $1 AND email = $2";
    let row = connection.fetch_optional(of(sql.to_owned(), user)).await?;
    Ok(row.as_ref().map(read).transpose()?)
}

pub(super) async fn all(
    connection: &mut Connection,
    tenant: &TenantId,
    page: AccountPage<'_>,
) -> Result<Vec<User>, AccountFault> {
    let sql = "SELECT * FROM users WHERE tenant = $1 AND email > $2 ORDER BY email LIMIT $3";
    let asked = Statement::new(sql)
        .bind(tenant.as_str())
        .bind(page.after.unwrap_or_default())
        .bind(limit(page.limit));
    let rows = connection.fetch_all(asked).await?;
    Ok(rows.iter().map(read).collect::<Result<_, _>>()?)
}

pub(super) async fn change(
    connection: &mut Connection,
    user: &Principal,
    change: UserChange,
) -> Result<User, AccountFault> {
    let disabled = match change.disabled {
        None => "disabled_ms".to_owned(),
        Some(false) => "NULL".to_owned(),
        Some(true) => format!("coalesce(disabled_ms, {})", connection.clock()),
    };
    let sql = format!(
        "UPDATE users SET role = coalesce($3, role), disabled_ms = {disabled} \
         WHERE tenant = $1 AND email = $2 RETURNING *"
    );
    let changed = of(sql, user).bind(change.role.map(Role::name));
    let Some(row) = connection.fetch_optional(changed).await? else {
        return Err(AccountError::unknown(AccountKind::User, user.user()).into());
    };
    // After the update: on Postgres the update waits for transactions that are storing a login of this user.
    if change.disabled == Some(true) {
        logins::end(connection, user).await?;
    }
    Ok(read(&row)?)
}

pub(super) async fn delete(connection: &mut Connection, user: &Principal) -> Result<bool, AccountFault> {
    let sql = "DELETE FROM users WHERE tenant = $1 AND email = $2";
    Ok(connection.execute(of(sql.to_owned(), user)).await? > 0)
}

/// A statement whose first two values are the user's tenant and address.
pub(crate) fn of(sql: String, user: &Principal) -> Statement {
    let statement = Statement::new(sql).bind(user.tenant().as_str());
    statement.bind(user.user().as_str())
}

fn read(row: &SqlRow) -> Result<User, sqlx::Error> {
    Ok(User {
        principal: principal(row)?,
        role: role(row, "role")?,
        created_ms: row.get("created_ms")?,
        disabled_ms: row.get("disabled_ms")?,
    })
}

/// The user in the columns `tenant` and `email`.
pub(crate) fn principal(row: &SqlRow) -> Result<Principal, sqlx::Error> {
    let tenant = TenantId::new(row.get::<String>("tenant")?);
    identity::user(&tenant, &row.get::<String>("email")?).map_err(damaged)
}

pub(super) fn role(row: &SqlRow, column: &str) -> Result<Role, sqlx::Error> {
    row.get::<String>(column)?.parse().map_err(damaged)
}

/// An unreadable row; a person may have changed it.
pub(super) fn damaged(error: impl std::error::Error + Send + Sync + 'static) -> sqlx::Error {
    sqlx::Error::Decode(Box::new(error))
}
