//! Which records were sent elsewhere, and which come next: one position for each sink and writing process.
//!
//! A process numbers its records without gaps, in the transaction that writes them, and its row stays locked until the
//! commit. So all records up to the newest number are visible, and a number without a record was removed by retention.
//! A sink begins with the records after its first lease.

mod positions;
mod record;
mod rows;

use std::sync::Arc;
use std::time::Duration;

use crate::connection::Tables;
use crate::database::Database;
use crate::lease;
use crate::slot::ConnectionSlot;
use crate::trouble::Trouble;

pub use positions::{SinkBacklog, SinkSource};
pub use record::{SentCall, SentEvent, SentRecord};
pub use rows::SinkPage;

/// Reads records for sinks, and notes what was sent. Cheap to clone; opens the database on first use.
#[derive(Debug, Clone)]
pub struct Sinks {
    slot: Arc<ConnectionSlot>,
}

/// One process that sends for a sink.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SinkHolder {
    /// Name of the sink, from the settings.
    pub sink: String,
    /// Another one for each start of a process.
    pub process: String,
}

/// Selects the records of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SinkSelection {
    /// Most records, removed ones included.
    pub limit: i64,
    /// Whether to read what programs and people wrote.
    pub payloads: Payloads,
}

/// Calls' arguments, where they were recorded, and the words of tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Payloads {
    /// They stay in the database.
    Omitted,
    /// They are read.
    Included,
}

// === impl Sinks ===

impl Sinks {
    /// Sinks of the records in this database.
    pub fn new(database: Database) -> Sinks {
        Sinks {
            slot: Arc::new(ConnectionSlot::new(database, Tables::Sinks)),
        }
    }

    /// Makes this process the only one that sends for the sink during this time, by the database's clock. Returns
    /// `false` if another process is that. A new sink begins here.
    ///
    /// # Errors
    /// If the database cannot be written.
    pub async fn lease(&self, holder: &SinkHolder, time: Duration) -> Result<bool, Trouble> {
        let leased = self
            .slot
            .write(async |connection| positions::lease(connection, holder, time).await);
        leased.await
    }

    /// Ends the lease early, so that another process can go on at once.
    ///
    /// # Errors
    /// If the database cannot be written.
    pub async fn release(&self, holder: &SinkHolder) -> Result<(), Trouble> {
        let released = self
            .slot
            .write(async |connection| positions::release(connection, holder).await);
        released.await
    }

    /// The records that the sink has not sent yet, by source.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn backlog(&self, sink: &str) -> Result<Vec<SinkBacklog>, Trouble> {
        let waiting = self
            .slot
            .read(async |connection| positions::backlog(connection, sink).await);
        waiting.await
    }

    /// The next records of a source, in the order of their commits.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn page(&self, backlog: SinkBacklog, selection: SinkSelection) -> Result<SinkPage, Trouble> {
        let page = self
            .slot
            .read(async |connection| rows::page(connection, backlog, selection).await.map(Some));
        Ok(page.await?.unwrap_or_else(|| SinkPage::empty(backlog)))
    }

    /// Notes that a page was sent. Returns `false`, and notes nothing, if the lease is another process's by now.
    ///
    /// # Errors
    /// If the database cannot be written.
    pub async fn sent(&self, holder: &SinkHolder, page: &SinkPage) -> Result<bool, Trouble> {
        let noted = self
            .slot
            .write(async |connection| positions::advance(connection, holder, page).await);
        noted.await
    }

    /// Marks the runs that dead processes left open as interrupted, which makes them records.
    ///
    /// # Errors
    /// If the database cannot be written.
    pub async fn close_interrupted(&self) -> Result<(), Trouble> {
        let closed = self
            .slot
            .write(async |connection| lease::close_interrupted(connection).await);
        closed.await
    }

    /// Closes the database. A later call opens the database again.
    pub async fn close(&self) {
        self.slot.close_soon().await;
    }
}
