//! The database as one connection that is opened when it is needed, and again when it failed or its file was replaced.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Once;

use sqlx::{Connection as _, SqliteConnection};
use tokio::fs;
use tokio::sync::{Mutex, MutexGuard};

use crate::database::{self, Purpose, Tables};
use crate::saved_error::{Fault, SavedError};
use crate::trouble::Trouble;

/// The database, for whoever works with these of its tables.
#[derive(Debug)]
pub(crate) struct File {
    path: PathBuf,
    tables: Tables,
    open: Mutex<Option<Open>>,
    warned: Once,
}

/// An open connection.
#[derive(Debug)]
struct Open {
    connection: SqliteConnection,
    purpose: Purpose,
    /// Device and number of the file that it was opened on.
    identity: (u64, u64),
}

/// The connection while one piece of work has it. Work that is given up takes the connection with it: nobody can tell
/// what state it is in.
#[derive(Debug)]
pub(crate) struct Held<'a> {
    path: &'a Path,
    slot: MutexGuard<'a, Option<Open>>,
    open: Open,
}

// === impl File ===

impl File {
    pub(crate) fn new(path: PathBuf, tables: Tables) -> File {
        File {
            path,
            tables,
            open: Mutex::default(),
            warned: Once::new(),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The connection for writing; the database is made if it is not there.
    pub(crate) async fn hold_to_write(&self) -> Result<Held<'_>, Trouble> {
        let mut slot = self.open.lock().await;
        if let Some(open) = self.still_open(&mut slot).await
            && open.purpose == Purpose::Write
        {
            return Ok(self.held(slot, open));
        }
        let connection = database::open(&self.path, Purpose::Write).await?;
        if self.tables == Tables::Saved {
            self.warn_of_strangers().await;
        }
        let open = self.opened(connection, Purpose::Write).await?;
        Ok(self.held(slot, open))
    }

    /// The connection for reading; `None` if its tables were never made. It works on a database that cannot be written.
    pub(crate) async fn hold_to_read(&self) -> Result<Option<Held<'_>>, Trouble> {
        let mut slot = self.open.lock().await;
        if let Some(open) = self.still_open(&mut slot).await {
            return Ok(Some(self.held(slot, open)));
        }
        let Some(mut connection) = database::open_to_read(&self.path).await? else {
            return Ok(None);
        };
        let knows = database::has(&mut connection, self.tables).await;
        if !knows.map_err(|error| Trouble::of(&self.path, &error))? {
            return Ok(None);
        }
        let open = self.opened(connection, Purpose::Read).await?;
        Ok(Some(self.held(slot, open)))
    }

    /// The connection for removing; `None` if its tables were never made.
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
            // Everything is committed; closing can fail to save nothing.
            let _ = open.connection.close().await;
        }
    }

    fn held<'a>(&'a self, slot: MutexGuard<'a, Option<Open>>, open: Open) -> Held<'a> {
        Held {
            path: &self.path,
            slot,
            open,
        }
    }

    /// The connection, if it is open on the file that is there now.
    async fn still_open(&self, slot: &mut Option<Open>) -> Option<Open> {
        let now = fs::metadata(&self.path).await.ok().map(|found| identity(&found));
        slot.take().filter(|open| Some(open.identity) == now)
    }

    async fn opened(&self, connection: SqliteConnection, purpose: Purpose) -> Result<Open, Trouble> {
        let found = fs::metadata(&self.path)
            .await
            .map_err(|error| Trouble::of_io(&self.path, &error))?;
        Ok(Open {
            connection,
            purpose,
            identity: identity(&found),
        })
    }

    /// Warns once if every user of this machine can write to the directory and so replace the database.
    async fn warn_of_strangers(&self) {
        let Some(directory) = self.path.parent() else {
            return;
        };
        let found = fs::metadata(directory).await;
        if found.is_ok_and(|found| found.mode() & 0o002 != 0) {
            self.warned.call_once(|| {
                tracing::warn!(
                    "the directory of saved tools and memories, {}, can be written by every user of this machine; \
                     `chmod o-w` it",
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
    pub(crate) fn connection(&mut self) -> &mut SqliteConnection {
        &mut self.open.connection
    }

    /// Gives the connection back, unless it failed.
    pub(crate) fn done<T>(mut self, done: Result<T, sqlx::Error>) -> Result<T, Trouble> {
        if done.is_ok() {
            *self.slot = Some(self.open);
        }
        done.map_err(|error| Trouble::of(self.path, &error))
    }

    /// The same for work that may refuse something.
    pub(crate) fn release<T>(mut self, done: Result<T, Fault>) -> Result<T, SavedError> {
        if !matches!(done, Err(Fault::Database(_))) {
            *self.slot = Some(self.open);
        }
        done.map_err(|fault| SavedError::of(self.path, fault))
    }
}
