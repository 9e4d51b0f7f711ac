//! Upstream servers that users of the gateway define, shared by all processes on one database.
//!
//! A process follows changes of the others by their number.

mod error;
mod rows;

use std::sync::Arc;

use types::{TenantId, UpstreamServer};

use crate::connection::{Statement, Tables};
use crate::database::Database;
use crate::slot::ConnectionSlot;

pub use error::UpstreamServerError;

/// Limit on the servers of all tenants: every process holds all of them.
pub const MOST_SERVERS: i64 = 1000;

/// Reads and writes upstream servers. Cheap to clone; opens the database on first use.
#[derive(Debug, Clone)]
pub struct UpstreamServers {
    slot: Arc<ConnectionSlot>,
}

/// All servers at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UpstreamServerList {
    /// How often servers had been changed.
    pub changes: i64,
    /// Sorted by time of creation, then by name.
    pub servers: Vec<UpstreamServer>,
}

// === impl UpstreamServers ===

impl UpstreamServers {
    /// Upstream servers in this database, which the records may share.
    pub fn new(database: Database) -> UpstreamServers {
        UpstreamServers {
            slot: Arc::new(ConnectionSlot::new(database, Tables::UpstreamServers)),
        }
    }

    /// How often servers were changed so far, by any process.
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

    /// Stores a new server.
    ///
    /// # Errors
    /// If the name or the alias is taken, if there are [`MOST_SERVERS`], or if the database cannot be written.
    pub async fn create(&self, server: &UpstreamServer) -> Result<(), UpstreamServerError> {
        let created = self
            .slot
            .write(async |connection| rows::create(connection, server).await);
        created.await
    }

    /// Replaces definition, visibility and team of the server with this name, if it is still the one of
    /// `read_updated_ms`. Returns the server as stored: its `updated_ms` is larger than before, even if the clock stands.
    ///
    /// # Errors
    /// If the tenant has no such server, if somebody changed it meanwhile, or if the database cannot be written.
    pub async fn update(
        &self,
        server: &UpstreamServer,
        read_updated_ms: i64,
    ) -> Result<UpstreamServer, UpstreamServerError> {
        let updated = self
            .slot
            .write(async |connection| rows::update(connection, server, read_updated_ms).await);
        updated.await
    }

    /// Removes the server with this name that was created at this time; `false` if the tenant has no such server.
    ///
    /// # Errors
    /// If the database cannot be written.
    pub async fn delete(
        &self,
        tenant: &TenantId,
        name: &str,
        created_ms: i64,
    ) -> Result<bool, UpstreamServerError> {
        let removed = self
            .slot
            .write(async |connection| rows::delete(connection, tenant, name, created_ms).await);
        removed.await
    }

    /// Closes the database, and so merges the journal into the file. A later call opens the database again.
    pub async fn close(&self) {
        self.slot.close_soon().await;
    }
}
