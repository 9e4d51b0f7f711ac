//! Leases of sessions for deployments with several processes on one database.
//!
//! A process renews one row, and all its leases expire with this row. So the cost of a renewal does not depend on the
//! number of sessions. One lease covers all sessions of a user at a virtual server.

mod rows;

use std::sync::Arc;
use std::time::Duration;

use types::{Language, Principal, ServerId, SessionName};

use self::rows::{forget_sessions, grant, holder, lost_sessions, of};
use crate::accounts::Moment;
use crate::connection::{SqlRow, Statement, Tables};
use crate::database::Database;
use crate::slot::ConnectionSlot;
use crate::trouble::Trouble;

/// Leases of an ended process are deleted after this time. Later requests receive no notice of the loss.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(24 * 60 * 60);

/// Name of the lock that is held while rows are removed.
const PURGING: &str = "codeyard: session leases";

/// Reads and writes leases. Cheap to clone; opens the database on first use.
#[derive(Debug, Clone)]
pub struct SessionLeases {
    slot: Arc<ConnectionSlot>,
}

/// One process of the gateway.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GatewayProcess {
    /// Unique for each start.
    pub id: String,
    /// Address for the other processes.
    pub url: String,
}

/// Identifies a lease: the sessions of one user at one virtual server.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LeaseKey {
    /// The virtual server.
    pub server: ServerId,
    /// The sessions' owner.
    pub principal: Principal,
}

/// Result of an attempt to take a lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LeaseTaken {
    /// This process holds the lease, as before or for the first time.
    Held,
    /// This process holds the lease from now on. The earlier holder has ended, so these sessions lost their variables.
    TakenOver(Vec<(Language, SessionName)>),
    /// This live process holds the lease.
    Elsewhere(GatewayProcess),
}

/// The holder of a lease.
#[derive(Debug)]
struct Holder {
    process: GatewayProcess,
    is_alive: bool,
}

/// The action of a process that requests a lease.
#[derive(Debug, PartialEq, Eq)]
enum Decision {
    Keep,
    Take,
    TakeOver,
    Leave(GatewayProcess),
}

// === impl LeaseKey ===

impl LeaseKey {
    /// `None` if the row's principal is invalid.
    fn read(row: &SqlRow) -> Result<Option<LeaseKey>, sqlx::Error> {
        let (server, principal): (String, String) = (row.get("server")?, row.get("principal")?);
        Ok(principal.parse().ok().map(|principal| LeaseKey {
            server: ServerId::new(server),
            principal,
        }))
    }

    /// Name of the lock that is held while the lease changes.
    fn subject(&self) -> String {
        format!("codeyard: sessions {} {}", self.server, self.principal)
    }
}

impl Decision {
    /// `gone` is an unreachable process; it counts as dead even if its row is current.
    fn new(holder: Option<Holder>, asking: &str, gone: Option<&str>) -> Decision {
        match holder {
            None => Decision::Take,
            Some(Holder { process, .. }) if process.id == asking => Decision::Keep,
            Some(Holder { process, is_alive }) if is_alive && gone != Some(process.id.as_str()) => {
                Decision::Leave(process)
            }
            Some(_) => Decision::TakeOver,
        }
    }
}

// === impl SessionLeases ===

impl SessionLeases {
    /// Leases in this database. Records may use the same database.
    pub fn new(database: Database) -> SessionLeases {
        SessionLeases {
            slot: Arc::new(ConnectionSlot::new(database, Tables::SessionLeases)),
        }
    }

    /// Renews a process's row for this time. Returns the leases that the process still holds.
    ///
    /// # Errors
    /// If the database cannot be written.
    pub async fn renew(
        &self,
        process: &GatewayProcess,
        time: Duration,
        now: Moment,
    ) -> Result<Vec<LeaseKey>, Trouble> {
        let renewed = self.slot.write(async |connection| {
            let sql = format!(
                "INSERT INTO gateway_processes (id, url, expires_ms) VALUES ($1, $2, {now} + $3) \
                 ON CONFLICT (id) DO UPDATE SET expires_ms = excluded.expires_ms",
                now = now.sql(connection)
            );
            let statement = Statement::new(sql)
                .bind(process.id.as_str())
                .bind(process.url.as_str());
            connection.execute(statement.bind(milliseconds(time))).await?;
            let sql = "SELECT server, principal FROM session_leases WHERE process = $1";
            let rows = connection
                .fetch_all(Statement::new(sql).bind(process.id.as_str()))
                .await?;
            let mut keys = Vec::with_capacity(rows.len());
            for row in rows {
                keys.extend(LeaseKey::read(&row)?);
            }
            Ok::<_, sqlx::Error>(keys)
        });
        renewed.await
    }

    /// Takes a lease, unless another live process other than `gone` holds it.
    ///
    /// # Errors
    /// If the database cannot be written.
    pub async fn take(
        &self,
        key: &LeaseKey,
        process: &str,
        gone: Option<&str>,
        now: Moment,
    ) -> Result<LeaseTaken, Trouble> {
        let taken = self.slot.write(async |connection| {
            connection.begin_alone(&key.subject()).await?;
            let holder = holder(connection, key, now).await?;
            let taken = match Decision::new(holder, process, gone) {
                Decision::Keep => LeaseTaken::Held,
                Decision::Leave(other) => LeaseTaken::Elsewhere(other),
                Decision::Take => {
                    grant(connection, key, process).await?;
                    LeaseTaken::Held
                }
                Decision::TakeOver => {
                    grant(connection, key, process).await?;
                    LeaseTaken::TakenOver(lost_sessions(connection, key).await?)
                }
            };
            connection.commit().await?;
            Ok::<_, sqlx::Error>(taken)
        });
        taken.await
    }

    /// Records that the lease's holder has opened a session.
    ///
    /// # Errors
    /// If the database cannot be written.
    pub async fn note_session(
        &self,
        key: &LeaseKey,
        language: Language,
        name: &SessionName,
    ) -> Result<(), Trouble> {
        let sql = "INSERT INTO leased_sessions (server, principal, language, name) VALUES ($1, $2, $3, $4) \
                   ON CONFLICT DO NOTHING";
        let statement = of(sql, key).bind(language.name()).bind(name.as_str());
        let noted = self
            .slot
            .write(async |connection| connection.execute(statement).await);
        noted.await.map(drop)
    }

    /// Deletes the record of a session, so that its loss is not reported.
    ///
    /// # Errors
    /// If the database cannot be written.
    pub async fn forget_session(
        &self,
        key: &LeaseKey,
        language: Language,
        name: &SessionName,
    ) -> Result<(), Trouble> {
        let sql = "DELETE FROM leased_sessions WHERE server = $1 AND principal = $2 AND language = $3 AND name = $4";
        let statement = of(sql, key).bind(language.name()).bind(name.as_str());
        let forgotten = self
            .slot
            .write(async |connection| connection.execute(statement).await);
        forgotten.await.map(drop)
    }

    /// Releases a lease after all its sessions have ended.
    ///
    /// # Errors
    /// If the database cannot be written.
    pub async fn release(&self, key: &LeaseKey, process: &str) -> Result<(), Trouble> {
        let released = self.slot.write(async |connection| {
            connection.begin_alone(&key.subject()).await?;
            let sql = "DELETE FROM session_leases WHERE server = $1 AND principal = $2 AND process = $3";
            if connection.execute(of(sql, key).bind(process)).await? > 0 {
                forget_sessions(connection, key).await?;
            }
            connection.commit().await
        });
        released.await
    }

    /// Ends a process. Its leases are free at once. Records of their sessions stay, so that the loss is reported.
    ///
    /// # Errors
    /// If the database cannot be written.
    pub async fn end(&self, process: &str, now: Moment) -> Result<(), Trouble> {
        let ended = self.slot.write(async |connection| {
            let sql = format!(
                "UPDATE gateway_processes SET expires_ms = {} WHERE id = $1",
                now.sql(connection)
            );
            connection.execute(Statement::new(sql).bind(process)).await
        });
        ended.await.map(drop)
    }

    /// Deletes processes that ended a day ago.
    ///
    /// # Errors
    /// If the database cannot be written.
    pub async fn purge(&self, now: Moment) -> Result<(), Trouble> {
        let purged = self.slot.write(async |connection| {
            let old = format!(
                "SELECT id FROM gateway_processes WHERE expires_ms <= {} - {}",
                now.sql(connection),
                milliseconds(FORGOTTEN_AFTER)
            );
            connection.begin_alone(PURGING).await?;
            // In the same order as a take-over, to avoid deadlocks.
            let sql =
                format!("DELETE FROM session_leases WHERE process IN ({old}) RETURNING server, principal");
            for row in connection.fetch_all(Statement::new(sql)).await? {
                if let Some(key) = LeaseKey::read(&row)? {
                    forget_sessions(connection, &key).await?;
                }
            }
            let sql = format!("DELETE FROM gateway_processes WHERE id IN ({old})");
            connection.execute(Statement::new(sql)).await?;
            connection.commit().await
        });
        purged.await
    }

    /// The other live processes.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn others(&self, process: &str, now: Moment) -> Result<Vec<GatewayProcess>, Trouble> {
        let found = self.slot.read(async |connection| {
            let sql = format!(
                "SELECT id, url FROM gateway_processes WHERE id <> $1 AND expires_ms > {} ORDER BY id",
                now.sql(connection)
            );
            let rows = connection.fetch_all(Statement::new(sql).bind(process)).await?;
            let processes = rows.iter().map(|row| {
                Ok(GatewayProcess {
                    id: row.get("id")?,
                    url: row.get("url")?,
                })
            });
            processes.collect::<Result<Vec<_>, sqlx::Error>>()
        });
        found.await
    }

    /// Closes the database. A later call opens the database again.
    pub async fn close(&self) {
        self.slot.close_soon().await;
    }
}

fn milliseconds(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}
