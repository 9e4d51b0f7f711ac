//! One connection, opened on demand, and reopened after a failure or after the file was replaced.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::Once;
use std::time::Duration;

use tokio::fs;
use tokio::sync::{Mutex, MutexGuard};

use crate::backoff::Patience;
use crate::connection::{Connection, Purpose, Tables};
use crate::database::Database;
use crate::saved_error::{Fault, SavedError};
use crate::trouble::Trouble;

/// Time to retry an unreachable server.
const TRYING: Duration = Duration::from_millis(700);

/// The connection for these tables.
#[derive(Debug)]
pub(crate) struct ConnectionSlot {
    database: Database,
    tables: Tables,
    open: Mutex<Option<OpenConnection>>,
    warned: Once,
}

#[derive(Debug)]
struct OpenConnection {
    connection: Connection,
    purpose: Purpose,
    /// Device and inode of the file that was opened; `None` for a server.
    identity: Option<(u64, u64)>,
}

/// Exclusive use of the connection. Dropping it with unfinished work closes the connection, because its state is
/// unknown.
#[derive(Debug)]
pub(crate) struct Held<'a> {
    database: &'a Database,
    slot: MutexGuard<'a, Option<OpenConnection>>,
    open: OpenConnection,
}

// === impl ConnectionSlot ===

impl ConnectionSlot {
    pub(crate) fn new(database: Database, tables: Tables) -> ConnectionSlot {
        ConnectionSlot {
            database,
            tables,
            open: Mutex::default(),
            warned: Once::new(),
        }
    }

    pub(crate) fn database(&self) -> &Database {
        &self.database
    }

    /// Opens for writing; creates a missing database.
    pub(crate) async fn hold_to_write(&self) -> Result<Held<'_>, Trouble> {
        let mut slot = self.open.lock().await;
        if let Some(open) = self.still_open(&mut slot).await
            && open.purpose == Purpose::Write
        {
            return Ok(self.held(slot, open));
        }
        let mut patience = Patience::begin(TRYING);
        let connection = loop {
            match Connection::open(&self.database, Purpose::Write).await {
                Err(trouble) if patience.bears(&trouble).await => {}
                opened => break opened?,
            }
        };
        if let (
            Tables::Saved
            | Tables::Accounts
            | Tables::SignOns
            | Tables::Logins
            | Tables::VirtualServers
            | Tables::UpstreamServers,
            Some(file),
        ) = (self.tables, self.database.file())
        {
            self.warn_of_strangers(file).await;
        }
        let open = self.opened(connection, Purpose::Write).await?;
        Ok(self.held(slot, open))
    }

    /// Opens for reading, even from a read-only database; `None` if the tables were never created.
    pub(crate) async fn hold_to_read(&self) -> Result<Option<Held<'_>>, Trouble> {
        let mut slot = self.open.lock().await;
        if let Some(open) = self.still_open(&mut slot).await {
            return Ok(Some(self.held(slot, open)));
        }
        let mut patience = Patience::begin(TRYING);
        let opened = loop {
            match Connection::open_to_read(&self.database).await {
                Err(trouble) if patience.bears(&trouble).await => {}
                opened => break opened?,
            }
        };
        let Some(mut connection) = opened else {
            return Ok(None);
        };
        let knows = connection.has(self.tables).await;
        if !knows.map_err(|error| Trouble::of(&self.database, &error))? {
            return Ok(None);
        }
        let open = self.opened(connection, Purpose::Read).await?;
        Ok(Some(self.held(slot, open)))
    }

    /// Opens for removing; `None` if the tables were never created.
    pub(crate) async fn hold_to_remove(&self) -> Result<Option<Held<'_>>, Trouble> {
        match self.hold_to_read().await? {
            Some(held) if held.open.purpose != Purpose::Write => {
                drop(held);
                self.hold_to_write().await.map(Some)
            }
            held => Ok(held),
        }
    }

    pub(crate) async fn close(&self) {
        if let Some(open) = self.open.lock().await.take() {
            open.connection.close().await;
        }
    }

    fn held<'a>(&'a self, slot: MutexGuard<'a, Option<OpenConnection>>, open: OpenConnection) -> Held<'a> {
        Held {
            database: &self.database,
            slot,
            open,
        }
    }

    /// The open connection, if its file was not replaced or its server still responds.
    async fn still_open(&self, slot: &mut Option<OpenConnection>) -> Option<OpenConnection> {
        let mut open = slot.take()?;
        let is_open = match self.database.file() {
            // Block here: a hand-over to another thread takes ten times as long as this call.
            Some(file) => open.identity == std::fs::metadata(file).ok().map(|found| identity(&found)),
            None => open.connection.answers().await,
        };
        is_open.then_some(open)
    }

    async fn opened(&self, connection: Connection, purpose: Purpose) -> Result<OpenConnection, Trouble> {
        let identity = match self.database.file() {
            Some(file) => {
                let found = fs::metadata(file).await;
                Some(identity(&found.map_err(|error| Trouble::of_io(file, &error))?))
            }
            None => None,
        };
        Ok(OpenConnection {
            connection,
            purpose,
            identity,
        })
    }

    /// Warns once if every user of this machine can write to the directory, and so could replace the database.
    async fn warn_of_strangers(&self, file: &Path) {
        let Some(directory) = file.parent() else {
            return;
        };
        let found = fs::metadata(directory).await;
        if found.is_ok_and(|found| found.mode() & 0o002 != 0) {
            self.warned.call_once(|| {
                tracing::warn!(
                    "every user of this machine may write to the directory of saved tools, memories and tokens, {}; \
                     run `chmod o-w` on it",
                    directory.display()
                );
            });
        }
    }
}

fn identity(found: &Metadata) -> (u64, u64) {
    (found.dev(), found.ino())
}

// === impl Held ===

impl Held<'_> {
    pub(crate) fn connection(&mut self) -> &mut Connection {
        &mut self.open.connection
    }

    /// Returns the connection to the slot, unless the work failed.
    pub(crate) fn done<T>(self, done: Result<T, sqlx::Error>) -> Result<T, Trouble> {
        let database = self.database;
        if done.is_ok() {
            self.give_back();
        }
        done.map_err(|error| Trouble::of(database, &error))
    }

    /// Like `done`, for work that may also refuse.
    pub(crate) fn release<T>(self, done: Result<T, Fault>) -> Result<T, SavedError> {
        let database = self.database;
        if !matches!(done, Err(Fault::Database(_))) {
            self.give_back();
        }
        done.map_err(|fault| SavedError::of(database, fault))
    }

    /// Closes a connection with an unfinished transaction, which rolls it back.
    fn give_back(mut self) {
        if !self.open.connection.is_in_step() {
            *self.slot = Some(self.open);
        }
    }
}
