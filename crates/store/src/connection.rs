//! One connection to SQLite or Postgres, which runs the same statements on both.

pub(crate) mod postgres;
mod row;
mod sqlite;
mod statement;

use sqlx::postgres::PgConnection;
use sqlx::sqlite::SqliteConnection;
use sqlx::{Connection as _, Executor as _};

use crate::database::Database;
use crate::trouble::{Trouble, TroubleKind};

pub(crate) use row::{Field, SqlRow};
pub(crate) use statement::{Statement, Value};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Commits survive a killed process.
    Write,
    /// Commits also survive a power cut. Postgres commits always do.
    WriteDurably,
    Read,
    /// Filling an empty database from another database.
    Transfer,
}

/// Tables that a database of an older codeyard may lack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tables {
    Saved,
    Learned,
    Receipts,
    Leases,
    Accounts,
    VirtualServers,
    ServerRecords,
    RateWindows,
    SessionLeases,
    Audit,
    UpstreamServers,
    CpuDebts,
    Sinks,
    Recordings,
    SignOns,
    Logins,
}

/// An open database. After failed or abandoned work, the state of the connection is unknown, and the connection is
/// closed.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) link: Link,
    is_in_step: bool,
}

#[derive(Debug)]
pub(crate) enum Link {
    Sqlite(SqliteConnection),
    Postgres(Box<PgConnection>),
}

// === impl Connection ===

impl Connection {
    /// Opens the database for writing, creating and migrating it first.
    pub(crate) async fn open(database: &Database, purpose: Purpose) -> Result<Connection, Trouble> {
        let mut connection = match database {
            Database::Sqlite(file) => sqlite::open(file, purpose).await.map(Connection::sqlite),
            Database::Postgres(place) => {
                let mut connection = Connection::postgres(postgres::connect(place).await?);
                let ready = postgres::migrate(&mut connection).await;
                ready.map_err(|error| error.trouble(database))?;
                Ok(connection)
            }
        }?;
        if purpose != Purpose::Transfer {
            connection.refuse_half_filled(database).await?;
        }
        Ok(connection)
    }

    /// Opens the database for reading; `None` if nothing has been recorded yet.
    pub(crate) async fn open_to_read(database: &Database) -> Result<Option<Connection>, Trouble> {
        let mut connection = match database {
            Database::Sqlite(file) => sqlite::open_to_read(file).await?.map(Connection::sqlite),
            Database::Postgres(place) => {
                let mut connection = Connection::postgres(postgres::connect(place).await?);
                let is_ours = postgres::identify(&mut connection).await;
                let is_ours = is_ours.map_err(|error| error.trouble(database))?;
                is_ours.then_some(connection)
            }
        };
        if let Some(connection) = &mut connection {
            connection.refuse_half_filled(database).await?;
        }
        Ok(connection)
    }

    /// Refuses the half-filled target of a transfer, because its row numbers are not final.
    async fn refuse_half_filled(&mut self, database: &Database) -> Result<(), Trouble> {
        match self.is_filled_by_transfer().await {
            Ok(false) => Ok(()),
            Ok(true) => Err(Trouble::new(database, TroubleKind::HalfFilled, "")),
            Err(error) => Err(Trouble::of(database, &error)),
        }
    }

    /// Whether a transfer has started to fill the database and has not finished.
    pub(crate) async fn is_filled_by_transfer(&mut self) -> Result<bool, sqlx::Error> {
        let sql = match self.is_postgres() {
            true => "SELECT to_regclass('moving') IS NOT NULL AS value",
            false => "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'moving') AS value",
        };
        self.fetch_value(Statement::new(sql)).await
    }

    fn sqlite(connection: SqliteConnection) -> Connection {
        Connection {
            link: Link::Sqlite(connection),
            is_in_step: false,
        }
    }

    fn postgres(connection: PgConnection) -> Connection {
        Connection {
            link: Link::Postgres(Box::new(connection)),
            is_in_step: false,
        }
    }

    pub(crate) fn is_postgres(&self) -> bool {
        matches!(self.link, Link::Postgres(_))
    }

    /// Whether no transaction is open.
    pub(crate) fn is_in_step(&self) -> bool {
        self.is_in_step
    }

    /// SQL for the database's clock, in milliseconds since 1970.
    pub(crate) fn clock(&self) -> &'static str {
        match self.link {
            Link::Sqlite(_) => "CAST(unixepoch('subsec') * 1000 AS BIGINT)",
            Link::Postgres(_) => "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)",
        }
    }

    pub(crate) async fn has(&mut self, tables: Tables) -> Result<bool, sqlx::Error> {
        match &mut self.link {
            Link::Sqlite(connection) => sqlite::has(connection, tables).await,
            Link::Postgres(_) => postgres::has(self, tables).await,
        }
    }

    /// Begins a transaction that reads one snapshot of the database.
    pub(crate) async fn begin(&mut self) -> Result<(), sqlx::Error> {
        match &mut self.link {
            Link::Sqlite(connection) => connection.execute("BEGIN").await.map(drop)?,
            Link::Postgres(connection) => {
                connection
                    .execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
                    .await?;
            }
        }
        self.is_in_step = true;
        Ok(())
    }

    pub(crate) async fn begin_to_write(&mut self) -> Result<(), sqlx::Error> {
        match &mut self.link {
            Link::Sqlite(connection) => connection.execute("BEGIN IMMEDIATE").await.map(drop)?,
            Link::Postgres(connection) => connection.execute("BEGIN").await.map(drop)?,
        }
        self.is_in_step = true;
        Ok(())
    }

    /// Begins a transaction that reads before it writes. Transactions with the same subject run one at a time.
    pub(crate) async fn begin_alone(&mut self, subject: &str) -> Result<(), sqlx::Error> {
        self.begin_to_write().await?;
        if self.is_postgres() {
            let lock = Statement::new("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))").bind(subject);
            self.execute(lock).await?;
        }
        Ok(())
    }

    pub(crate) async fn commit(&mut self) -> Result<(), sqlx::Error> {
        match &mut self.link {
            Link::Sqlite(connection) => connection.execute("COMMIT").await.map(drop)?,
            Link::Postgres(connection) => connection.execute("COMMIT").await.map(drop)?,
        }
        self.is_in_step = false;
        Ok(())
    }

    /// Returns the number of rows changed.
    pub(crate) async fn execute(&mut self, statement: Statement) -> Result<u64, sqlx::Error> {
        match &mut self.link {
            Link::Sqlite(connection) => {
                let done = statement.for_sqlite()?.execute(connection).await?;
                Ok(done.rows_affected())
            }
            Link::Postgres(connection) if self.is_in_step => postgres::execute(connection, statement).await,
            Link::Postgres(connection) => postgres::execute_alone(connection, statement).await,
        }
    }

    pub(crate) async fn fetch_all(&mut self, statement: Statement) -> Result<Vec<SqlRow>, sqlx::Error> {
        match &mut self.link {
            Link::Sqlite(connection) => {
                let rows = statement.for_sqlite()?.fetch_all(connection).await?;
                Ok(rows.into_iter().map(SqlRow::Sqlite).collect())
            }
            Link::Postgres(connection) => {
                let rows = match self.is_in_step {
                    true => postgres::fetch(connection, statement).await?,
                    false => postgres::fetch_alone(connection, statement).await?,
                };
                Ok(rows.into_iter().map(SqlRow::Postgres).collect())
            }
        }
    }

    pub(crate) async fn fetch_optional(
        &mut self,
        statement: Statement,
    ) -> Result<Option<SqlRow>, sqlx::Error> {
        Ok(self.fetch_all(statement).await?.into_iter().next())
    }

    pub(crate) async fn fetch_one(&mut self, statement: Statement) -> Result<SqlRow, sqlx::Error> {
        let row = self.fetch_optional(statement).await?;
        row.ok_or(sqlx::Error::RowNotFound)
    }

    /// The column `value` of the only row.
    pub(crate) async fn fetch_value<T: Field>(&mut self, statement: Statement) -> Result<T, sqlx::Error> {
        self.fetch_one(statement).await?.get("value")
    }

    /// Whether the server still responds; always true for a file.
    pub(crate) async fn answers(&mut self) -> bool {
        match &mut self.link {
            Link::Sqlite(_) => true,
            Link::Postgres(connection) => connection.ping().await.is_ok(),
        }
    }

    pub(crate) async fn close(self) {
        // All work is committed or may be lost.
        let _ = match self.link {
            Link::Sqlite(connection) => connection.close().await,
            Link::Postgres(connection) => connection.close().await,
        };
    }
}
