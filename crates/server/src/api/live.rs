//! The virtual servers that are in use in this process, each with its host.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use futures_util::future::join_all;
use rest::RestError;
use settings::CodeExecution;
use types::{ServerId, VirtualServer};

use super::errors::unavailable;
use crate::host::Host;
use crate::served::RunAdmission;

/// The hosts of virtual servers, made on first use.
#[derive(Default)]
pub(super) struct LiveServers {
    hosts: Mutex<HashMap<ServerId, LiveServer>>,
}

#[derive(Clone)]
struct LiveServer {
    /// Of the server that the host was made for.
    updated_ms: i64,
    host: Host,
}

// === impl LiveServers ===

impl LiveServers {
    /// The host of this server. If its settings have changed, the sessions of the host before end.
    pub(super) fn host(
        &self,
        of: &Host,
        server: &VirtualServer,
        settings: &CodeExecution,
        admission: &RunAdmission,
    ) -> Result<Host, RestError> {
        let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(live) = hosts.get(&server.id)
            && live.updated_ms >= server.updated_ms
        {
            return Ok(live.host.clone());
        }
        let host = of
            .of_virtual_server(server, settings, admission)
            .map_err(|error| unavailable(&error))?;
        let live = LiveServer {
            updated_ms: server.updated_ms,
            host: host.clone(),
        };
        if let Some(before) = hosts.insert(server.id.clone(), live) {
            tokio::spawn(async move { before.host.close_sessions().await });
        }
        Ok(host)
    }

    /// The host of a server that is in use.
    pub(super) fn known(&self, server: &ServerId) -> Option<Host> {
        let hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        hosts.get(server).map(|live| live.host.clone())
    }

    /// Sessions of all these servers.
    pub(super) fn open_sessions(&self) -> usize {
        let hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        hosts
            .values()
            .map(|live| live.host.shared.sessions.figures().open)
            .sum()
    }

    /// Ends the sessions of a server that is gone.
    pub(super) fn end(&self, server: &ServerId) {
        let ended = self
            .hosts
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(server);
        if let Some(ended) = ended {
            tokio::spawn(async move { ended.host.close_sessions().await });
        }
    }

    pub(super) async fn close(&self) {
        let hosts = std::mem::take(&mut *self.hosts.lock().unwrap_or_else(PoisonError::into_inner));
        join_all(hosts.values().map(|live| live.host.close_sessions())).await;
    }
}
