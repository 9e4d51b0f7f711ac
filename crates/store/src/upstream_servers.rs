//! Upstream servers that users of the gateway define, shared by all processes on one database.
//!
//! A process polls the number of changes to detect changes of other processes.

mod changes;
mod error;
mod list;
mod rows;

use std::sync::Arc;

use crate::audit::AuditActor;
use crate::connection::{Statement, Tables};
use crate::database::Database;
use crate::slot::ConnectionSlot;

pub use changes::UpstreamServerChanges;
pub use error::UpstreamServerError;
pub use list::{MOST_SERVERS, UpstreamServerList};

/// Reads and writes upstream servers. Cheap to clone; opens the database on first use.
#[derive(Debug, Clone)]
pub struct UpstreamServers {
    slot: Arc<ConnectionSlot>,
}

// === impl UpstreamServers ===

impl UpstreamServers {
    /// Upstream servers in this database. Records may use the same database.
    pub fn new(database: Database) -> UpstreamServers {
        UpstreamServers {
            slot: Arc::new(ConnectionSlot::new(database, Tables::UpstreamServers)),
        }
    }

    /// The number of changes so far, by any process.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn changes(&self) -> Result<i64, UpstreamServerError> {
        let read = self.slot.read(async |connection| {
            let sql = Statement::new("SELECT times AS value FROM upstream_changes");
            Ok::<_, error::ServerFault>(connection.fetch_value(sql).await?)
        });
        read.await
    }

    /// All servers of all tenants.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn all(&self) -> Result<UpstreamServerList, UpstreamServerError> {
        let read = self.slot.read(async |connection| rows::all(connection).await);
        read.await
    }

    /// Changes that the audit table records under this actor.
    pub fn by<'a>(&'a self, actor: &'a AuditActor) -> UpstreamServerChanges<'a> {
        UpstreamServerChanges { servers: self, actor }
    }

    /// Closes the database, and so merges the journal into the file. A later call opens the database again.
    pub async fn close(&self) {
        self.slot.close_soon().await;
    }
}
