//! The virtual servers that are in use in this process, each with its host.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use rest::RestError;
use settings::CodeExecution;
use types::{ServerId, TenantId, VirtualServer};

use super::errors::unavailable;
use crate::host::Host;
use crate::served::RunAdmission;

/// Hosts at once. Beyond it, the host that was unused longest ends.
const MOST_HOSTS: usize = 200;

/// A host without sessions ends after this time without a request.
const IDLE: Duration = Duration::from_secs(20 * 60);

/// The hosts of virtual servers, created on first use.
#[derive(Default)]
pub(super) struct LiveServers {
    hosts: Mutex<HashMap<ServerId, LiveServer>>,
    /// The number of the newest host.
    newest: AtomicU64,
}

/// One host of a virtual server.
#[derive(Clone)]
pub(super) struct LiveServer {
    pub(super) host: Host,
    /// Another number for each host, also of the same server.
    pub(super) number: u64,
    /// Of the server's row: a server that is created again under its id is another one.
    tenant: TenantId,
    created_ms: i64,
    updated_ms: i64,
    used: Instant,
}

// === impl LiveServer ===

impl LiveServer {
    fn is_of(&self, server: &VirtualServer) -> bool {
        self.tenant == server.tenant
            && self.created_ms == server.created_ms
            && self.updated_ms >= server.updated_ms
    }

    fn has_sessions(&self) -> bool {
        self.host.shared.sessions.figures().open > 0
    }

    fn end(self) {
        tokio::spawn(async move { self.host.close_sessions().await });
    }
}

// === impl LiveServers ===

impl LiveServers {
    /// The host of this server, if it is in use with these settings.
    pub(super) fn current(&self, server: &VirtualServer) -> Option<LiveServer> {
        let mut hosts = self.lock();
        let live = hosts.get_mut(&server.id).filter(|live| live.is_of(server))?;
        live.used = Instant::now();
        Some(live.clone())
    }

    /// Creates the host of this server. The sessions of an earlier host end, and so do hosts that nobody uses.
    pub(super) fn start(
        &self,
        of: &Host,
        server: &VirtualServer,
        settings: &CodeExecution,
        admission: &RunAdmission,
    ) -> Result<LiveServer, RestError> {
        let host = of
            .of_virtual_server(server, settings, admission)
            .map_err(|error| unavailable(&error))?;
        let live = LiveServer {
            host,
            number: self.newest.fetch_add(1, Ordering::Relaxed) + 1,
            tenant: server.tenant.clone(),
            created_ms: server.created_ms,
            updated_ms: server.updated_ms,
            used: Instant::now(),
        };
        let mut hosts = self.lock();
        // Another request may have been faster.
        if let Some(current) = hosts.get(&server.id).filter(|current| current.is_of(server)) {
            return Ok(current.clone());
        }
        let mut ended: Vec<LiveServer> = hosts
            .insert(server.id.clone(), live.clone())
            .into_iter()
            .collect();
        ended.extend(make_room(&mut hosts));
        drop(hosts);
        ended.into_iter().for_each(LiveServer::end);
        Ok(live)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ServerId, LiveServer>> {
        self.hosts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The host of a server that is in use.
    pub(super) fn known(&self, server: &ServerId) -> Option<Host> {
        let hosts = self.lock();
        hosts.get(server).map(|live| live.host.clone())
    }

    /// Sessions of all these servers.
    pub(super) fn open_sessions(&self) -> usize {
        let hosts = self.lock();
        hosts
            .values()
            .map(|live| live.host.shared.sessions.figures().open)
            .sum()
    }

    /// Ends the sessions of a server that was removed.
    pub(super) fn end(&self, tenant: &TenantId, server: &ServerId) {
        let mut hosts = self.lock();
        let is_theirs = hosts.get(server).is_some_and(|live| live.tenant == *tenant);
        let ended = is_theirs.then(|| hosts.remove(server)).flatten();
        drop(hosts);
        if let Some(ended) = ended {
            ended.end();
        }
    }

    pub(super) async fn close(&self) {
        let hosts = std::mem::take(&mut *self.lock());
        join_all(hosts.values().map(|live| live.host.close_sessions())).await;
    }
}

/// Removes hosts that were not used for a while, and beyond the limit those that were unused longest. A host with
/// sessions stays.
fn make_room(hosts: &mut HashMap<ServerId, LiveServer>) -> Vec<LiveServer> {
    let mut unused: Vec<(Instant, ServerId)> = hosts
        .iter()
        .filter(|(_, live)| !live.has_sessions())
        .map(|(id, live)| (live.used, id.clone()))
        .collect();
    unused.sort();
    let excess = hosts.len().saturating_sub(MOST_HOSTS);
    let ended = unused
        .into_iter()
        .enumerate()
        .filter(|(place, (used, _))| *place < excess || used.elapsed() >= IDLE);
    ended.filter_map(|(_, (_, id))| hosts.remove(&id)).collect()
}
