//! The servers that are defined now: made from their definitions, taken over when the definitions change.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::watch;
use types::ServerTools;

use crate::cache::CacheFile;
use crate::client::ClientSlot;
use crate::config::ServerConfig;
use crate::environment::Environment;
use crate::error::UpstreamError;
use crate::groups::ServerGroups;
use crate::link::{Link, LinkParts};
use crate::logs::Logs;
use crate::places::Places;
use crate::server::Server;

/// The snapshot of all tools, for the hub's users.
pub(crate) type AllTools = watch::Sender<Arc<Vec<ServerTools>>>;

/// What every server is made with.
#[derive(Debug)]
pub(crate) struct Makings {
    pub(crate) environment: Arc<Environment>,
    pub(crate) supervisor: Arc<[OsString]>,
    pub(crate) cache_dir: Option<PathBuf>,
    pub(crate) login_dir: Option<PathBuf>,
    pub(crate) logs: Logs,
    pub(crate) starts: Arc<Places>,
    pub(crate) groups: Arc<ServerGroups>,
    pub(crate) all_tools: AllTools,
    pub(crate) client: ClientSlot,
    pub(crate) own_executable: PathBuf,
    pub(crate) allow_self: bool,
}

/// The servers of one set of definitions.
#[derive(Debug, Default)]
pub(crate) struct Roster {
    /// In the order of the configuration.
    pub(crate) servers: Vec<Arc<Server>>,
    by_name: HashMap<String, usize>,
    /// Definitions that would start codeyard again.
    pub(crate) self_references: Vec<String>,
}

/// A roster that takes the place of another.
pub(crate) struct Succession {
    pub(crate) roster: Roster,
    /// Servers that were not there before.
    pub(crate) new: Vec<Arc<Server>>,
    /// Servers whose definition is gone or another one.
    pub(crate) retired: Vec<Arc<Server>>,
}

impl Makings {
    /// The roster of these definitions. Servers of `before` whose definition is the same are taken over with their
    /// process and their list, and the snapshot of all tools follows at once.
    pub(crate) fn succeed(&self, before: &Roster, servers: Vec<ServerConfig>) -> Succession {
        let mut roster = Roster::default();
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
                roster.self_references.push(server);
                continue;
            };
            let server = match before.server(&config.name) {
                Some(known) if known.link.config == config => Arc::clone(known),
                _ => {
                    let server = Arc::new(self.server(config, environment));
                    new.push(Arc::clone(&server));
                    server
                }
            };
            let name = server.link.config.name.clone();
            roster.by_name.insert(name, roster.servers.len());
            roster.servers.push(server);
        }
        let retired: Vec<_> = before
            .servers
            .iter()
            .filter(|server| !roster.holds(server))
            .map(Arc::clone)
            .collect();
        self.seat(&roster, &retired);
        Succession { roster, new, retired }
    }

    /// Gives each server its place in the snapshot; those that are retired have none any more. The same snapshot as
    /// before wakes nobody.
    fn seat(&self, roster: &Roster, retired: &[Arc<Server>]) {
        // Places change while the snapshot is locked, so that nobody publishes into the place of another.
        self.all_tools.send_if_modified(|all| {
            let seated = roster.servers.iter().map(|server| {
                let link = &server.link;
                let known = link.place().and_then(|place| all.get(place).cloned());
                known.unwrap_or_else(|| link.unlisted())
            });
            let seated: Vec<_> = seated.collect();
            for (place, server) in roster.servers.iter().enumerate() {
                server.link.set_place(Some(place));
            }
            for server in retired {
                server.link.set_place(None);
            }
            let is_news = **all != seated;
            if is_news {
                *all = Arc::new(seated);
            }
            is_news
        });
    }

    fn server(&self, config: ServerConfig, environment: Arc<Environment>) -> Server {
        let cache = self
            .cache_dir
            .as_deref()
            .map(|directory| CacheFile::new(directory, &config));
        let log = self.logs.of(&config.name);
        Server::new(Link::new(LinkParts {
            config,
            environment,
            supervisor: Arc::clone(&self.supervisor),
            cache,
            login_dir: self.login_dir.clone(),
            log,
            starts: Arc::clone(&self.starts),
            groups: Arc::clone(&self.groups),
            all_tools: self.all_tools.clone(),
            client: Arc::clone(&self.client),
        }))
    }

    /// What the server inherits; `None` if it would start codeyard again and may not.
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

impl Roster {
    /// The server of that name.
    pub(crate) fn server(&self, name: &str) -> Option<&Arc<Server>> {
        self.by_name.get(name).and_then(|index| self.servers.get(*index))
    }

    fn holds(&self, server: &Arc<Server>) -> bool {
        self.server(&server.link.config.name)
            .is_some_and(|known| Arc::ptr_eq(known, server))
    }
}
