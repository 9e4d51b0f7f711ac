//! Virtual servers of the gateway, shared by all processes on one database.
//!
//! Every read and change names a tenant, so no access crosses tenants. Only ids are unique in the whole deployment.

mod changes;
mod code;
mod error;
mod list;
mod rows;

use std::sync::Arc;

use types::{ServerId, TenantId, VirtualServer};

use crate::audit::AuditActor;
use crate::connection::Tables;
use crate::database::Database;
use crate::slot::ConnectionSlot;

pub use changes::ServerChanges;
pub use error::VirtualServerError;
pub use list::{ServerCursor, ServerFilter, ServerViewer};
pub(crate) use rows::one_of;

/// Reads and writes virtual servers. Cheap to clone; opens the database on first use.
#[derive(Debug, Clone)]
pub struct VirtualServers {
    slot: Arc<ConnectionSlot>,
}

// === impl VirtualServers ===

impl VirtualServers {
    /// Virtual servers in this database. Records may use the same database.
    pub fn new(database: Database) -> VirtualServers {
        VirtualServers {
            slot: Arc::new(ConnectionSlot::new(database, Tables::VirtualServers)),
        }
    }

    /// Changes that the audit table records under this actor.
    pub fn by<'a>(&'a self, actor: &'a AuditActor) -> ServerChanges<'a> {
        ServerChanges { servers: self, actor }
    }

    /// The server, if the tenant has it.
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

    /// Closes the database, and so merges the journal into the file. A later call opens the database again.
    pub async fn close(&self) {
        self.slot.close_soon().await;
    }
}
