//! Virtual servers of the gateway, shared by all processes on one database.
//!
//! Every read and change names a tenant, so nothing crosses tenants. Only the ids are unique in the whole deployment.

mod code;
mod error;
mod list;
mod rows;

use std::sync::Arc;

use types::{ServerId, TenantId, VirtualServer};

use crate::connection::Tables;
use crate::database::Database;
use crate::slot::ConnectionSlot;

pub use error::VirtualServerError;
pub use list::{ServerCursor, ServerFilter, ServerViewer};

/// Reads and writes virtual servers. Cheap to clone; opens the database on first use.
#[derive(Debug, Clone)]
pub struct VirtualServers {
    slot: Arc<ConnectionSlot>,
}

// === impl VirtualServers ===

impl VirtualServers {
    /// Virtual servers in this database, which the records may share.
    pub fn new(database: Database) -> VirtualServers {
        VirtualServers {
            slot: Arc::new(ConnectionSlot::new(database, Tables::VirtualServers)),
        }
    }

    /// Stores a new server.
    ///
    /// # Errors
    /// If the name is taken in the tenant, if the id is taken in any tenant, or if the database cannot be written.
    pub async fn create(&self, server: &VirtualServer) -> Result<(), VirtualServerError> {
        let created = self
            .slot
            .write(async |connection| rows::create(connection, server).await);
        created.await
    }

    /// One server, if there is one in this tenant.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn read(
        &self,
        tenant: &TenantId,
        id: &ServerId,
    ) -> Result<Option<VirtualServer>, VirtualServerError> {
        let found = self
            .slot
            .read(async |connection| rows::load(connection, tenant, id).await);
        found.await
    }

    /// The servers of a tenant that the filter selects, newest first.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn list(
        &self,
        tenant: &TenantId,
        filter: &ServerFilter<'_>,
    ) -> Result<Vec<VirtualServer>, VirtualServerError> {
        let found = self
            .slot
            .read(async |connection| list::select(connection, tenant, filter).await);
        found.await
    }

    /// Replaces the settings of the server with this id, if `updated_ms` is still `read_updated_ms`. Owner and time of
    /// creation stay. Returns the server as stored: its `updated_ms` is larger than before, even if the clock stands.
    ///
    /// # Errors
    /// If the tenant has no such server, if somebody changed it meanwhile, if another server of the tenant has the
    /// name, or if the database cannot be written.
    pub async fn update(
        &self,
        server: &VirtualServer,
        read_updated_ms: i64,
    ) -> Result<VirtualServer, VirtualServerError> {
        let updated = self
            .slot
            .write(async |connection| rows::update(connection, server, read_updated_ms).await);
        updated.await
    }

    /// Removes a server; `false` if the tenant has no such server. Its runs stay on record.
    ///
    /// # Errors
    /// If the database cannot be written.
    pub async fn delete(&self, tenant: &TenantId, id: &ServerId) -> Result<bool, VirtualServerError> {
        let removed = self
            .slot
            .write(async |connection| rows::delete(connection, tenant, id).await);
        removed.await
    }

    /// Closes the database, and so merges the journal into the file. A later call opens the database again.
    pub async fn close(&self) {
        self.slot.close_soon().await;
    }
}
