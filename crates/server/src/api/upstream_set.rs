//! The upstream servers that users defined, as this process uses them beside the operator's.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use broker::VisibleServers;
use catalog::normalise;
use environment::{Environment, Machine, Mistake};
use identity::{Identity, Owned};
use registry::{Secrets, read_stored};
use settings::Gateway;
use store::UpstreamServers;
use store::upstream_servers::{UpstreamServerError, UpstreamServerList};
use tokio::sync::Mutex;
use types::{Ownership, UpstreamServer, Visibility};
use upstream::{Hub, ServerConfig, ServerOwner};

use crate::host::Host;

/// Between two looks at what other processes changed.
const POLL_EVERY: Duration = Duration::from_millis(500);

/// Follows the table of upstream servers.
#[derive(Debug)]
pub(super) struct UpstreamSet {
    table: UpstreamServers,
    /// `[gateway] command_upstreams`.
    pub(super) allows_commands: bool,
    /// Held while the table is read and the hub is changed, so that no older state follows a newer one.
    reading: Mutex<()>,
    known: RwLock<Arc<KnownUpstreams>>,
}

/// The table as last read.
#[derive(Debug, Default)]
pub(super) struct KnownUpstreams {
    /// `None` before the first look.
    changes: Option<i64>,
    pub(super) servers: Vec<UpstreamServer>,
    /// Why servers are not used, by name.
    pub(super) unusable: HashMap<String, String>,
}

// === impl UpstreamSet ===

impl UpstreamSet {
    pub(super) fn new(table: UpstreamServers, settings: &Gateway) -> UpstreamSet {
        UpstreamSet {
            table,
            allows_commands: settings.command_upstreams,
            reading: Mutex::default(),
            known: RwLock::default(),
        }
    }

    pub(super) fn known(&self) -> Arc<KnownUpstreams> {
        Arc::clone(&self.known.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reads the table if somebody has changed it, and changes the hub of the host accordingly.
    pub(super) async fn refresh(&self, host: &Host) -> Result<(), UpstreamServerError> {
        let _reading = self.reading.lock().await;
        let changes = self.table.changes().await?;
        if self.known().changes == Some(changes) {
            return Ok(());
        }
        let list = self.table.all().await?;
        let known = self.apply(host, list);
        *self.known.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(known);
        Ok(())
    }

    /// Refreshes now and then. Never returns.
    pub(super) async fn follow(&self, host: &Host) {
        let mut has_failed = false;
        loop {
            tokio::time::sleep(POLL_EVERY).await;
            let refreshed = self.refresh(host).await;
            if let Err(error) = &refreshed
                && !has_failed
            {
                tracing::warn!(%error, "changes of upstream servers are not seen until the database answers");
            }
            has_failed = refreshed.is_err();
        }
    }

    /// Replaces the servers of the hub: the operator's come first and win.
    fn apply(&self, host: &Host, list: UpstreamServerList) -> KnownUpstreams {
        let (configs, before) = (&host.shared.configs, self.known());
        let mut servers = configs.servers.clone();
        let taken: HashSet<String> = servers.iter().map(|server| normalise(&server.name)).collect();
        let mut unusable = HashMap::new();
        let secrets = Secrets::load(&configs.data_dir, &Machine);
        let secrets = secrets.as_ref().map(|secrets| secrets as &dyn Environment);
        for server in &list.servers {
            let read = match taken.contains(&server.alias) {
                true => Err("a file of the operator has a server of this name".to_owned()),
                false => self.config(server, secrets.ok()),
            };
            match read {
                Ok(config) => servers.extend(config),
                Err(why) => {
                    // Every change reads all servers: log each reason once.
                    if before.unusable.get(&server.name) != Some(&why) {
                        tracing::warn!(server = %server.name, "an upstream server is not used: {why}");
                    }
                    unusable.insert(server.name.clone(), why);
                }
            }
        }
        host.shared.broker.replace(servers);
        KnownUpstreams {
            changes: Some(list.changes),
            servers: list.servers,
            unusable,
        }
    }

    /// The definition for the hub; `None` if it is disabled.
    fn config(
        &self,
        server: &UpstreamServer,
        secrets: Option<&dyn Environment>,
    ) -> Result<Option<ServerConfig>, String> {
        let read = read_definition(&server.name, &server.definition, secrets);
        let config = read.map_err(|mistakes| {
            let texts: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
            texts.join("; ")
        })?;
        let is_command = config
            .as_ref()
            .is_some_and(|config| config.transport.stdio().is_some());
        if is_command && !self.allows_commands {
            return Err(COMMANDS_ARE_OFF.to_owned());
        }
        Ok(config.map(|config| ServerConfig {
            ownership: Some(server.ownership.clone()),
            ..config
        }))
    }

    /// S0-82: the servers that exist for this caller, and as whom the caller sees them.
    pub(super) fn visible_to(&self, identity: &Identity, hub: &Hub) -> VisibleServers {
        let seen = self.seen_by(identity);
        // Servers of others must not change this caller's view, and with it the caller's sessions.
        let mut own = hub.servers_with_user_logins().into_iter();
        match own.any(|server| is_seen(identity, hub.owner(&server))) {
            true => VisibleServers::OfUser(identity.principal().clone(), Box::new(seen)),
            false => seen,
        }
    }

    fn seen_by(&self, identity: &Identity) -> VisibleServers {
        if identity.is_unrestricted() {
            return VisibleServers::All;
        }
        let known = self.known();
        let others = known.servers.iter().filter(|server| {
            server.ownership.visibility != Visibility::Public && identity.may_see(&owned(&server.ownership))
        });
        let others = others.map(|server| (server.name.clone(), server.ownership.clone()));
        VisibleServers::Public {
            tenant: identity.principal().tenant().clone(),
            others: others.collect(),
        }
    }
}

fn is_seen(identity: &Identity, owner: ServerOwner) -> bool {
    match owner {
        ServerOwner::Operator => true,
        ServerOwner::User(ownership) => identity.may_see(&owned(&ownership)),
        ServerOwner::Unknown => false,
    }
}

/// Begins a reference to a variable of the operator's environment.
pub(super) const REFERENCE: &str = "${";

/// Why a command is refused, and not run.
pub(super) const COMMANDS_ARE_OFF: &str = "commands are not allowed; write `url`, or ask the operator for `command_upstreams = true` in `[gateway]` of \
     `codeyard.toml`";

/// The mistakes of a definition that a caller wants to store; each field is a place in the definition.
///
/// The values of `definition` are expanded, so whoever lets a caller see these messages must have refused references.
pub(super) fn check_stored(name: &str, definition: &str, data: &Path) -> Vec<(String, String)> {
    let secrets = Secrets::load(data, &Machine);
    let secrets = secrets.as_ref().ok().map(|secrets| secrets as &dyn Environment);
    let read = read_definition(name, definition, secrets);
    let found = read.err().unwrap_or_default().into_iter();
    found.map(|mistake| (mistake.field, mistake.message)).collect()
}

/// Reads a definition. Without readable secrets, only one without references can be read.
fn read_definition(
    name: &str,
    definition: &str,
    secrets: Option<&dyn Environment>,
) -> Result<Option<ServerConfig>, Vec<Mistake>> {
    if secrets.is_none() && definition.contains(REFERENCE) {
        let why = "the operator's `secrets.json` cannot be read";
        return Err(vec![Mistake::new(None, "", why)]);
    }
    read_stored(name, definition, secrets.unwrap_or(&Machine))
}

/// The server as decisions see it.
pub(super) fn owned(ownership: &Ownership) -> Owned<'_> {
    Owned {
        tenant: &ownership.tenant,
        owner: &ownership.owner,
        visibility: ownership.visibility,
        team: ownership.team.as_ref(),
    }
}
