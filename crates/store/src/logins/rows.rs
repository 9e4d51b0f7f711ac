//! Rows of logins, for changes that concern several tables.

use types::Principal;

use super::{LoginRow, SealedLogin, login_row, of};
use crate::connection::{Connection, SqlRow};

/// Everything that lets a user log in or be logged in.
pub(crate) const LOGIN_TABLES: [&str; 3] = ["logins", "login_links", "pending_logins"];

/// Ends all logins of a user, also those under way.
pub(crate) async fn end(connection: &mut Connection, user: &Principal) -> Result<(), sqlx::Error> {
    for table in LOGIN_TABLES {
        let sql = format!("DELETE FROM {table} WHERE tenant = $1 AND email = $2");
        connection.execute(crate::accounts::of(sql, user)).await?;
    }
    Ok(())
}

/// Ends a login, also one under way; whether there was one.
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
