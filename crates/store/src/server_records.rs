//! The runs and security events of virtual servers, for the gateway's lists.
//!
//! Every read names tenant and server, because another tenant may now use the id of a removed server.

mod calls;
mod runs;
mod security;

use std::sync::Arc;

use types::{Principal, ServerId, TenantId};

use crate::connection::{Statement, Tables};
use crate::database::Database;
use crate::slot::ConnectionSlot;
use crate::trouble::Trouble;

pub use calls::{CallTotals, RunCall};
pub use runs::{RunCursor, RunFilter, RunRow};
pub use security::{SecurityCursor, SecurityFilter, SecurityKind, SecurityRow};

/// The tenant that is omitted in the text form of principals.
const LOCAL: &str = "local";

/// Reads the records of virtual servers. Cheap to clone; opens the database on first use.
#[derive(Debug, Clone)]
pub struct ServerRecords {
    slot: Arc<ConnectionSlot>,
}

/// The users whose runs are listed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum RunUsers {
    /// All users of the tenant.
    #[default]
    All,
    /// These users. Users of other tenants have no runs here.
    Only(Vec<Principal>),
}

/// The server whose records are read.
#[derive(Debug, Clone, Copy)]
struct Place<'a> {
    tenant: &'a TenantId,
    server: &'a ServerId,
}

// === impl ServerRecords ===

impl ServerRecords {
    /// The records in this database.
    pub fn new(database: Database) -> ServerRecords {
        ServerRecords {
            slot: Arc::new(ConnectionSlot::new(database, Tables::ServerRecords)),
        }
    }

    /// The selected runs of a virtual server, newest first.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn runs_of_server(
        &self,
        tenant: &TenantId,
        server: &ServerId,
        filter: &RunFilter,
    ) -> Result<Vec<RunRow>, Trouble> {
        let place = Place { tenant, server };
        let found = self
            .slot
            .read(async |connection| runs::select(connection, place, filter).await);
        found.await
    }

    /// The selected security events of a virtual server, newest first: refused runs, denied and failed calls, and
    /// denials of files that a run left. Excludes denials of requests without a run.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn security_events_of_server(
        &self,
        tenant: &TenantId,
        server: &ServerId,
        filter: &SecurityFilter,
    ) -> Result<Vec<SecurityRow>, Trouble> {
        let place = Place { tenant, server };
        let found = self
            .slot
            .read(async |connection| security::select(connection, place, filter).await);
        found.await
    }

    /// Closes the database. A later call opens the database again.
    pub async fn close(&self) {
        self.slot.close_soon().await;
    }
}

// === impl RunUsers ===

impl RunUsers {
    /// Adds the condition on a run's principal.
    fn select(&self, query: &mut Statement, tenant: &TenantId) {
        let prefix = format!("{tenant}/");
        query.push(" AND (substr(runs.principal, 1, ");
        query.push(&prefix.len().to_string()).push(") = ");
        query.push_bind(prefix);
        if tenant.as_str() == LOCAL {
            query.push(" OR runs.principal NOT LIKE '%/%'");
        }
        query.push(")");
        if let RunUsers::Only(users) = self {
            query.push(" AND runs.principal IN ");
            query.push_list(users.iter().map(Principal::to_string));
        }
    }
}
