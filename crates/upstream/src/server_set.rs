//! The set of configured servers: makes servers from definitions, and keeps unchanged servers when
//! definitions change.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use upstream_wire::oauth::Logins;
use upstream_wire::{ClientSlot, Connector, ControlGroups, Environment, Logs};

use crate::bucket::Buckets;
use crate::cache::CacheFile;
use crate::concurrency::ConcurrencyLimit;
use crate::config::ServerConfig;
use crate::error::UpstreamError;
use crate::server::ManagedServer;
use crate::shared::{AllTools, ServerShared};

/// Makes servers, and holds what all servers share.
#[derive(Debug)]
pub(crate) struct ServerFactory {
    pub(crate) environment: Arc<Environment>,
    pub(crate) supervisor: Arc<[OsString]>,
    pub(crate) cache_dir: Option<PathBuf>,
    pub(crate) logins: Option<Logins>,
    pub(crate) logs: Logs,
    pub(crate) starts: Arc<ConcurrencyLimit>,
    pub(crate) control_groups: Arc<ControlGroups>,
    pub(crate) all_tools: AllTools,
    pub(crate) client: ClientSlot,
    pub(crate) own_executable: PathBuf,
    pub(crate) allow_self: bool,
    pub(crate) buckets: Buckets,
}

#[derive(Debug, Default)]
pub(crate) struct ServerSet {
    /// In the order of the configuration.
    pub(crate) servers: Vec<Arc<ManagedServer>>,
    by_name: HashMap<String, usize>,
    /// Definitions that would start codeyard again.
    pub(crate) self_references: Vec<String>,
}

/// What a change of definitions does to the set.
pub(crate) struct Replacement {
    pub(crate) server_set: ServerSet,
    /// Servers that are new in the set.
    pub(crate) new: Vec<Arc<ManagedServer>>,
    /// Servers whose definition was changed or removed.
    pub(crate) retired: Vec<Arc<ManagedServer>>,
}

impl ServerFactory {
    /// Builds the set for these definitions and updates the snapshot of all tools. Servers of `before` with
    /// an unchanged definition keep their process and list.
    pub(crate) fn replace(&self, before: &ServerSet, servers: Vec<ServerConfig>) -> Replacement {
        let mut server_set = ServerSet::default();
        let mut new = Vec::new();
        for config in servers {
            let Some(environment) = self.environment(&config) else {
                let server = config.name;
                tracing::warn!(
                    "{}",
                    UpstreamError::SelfReference {
                        server: server.clone()
                    }
                );
                server_set.self_references.push(server);
                continue;
            };
            let server = match before.server(&config.name) {
                Some(known) if known.shared.config == config => Arc::clone(known),
                _ => {
                    let server = Arc::new(self.server(config, environment));
                    new.push(Arc::clone(&server));
                    server
                }
            };
            let name = server.shared.config.name.clone();
            server_set.by_name.insert(name, server_set.servers.len());
            server_set.servers.push(server);
        }
        let servers = server_set.servers.iter().map(|server| &server.shared);
        Buckets::set_limits(servers.map(|shared| (&shared.bucket, &shared.config)));
        let retired: Vec<_> = before
            .servers
            .iter()
            .filter(|server| !server_set.holds(server))
            .map(Arc::clone)
            .collect();
        self.update_snapshot(&server_set, &retired);
        Replacement {
            server_set,
            new,
            retired,
        }
    }

    /// Rebuilds the snapshot of all tools and the servers' indices in it. Without a change, no receiver wakes. A
    /// changed definition wakes every receiver, because views depend on its tags and ownership.
    fn update_snapshot(&self, server_set: &ServerSet, retired: &[Arc<ManagedServer>]) {
        // Indices change while the snapshot is locked, so that no server publishes at another's index.
        self.all_tools.send_if_modified(|all| {
            let entries = server_set.servers.iter().map(|server| {
                let shared = &server.shared;
                let known = shared.index().and_then(|index| all.get(index).cloned());
                known.unwrap_or_else(|| shared.unlisted())
            });
            let entries: Vec<_> = entries.collect();
            for (index, server) in server_set.servers.iter().enumerate() {
                server.shared.set_index(Some(index));
            }
            for server in retired {
                server.shared.set_index(None);
            }
            let has_changed = !retired.is_empty() || **all != entries;
            if has_changed {
                *all = Arc::new(entries);
            }
            has_changed
        });
    }

    fn server(&self, config: ServerConfig, environment: Arc<Environment>) -> ManagedServer {
        // Each changed definition has its own file, so users could fill the disk.
        let is_kept = config.ownership.is_none() && !config.is_of_users();
        let cache_dir = self.cache_dir.as_deref().filter(|_| is_kept);
        let cache = cache_dir.map(|directory| CacheFile::new(directory, &config));
        let bucket = self.buckets.of(&config);
        let connector = Connector {
            server: config.name.clone(),
            transport: config.transport.clone(),
            secrets: config.secrets.clone(),
            environment,
            supervisor: Arc::clone(&self.supervisor),
            control_groups: Arc::clone(&self.control_groups),
            log: self.logs.of(&config.name),
            // A login belongs to a person on this machine, not to gateway users.
            logins: self.logins.clone().filter(|_| config.ownership.is_none()),
            client: Arc::clone(&self.client),
            pause: bucket.pause.clone(),
        };
        let (starts, all_tools) = (Arc::clone(&self.starts), self.all_tools.clone());
        ManagedServer::new(ServerShared::new(
            config, connector, cache, starts, all_tools, bucket,
        ))
    }

    /// The server of this definition for one user, with the user's logins.
    pub(crate) fn of_user(&self, definition: &ServerShared, logins: Logins) -> ManagedServer {
        let config = definition.config.clone();
        let connector = Connector {
            server: config.name.clone(),
            transport: config.transport.clone(),
            secrets: config.secrets.clone(),
            environment: Arc::clone(&self.environment),
            supervisor: Arc::clone(&self.supervisor),
            control_groups: Arc::clone(&self.control_groups),
            log: None,
            logins: Some(logins),
            client: Arc::clone(&self.client),
            pause: definition.bucket.pause.clone(),
        };
        let (starts, all_tools) = (Arc::clone(&self.starts), self.all_tools.clone());
        let bucket = Arc::clone(&definition.bucket);
        let shared = ServerShared::new(config, connector, None, starts, all_tools, bucket);
        ManagedServer::new(shared.of_user())
    }

    /// `None` if the definition starts codeyard itself and this is not allowed.
    fn environment(&self, config: &ServerConfig) -> Option<Arc<Environment>> {
        let is_self_reference = config
            .transport
            .stdio()
            .is_some_and(|stdio| self.environment.is_self_reference(stdio, &self.own_executable));
        if !is_self_reference {
            return Some(Arc::clone(&self.environment));
        }
        let deeper = self.allow_self.then(|| self.environment.deeper())?;
        deeper.map(Arc::new)
    }
}

impl ServerSet {
    pub(crate) fn server(&self, name: &str) -> Option<&Arc<ManagedServer>> {
        self.by_name.get(name).and_then(|index| self.servers.get(*index))
    }

    fn holds(&self, server: &Arc<ManagedServer>) -> bool {
        self.server(&server.shared.config.name)
            .is_some_and(|known| Arc::ptr_eq(known, server))
    }
}
