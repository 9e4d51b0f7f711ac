//! Changes of upstream servers, each with its row in the audit table.

use identity::AuditAction;
use types::{TenantId, UpstreamServer};

use super::error::UpstreamServerError;
use super::{UpstreamServers, rows};
use crate::audit::{AuditActor, AuditedChange};
use crate::connection::Connection;

/// Changes upstream servers. The row of a change is committed with it.
#[derive(Debug, Clone, Copy)]
pub struct UpstreamServerChanges<'a> {
    pub(super) servers: &'a UpstreamServers,
    pub(super) actor: &'a AuditActor,
}

// === impl UpstreamServerChanges ===

impl UpstreamServerChanges<'_> {
    /// Stores a new server.
    ///
    /// # Errors
    /// If the name or the alias is taken, if there are [`MOST_SERVERS`](super::MOST_SERVERS), or if the database cannot
    /// be written.
    pub async fn create(self, server: &UpstreamServer) -> Result<(), UpstreamServerError> {
        let work = async |connection: &mut Connection| rows::create(connection, server).await;
        self.servers
            .slot
            .change(self.actor, work, |(): &()| {
                Some(change(AuditAction::UpstreamCreate, server))
            })
            .await
    }

    /// Replaces definition, visibility and team of the server with this name, if its `updated_ms` is still
    /// `read_updated_ms`. Returns the stored server: its `updated_ms` increases even if the clock does not.
    ///
    /// # Errors
    /// If the tenant has no such server, if it was changed meanwhile, or if the database cannot be written.
    pub async fn update(
        self,
        server: &UpstreamServer,
        read_updated_ms: i64,
    ) -> Result<UpstreamServer, UpstreamServerError> {
        let work =
            async |connection: &mut Connection| rows::update(connection, server, read_updated_ms).await;
        self.servers
            .slot
            .change(self.actor, work, |updated: &UpstreamServer| {
                Some(change(AuditAction::UpstreamUpdate, updated))
            })
            .await
    }

    /// Removes the server with this name that was created at this time; `false` if the tenant has no such server.
    ///
    /// # Errors
    /// If the database cannot be written.
    pub async fn delete(
        self,
        tenant: &TenantId,
        name: &str,
        created_ms: i64,
    ) -> Result<bool, UpstreamServerError> {
        let work =
            async |connection: &mut Connection| rows::delete(connection, tenant, name, created_ms).await;
        self.servers
            .slot
            .change(self.actor, work, |was_there: &bool| {
                was_there.then(|| AuditedChange::new(AuditAction::UpstreamDelete, tenant, name))
            })
            .await
    }
}

/// The audit row with visibility and team. Omits the definition, which may hold secrets.
fn change(action: AuditAction, server: &UpstreamServer) -> AuditedChange {
    let ownership = &server.ownership;
    let team = ownership.team.as_ref().map(|team| format!(", team {team}"));
    let detail = format!("{}{}", ownership.visibility.name(), team.unwrap_or_default());
    AuditedChange::new(action, &ownership.tenant, &server.name).with(detail)
}
