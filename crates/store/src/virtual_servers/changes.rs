//! Changes of virtual servers, each with its row in the audit table.

use identity::AuditAction;
use types::{ServerId, TenantId, VirtualServer};

use super::error::VirtualServerError;
use super::{VirtualServers, rows};
use crate::audit::{AuditActor, AuditedChange};
use crate::connection::Connection;

/// Changes virtual servers. The row of a change is committed with it.
#[derive(Debug, Clone, Copy)]
pub struct ServerChanges<'a> {
    pub(super) servers: &'a VirtualServers,
    pub(super) actor: &'a AuditActor,
}

// === impl ServerChanges ===

impl ServerChanges<'_> {
    /// Stores a new server.
    ///
    /// # Errors
    /// If the name is taken in the tenant, if the id is taken in any tenant, or if the database cannot be written.
    pub async fn create(self, server: &VirtualServer) -> Result<(), VirtualServerError> {
        let work = async |connection: &mut Connection| rows::create(connection, server).await;
        self.servers
            .slot
            .change(self.actor, work, |(): &()| {
                Some(change(AuditAction::ServerCreate, server))
            })
            .await
    }

    /// Replaces the settings of the server with this id, if `updated_ms` is still `read_updated_ms`. Owner and time of
    /// creation stay. Returns the stored server: its `updated_ms` increases even if the clock does not.
    ///
    /// # Errors
    /// If the tenant has no such server, if it was changed meanwhile, if another server of the tenant has the
    /// name, or if the database cannot be written.
    pub async fn update(
        self,
        server: &VirtualServer,
        read_updated_ms: i64,
    ) -> Result<VirtualServer, VirtualServerError> {
        let work =
            async |connection: &mut Connection| rows::update(connection, server, read_updated_ms).await;
        self.servers
            .slot
            .change(self.actor, work, |updated: &VirtualServer| {
                Some(change(AuditAction::ServerUpdate, updated))
            })
            .await
    }

    /// Removes a server; `false` if the tenant has no such server. Its runs stay on record.
    ///
    /// # Errors
    /// If the database cannot be written.
    pub async fn delete(self, tenant: &TenantId, id: &ServerId) -> Result<bool, VirtualServerError> {
        let work = async |connection: &mut Connection| rows::delete(connection, tenant, id).await;
        self.servers
            .slot
            .change(self.actor, work, |was_there: &bool| {
                was_there.then(|| AuditedChange::new(AuditAction::ServerDelete, tenant, id))
            })
            .await
    }
}

/// The audit row, with visibility and team.
fn change(action: AuditAction, server: &VirtualServer) -> AuditedChange {
    let settings = &server.settings;
    let (kind, visibility) = (settings.kind.name(), settings.visibility.name());
    let team = settings.team.as_ref().map(|team| format!(", team {team}"));
    let detail = format!(
        "{}: {kind}, {visibility}{}",
        settings.name,
        team.unwrap_or_default()
    );
    AuditedChange::new(action, &server.tenant, &server.id).with(detail)
}
