//! Positions of sinks in the records: one position for each sink and writing process.
//!
//! A process numbers its records without gaps, in the transaction that writes them, and locks its row until the
//! commit. So all records up to the newest number are visible, and a missing number means removal by retention.
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
pub use record::{CalledTool, SentCall, SentEvent, SentRecord, SentRun};
pub use rows::SinkPage;

/// Reads records for sinks, and stores their positions. Cheap to clone; opens the database on first use.
#[derive(Debug, Clone)]
pub struct Sinks {
    slot: Arc<ConnectionSlot>,
}

/// A process that sends for a sink.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SinkHolder {
    /// Name of the sink, from the settings.
    pub sink: String,
    /// Unique for each start of a process.
    pub process: String,
}

/// Selects the records of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SinkSelection {
    /// Maximum number of records, including removed records.
    pub limit: i64,
    /// Whether to read payloads.
    pub payloads: Payloads,
}

/// Recorded arguments of calls, and the words of tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Payloads {
    /// Payloads stay in the database.
    Omitted,
    /// Payloads are read.
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

    /// Takes or renews the exclusive lease of a sink for this time, by the database's clock. Returns `false` if another
    /// process holds the lease. A new sink begins here.
    ///
    /// # Errors
    /// If the database cannot be written.
    pub async fn lease(&self, holder: &SinkHolder, time: Duration) -> Result<bool, Trouble> {
        let leased = self
            .slot
            .write(async |connection| positions::lease(connection, holder, time).await);
        leased.await
    }

    /// Ends the lease early, so that another process can continue at once.
    ///
    /// # Errors
    /// If the database cannot be written.
    pub async fn release(&self, holder: &SinkHolder) -> Result<(), Trouble> {
        let released = self
            .slot
            .write(async |connection| positions::release(connection, holder).await);
        released.await
    }

    /// The sink's unsent records, by source.
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

    /// Stores the position after a sent page. Returns `false`, without a change, if another process holds the lease.
    ///
    /// # Errors
    /// If the database cannot be written.
    pub async fn sent(&self, holder: &SinkHolder, page: &SinkPage) -> Result<bool, Trouble> {
        let noted = self
            .slot
            .write(async |connection| positions::advance(connection, holder, page).await);
        noted.await
    }

    /// Marks open runs of dead processes as interrupted, so that sinks send them.
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
