//! The virtual servers that are in use in this process, each with a host for all callers who see the same.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use broker::VisibleServers;
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
    hosts: Mutex<HashMap<LiveKey, LiveServer>>,
    /// The number of the newest host.
    newest: AtomicU64,
}

/// Callers who see other upstream servers have another host, with sessions of their own.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct LiveKey {
    server: ServerId,
    visible: VisibleServers,
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
    /// The host of this server for such callers, if it is in use with these settings.
    pub(super) fn current(&self, server: &VirtualServer, visible: &VisibleServers) -> Option<LiveServer> {
        let key = LiveKey::of(server, visible.clone());
        let mut hosts = self.lock();
        let live = hosts.get_mut(&key).filter(|live| live.is_of(server))?;
        live.used = Instant::now();
        Some(live.clone())
    }

    /// Creates the host of this server for such callers. The sessions of hosts with earlier settings end, and so do hosts
    /// that nobody uses.
    pub(super) fn start(
        &self,
        of: &Host,
        server: &VirtualServer,
        visible: VisibleServers,
        settings: &CodeExecution,
        admission: &RunAdmission,
    ) -> Result<LiveServer, RestError> {
        let host = of
            .of_virtual_server(server, &visible, settings, admission)
            .map_err(|error| unavailable(&error))?;
        let live = LiveServer {
            host,
            number: self.newest.fetch_add(1, Ordering::Relaxed) + 1,
            tenant: server.tenant.clone(),
            created_ms: server.created_ms,
            updated_ms: server.updated_ms,
            used: Instant::now(),
        };
        let key = LiveKey::of(server, visible);
        let mut hosts = self.lock();
        // Another request may have been faster.
        if let Some(current) = hosts.get(&key).filter(|current| current.is_of(server)) {
            return Ok(current.clone());
        }
        let mut ended = take(&mut hosts, |key, live| {
            key.server == server.id && !live.is_of(server)
        });
        hosts.insert(key, live.clone());
        ended.extend(make_room(&mut hosts));
        drop(hosts);
        ended.into_iter().for_each(LiveServer::end);
        Ok(live)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<LiveKey, LiveServer>> {
        self.hosts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The hosts of a server that is in use.
    pub(super) fn known(&self, server: &ServerId) -> Vec<Host> {
        let hosts = self.lock();
        let known = hosts.iter().filter(|(key, _)| key.server == *server);
        known.map(|(_, live)| live.host.clone()).collect()
    }

    /// The hosts of all servers in use.
    pub(super) fn all(&self) -> Vec<Host> {
        self.lock().values().map(|live| live.host.clone()).collect()
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
        let ended = take(&mut hosts, |key, live| {
            key.server == *server && live.tenant == *tenant
        });
        drop(hosts);
        ended.into_iter().for_each(LiveServer::end);
    }

    pub(super) async fn close(&self) {
        let hosts = std::mem::take(&mut *self.lock());
        join_all(hosts.values().map(|live| live.host.close_sessions())).await;
    }
}

/// Removes the hosts for which the condition holds.
fn take(
    hosts: &mut HashMap<LiveKey, LiveServer>,
    is_wanted: impl Fn(&LiveKey, &LiveServer) -> bool,
) -> Vec<LiveServer> {
    let taken = hosts.extract_if(|key, live| is_wanted(key, live));
    taken.map(|(_, live)| live).collect()
}

/// Removes hosts that were not used for a while, and beyond the limit those that were unused longest. A host with
/// sessions stays.
fn make_room(hosts: &mut HashMap<LiveKey, LiveServer>) -> Vec<LiveServer> {
    let unused = hosts.iter().filter(|(_, live)| !live.has_sessions());
    let mut unused: Vec<(Instant, LiveKey)> = unused.map(|(key, live)| (live.used, key.clone())).collect();
    unused.sort_by_key(|(used, _)| *used);
    let excess = hosts.len().saturating_sub(MOST_HOSTS);
    let ended = unused
        .into_iter()
        .enumerate()
        .filter(|(place, (used, _))| *place < excess || used.elapsed() >= IDLE);
    ended.filter_map(|(_, (_, key))| hosts.remove(&key)).collect()
}

// === impl LiveKey ===

impl LiveKey {
    fn of(server: &VirtualServer, visible: VisibleServers) -> LiveKey {
        LiveKey {
            server: server.id.clone(),
            visible,
        }
    }
}
