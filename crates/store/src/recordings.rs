//! Recordings of runs, which only the caller can decrypt.

mod rotation;

use std::sync::Arc;

use types::{Principal, RunId, ServerId};

use crate::connection::{Connection, SqlRow, Statement, Tables};
use crate::database::Database;
use crate::slot::ConnectionSlot;
use crate::trouble::Trouble;

/// Reads recordings. Cheap to clone; opens the database on first use.
#[derive(Debug, Clone)]
pub struct Recordings {
    slot: Arc<ConnectionSlot>,
}

/// A run with its recording. The reader must check who may see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredRecording {
    /// Who asked for the run.
    pub principal: Principal,
    /// The virtual server of the run, if any.
    pub server: Option<ServerId>,
    /// When the run was asked for, in milliseconds since 1970.
    pub asked_ms: i64,
    /// In base64; `None` if the run was not recorded for replay.
    pub sealed: Option<String>,
}

/// A recording as it is stored, with what its text is bound to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedRecording {
    /// The run.
    pub run: RunId,
    /// Who asked for the run.
    pub principal: Principal,
    /// In base64.
    pub sealed: String,
}

/// Number of first characters of a sealed text in base64 that identify its key.
pub const KEY_CHARACTERS: usize = 12;

/// Recordings in a page; each may have some megabytes.
const PAGE: usize = 16;

// === impl Recordings ===

impl Recordings {
    /// The recordings in this database, which the records share.
    pub fn new(database: Database) -> Recordings {
        Recordings {
            slot: Arc::new(ConnectionSlot::new(database, Tables::Recordings)),
        }
    }

    /// The run with its recording; `None` for an unknown run.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn read(&self, run: &RunId) -> Result<Option<StoredRecording>, Trouble> {
        let found = self.slot.read(async |connection| one(connection, run).await);
        found.await
    }

    /// The handles of the runs before this one in the same life of its session, oldest first.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn earlier(&self, run: &RunId) -> Result<Vec<RunId>, Trouble> {
        let found = self.slot.read(async |connection| before(connection, run).await);
        found.await
    }

    /// The next recordings after a run, ordered by run, that another key than `key` has encrypted.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn of_other_keys(
        &self,
        key: &str,
        after: Option<&RunId>,
    ) -> Result<Vec<SealedRecording>, Trouble> {
        let found = self
            .slot
            .read(async |connection| rotation::of_other_keys(connection, key, after).await);
        found.await
    }

    /// Replaces a recording's text, unless it has changed or is gone; returns whether it did.
    ///
    /// # Errors
    /// If the database cannot be written.
    pub async fn replace(&self, old: &SealedRecording, sealed: &str) -> Result<bool, Trouble> {
        let replaced = self
            .slot
            .write(async |connection| rotation::replace(connection, old, sealed).await);
        replaced.await
    }

    /// The keys of all recordings, as their first [`KEY_CHARACTERS`] characters.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn keys_in_use(&self) -> Result<Vec<String>, Trouble> {
        self.slot
            .read(async |connection| rotation::keys_in_use(connection).await)
            .await
    }

    /// The keys of the newest recordings, as [`Recordings::keys_in_use`] has them.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn keys_of_newest(&self) -> Result<Vec<String>, Trouble> {
        self.slot
            .read(async |connection| rotation::keys_of_newest(connection).await)
            .await
    }

    /// Closes the database. A later call opens it again.
    pub async fn close(&self) {
        self.slot.close_soon().await;
    }
}

/// Writes a recording, unless its run is missing.
pub(crate) async fn write(connection: &mut Connection, run: &RunId, sealed: &str) -> Result<(), sqlx::Error> {
    let sql = "INSERT INTO recordings (run, sealed, asked_ms) SELECT id, $2, asked_ms FROM runs WHERE id = $1 \
        ON CONFLICT DO NOTHING";
    let insert = Statement::new(sql).bind(run.as_str()).bind(sealed);
    connection.execute(insert).await.map(drop)
}

const SELECTED: &str = "SELECT runs.id, runs.principal, runs.virtual_server, runs.asked_ms, recordings.sealed FROM runs \
    LEFT JOIN recordings ON recordings.run = runs.id";

async fn one(connection: &mut Connection, run: &RunId) -> Result<Option<StoredRecording>, sqlx::Error> {
    let sql = format!("{SELECTED} WHERE runs.id = $1");
    let row = connection
        .fetch_optional(Statement::new(sql).bind(run.as_str()))
        .await?;
    row.as_ref().map(read).transpose()
}

async fn before(connection: &mut Connection, run: &RunId) -> Result<Vec<RunId>, sqlx::Error> {
    let sql = "SELECT runs.id FROM runs JOIN runs AS last ON last.id = $1 AND runs.process = last.process \
         AND runs.life = last.life WHERE runs.seq < last.seq AND runs.status <> 'refused' ORDER BY runs.seq";
    let rows = connection
        .fetch_all(Statement::new(sql).bind(run.as_str()))
        .await?;
    rows.iter()
        .map(|row| row.get::<String>("id").map(RunId::new))
        .collect()
}

fn principal(row: &SqlRow) -> Result<Principal, sqlx::Error> {
    let principal: String = row.get("principal")?;
    principal.parse().map_err(|error| sqlx::Error::ColumnDecode {
        index: "principal".to_owned(),
        source: Box::<types::BadPrincipal>::new(error),
    })
}

fn read(row: &SqlRow) -> Result<StoredRecording, sqlx::Error> {
    Ok(StoredRecording {
        principal: principal(row)?,
        server: row.get::<Option<String>>("virtual_server")?.map(ServerId::new),
        asked_ms: row.get("asked_ms")?,
        sealed: row.get("sealed")?,
    })
}
