//! The audit table: one row for each administrative change and each refused attempt at one, chained by hash.
//!
//! One transaction commits a change and its row, so no acknowledged change lacks its row. The row of `audit_head`
//! serializes appends over all processes. A transaction takes this lock last.

mod actor;
mod chain;
mod entry;
mod list;
mod rows;
mod verify;

use std::sync::Arc;

use types::TenantId;

use crate::connection::Tables;
use crate::database::Database;
use crate::slot::ConnectionSlot;
use crate::trouble::Trouble;

pub(crate) use actor::AuditedChange;
pub(crate) use entry::mask_tokens;
pub(crate) use rows::conclude;

pub use actor::{AuditActor, COMMAND_LINE, RefusedAct};
pub use chain::{AuditHash, BadLink};
pub use entry::AuditRow;
pub use list::AuditFilter;
pub use verify::{AuditExpectation, BadChain, VerifiedChain, VerifyError};

/// Reads, verifies and appends to the audit table. Cheap to clone; opens the database on first use.
#[derive(Debug, Clone)]
pub struct Audit {
    slot: Arc<ConnectionSlot>,
}

// === impl Audit ===

impl Audit {
    /// The audit table in this database. Records may use the same database.
    pub fn new(database: Database) -> Audit {
        Audit {
            slot: Arc::new(ConnectionSlot::new(database, Tables::Audit)),
        }
    }

    /// Appends the row of a refused attempt.
    ///
    /// # Errors
    /// If the database cannot be written. The caller must then report the failure instead of the refusal.
    pub async fn refused(&self, actor: &AuditActor, act: RefusedAct) -> Result<(), Trouble> {
        let appended = self.slot.write(async |connection| {
            connection.begin_to_write().await?;
            rows::append(connection, actor, &act.change, &act.outcome).await?;
            connection.commit().await
        });
        appended.await
    }

    /// The number of rows so far. Each change increases it.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn count(&self) -> Result<i64, Trouble> {
        self.slot.read(rows::count).await
    }

    /// Whether the table was ever created.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn exists(&self) -> Result<bool, Trouble> {
        self.slot.read(async |_| Ok::<_, sqlx::Error>(true)).await
    }

    /// The selected rows of a tenant, newest first.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn list(&self, tenant: &TenantId, filter: &AuditFilter) -> Result<Vec<AuditRow>, Trouble> {
        let found = self
            .slot
            .read(async |connection| list::select(connection, tenant, filter).await);
        found.await
    }

    /// Verifies the whole chain, over all tenants, in bounded memory. Excludes rows that are appended meanwhile.
    ///
    /// # Errors
    /// If the database cannot be read, or the chain is broken.
    pub async fn verify(&self, expected: Option<&AuditExpectation>) -> Result<VerifiedChain, VerifyError> {
        verify::run(&self.slot, expected).await
    }

    /// Closes the database, and so merges the journal into the file. A later call opens the database again.
    pub async fn close(&self) {
        self.slot.close_soon().await;
    }
}
