//! Each user's own logins to upstream servers, encrypted, and the links that begin them.

mod links;
mod rows;

use std::sync::Arc;

use identity::AuditAction;
use types::{Principal, TenantId};

use crate::audit::{AuditActor, AuditedChange};
use crate::connection::{Connection, SqlRow, Statement, Tables};
use crate::database::Database;
use crate::recordings::KEY_CHARACTERS;
use crate::slot::ConnectionSlot;
use crate::trouble::Trouble;

pub(crate) use rows::{LOGIN_TABLES, end};

/// For how long one process may renew a login before another may, in milliseconds. An authorization server is asked for
/// at most 30 seconds.
const LEASE_MS: i64 = 45 * 1000;

/// `leased_until_ms` of a lease without a row; no row ever has this value.
const NO_LOGIN: i64 = -1;

/// Logins in one list.
const MOST_LISTED: u32 = 10_000;

/// A user's login to a server, or the login that a link begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoginRow {
    /// The user.
    pub user: Principal,
    /// Name of the upstream server.
    pub server: String,
}

/// One process's right to renew a login. The end of the lease identifies it: no two leases of one login end at the same
/// time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoginLeaseId(i64);

/// A login as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedLogin {
    /// Whose login it is, and where.
    pub row: LoginRow,
    /// In base64.
    pub sealed: String,
    /// When it was stored or renewed, in milliseconds since 1970.
    pub updated_ms: i64,
}

/// A login for which a browser is at the authorization server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BegunLogin {
    /// Whose login it will be, and where.
    pub row: LoginRow,
    /// Hash of the cookie of the browser that began.
    pub browser: String,
    /// What the callback needs, in base64.
    pub sealed: String,
}

/// Reads and writes logins. Cheap to clone; opens the database on first use.
#[derive(Debug, Clone)]
pub struct UserLogins {
    slot: Arc<ConnectionSlot>,
}

// === impl UserLogins ===

impl UserLogins {
    /// Logins in this database, which the records may share.
    pub fn new(database: Database) -> UserLogins {
        UserLogins {
            slot: Arc::new(ConnectionSlot::new(database, Tables::Logins)),
        }
    }

    /// The login of a user who is not disabled, in base64.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn read(&self, row: &LoginRow) -> Result<Option<String>, Trouble> {
        let sql = "SELECT logins.sealed AS value FROM logins JOIN users ON users.tenant = logins.tenant \
             AND users.email = logins.email WHERE logins.tenant = $1 AND logins.email = $2 AND logins.server = $3 \
             AND users.disabled_ms IS NULL";
        let found = self.slot.read(async |connection: &mut Connection| {
            let found = connection.fetch_optional(of(sql, row)).await?;
            found.map(|found| found.get("value")).transpose()
        });
        found.await
    }

    /// The logins of a tenant, or those of one user.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn list(
        &self,
        tenant: &TenantId,
        user: Option<&Principal>,
    ) -> Result<Vec<SealedLogin>, Trouble> {
        let email = user.map(|user| user.user().as_str().to_owned());
        let found = self.slot.read(async |connection: &mut Connection| {
            let sql = format!(
                "SELECT tenant, email, server, sealed, updated_ms FROM logins WHERE tenant = $1 \
                 AND ($2 = '' OR email = $2) ORDER BY email, server LIMIT {MOST_LISTED}"
            );
            let asked = Statement::new(sql)
                .bind(tenant.as_str())
                .bind(email.unwrap_or_default());
            rows::all(&connection.fetch_all(asked).await?)
        });
        found.await
    }

    /// Stores a login and replaces an earlier one. `begun` is the new hash that [`UserLogins::take_begun`] has given to a
    /// login under way. Returns `false` if the user is disabled or unknown, or if that login under way has ended.
    ///
    /// # Errors
    /// If the database cannot be written.
    pub async fn insert(
        &self,
        actor: &AuditActor,
        row: &LoginRow,
        sealed: &str,
        begun: Option<&str>,
    ) -> Result<bool, Trouble> {
        let work = async |connection: &mut Connection| {
            connection.begin_to_write().await?;
            rows::insert(connection, row, sealed, begun).await
        };
        let stored = self.slot.change(actor, work, |stored: &u64| {
            (*stored > 0).then(|| audited(AuditAction::LoginCreate, row))
        });
        Ok(stored.await? > 0)
    }

    /// Removes a login and its open links; `false` if there was none.
    ///
    /// # Errors
    /// If the database cannot be written.
    pub async fn revoke(&self, actor: &AuditActor, row: &LoginRow) -> Result<bool, Trouble> {
        let work = async |connection: &mut Connection| {
            connection.begin_to_write().await?;
            rows::remove(connection, row).await
        };
        let revoked = self.slot.change(actor, work, |was_there: &bool| {
            was_there.then(|| audited(AuditAction::LoginRevoke, row))
        });
        revoked.await
    }

    /// Changes a login; `false` if it is gone, or was replaced since this lease was taken.
    ///
    /// # Errors
    /// If the database cannot be written.
    pub async fn update(&self, row: &LoginRow, sealed: &str, lease: LoginLeaseId) -> Result<bool, Trouble> {
        let changed = self.write(|now| {
            let sql = format!(
                "UPDATE logins SET sealed = $4, updated_ms = {now} WHERE tenant = $1 AND email = $2 AND server = $3 \
                 AND leased_until_ms = $5"
            );
            of(&sql, row).bind(sealed).bind(lease.0)
        });
        Ok(changed.await? > 0)
    }

    /// Takes the right to renew the login; `None` while another process has it. If there is no login, always succeeds.
    ///
    /// # Errors
    /// If the database cannot be written.
    pub async fn lease(&self, row: &LoginRow) -> Result<Option<LoginLeaseId>, Trouble> {
        let leased = self.slot.write(async |connection: &mut Connection| {
            let now = connection.clock();
            let sql = format!(
                "UPDATE logins SET leased_until_ms = {now} + {LEASE_MS} WHERE tenant = $1 AND email = $2 \
                 AND server = $3 AND leased_until_ms < {now} RETURNING leased_until_ms AS value"
            );
            let leased = connection.fetch_optional(of(&sql, row)).await?;
            leased.map(|leased| leased.get("value")).transpose()
        });
        Ok(match leased.await? {
            Some(until_ms) => Some(LoginLeaseId(until_ms)),
            None => self.read(row).await?.is_none().then_some(LoginLeaseId(NO_LOGIN)),
        })
    }

    /// Gives the right to renew the login back.
    ///
    /// # Errors
    /// If the database cannot be written.
    pub async fn release(&self, row: &LoginRow, lease: LoginLeaseId) -> Result<(), Trouble> {
        let sql = "UPDATE logins SET leased_until_ms = 0 WHERE tenant = $1 AND email = $2 AND server = $3 \
             AND leased_until_ms = $4";
        self.write(|_| of(sql, row).bind(lease.0)).await.map(drop)
    }

    /// Logins that another key than `key` has encrypted.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn of_other_keys(&self, key: &str) -> Result<Vec<SealedLogin>, Trouble> {
        let found = self.slot.read(async |connection: &mut Connection| {
            let sql = format!(
                "SELECT tenant, email, server, sealed, updated_ms FROM logins \
                 WHERE substr(sealed, 1, {KEY_CHARACTERS}) <> $1"
            );
            rows::all(&connection.fetch_all(Statement::new(sql).bind(key)).await?)
        });
        found.await
    }

    /// Replaces a login's text, unless it has changed or is gone; returns whether it did.
    ///
    /// # Errors
    /// If the database cannot be written.
    pub async fn replace(&self, old: &SealedLogin, sealed: &str) -> Result<bool, Trouble> {
        let sql =
            "UPDATE logins SET sealed = $5 WHERE tenant = $1 AND email = $2 AND server = $3 AND sealed = $4";
        let replaced = self.write(|_| of(sql, &old.row).bind(old.sealed.as_str()).bind(sealed));
        Ok(replaced.await? > 0)
    }

    /// The keys of all logins, as their first [`KEY_CHARACTERS`] characters.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn keys_in_use(&self) -> Result<Vec<String>, Trouble> {
        let found = self.slot.read(async |connection: &mut Connection| {
            let sql = format!("SELECT DISTINCT substr(sealed, 1, {KEY_CHARACTERS}) AS value FROM logins");
            let rows = connection.fetch_all(Statement::new(sql)).await?;
            rows.iter()
                .map(|row| row.get("value"))
                .collect::<Result<Vec<String>, sqlx::Error>>()
        });
        found.await
    }

    /// Closes the database. A later call opens it again.
    pub async fn close(&self) {
        self.slot.close_soon().await;
    }

    async fn write(&self, make: impl FnOnce(&'static str) -> Statement) -> Result<u64, Trouble> {
        self.slot
            .write(async |connection: &mut Connection| {
                let statement = make(connection.clock());
                connection.execute(statement).await
            })
            .await
    }
}

fn audited(action: AuditAction, row: &LoginRow) -> AuditedChange {
    AuditedChange::new(action, row.user.tenant(), &row.server).with(format!("login of {}", row.user.user()))
}

fn of(sql: &str, row: &LoginRow) -> Statement {
    crate::accounts::of(sql.to_owned(), &row.user).bind(row.server.as_str())
}

fn login_row(row: &SqlRow) -> Result<LoginRow, sqlx::Error> {
    Ok(LoginRow {
        user: crate::accounts::users::principal(row)?,
        server: row.get("server")?,
    })
}
