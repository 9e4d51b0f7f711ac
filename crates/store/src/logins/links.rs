//! Links that begin logins, and logins for which a browser is at the authorization server.

use super::{BegunLogin, LoginRow, UserLogins, login_row, of};
use crate::connection::{Connection, Statement};
use crate::trouble::Trouble;

/// For how long a link begins a login, and for how long a browser may be at the authorization server, in milliseconds.
const LINK_MS: i64 = 10 * 60 * 1000;

impl UserLogins {
    /// Adds a link. The user's earlier links to this server end.
    ///
    /// # Errors
    /// If the database cannot be written.
    pub async fn add_link(&self, row: &LoginRow, hash: &str) -> Result<(), Trouble> {
        self.replace_rows("login_links", row, |now| {
            let sql = format!(
                "INSERT INTO login_links (tenant, email, server, hash, until_ms) VALUES ($1, $2, $3, $4, {now} + {LINK_MS})"
            );
            of(&sql, row).bind(hash)
        })
        .await
    }

    /// What an open link begins; `None` if it was used, has expired or never was, or if the user is disabled.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn link(&self, hash: &str) -> Result<Option<LoginRow>, Trouble> {
        let found = self.slot.read(async |connection: &mut Connection| {
            let now = connection.clock();
            let sql = format!(
                "SELECT login_links.tenant, login_links.email, login_links.server FROM login_links \
                 JOIN users ON users.tenant = login_links.tenant AND users.email = login_links.email \
                 WHERE login_links.hash = $1 AND login_links.until_ms > {now} AND users.disabled_ms IS NULL"
            );
            let found = connection.fetch_optional(Statement::new(sql).bind(hash)).await?;
            found.as_ref().map(login_row).transpose()
        });
        found.await
    }

    /// Uses up a link; `false` if somebody else did before.
    ///
    /// # Errors
    /// If the database cannot be written.
    pub async fn use_link(&self, hash: &str) -> Result<bool, Trouble> {
        let used = self.write(|_| Statement::new("DELETE FROM login_links WHERE hash = $1").bind(hash));
        Ok(used.await? > 0)
    }

    /// Records that a browser is at the authorization server. Ends the user's earlier logins under way at this server.
    ///
    /// # Errors
    /// If the database cannot be written.
    pub async fn begin(&self, hash: &str, begun: &BegunLogin) -> Result<(), Trouble> {
        self.replace_rows("pending_logins", &begun.row, |now| {
            let sql = format!(
                "INSERT INTO pending_logins (tenant, email, server, hash, browser, sealed, until_ms) \
                 VALUES ($1, $2, $3, $4, $5, $6, {now} + {LINK_MS})"
            );
            let statement = of(&sql, &begun.row).bind(hash);
            statement.bind(begun.browser.as_str()).bind(begun.sealed.as_str())
        })
        .await
    }

    /// Inserts a row in place of those that the user has for this server. Removes expired rows of all users.
    async fn replace_rows(
        &self,
        table: &str,
        row: &LoginRow,
        insert: impl FnOnce(&'static str) -> Statement,
    ) -> Result<(), Trouble> {
        let replaced = self.slot.write(async |connection: &mut Connection| {
            connection.begin_to_write().await?;
            let now = connection.clock();
            let expired = format!("DELETE FROM {table} WHERE until_ms < {now}");
            connection.execute(Statement::new(expired)).await?;
            let old = format!("DELETE FROM {table} WHERE tenant = $1 AND email = $2 AND server = $3");
            connection.execute(of(&old, row)).await?;
            connection.execute(insert(now)).await?;
            connection.commit().await
        });
        replaced.await
    }

    /// The login under way with this state.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn begun(&self, hash: &str) -> Result<Option<BegunLogin>, Trouble> {
        let found = self.slot.read(async |connection: &mut Connection| {
            let now = connection.clock();
            let sql = format!(
                "SELECT pending_logins.tenant, pending_logins.email, server, browser, sealed FROM pending_logins \
                 JOIN users ON users.tenant = pending_logins.tenant AND users.email = pending_logins.email \
                 WHERE hash = $1 AND until_ms > {now} AND users.disabled_ms IS NULL"
            );
            let found = connection
                .fetch_optional(Statement::new(sql).bind(hash))
                .await?;
            let read = |row| {
                Ok::<_, sqlx::Error>(BegunLogin {
                    row: login_row(row)?,
                    browser: row.get("browser")?,
                    sealed: row.get("sealed")?,
                })
            };
            found.as_ref().map(read).transpose()
        });
        found.await
    }

    /// Claims a login under way by changing its hash; `false` if another request has claimed the login. The row stays
    /// until the login is stored, so that revoking the user's logins ends this one too.
    ///
    /// # Errors
    /// If the database cannot be written.
    pub async fn take_begun(&self, hash: &str, new_hash: &str) -> Result<bool, Trouble> {
        let taken = self.write(|now| {
            let sql =
                format!("UPDATE pending_logins SET hash = $2, until_ms = {now} + {LINK_MS} WHERE hash = $1");
            Statement::new(sql).bind(hash).bind(new_hash)
        });
        Ok(taken.await? > 0)
    }
}
