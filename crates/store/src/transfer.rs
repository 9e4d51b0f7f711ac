//! Copies a database into an empty one page by page, resumes after an interruption, and compares
//! both at the end.

mod copied_table;
mod tables;

use sha2::{Digest as _, Sha256};

use crate::connection::{Connection, Purpose, Statement, Value};
use crate::database::Database;
use crate::trouble::Trouble;
use crate::{lease, partitions};

use copied_table::CopiedTable;
use tables::TABLES;

/// Progress of a transfer, stored in the target. While the table exists, no other process writes to the target.
const POSITIONS: &str = "CREATE TABLE IF NOT EXISTS moving \
    (name TEXT PRIMARY KEY, source TEXT NOT NULL, position TEXT NOT NULL)";

/// Summary of one copied table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransferredTable {
    /// Name of the table.
    pub name: &'static str,
    /// Number of rows.
    pub rows: u64,
    /// Sum of the SHA-256 of all rows, in hexadecimal: equal in both databases.
    pub hash: String,
}

/// Why the transfer stopped. The copied pages remain, and the next transfer resumes after them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TransferError {
    /// A database cannot be used.
    #[error(transparent)]
    Store(#[from] Trouble),
    /// The source is empty.
    #[error("nothing has been recorded in {0}")]
    Empty(Database),
    /// Source and target are the same database.
    #[error("{0} is named twice; name another database to copy to")]
    Same(Database),
    /// A live process writes to the source or the target.
    #[error("a codeyard still writes to {database} (process {pid} on {host}); end it first")]
    InUse {
        /// The database in use.
        database: Database,
        /// The writer's process id.
        pid: i64,
        /// The writer's machine.
        host: String,
    },
    /// The target is not empty.
    #[error("{0} holds records already; name an empty database")]
    NotEmpty(Database),
    /// The target is half filled by another transfer.
    #[error(
        "an unfinished transfer from {begun} fills {database}; finish that transfer, or name an empty database"
    )]
    Another {
        /// The target.
        database: Database,
        /// Source of that transfer, as shown to people.
        begun: String,
    },
    /// The copy differs from the source.
    #[error(
        "the rows of `{table}` differ: {from} in the source, {to} in the target; copy again to an empty database"
    )]
    Differs {
        /// Name of the table.
        table: &'static str,
        /// Rows and hash in the source.
        from: String,
        /// Rows and hash in the target.
        to: String,
    },
}

struct Transfer<'a> {
    from: (&'a Database, Connection),
    to: (&'a Database, Connection),
}

/// Row count and an order-independent sum of row hashes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Sum {
    rows: u64,
    hash: [u64; 4],
}

/// Copies everything; reports each page's table and the rows copied so far.
///
/// # Errors
/// If a database is unusable or in use, if the target is not empty, or if both differ at the end.
pub async fn transfer(
    from: &Database,
    to: &Database,
    mut tell: impl FnMut(&'static str, u64),
) -> Result<Vec<TransferredTable>, TransferError> {
    if from == to {
        return Err(TransferError::Same(from.clone()));
    }
    if Connection::open_to_read(from).await?.is_none() {
        return Err(TransferError::Empty(from.clone()));
    }
    let mut transfer = Transfer {
        // Migrate the source first, so that both have the same tables.
        from: (from, Connection::open(from, Purpose::Write).await?),
        to: (to, Connection::open(to, Purpose::Transfer).await?),
    };
    transfer.is_quiet().await?;
    transfer.begin().await?;
    for table in &TABLES {
        transfer.copy(table, &mut tell).await?;
    }
    let copied = transfer.compare().await?;
    transfer.end().await?;
    Ok(copied)
}

// === impl Transfer ===

impl Transfer<'_> {
    fn source_trouble(&self, error: &sqlx::Error) -> TransferError {
        Trouble::of(self.from.0, error).into()
    }

    fn target_trouble(&self, error: &sqlx::Error) -> TransferError {
        Trouble::of(self.to.0, error).into()
    }

    /// Fails while a live process writes to either database.
    async fn is_quiet(&mut self) -> Result<(), TransferError> {
        for (database, connection) in [&mut self.from, &mut self.to] {
            let living = lease::living(connection).await;
            let living = living.map_err(|error| Trouble::of(database, &error))?;
            if let Some((pid, host)) = living {
                let database = database.clone();
                return Err(TransferError::InUse { database, pid, host });
            }
        }
        Ok(())
    }

    /// Requires a target that is empty or half filled from the same source.
    async fn begin(&mut self) -> Result<(), TransferError> {
        let (database, connection) = &mut self.to;
        let trouble = |error: sqlx::Error| Trouble::of(database, &error);
        let positions = connection.is_filled_by_transfer().await.map_err(trouble)?;
        if positions {
            let sql = "SELECT source FROM moving WHERE source <> $1 LIMIT 1";
            let other = Statement::new(sql).bind(self.from.0.to_string());
            let other = connection.fetch_optional(other).await.map_err(trouble)?;
            if let Some(row) = other {
                return Err(TransferError::Another {
                    database: database.clone(),
                    begun: row.get("source").map_err(trouble)?,
                });
            }
            return Ok(());
        }
        for table in TABLES.iter().filter(|table| table.name != "forgotten") {
            let any = Statement::new(format!("SELECT 1 AS value FROM {} LIMIT 1", table.name));
            if connection.fetch_optional(any).await.map_err(trouble)?.is_some() {
                return Err(TransferError::NotEmpty(database.clone()));
            }
        }
        let begun = async {
            connection.begin_to_write().await?;
            connection.execute(Statement::new(POSITIONS)).await?;
            connection
                .execute(Statement::new("DELETE FROM forgotten"))
                .await?;
            connection.commit().await
        };
        Ok(begun.await.map_err(trouble)?)
    }

    /// Copies the remaining rows of a table.
    async fn copy(
        &mut self,
        table: &'static CopiedTable,
        tell: &mut impl FnMut(&'static str, u64),
    ) -> Result<(), TransferError> {
        let position = self
            .position(table)
            .await
            .map_err(|error| self.target_trouble(&error))?;
        let mut position = position.unwrap_or_default();
        let mut copied = 0;
        loop {
            let page = table.page(&mut self.from.1, &position).await;
            let page = page.map_err(|error| self.source_trouble(&error))?;
            let Some(last) = page.last() else { return Ok(()) };
            position = table.key_of(last, &self.from.1);
            copied += page.len() as u64;
            let written = self.write(table, page, &position).await;
            written.map_err(|error| self.target_trouble(&error))?;
            tell(table.name, copied);
        }
    }

    /// Key of the last copied row.
    async fn position(&mut self, table: &CopiedTable) -> Result<Option<Vec<Value>>, sqlx::Error> {
        let asked = Statement::new("SELECT position FROM moving WHERE name = $1").bind(table.name);
        let row = self.to.1.fetch_optional(asked).await?;
        let written: Option<String> = row.map(|row| row.get("position")).transpose()?;
        let Some(written) = written else { return Ok(None) };
        let values: Vec<serde_json::Value> =
            serde_json::from_str(&written).map_err(|error| sqlx::Error::Decode(Box::new(error)))?;
        Ok(Some(values.into_iter().map(Value::from_json).collect()))
    }

    /// Writes a page and its end position in one transaction.
    async fn write(
        &mut self,
        table: &CopiedTable,
        page: Vec<Vec<Value>>,
        position: &[Value],
    ) -> Result<(), sqlx::Error> {
        let position: Vec<serde_json::Value> = position.iter().map(Value::to_json).collect();
        let position = serde_json::Value::from(position).to_string();
        let source = self.from.0.to_string();
        let connection = &mut self.to.1;
        if connection.is_postgres() {
            let days = partitions::days_of(page.iter().filter_map(|row| table.time_of(row)));
            partitions::make(connection, &days).await?;
        }
        connection.begin_to_write().await?;
        let mut insert = Statement::new(format!("INSERT INTO {} ({}) ", table.name, table.columns()));
        insert.push_rows(page, |row| row);
        connection.execute(insert).await?;
        let sql = "INSERT INTO moving (name, source, position) VALUES ($1, $2, $3) \
             ON CONFLICT (name) DO UPDATE SET position = excluded.position";
        let noted = Statement::new(sql).bind(table.name).bind(source).bind(position);
        connection.execute(noted).await?;
        connection.commit().await
    }

    /// Counts and hashes all rows of both databases.
    async fn compare(&mut self) -> Result<Vec<TransferredTable>, TransferError> {
        let mut compared = Vec::new();
        for table in &TABLES {
            let from = sum(table, &mut self.from.1).await;
            let from = from.map_err(|error| self.source_trouble(&error))?;
            let to = sum(table, &mut self.to.1).await;
            let to = to.map_err(|error| self.target_trouble(&error))?;
            if from != to {
                return Err(TransferError::Differs {
                    table: table.name,
                    from: from.to_string(),
                    to: to.to_string(),
                });
            }
            compared.push(TransferredTable {
                name: table.name,
                rows: from.rows,
                hash: from.hash(),
            });
        }
        Ok(compared)
    }

    /// Continues the numbering after the copied rows, and opens the target to other processes.
    async fn end(mut self) -> Result<(), TransferError> {
        let connection = &mut self.to.1;
        let ended = async {
            connection.begin_to_write().await?;
            if connection.is_postgres() {
                for (table, column) in TABLES
                    .iter()
                    .filter_map(|table| Some((table.name, table.numbered?)))
                {
                    let sql = format!(
                        "SELECT setval(pg_get_serial_sequence('{table}', '{column}'), \
                         (SELECT coalesce(max({column}), 0) + 1 FROM {table}), false)"
                    );
                    connection.execute(Statement::new(sql)).await?;
                }
            }
            connection.execute(Statement::new("DROP TABLE moving")).await?;
            connection.commit().await
        };
        if let Err(error) = ended.await {
            return Err(self.target_trouble(&error));
        }
        self.to.1.close().await;
        self.from.1.close().await;
        Ok(())
    }
}

async fn sum(table: &CopiedTable, connection: &mut Connection) -> Result<Sum, sqlx::Error> {
    let mut sum = Sum::default();
    let mut position = Vec::new();
    loop {
        let page = table.page(connection, &position).await?;
        let Some(last) = page.last() else { return Ok(sum) };
        position = table.key_of(last, connection);
        page.iter().for_each(|row| sum.add(row));
    }
}

// === impl Sum ===

impl Sum {
    fn add(&mut self, row: &[Value]) {
        let mut hasher = Sha256::new();
        for value in row {
            hasher.update(value.to_json().to_string());
            hasher.update([0]);
        }
        let digest: [u8; 32] = hasher.finalize().into();
        for (sum, part) in self.hash.iter_mut().zip(digest.chunks_exact(8)) {
            let part = part
                .iter()
                .fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
            *sum = sum.wrapping_add(part);
        }
        self.rows += 1;
    }

    fn hash(&self) -> String {
        self.hash.iter().map(|part| format!("{part:016x}")).collect()
    }
}

impl std::fmt::Display for Sum {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} rows ({})", self.rows, &self.hash()[..16])
    }
}
