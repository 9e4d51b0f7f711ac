//! Rows of logins, for changes that concern several tables.

use types::Principal;

use super::{LoginRow, SealedLogin, login_row, of};
use crate::connection::{Connection, SqlRow};

/// Everything that lets a user log in or be logged in.
pub(crate) const LOGIN_TABLES: [&str; 3] = ["logins", "login_links", "pending_logins"];

/// Stores a login, replaces an earlier one and removes the login under way. Returns the number of stored rows.
pub(super) async fn insert(
    connection: &mut Connection,
    row: &LoginRow,
    sealed: &str,
    begun: Option<&str>,
) -> Result<u64, sqlx::Error> {
    if let Some(hash) = begun {
        let sql = "DELETE FROM pending_logins WHERE tenant = $1 AND email = $2 AND server = $3 AND hash = $4";
        if connection.execute(of(sql, row).bind(hash)).await? == 0 {
            return Ok(0);
        }
    }
    // A transaction that disables the user waits for this lock, and then deletes this login.
    let lock = match connection.is_postgres() {
        true => " FOR SHARE",
        false => "",
    };
    let sql = format!(
        "SELECT 1 AS value FROM users WHERE tenant = $1 AND email = $2 AND disabled_ms IS NULL{lock}"
    );
    let user = crate::accounts::of(sql, &row.user);
    if connection.fetch_optional(user).await?.is_none() {
        return Ok(0);
    }
    let now = connection.clock();
    let sql = format!(
        "INSERT INTO logins (tenant, email, server, sealed, updated_ms, leased_until_ms) \
         VALUES ($1, $2, $3, $4, {now}, 0) ON CONFLICT (tenant, email, server) \
         DO UPDATE SET sealed = excluded.sealed, updated_ms = excluded.updated_ms, leased_until_ms = 0"
    );
    connection.execute(of(&sql, row).bind(sealed)).await
}

/// Ends all logins of a user, also those under way.
pub(crate) async fn end(connection: &mut Connection, user: &Principal) -> Result<(), sqlx::Error> {
    for table in LOGIN_TABLES {
        let sql = format!("DELETE FROM {table} WHERE tenant = $1 AND email = $2");
        connection.execute(crate::accounts::of(sql, user)).await?;
    }
    Ok(())
}

/// Ends a login, and one under way. Returns whether there was a login.
pub(super) async fn remove(connection: &mut Connection, row: &LoginRow) -> Result<bool, sqlx::Error> {
    let mut removed = 0;
    for table in LOGIN_TABLES {
        let sql = format!("DELETE FROM {table} WHERE tenant = $1 AND email = $2 AND server = $3");
        let count = connection.execute(of(&sql, row)).await?;
        if table == "logins" {
            removed = count;
        }
    }
    Ok(removed > 0)
}

pub(super) fn all(rows: &[SqlRow]) -> Result<Vec<SealedLogin>, sqlx::Error> {
    let read = |row: &SqlRow| {
        Ok(SealedLogin {
            row: login_row(row)?,
            sealed: row.get("sealed")?,
            updated_ms: row.get("updated_ms")?,
        })
    };
    rows.iter().map(read).collect()
}
