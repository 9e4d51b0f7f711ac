//! The audit table: one row for each administrative change and each refused attempt at one, chained by hash.
//!
//! A change and its row are committed by one transaction, so no acknowledged change lacks its row. Processes append one
//! after another: each first takes the row of `audit_head`, and this lock is the last that a transaction takes.

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
    /// The audit table in this database, which the records may share.
    pub fn new(database: Database) -> Audit {
        Audit {
            slot: Arc::new(ConnectionSlot::new(database, Tables::Audit)),
        }
    }

    /// Appends the row of a refused attempt.
    ///
    /// # Errors
    /// If the database cannot be written. The attempt must then not be answered as if it were on record.
    pub async fn refused(&self, actor: &AuditActor, act: RefusedAct) -> Result<(), Trouble> {
        let appended = self.slot.write(async |connection| {
            connection.begin_to_write().await?;
            rows::append(connection, actor, &act.change, &act.outcome).await?;
            connection.commit().await
        });
        appended.await
    }

    /// The number of rows so far, which each change increases; 0 before the first.
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

    /// Walks the whole chain, over all tenants, in bounded memory. Rows that are appended meanwhile are not part of it.
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
